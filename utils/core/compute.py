"""The metric cards' `compute`, over the functions that score runs of the harness.

    from temporal_eval import compute

Each card is a row of a table: which function of a family judges its samples, how a
reference of the data set becomes the smallest document that this function takes, and what
is returned.

The cards' scores need no more than a reference. The flexible one also depends on what the
prompt asked for or showed, so `documents`, those of the tasks, give the verdicts of a run.
Without them, a date of Test of Time like 05/06/2007 reads two ways, and a unit that the
prompt alone names is not known: scores may be too low. TimeDial is taken to have four
options, and no text of a wrong one is known: an answer that names one without its letter,
or beside another's, may score too high or too low.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import NamedTuple


class _Card(NamedTuple):
    """What a metric card says of one kind of samples."""

    family: str
    explain: str  # name of the family's function (document, response) -> Verdict
    read: Callable[[ModuleType, object], dict]  # reference -> fields of its document
    returns: dict[str, tuple[str, type]]  # name -> the family's score, type in lists


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
    `flexible` adds `accuracy_flexible` or `score_flexible` (F1 where there is one), which
    may need `documents`: see the top of this module.

    Raises ValueError, saying which, for an unknown name, no samples, lists of unequal
    length, a prediction that is not a string, and a reference that cannot be read.
    """
    if return_average is None:
        return_average = task is None
    lists = _lists(predictions, references, subset, task, documents)
    return {
        name: sum(values) / len(values) if return_average else values
        for name, values in lists.items()
        if flexible or not name.endswith("_flexible")
    }


def _lists(
    predictions: object,
    references: object,
    subset: object,
    task: object,
    documents: object,
) -> dict[str, list]:
    """Return the scores of each sample, the flexible ones, too."""
    predictions = _listed("predictions", predictions)
    count = len(predictions)
    cards = _cards(subset, task, count)
    references = _listed("references", references, count)
    known = [{}] * count
    if documents is not None:
        known = _listed("documents", documents, count)
    samples = zip(cards, predictions, references, known, strict=True)
    scored = [_scores(place, *sample) for place, sample in enumerate(samples)]
    return {
        name: [kind(scores[score]) for scores in scored]
        for name, (score, kind) in cards[0].returns.items()
    }


