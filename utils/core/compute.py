"""The metric cards' `compute`, over the functions that score runs of the harness.

The cards' scores need no more than a reference. The flexible one also depends on what the
prompt asked for or showed: with `documents`, those of the tasks, it is that of a run.
Without them it may be too high or too low: the order of a date like 05/06/2007 and the
unit of a number are not known, nor the texts of TimeDial's wrong options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .documents import document, quiet_harness
from .families import scorer


class _Card(NamedTuple):
    task: str  # whose documents and rules score the samples
    row: Callable[[object], dict]  # reference -> what it gives of an upstream row
    returns: dict[str, type]  # metric -> its type in lists


def compute(
    predictions: Iterable[str],
    references: Iterable[str | list[str]],
    *,
    subset: str | list[str] | None = None,
    task: str | None = None,
    return_average: bool | None = None,
    flexible: bool = False,
    documents: Iterable[dict] | None = None,
) -> dict[str, float | list]:
    """Score responses as the cards TCP Accuracy, Test of Time Accuracy, TimeBench Eval do.

    `predictions` are whole responses, `references` the texts of the data set; each of
    TempReason's and TimeQA's may be a list of golds; TimeDial's are like `B. … && C. …`,
    or letters. What names the card is `subset`, "tcp_short" or "tcp_long" (or a list of
    one for each sample), "arithmetic" or "semantic"; or TimeBench's `task`, "TempReason",
    "TimeQA", "MenatQA", "Date Arithmetic" or "TimeDial".

    Returns `accuracy` (TCP: 1 or 0; Test of Time: True or False), for TimeBench
    `exact_match` and, but for dates, `f1`: means with `return_average` (default for TCP
    and Test of Time), else lists of the samples' scores (default for TimeBench).
    `flexible` adds `accuracy_flexible` or `score_flexible` (F1 where there is one). Raises
    ValueError, saying which, for unknown names, unequal lists, and what cannot be read.
    """
    predictions = _listed("predictions", predictions)
    count = len(predictions)
    cards = _cards(subset, task, count)
    references = _listed("references", references, count)
    known = [{}] * count if documents is None else documents
    known = _listed("documents", known, count)
    samples = zip(cards, predictions, references, known, strict=True)
    with quiet_harness():
        scored = [_scores(place, *sample) for place, sample in enumerate(samples)]
    is_mean = task is None if return_average is None else return_average
    lists = {
        name: [kind(scores[name]) for scores in scored]
        for name, kind in cards[0].returns.items()
        if flexible or not name.endswith("_flexible")
    }
    return {x: sum(y) / count if is_mean else y for x, y in lists.items()}


def _listed(name: str, values: Iterable, count: int | None = None) -> list:
    """Return an argument as a list; ValueError where it is none or of another length."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise ValueError(f"{name} is a {type(values).__name__}; give a list")
    values = list(values)
    if not values:
        raise ValueError(f"{name} is empty; give at least one")
    if count is not None and len(values) != count:
        raise ValueError(f"{count} predictions, but {len(values)} {name}; give as many")
    return values


def _cards(subset: object, task: object, count: int) -> list[_Card]:
    if (subset is None) is (task is None):
        raise ValueError(
            f"give either subset ({', '.join(_SUBSETS)}) or task ({', '.join(_TASKS)})"
        )
    if task is not None:
        return [_named("task", task, _TASKS)] * count
    if isinstance(subset, Iterable) and not isinstance(subset, str):
        names = enumerate(_listed("subset", subset, count))
        return [_named(f"subset[{place}]", name, _TCP) for place, name in names]
    return [_named("subset", subset, _SUBSETS)] * count


def _named(what: str, name: object, cards: dict[str, _Card]) -> _Card:
    if not isinstance(name, str) or name not in cards:
        raise ValueError(f"{what} {name!r:.80} is unknown; use {', '.join(cards)}")
    return cards[name]


