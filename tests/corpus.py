"""The verdict corpus in `tests/cases`, and what scores it, as the tests use them."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT
from utils.core.documents import documents_of
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer


CASES = ROOT / "tests" / "cases"
FAMILIES = sorted(folder.name for folder in CASES.iterdir())


class Case(NamedTuple):
    """A response to a document, and the scores that it should get."""

    place: str  # family/file:line
    task: str
    doc: dict
    response: str
    expected: dict[str, float]  # `published`, `flexible` or a metric -> score
    why: str
    rule: str  # the sentence of the rule that decides it, in a word or two
    reason: str  # of a response that the card credits and the rule does not, else ""


@cache
def documents(family: str) -> dict[str, tuple[str, dict]]:
    """Return id -> (task, document) of `documents.jsonl`."""
    rows = read_jsonl(CASES / family / "documents.jsonl")
    return {row["id"]: (row["task"], row["doc"]) for row in rows}


@cache
def cases(family: str) -> list[Case]:
    """Return the cases of a family, file by file."""
    family_cases = []
    paths = {*(CASES / family).glob("*.jsonl")} - {CASES / family / "documents.jsonl"}
    for path in sorted(paths):
        for number, case in enumerate(read_jsonl(path), 1):
            task, doc = documents(family)[case.pop("id")]
            names = ("response", "why", "rule", "reason")
            response, why, rule, reason = (case.pop(name, "") for name in names)
            place = f"{family}/{path.stem}:{number}"
            family_cases.append(
                Case(place, task, doc, response, case, why, rule, reason)
            )
    return family_cases


def spellings(family: str, shared: Path) -> list[tuple[dict, dict]]:
    """Return the spelled answers of a family, each with its document."""
    answers, files = read_jsonl(shared / "spellings" / f"{family}.jsonl"), {}
    if family == "tcp":
        forms = {"tcp_short": "YYYY-MM-DD HH:MM GMT", "tcp_long": "YYYY-MM-DD"}
        docs = (
            {"answer_format": forms[x["task"]], "answer": x["answer"]} for x in answers
        )
        return [*zip(answers, docs)]
    for task, file in {(x["task"], x["file"]) for x in answers}:
        files[task, file] = documents_of(task, read_jsonl(shared / family / file))
    return [(x, files[x["task"], x["file"]][x["row"]]) for x in answers]


def score(task: str, doc: dict, response: str) -> dict[str, float]:
    """Return the scores that the task's YAML file leads to."""
    return scorer(task).process_results(doc, [response])


def headlines(task: str, doc: dict, response: str) -> dict[str, float]:
    """Return the scores, the two headline ones as `published` and `flexible` as well."""
    scores = score(task, doc, response)
    headline = scorer(task).headline
    return scores | {rule: scores.get(metric) for rule, metric in headline.items()}


def scores_of(case: Case, scores: dict[str, float]) -> dict[str, float | None]:
    """Return what scores have in the place of those that a case expects, rounded as these."""
    headline = scorer(case.task).headline
    named = scores | {rule: scores.get(metric) for rule, metric in headline.items()}
    found = {name: named.get(name) for name in case.expected}
    return {name: x if x is None else round(x, 4) for name, x in found.items()}


def echoes(prompt: str) -> list[str]:
    """Return what a model says that only repeats its prompt: all, twice, its last lines."""
    lines = prompt.strip().split("\n")
    parts = prompt, f"{prompt}\n\n{prompt}", "\n".join(lines[-2:]), lines[-1]
    return [*parts, *(["\n".join(lines[:-1]), lines[-2]] if len(lines) > 1 else [])]