def _listed(name: str, values: Iterable, count: int | None = None) -> list:
    """Return an argument as a list; ValueError where it is none, empty, or too short."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise ValueError(f"{name} is a {type(values).__name__}; give a list")
    values = list(values)
    if not values:
        raise ValueError(f"{name} is empty; give at least one")
    if count is not None and len(values) != count:
        raise ValueError(f"{count} predictions, but {len(values)} {name}; give as many")
    return values


def _cards(subset: object, task: object, count: int) -> list[_Card]:
    """Return the card of each sample."""
    if (subset is None) is (task is None):
        raise ValueError(
            f"give either subset ({', '.join(_SUBSETS)}) or task ({', '.join(_TASKS)})"
        )
    if task is not None:
        return [_named("task", task, _TASKS)] * count
    if isinstance(subset, str) or not isinstance(subset, Iterable):
        return [_named("subset", subset, _SUBSETS)] * count
    names = _listed("subset", subset, count)
    tcp = {name: card for name, card in _SUBSETS.items() if card.family == "tcp"}
    return [_named(f"subset[{place}]", name, tcp) for place, name in enumerate(names)]


def _named(what: str, name: object, cards: dict[str, _Card]) -> _Card:
    if not isinstance(name, str) or name not in cards:
        raise ValueError(f"{what} {name!r:.80} is unknown; use {', '.join(cards)}")
    return cards[name]


def _scores(
    place: int, card: _Card, prediction: object, reference: object, document: object
) -> dict[str, float]:
    """Return the scores that the family gives to a sample."""
    if not isinstance(prediction, str):
        kind = type(prediction).__name__
        raise ValueError(f"predictions[{place}] is a {kind}; give a string")
    if not isinstance(document, dict):
        kind = type(document).__name__
        raise ValueError(f"documents[{place}] is a {kind}; give a dict")
    utils = importlib.import_module(f"lm_eval_tasks.{card.family}.utils")
    try:
        fields = card.read(utils, reference)
    except ValueError as error:
        raise ValueError(f"references[{place}]: {reference!r:.80} {error}") from None
    for name in fields.keys() & document.keys() - _PROMPTED:
        if document[name] != fields[name]:
            raise ValueError(
                f"documents[{place}] has {name} {document[name]!r:.80}, but"
                f" references[{place}] is {reference!r:.80}; give them in one order"
            )
    return getattr(utils, card.explain)({**fields, **document}, prediction).scores


# ------------------------------------------------ from references to documents

_PROMPTED = {"question", "options"}  # of these, a document knows more than a reference
_OPTIONS = re.compile(r"\s*&&\s*(?=[A-D]\.\s)")
_OPTION = re.compile(r"([A-D])\.\s+(\S.*)", re.DOTALL)
_LETTERS = re.compile(r"[A-D](?:[\s,&]*[A-D])*\.?")


def _text(reference: object) -> str:
    if not isinstance(reference, str):
        raise ValueError("is not a string")
    return reference.strip()


def _texts(reference: object) -> list[str]:
    """Return the golds of a reference, which is one or a list of them."""
    if isinstance(reference, str):
        return [_text(reference)]
    if not isinstance(reference, list | tuple) or not reference:
        raise ValueError("is not a string or a list of strings")
    return [_text(gold) for gold in reference]


def _short(tcp: ModuleType, reference: object) -> dict:
    answer = _text(reference)
    if not answer.endswith("GMT"):  # which counts for nothing on the card
        answer += " GMT"
    return _moment(tcp, answer, tcp.SHORT_FORMAT)


def _long(tcp: ModuleType, reference: object) -> dict:
    return _moment(tcp, _text(reference), tcp.LONG_FORMAT)


def _moment(tcp: ModuleType, answer: str, form: str) -> dict:
    if tcp.read_reference(answer, form) is None:
        raise ValueError(f"is not in the form {form}")
    return {"answer": answer, "answer_format": form}


def _label(tot: ModuleType, reference: object, is_semantic: bool) -> dict:
    _text(reference)
    tot.read_label(reference, is_semantic)
    return {"label": reference, "question": ""}


def _arithmetic(tot: ModuleType, reference: object) -> dict:
    return _label(tot, reference, is_semantic=False)


def _semantic(tot: ModuleType, reference: object) -> dict:
    return _label(tot, reference, is_semantic=True)


def _golds(timebench: ModuleType, reference: object) -> dict:
    golds = _texts(reference)
    if not all(timebench.normalise(timebench.clean(gold)) for gold in golds):
        raise ValueError("has an answer without a word")
    return {"golds": golds}


def _months(timebench: ModuleType, reference: object) -> dict:
    golds = _texts(reference)
    if not all(map(timebench.parse_month, golds)):
        raise ValueError('is not a month and a year ("Aug, 1987")')
    return {"golds": golds}


def _options(timebench: ModuleType, reference: object) -> dict:
    """Return letters, and options of which only the right ones' texts are known.

    On every option row of the data, the letters before the texts are also those that the
    card's pattern finds in the reference.
    """
    text = " && ".join(_texts(reference))
    found = [_OPTION.fullmatch(option) for option in _OPTIONS.split(text)]
    if all(found):
        texts = {option[1]: option[2].strip() for option in found}
    elif _LETTERS.fullmatch(text):
        texts = dict.fromkeys(re.findall("[A-D]", text), "")
    else:
        raise ValueError('is not like "B. one day && C. two days" or "B, C"')
    options = [texts.get(letter, "") for letter in timebench.LETTERS]
    return {"letters": sorted(texts), "options": options}


# ------------------------------------------------------------------- the cards


def _accuracy(kind: type) -> dict[str, tuple[str, type]]:
    return {"accuracy": ("acc", kind), "accuracy_flexible": ("acc_flexible", kind)}


_EXACT = {
    "exact_match": ("exact_match", int),
    "score_flexible": ("score_flexible", int),
}
_F1 = {"f1": ("f1", float), "score_flexible": ("score_flexible", float)}
_QA = _Card(
    "timebench", "explain_qa", _golds, {"exact_match": ("exact_match", float)} | _F1
)
_SUBSETS = {
    "tcp_short": _Card("tcp", "explain", _short, _accuracy(int)),
    "tcp_long": _Card("tcp", "explain", _long, _accuracy(int)),
    "arithmetic": _Card("tot", "explain_arithmetic", _arithmetic, _accuracy(bool)),
    "semantic": _Card("tot", "explain_semantic", _semantic, _accuracy(bool)),
}
_TASKS = {
    "TempReason": _QA,
    "TimeQA": _QA,
    "MenatQA": _QA,
    "Date Arithmetic": _Card("timebench", "explain_date", _months, _EXACT),
    "TimeDial": _Card(
        "timebench",
        "explain_options",
        _options,
        {"exact_match": ("exact_match", int)} | _F1,
    ),
}
