"""Journeys: how many minutes one takes. A family for tests, as unlike the others as can be.

Its gold is a number in a field of its own name; documents have no question and no options.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    from collections.abc import Iterable

    from datasets import Dataset

FILES = {"walks": (40, None), "rides": (12, None)}
LICENCE = "MIT"
REASONS = {
    "right": "the number, with an equals sign",
    "near": "within 5 % of the number",
    "far": "another number",
    "no_answer": "no number",
    "cut_off": "no number, and three dots at the end",
}
METRICS = {
    "equal": {"role": "published", "formerly": "same"},
    "close": {"role": "flexible"},
    "extracted": {},
    "within_half": {"shown": True},
    "minutes_late": {"kind": "error", "unit": "minutes", "shown": True},
    "ratio": {"kind": "number"},
}
DOCUMENTS = {"explain": {"story": str, "transport": str, "number": float}}
BREAKDOWNS = {
    "transport": "transport",
    "distance": lambda doc: "far" if doc["number"] > 30 else "near",
}
BOARD_COLUMNS = ["transport"]
_EQUALS = re.compile(r"= (\d+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Verdict(NamedTuple):
    scores: dict[str, float]
    reason: str
    published: str | None
    published_span: tuple[int, int] | None
    flexible: str | None
    flexible_span: tuple[int, int] | None
    value: float | None
    reference: float


def process_docs(dataset: Dataset) -> Dataset:
    columns = ("story", "transport", "number")
    for number, row in enumerate(dataset):
        if not isinstance(row.get("number"), int | float):
            fault = (
                f"row {number}, column 'number': {row.get('number')!r:.80} is missing"
            )
            raise ValueError(f"journeys, {fault}; fix the row")
    documents = [{column: row[column] for column in columns} for row in dataset]
    documents = [doc | {"number": float(doc["number"])} for doc in documents]
    return type(dataset).from_list(documents)


def explain(doc: dict, response: str) -> Verdict:
    gold = doc["number"]
    if gold <= 0:
        raise ValueError(f"'number': {gold:g} is no time")
    published = _EQUALS.search(response)
    number = [*_NUMBER.finditer(response)][-1:]
    value = float(number[0][0]) if number else None
    error = (value or 0) - gold
    scores = {
        "equal": float(bool(published) and float(published[1]) == gold),
        "close": float(abs(error) <= gold / 20),
        "extracted": float(bool(published)),
        "within_half": float(abs(error) <= gold / 2),
        "minutes_late": error,
        "ratio": (value or 0) / gold,
    }
    reason = "far"
    if value is None:
        reason = "cut_off" if response.endswith("...") else "no_answer"
    elif scores["close"]:
        reason = "right" if scores["equal"] else "near"
    return Verdict(
        scores,
        reason,
        published and published[1],
        published and published.span(1),
        number[0][0] if number else None,
        number[0].span() if number else None,
        value,
        gold,
    )


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    rows = [explain(doc, response).scores for response in results]
    return {metric: sum(row[metric] for row in rows) / len(rows) for metric in rows[0]}


def signed_error(value: float, reference: float) -> tuple[float, str]:
    return value - reference, "minutes"


def reference_key(doc: dict) -> str:
    return str(doc["number"])


def gold_response(doc: dict) -> str:
    return f"= {doc['number']:g}"


def digest(doc: dict) -> bytes:
    return hashlib.sha256(json.dumps([doc["story"], doc["number"]]).encode()).digest()


def cluster(doc: dict) -> str:
    return doc["story"].partition(",")[0]


def fingerprint(digests: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]
