"""Whether a family is all that CONTRIBUTING asks, step by step: `python -m tests.conformance`.

    python -m tests.conformance FAMILY [INCLUDE_PATH]

INCLUDE_PATH is a pack with its rows (`examples`). Each line that is printed is a step of
"Add a task" that was left out; the exit status is then 1.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import EXAMPLES, PACK, ROOT
from tests.documents import PIECES
from utils.core.documents import documents
from utils.core.errors import ToolError
from utils.core.family_contract import RIGHT, column_fault
from utils.core.files import read_jsonl
from utils.core.task_scorers import (
    Scorer,
    all_tasks,
    configuration,
    function,
    is_generated,
    leaf_tasks,
    scorer,
    task_files,
    transformations,
)


LEAST_ROWS, LEAST_EXAMPLES = 8, 3
# A cell that has the type of its column, and maybe no meaning.
ODD_TEXTS = ["", "?", "{}", "[]", "5", "{'a': 5}", "9" * 500, "2012-13-45", *PIECES]
ODD_NUMBERS = [0, -1, 10**6]


def tasks_of(family: str) -> list[str]:
    """Return the tasks of a family whose rows are the benchmark's own."""
    return [
        task
        for task in all_tasks()
        if task_files()[task].path.parent.name == family
        and not is_generated(task)
        and not transformations(task)
    ]


def faults(family: str, include_path: Path = EXAMPLES) -> Iterator[str]:
    """Yield the steps of CONTRIBUTING that a family does not keep, each in a line."""
    if not tasks_of(family):
        yield f"step 1: lm_eval_tasks/{family} has no task with rows of its own"
        return
    if lacking := [
        x for x in tasks_of(family) if not (include_path / f"{x}.yaml").exists()
    ]:
        fix = "run python -m tests.examples"
        yield f"step 4: {include_path.name} has no {', '.join(lacking)}; {fix}"
        return
    try:
        scorers = [scorer(task) for task in tasks_of(family)]
        documents_by_task = {
            one.task: documents(one.task, include_path) for one in scorers
        }
    except ToolError as error:
        yield f"step 1, 2 or 3: {error}"
        return
    for one in scorers:
        yield from _faults_of_yaml(one)
        yield from _faults_of_verdicts(one, documents_by_task[one.task])
        yield from _faults_of_examples(one)
    yield from _faults_of_family(family, scorers, documents_by_task)
    yield from _faults_of_versions(family, scorers[0].version)
    yield from _faults_of_pages(family, scorers)


def _faults_of_versions(family: str, version: float) -> Iterator[str]:
    """Yield which groups, and tasks that score by a family's rule, are of another version."""
    for name, file in task_files().items():
        place = f"'Change a rule': {file.path.relative_to(ROOT)}"
        metadata = configuration(name)["metadata"]
        own_version = metadata["version"]
        if file.path.parent.name == family and own_version != version:
            yield f"{place} has version {own_version}, and not the family's {version}"
        known_version = metadata.get("scored_by", {}).get(family, version)
        if known_version != version:
            fault = f"is scored by {family} {known_version}, which is {version} now"
            yield f"{place} {fault}; raise its own version, and name {version}"


def _faults_of_yaml(one: Scorer) -> Iterator[str]:
    """Yield what a task's YAML lacks (step 1)."""
    settings = one.config.get("fewshot_config", {}).get("samples")
    if not settings or len(function(settings)()) < LEAST_EXAMPLES:
        yield f"step 1: {one.task} has fewer than {LEAST_EXAMPLES} few-shot examples"


def _faults_of_verdicts(one: Scorer, docs: tuple[dict, ...]) -> Iterator[str]:
    """Yield how `explain` and the declarations of a task do not agree (steps 2 and 3)."""
    place = f"{one.family}/utils.py"
    returned_metrics = set()
    for number, doc in enumerate(docs):
        verdict = one.explain(doc, one.utils.gold_response(doc))
        returned_metrics |= {*verdict.scores}
        if fault := column_fault(one.columns, doc):
            yield f"step 3: {place}: DOCUMENTS: document {number} of {one.task} {fault}"
        if one.headline and verdict.scores[one.headline["flexible"]] != 1:
            fault = f"scores less than 1 by the flexible rule ({verdict.reason})"
            yield f"step 3: {place}: gold_response of document {number} of {one.task} {fault}"
    if lacking := one.metrics.keys() - returned_metrics:
        names = ", ".join(sorted(lacking))
        yield f"step 2: {place}: no gold response to {one.task} has {names}"
    if missing := {RIGHT} - one.utils.REASONS.keys():
        yield f"step 3: {place}: REASONS lacks {missing}"
    yield from _faults_of_odd_documents(one, docs)


