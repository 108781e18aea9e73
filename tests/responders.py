"""A responder that knows every answer of ToT arithmetic and obeys every prompt."""

import ast
import json
import re

from lm_eval_tasks.tot.utils import PROMPTED_KEYS


TEMPLATE = re.compile(r"""\{["']explanation["'].*""", re.DOTALL)


def read_label(label: str) -> dict:
    """Return the fields of a label, which is JSON or a Python literal."""
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
    template = TEMPLATE.search(row["question"])[0]
    fields = []
    for key, value in read_label(row["label"]).items():
        asked_key = key
        if not re.search(rf"""["']{key}["']\s*:""", template.split("}")[0]):
            asked_key = PROMPTED_KEYS[key]
        asked = re.search(rf"""(["']){asked_key}["']\s*:\s*(\S)\s*(\S)""", template)
        quote, first, second = asked[1], asked[2], asked[3]
        fields.append((quote, asked_key, _written(value, first, second, literal)))
    if literal:
        quote = template[1]
        body = ", ".join(f"{q}{key}{q}: {text}" for q, key, text in fields)
        return (
            f"JSON = {{{quote}explanation{quote}: {quote}Step by step.{quote}, {body}}}"
        )
    body = ", ".join(f'"{key}": {text}' for _, key, text in fields)
    return f'JSON = {{"explanation": "Step by step.", {body}}}'


def _written(value: object, first: str, second: str, literal: bool) -> str:
    """Return a value as the template's placeholder, by its first two marks, shows it."""
    if isinstance(value, list):
        if literal and second not in "\"'":
            return f"[{', '.join(value)}]"
        return json.dumps(value)
    if first in "\"'":
        return f"{first if literal else chr(34)}{value}{first if literal else chr(34)}"
    if literal or re.fullmatch(r"[0-9]+(\.[0-9]+)?", str(value)):
        return str(value)
    return json.dumps(value)
