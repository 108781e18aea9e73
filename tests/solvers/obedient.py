"""A responder that knows every label and obeys every prompt, in form and in kind."""

from __future__ import annotations

import ast
import json
import re
from itertools import combinations_with_replacement

from tests.solvers.card_rules import squad_words, word_f1


MARKER = "Thus, the correct answer is:"  # what the prompts of TimeBench ask for
# Keys of labels of ToT, as prompts spell them that ask for another.
PROMPTED_KEYS = {"answer": "age", "unordered_list": "unorered_list"}
AS_ASKED, TO_THE_LETTER = "as asked", "to the letter"
# Why a response that obeys its prompt falls short.
KEY = "the prompt names another key than the label"
KIND = "the prompt asks for a number, the label is a text"
NOT_JSON = "the template of the prompt is not JSON"
NOT_IN_TEXT = "the prompt asks for words of the text, the label is not there"
SAME_PROMPT = "the same prompt has another label elsewhere"
OTHER = "another form than the label's"

_TEMPLATE = re.compile(r"""\{["']explanation["'].*""", re.DOTALL)

Responses = dict[str, list[str]]  # way to answer -> responses, all of them obedient


def responses(family: str, doc: dict, prompt: str) -> Responses:
    """Return the responses to a document, and its prompt, by who knows its label."""
    if family == "tot":
        return _tot(doc)
    if family == "tcp":
        return {AS_ASKED: [f"\\boxed{{{doc['answer']}}}"]}
    return {AS_ASKED: [f"{MARKER} {answer}" for answer in _answers(doc, prompt)]}


def why_short(family: str, doc: dict, response: str) -> str:
    """Return why an obedient response does not have the full published score."""
    if family == "tot" and "prompt" not in doc:
        return _why_short_of_label(read_label(doc["label"]), response)
    is_of_text = "golds" in doc and doc.get("context")
    return NOT_IN_TEXT if is_of_text else OTHER


# ------------------------------------------------------------------------------- ToT


def _tot(doc: dict) -> Responses:
    if "prompt" in doc:  # semantic
        return {AS_ASKED: [json.dumps({"answer": doc["label"]})]}
    if not _TEMPLATE.search(doc["question"]):
        return {AS_ASKED: [json.dumps(read_label(doc["label"]))]}
    return {
        AS_ASKED: [perfect_response(doc, literal=False)],
        TO_THE_LETTER: [perfect_response(doc, literal=True)],
    }


def read_label(label: str) -> dict:
    """Return the fields of a label of ToT arithmetic, JSON or a Python literal."""
    try:
        return json.loads(label)
    except ValueError:
        return ast.literal_eval(label)


def perfect_response(row: dict, literal: bool) -> str:
    """Return the label's value in the form that the prompt asks for.

    `literal` keeps to the punctuation of the prompt's template, which is not always
    JSON: `<year> <era>` and `[name1, name2]` have no quotes, some keys single ones.
    Otherwise the answer is valid JSON with the template's keys, and text where the
    template has quotes or the value is none but text.
    """
    template = _TEMPLATE.search(row["question"])[0]
    fields = []
    for key, value in read_label(row["label"]).items():
        asked_key = key
        if not re.search(rf"""["']{key}["']\s*:""", template.split("}")[0]):
            asked_key = PROMPTED_KEYS[key]
        place = re.search(rf"""(["']){asked_key}["']\s*:\s*(\S)\s*(\S)""", template)
        text = _written(value, place[2], place[3], literal)
        fields.append((place[1] if literal else '"', asked_key, text))
    quote = template[1] if literal else '"'
    body = ", ".join(f"{own}{key}{own}: {text}" for own, key, text in fields)
    return f"JSON = {{{quote}explanation{quote}: {quote}Step by step.{quote}, {body}}}"


def _written(value: object, first: str, second: str, literal: bool) -> str:
    """Return a value as the template's placeholder, by its first two marks, shows it."""
    if isinstance(value, list):
        if literal and second not in "\"'":
            return f"[{', '.join(value)}]"
        return json.dumps(value)
    if first in "\"'":
        quote = first if literal else '"'
        return f"{quote}{value}{quote}"
    if literal or re.fullmatch(r"[0-9]+(\.[0-9]+)?", str(value)):
        return str(value)
    return json.dumps(value)


def _why_short_of_label(label: dict, response: str) -> str:
    try:
        answer = json.loads(response[response.index("{") :])
    except ValueError:
        return NOT_JSON
    answer.pop("explanation", None)
    if {*answer} != {*label}:
        return KEY
    is_same_text = all(str(answer[key]) == str(label[key]) for key in label)
    return KIND if is_same_text else OTHER


# ------------------------------------------------------------------------- TimeBench


def _answers(doc: dict, prompt: str) -> list[str]:
    if "letters" in doc:
        return [", ".join(doc["letters"])]
    if "label" in doc:
        return [f"{'ABC'[doc['options'].index(doc['label'])]}. {doc['label']}"]
    if "golds" not in doc:
        return [doc["statement"]]
    # TempReason has a text and facts, of which a prompt shows one.
    texts = (doc.get(name, "").strip() for name in ("context", "fact_context"))
    text = next((text for text in texts if text and text in prompt), None)
    if text is None:
        return doc["golds"]
    quotable = [gold for gold in doc["golds"] if _holds(text, gold)]
    return quotable or [_nearest(text, doc["golds"])]


def _holds(text: str, gold: str) -> bool:
    """Tell whether a gold stands in a text, or says that its answer does not."""
    if gold.casefold() == "unanswerable" or gold.casefold() in text.casefold():
        return True
    return f" {' '.join(squad_words(gold))} " in f" {' '.join(squad_words(text))} "


def _nearest(text: str, golds: list[str]) -> str:
    """Return the words of a text, one after the other, that share most with a gold."""
    words = [(word, squad_words(word)) for word in text.split()]
    wanted = [squad_words(gold) for gold in golds]
    longest = 2 * max(map(len, wanted))
    ends = [n for n, (_, own) in enumerate(words) if {*own} & {*sum(wanted, [])}]
    best, best_score = words[0][0] if words else "", 0.0
    for start, end in combinations_with_replacement(ends, 2):
        if end < start + longest:
            answer = sum((own for _, own in words[start : end + 1]), [])
            score = max(word_f1(answer, gold) for gold in wanted)
            if score > best_score:
                best = " ".join(word for word, _ in words[start : end + 1])
                best_score = score
    return best