def _scores(
    place: int, card: _Card, prediction: object, reference: object, known: object
) -> dict[str, float]:
    """Return the scores of a sample, by the names that the card returns."""
    given = {"predictions": (prediction, str), "documents": (known, dict)}
    for name, (value, kind) in given.items():
        if not isinstance(value, kind):
            what = f"{name}[{place}] is a {type(value).__name__}"
            raise ValueError(f"{what}; give a {kind.__name__}")
    try:
        made = document(card.task, _UNKNOWN | card.row(reference))
    except ValueError as error:
        raise ValueError(f"references[{place}]: {error}") from None
    for name in _REFERENCES & made.keys() & known.keys():
        if known[name] != made[name]:
            raise ValueError(
                f"documents[{place}] has {name} {known[name]!r:.80}, but"
                f" references[{place}] is {reference!r:.80}; give them in one order"
            )
    one = scorer(card.task)
    scores = one.explain(made | known, prediction).scores
    return {name: scores[one.metric(name)] for name in card.returns}


# -------------------------------------------------------- from references to rows

# What a reference does not tell of a row.
_UNKNOWN = {
    **{"index": 0, "dialogue": ["?"], "question": "?", "question_type": "?"},
    **{"prompt": "?", "sorting_type": "?", "graph_gen_algorithm": "?", "context": "?"},
}
_REFERENCES = {"answer", "label", "golds", "letters"}  # where documents hold one
_OPTIONS = re.compile(r"\s*&&\s*(?=[A-D]\.\s)")
_OPTION = re.compile(r"([A-D])\.\s+(\S.*)", re.DOTALL)
_LETTERS = re.compile(r"[A-D](?:[\s,&]*[A-D])*\.?")


def _plain(reference: object) -> dict:
    """Return the column that holds it, whichever of the two that is."""
    value = list(reference) if isinstance(reference, tuple) else reference
    return {"answer": value, "label": value}


def _short(reference: object) -> dict:
    is_whole = not isinstance(reference, str) or reference.strip().endswith("GMT")
    return {"answer": reference if is_whole else f"{reference} GMT"}  # as on the card


def _options(reference: object) -> dict:
    """Return options of which only the right ones' texts are known, and which these are."""
    parts = reference if isinstance(reference, list | tuple) else [reference]
    text = " && ".join(map(str, parts)).strip()
    found = [_OPTION.fullmatch(option) for option in _OPTIONS.split(text)]
    if all(found):
        texts = {option[1]: option[2] for option in found}
    elif _LETTERS.fullmatch(text):
        texts = {letter: f"({letter})" for letter in re.findall("[A-D]", text)}
    else:
        raise ValueError(
            f'{reference!r:.80} is not like "B. one day && C. two days" or "B, C"'
        )
    return {
        "options": [texts.get(letter, f"({letter})") for letter in "ABCD"],
        "labels": ["yes" if letter in texts else "no" for letter in "ABCD"],
    }


# ------------------------------------------------------------------- the cards

_ACCURACY = ("accuracy", "accuracy_flexible")
_EXACT = {"exact_match": int, "score_flexible": int}
_F1 = {"exact_match": int, "f1": float, "score_flexible": float}
_QA = _F1 | {"exact_match": float}
_TCP = {
    "tcp_short": _Card("tcp_short", _short, dict.fromkeys(_ACCURACY, int)),
    "tcp_long": _Card("tcp_long", _plain, dict.fromkeys(_ACCURACY, int)),
}
_SUBSETS = _TCP | {
    "arithmetic": _Card("tot_arithmetic", _plain, dict.fromkeys(_ACCURACY, bool)),
    "semantic": _Card("tot_semantic", _plain, dict.fromkeys(_ACCURACY, bool)),
}
_TASKS = {
    "TempReason": _Card("timebench_tempreason_l2", _plain, _QA),
    "TimeQA": _Card("timebench_timeqa_explicit", _plain, _QA),
    "MenatQA": _Card("timebench_menatqa_scope", _plain, _QA),
    "Date Arithmetic": _Card("timebench_date_arithmetic", _plain, _EXACT),
    "TimeDial": _Card("timebench_timedial", _options, _F1),
}
