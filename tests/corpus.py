"""The verdict corpus in `tests/cases`, and what scores it, as the tests use them."""

from functools import cache
from typing import NamedTuple

from tests.conftest import ROOT
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl


CASES = ROOT / "tests" / "cases"
FAMILIES = ("tcp", "timebench", "tot")
# The two headline scores have other names in other families.
HEADLINES = {"published": ("acc", "score"), "flexible": ("acc_flexible", "score_flexible")}  # fmt: skip


class Case(NamedTuple):
    """A response to a document, and the scores that it should get."""

    place: str  # family/file:line
    task: str
    doc: dict
    response: str
    expected: dict[str, float]  # `published`, `flexible` or a metric -> score
    why: str


@cache
def documents(family: str) -> dict[str, tuple[str, dict]]:
    """Return id -> (task, document) of `documents.jsonl`."""
    rows = read_jsonl(CASES / family / "documents.jsonl")
    return {row["id"]: (row["task"], row["doc"]) for row in rows}


@cache
def cases(family: str) -> list[Case]:
    """Return the cases of a family, file by file."""
    found = []
    for path in sorted((CASES / family).glob("*.jsonl")):
        if path.name == "documents.jsonl":
            continue
        for number, case in enumerate(read_jsonl(path), 1):
            task, doc = documents(family)[case.pop("id")]
            response, why = case.pop("response"), case.pop("why")
            place = f"{family}/{path.stem}:{number}"
            found.append(Case(place, task, doc, response, case, why))
    return found


def score(task: str, doc: dict, response: str) -> dict[str, float]:
    """Return the scores that the task's YAML file leads to."""
    return scorer(task).process_results(doc, [response])


def headlines(task: str, doc: dict, response: str) -> dict[str, float]:
    """Return the scores, the two headline ones by their common names as well."""
    scores = score(task, doc, response)
    for common, names in HEADLINES.items():
        scores |= {common: scores[name] for name in names if name in scores}
    return scores


def echoes(asked: str) -> list[str]:
    """Return what a model says that only repeats its prompt: all, twice, its last lines."""
    lines = asked.strip().split("\n")
    parts = asked, f"{asked}\n\n{asked}", "\n".join(lines[-2:]), lines[-1]
    return [*parts, *(["\n".join(lines[:-1]), lines[-2]] if len(lines) > 1 else [])]
