"""The published rules, read off DESIGN's text about the metric cards alone.

A second opinion for tests: written without a look at the families' code, as plainly as
the text can be put, and as slow as that may be. Each rule takes a response and the fields
of a document and returns the published score and whether the extractor found an answer.
"""

import ast
import json
import re
import string
import warnings
from collections import Counter
from datetime import datetime

from dateutil import parser


def tcp(response: str, doc: dict) -> tuple[float, bool]:
    """First box, up to its first closing brace; in short tasks GMT counts for nothing."""
    box = re.search(r"\\boxed\{([^}]*)\}", response, re.DOTALL)
    if not box:
        return 0.0, False
    answer, reference = box[1].strip(), doc["answer"]
    extracted = answer != ""
    if "HH:MM" in doc["answer_format"]:
        answer = answer.replace("GMT", "").strip()
        reference = reference.replace("GMT", "").strip()
    return float(answer == reference), extracted


def _first_object(response: str) -> dict | None:
    decoder = json.JSONDecoder()
    for start, mark in enumerate(response):
        if mark == "{":
            try:
                return decoder.raw_decode(response, start)[0]
            except ValueError:
                continue
    return None


def arithmetic(response: str, doc: dict) -> tuple[float, bool]:
    """The first valid JSON object without its explanation equals the label."""
    fields = _first_object(response)
    if fields is None:
        return 0.0, False
    fields.pop("explanation", None)
    try:
        label = json.loads(doc["label"])
    except ValueError:
        label = ast.literal_eval(doc["label"])
    return float(fields == label), bool(fields)


def semantic(response: str, doc: dict) -> tuple[float, bool]:
    """The first valid JSON object's `answer`, as text, equals the label."""
    fields = _first_object(response)
    if fields is None or fields.get("answer") is None:
        return 0.0, False
    return float(str(fields["answer"]) == doc["label"]), True


def _after_the_marker(response: str) -> str:
    _, marker, text = response.rpartition("Thus, the correct answer is:")
    answer = text.strip().split("\n")[0].rstrip(".!?").strip() if marker else ""
    return "unanswerable" if "unanswerable" in answer.lower() else answer


def squad_words(text: str) -> list[str]:
    """Return the words of a text as SQuAD compares them."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def qa(response: str, doc: dict) -> tuple[float, bool]:
    """SQuAD's token F1, the greatest over the golds."""
    answer = _after_the_marker(response)
    return max(
        word_f1(squad_words(answer), squad_words(gold)) for gold in doc["golds"]
    ), bool(answer)


def word_f1(answer: list[str], gold: list[str]) -> float:
    """Return the F1 of the words of two texts (SQuAD)."""
    common = sum((Counter(answer) & Counter(gold)).values())
    return 2 * common / (len(answer) + len(gold)) if common else 0.0


def date(response: str, doc: dict) -> tuple[float, bool]:
    """Equal as datetimes with the day set to 1; year and month must be named."""
    answer = _after_the_marker(response)
    moment = _month(answer)
    golds = [_month(gold) for gold in doc["golds"]]
    return float(moment is not None and moment in golds), bool(answer)


def _month(text: str) -> datetime | None:
    read = []
    for filled_in in (datetime(2001, 2, 1), datetime(2002, 3, 1)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a zone that dateutil does not know
                read.append(parser.parse(text, default=filled_in).replace(day=1))
        except (ValueError, OverflowError, TypeError):
            return None
    first, second = read
    is_named = (first.year, first.month) == (second.year, second.month)
    return first if is_named else None


def _letters(answer: str) -> set[str]:
    return set(re.findall(r"\b([A-D])(?:\.|,|\s|&|$)", answer))


def options(response: str, doc: dict) -> tuple[float, bool]:
    """F1 of the set of letters."""
    answer = _after_the_marker(response)
    letters, gold = _letters(answer), set(doc["letters"])
    return 2 * len(letters & gold) / (len(letters) + len(gold)), bool(answer)


def nli(response: str, doc: dict) -> tuple[float, bool]:
    """The one label that the answer names by word or, without a word, by letter."""
    answer = _after_the_marker(response)
    labels = doc["options"]
    named = [x for x in labels if re.search(rf"\b{x.lower()}\b", answer.lower())]
    letters = "ABC"[: len(labels)]
    lettered = {
        labels[letters.index(x)] for x in re.findall(rf"\b[{letters}]\b", answer)
    }
    return float((named or list(lettered)) == [doc["label"]]), bool(answer)
