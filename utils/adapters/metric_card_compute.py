"""The metric cards' `compute`, over the functions that score runs of the harness.

The cards' scores need no more than a reference. The flexible one also depends on what the
prompt asked for or showed, so it may be too high or too low here: the order of a date like
05/06/2007 and the unit of a number are not known, nor the texts of TimeDial's wrong
options. Who has documents finds it by the families' `explain`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ..core.documents import document
from ..core.task_scorers import scorer
from . import explain


class _Card(NamedTuple):
    task: str  # whose documents and rules score the samples
    row: Callable[[object], dict]  # reference -> what it gives of an upstream row
    returns: Mapping[str, type]  # metric -> its type in lists


def compute(
    predictions: Iterable[str],
    references: Iterable[str | list[str]],
    *,
    subset: str | list[str] | None = None,
    task: str | None = None,
    return_average: bool | None = None,
    flexible: bool = False,
) -> dict[str, float | list]:
    """Score responses as the three metric cards do; `flexible` adds the flexible scores.

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
    numbered_samples = enumerate(zip(cards, predictions, references))
    sample_scores = [_scores(number, *sample) for number, sample in numbered_samples]
    returns_means = task is None if return_average is None else return_average
    scores_by_metric = {
        metric: [score_type(scores[metric]) for scores in sample_scores]
        for metric, score_type in cards[0].returns.items()
        if flexible or not metric.endswith("_flexible")
    }
    if not returns_means:
        return {**scores_by_metric}
    return {metric: sum(values) / count for metric, values in scores_by_metric.items()}


def _listed(name: str, values: Iterable, count: int | None = None) -> list:
    """Return an argument as a list; ValueError where it is none or of another length."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise ValueError(f"{name} is a {type(values).__name__}; give a list")
    if not (values := list(values)):
        raise ValueError(f"{name} is empty; give at least one")
    if count not in (None, len(values)):
        raise ValueError(f"{count} predictions, but {len(values)} {name}; give as many")
    return values


def _cards(subset: object, task: object, count: int) -> list[_Card]:
    """Return the card of each sample; ValueError for names that are not known."""
    if (subset is None) is (task is None):
        choices_text = f"subset ({', '.join(_SUBSETS)}) or task ({', '.join(_TASKS)})"
        raise ValueError(f"give either {choices_text}")
    argument_name, card_names, known = "task", [task] * count, _TASKS
    if task is None:
        argument_name, card_names, known = "subset", [subset] * count, _SUBSETS
    if isinstance(subset, Iterable) and not isinstance(subset, str):
        card_names, known = _listed("subset", subset, count), _TCP
    cards = []
    for number, name in enumerate(card_names):
        if not isinstance(name, str) or name not in known:
            where = f"{argument_name}[{number}]" if known is _TCP else argument_name
            raise ValueError(f"{where} {name!r:.80} is unknown; use {', '.join(known)}")
        cards.append(known[name])
    return cards


def _scores(
    place: int, card: _Card, prediction: object, reference: object
) -> dict[str, float]:
    """Return the scores of a sample, by the names that the card returns."""
    if not isinstance(prediction, str):
        type_name = type(prediction).__name__
        raise ValueError(f"predictions[{place}] is a {type_name}; give a str")
    try:
        doc = document(card.task, _UNKNOWN | card.row(reference))
    except ValueError as error:
        raise ValueError(f"references[{place}]: {error}") from None
    scores = explain(card.task, doc, prediction).scores
    own_names = {metric: scorer(card.task).metric(metric) for metric in card.returns}
    return {metric: scores[name] for metric, name in own_names.items() if name}


# -------------------------------------------------------- from references to rows

# What a reference does not tell of a row.
_UNKNOWN = {
    **{"index": 0, "dialogue": ["?"], "question": "?", "question_type": "?"},
    **{"prompt": "?", "sorting_type": "?", "graph_gen_algorithm": "?", "context": "?"},
}
_OPTIONS = re.compile(r"\s*&&\s*(?=[A-D]\.\s)")
_OPTION = re.compile(r"([A-D])\.\s+(\S.*)", re.DOTALL)
_LETTERS = re.compile(r"[A-D](?:[\s,&]*[A-D])*\.?")


def _whole_reference(reference: object) -> dict:
    """Return a reference, a tuple as a list, in both columns that may hold one."""
    listed_reference = list(reference) if isinstance(reference, tuple) else reference
    return {"answer": listed_reference, "label": listed_reference}


def _short(reference: object) -> dict:
    """Return TCP short's answer, with the time zone that its references leave out."""
    has_zone = not isinstance(reference, str) or reference.strip().endswith("GMT")
    return {"answer": reference if has_zone else f"{reference} GMT"}  # as on the card


def _options(reference: object) -> dict:
    """Return options A to D, only the right ones with their texts, and which are right."""
    right_options = reference if isinstance(reference, list | tuple) else [reference]
    right_text = " && ".join(map(str, right_options)).strip()
    options = _OPTIONS.split(right_text)
    matches = [match for option in options if (match := _OPTION.fullmatch(option))]
    if len(matches) == len(options):
        text_by_letter = {match[1]: match[2] for match in matches}
    elif _LETTERS.fullmatch(right_text):
        text_by_letter = {
            letter: f"({letter})" for letter in re.findall("[A-D]", right_text)
        }
    else:
        examples_text = '"B. one day && C. two days" or "B, C"'
        raise ValueError(f"{reference!r:.80} is not like {examples_text}")
    return {
        "options": [text_by_letter.get(letter, f"({letter})") for letter in "ABCD"],
        "labels": ["yes" if letter in text_by_letter else "no" for letter in "ABCD"],
    }


# ------------------------------------------------------------------- the cards

_ACCURACY = ("accuracy", "accuracy_flexible")
_EXACT = {"exact_match": int, "score_flexible": int}
_F1 = {"exact_match": int, "f1": float, "score_flexible": float}
_QA = _F1 | {"exact_match": float}
_TCP = {
    "tcp_short": _Card("tcp_short", _short, dict.fromkeys(_ACCURACY, int)),
    "tcp_long": _Card("tcp_long", _whole_reference, dict.fromkeys(_ACCURACY, int)),
}
_SUBSETS = _TCP | {
    "arithmetic": _Card(
        "tot_arithmetic", _whole_reference, dict.fromkeys(_ACCURACY, bool)
    ),
    "semantic": _Card("tot_semantic", _whole_reference, dict.fromkeys(_ACCURACY, bool)),
}
_TASKS = {
    "TempReason": _Card("timebench_tempreason_l2", _whole_reference, _QA),
    "TimeQA": _Card("timebench_timeqa_explicit", _whole_reference, _QA),
    "MenatQA": _Card("timebench_menatqa_scope", _whole_reference, _QA),
    "Date Arithmetic": _Card("timebench_date_arithmetic", _whole_reference, _EXACT),
    "TimeDial": _Card("timebench_timedial", _options, _F1),
}
