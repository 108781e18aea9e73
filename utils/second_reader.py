"""A second reading of ToT arithmetic answers, to find what the scorer overlooks.

It shares no code and no approach with the scorer. It knows the label, looks for its keys
from the end of the response backwards, and reads what stands behind them as generously
as it can: `float` for numbers, dateutil for dates and times. So it says "right" too often,
and each row on which it does so alone has to be looked at.
"""

import ast
import json
import re

from dateutil import parser


ALIASES = {
    "answer": ["answer", "age"],
    "unordered_list": ["unordered_list", "unorered"],
}


def reads_as_right(row: dict) -> bool:
    """Tell whether the last values behind the label's keys can be read as the label's."""
    try:
        label = json.loads(row["label"])
    except ValueError:
        label = ast.literal_eval(row["label"])
    body = row["response"][: row["response"].rfind("}") + 1]
    return all(
        any(
            _alike(text, value, row["question"])
            for name in ALIASES.get(key, [key])
            for text in _last_value(body, name)
        )
        for key, value in label.items()
    )


def _last_value(body: str, key: str) -> list[str]:
    """Return, in a list, the text behind the last mention of the key; [] without one."""
    mentions = list(re.finditer(rf"""\b{key}["']?\s*[:=]\s*""", body, re.IGNORECASE))
    if not mentions:
        return []
    text = body[mentions[-1].end() :]
    text = re.split(r"""[}\]]|,\s*\n?\s*["'][\w ]+["']\s*:""", text)[0]
    return [text.strip(" \n\t\"',[")]


def _alike(text: str, value: object, question: str) -> bool:
    wanted = str(value)
    if isinstance(value, list):
        return set(re.findall(r"\w+", text.lower())) == set(
            re.findall(r"\w+", " ".join(value).lower())
        )
    if text.lower() == wanted.lower():
        return True
    if re.fullmatch(r"[+-]?\d+(\.\d+)?|same_day", wanted):
        return _number(text) == _number(wanted)
    if re.fullmatch(r"\d+ (AD|BC)", wanted):
        number, era = wanted.split()
        said = re.findall(r"AD|BC", text, re.IGNORECASE) or ["AD"]
        return abs(_number(text) or 0) == float(number) and said == [era]
    if not re.search(r"\d", text):
        return False
    day_first = bool(re.search(r"\b(1[3-9]|2\d|3[01])[-/]\d\d[-/]\d{4}", question))
    for first in (False, day_first):
        try:
            # Fill-ins are the same on both sides; what matters is what is said.
            given = parser.parse(
                text, dayfirst=first, default=parser.parse("2000-01-01")
            )
            asked = parser.parse(
                wanted, dayfirst=first, default=parser.parse("2000-01-01")
            )
        except (ValueError, OverflowError):
            continue
        if wanted.count(":") == 1:  # seconds are not asked
            given = given.replace(second=0)
        if given == asked:
            return True
    return False


def _number(text: str) -> float | None:
    """Return the first number in a text, 0 for the same day, 1 for the next."""
    found = re.search(r"[+-]?\d[\d,]*(\.\d+)?", text)
    if found:
        return float(found[0].replace(",", ""))
    if "same" in text.lower():
        return 0.0
    return 1.0 if "next" in text.lower() else None