def _faults_of_odd_documents(one: Scorer, docs: tuple[dict, ...]) -> Iterator[str]:
    """Yield what `explain` raises, but ValueError, for cells of the declared types."""
    rng = random.Random(one.task)
    for _ in range(300):
        doc, column = dict(rng.choice(docs)), rng.choice([*one.columns])
        doc[column] = odd = _odd_cell(rng, doc[column])
        gold_response = one.utils.gold_response(rng.choice(docs))
        cut_response = gold_response[: rng.randrange(len(gold_response))]
        for response in ("", gold_response, cut_response, rng.choice(ODD_TEXTS)):
            try:
                one.check_verdict(one.explain(doc, response))
                one.utils.digest(doc), one.utils.cluster(doc), one.breakdowns(doc)
                one.utils.reference_key(doc)
            except ToolError as error:
                yield f"step 2: {error}"
                return
            except ValueError:
                pass
            except Exception as error:
                fault = f"raises {error!r:.100} where '{column}' is {odd!r:.80}"
                fault += f", and the response {response!r:.80}"
                fix = "raise ValueError for a reference that cannot be read"
                yield f"step 2: {one.family}/utils.py: {fault}; {fix}"
                return


def _odd_cell(rng: random.Random, cell: object) -> object:
    """Return another cell of the same type."""
    if isinstance(cell, list):
        items = [_odd_cell(rng, item) if rng.random() < 0.5 else item for item in cell]
        return rng.choice([[], items, items * 3])
    if isinstance(cell, str):
        start = rng.randrange(len(cell) + 1)
        odd_text = rng.choice(ODD_TEXTS)
        return rng.choice([odd_text, f"{cell[:start]}{odd_text}{cell[start + 1 :]}"])
    return type(cell)(rng.choice(ODD_NUMBERS))


def _faults_of_examples(one: Scorer) -> Iterator[str]:
    """Yield the hand-made rows and answers that a task lacks (step 4)."""
    path = EXAMPLES / "data" / f"{one.file}.jsonl"
    if not path.exists() or len(read_jsonl(path)) < LEAST_ROWS:
        yield f"step 4: examples/data/{path.name} has fewer than {LEAST_ROWS} rows"
    if not (EXAMPLES / f"{one.task}.yaml").exists():
        yield f"step 4: examples has no {one.task}.yaml: run python -m tests.examples"
    for folder in sorted((EXAMPLES / "responses").iterdir()):
        if not one.base and not (folder / f"{one.task}.jsonl").exists():
            yield f"step 4: examples/responses/{folder.name} has no {one.task}.jsonl"


def _faults_of_family(
    family: str, scorers: list[Scorer], documents_by_task: dict[str, tuple[dict, ...]]
) -> Iterator[str]:
    """Yield what the declarations of a family and its packaging lack (step 3)."""
    utils, place = scorers[0].utils, f"{family}/utils.py"
    # A level is of rows that `fresh` makes for the family.
    columns = {"level"}.union(
        *(doc for docs in documents_by_task.values() for doc in docs)
    )
    for name, source in utils.BREAKDOWNS.items():
        if isinstance(source, str) and source not in columns:
            yield f"step 3: {place}: BREAKDOWNS names '{source}', which no document has"
    for one in scorers:
        yield from _faults_of_keys(one, documents_by_task[one.task])
    if f"\n    lm_eval_tasks.{family}\n" not in (ROOT / "setup.cfg").read_text():
        yield f"step 3: setup.cfg: packages lacks lm_eval_tasks.{family}"
    if not any((ROOT / "tests" / "cases" / family).glob("*.jsonl")):
        yield f"step 4: tests/cases has no folder {family} with cases"


def _faults_of_keys(one: Scorer, docs: tuple[dict, ...]) -> Iterator[str]:
    """Yield that documents of one `reference_key` have other references (step 3)."""
    place = f"step 3: {one.family}/utils.py: reference_key is equal for"
    first_of_key: dict[str, dict] = {}
    gold_responses = {one.utils.gold_response(doc) for doc in docs}
    for doc in docs:
        first = first_of_key.setdefault(one.utils.reference_key(doc), doc)
        gold = one.utils.gold_response(first)
        if one.explain(doc, gold).scores != one.explain(first, gold).scores:
            yield f"{place} unequal references of {one.task}"
            return
    if len(first_of_key) == 1 < len(docs):
        yield f"{place} all of {one.task}"
    if len(first_of_key) == len(docs) > len(gold_responses):
        yield f"{place} none of {one.task}, though some gold responses are equal"


def _faults_of_pages(family: str, scorers: list[Scorer]) -> Iterator[str]:
    """Yield the pages that do not name the family, its tasks or its version (step 5)."""
    path, index = PACK / family / "README.md", (PACK / "README.md").read_text("utf-8")
    page = path.read_text("utf-8") if path.exists() else ""
    changelog = page.partition("### Changelog")[2]
    if not page:
        yield f"step 5: lm_eval_tasks/{family} has no README.md"
    elif f"{scorers[0].version}" not in changelog:
        fault = f"has no dated line for version {scorers[0].version} under 'Changelog'"
        yield f"'Change a rule': lm_eval_tasks/{family}/README.md {fault}"
    groups = [x for x in task_files() if task_files()[x].path.parent.name == family]
    for one in scorers:
        names = [x for x in groups if one.task in leaf_tasks(x)]
        if not any(f"`{name}`" in index for name in names):
            yield f"step 5: the table in lm_eval_tasks/README.md lacks {one.task}"
    if "```bibtex" not in page:
        yield f"step 5: lm_eval_tasks/{family}/README.md has no BibTeX entry"


if __name__ == "__main__":
    lines = [*faults(sys.argv[1], *map(Path, sys.argv[2:]))]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.exit(bool(lines))
