"""Who held which role when, of ToT semantic: facts and question read from the prompt.

Every role of an entity is followed year by year; a question is answered from that
calendar of years alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from lm_eval_tasks.fresh.utils import GENERATORS
from tests.solvers import Solution


_TABLE = json.loads((GENERATORS / "_semantic.json").read_text(encoding="utf-8"))
_NUMBER = r"\d+"
_FIELDS = {"of": r"[EX]\d+", "name": r"X\d+", "side": "before|after|first|last"}


def _pattern(wording: str) -> re.Pattern:
    """Return the pattern of an entry of the generator's table: "R{role}" is a group."""

    def group(field: re.Match) -> str:
        letter, name = field.groups()
        return (
            f"(?P<{name}>{letter}{_NUMBER if letter else _FIELDS.get(name, _NUMBER)})"
        )

    return re.compile(re.sub(r"([RE]?)\\{(\w+)\\}", group, re.escape(wording)))


_FACT, _LET = _pattern(_TABLE["fact"]), _pattern(_TABLE["description"] + " ")

# (role, of) -> year -> who held it, each as often as a fact says so.
Years = dict[tuple[str, str], dict[int, list[str]]]


def solve(prompt: str) -> Solution | None:
    """Return the answers to a prompt's question; None where it cannot be read."""
    told, _, question = prompt.rpartition("\n\n")
    years = _calendar(_FACT.findall(told))
    names: dict[str, str] = {}
    while let := _LET.match(question):
        name, role, of, year = let.group("name", "role", "of", "year")
        held = years.get((role, names.get(of, of)), {}).get(int(year), [])
        if len(held) != 1:
            return None
        names[name] = held[0]
        question = question[let.end() :]
    for kind, answer in _QUESTIONS.items():
        if asked := _pattern(_TABLE["questions"][kind]).fullmatch(question):
            said = {k: names.get(v, v) for k, v in asked.groupdict().items()}
            found = answer(years, said)
            way = ", ".join(f"{name} is {entity}" for name, entity in names.items())
            return Solution(tuple(found), way or "as asked") if found else None
    return None


def _calendar(facts: list[tuple[str, str, str, str, str]]) -> Years:
    years: Years = {}
    for holder, role, of, start, end in facts:
        held = years.setdefault((role, of), {})
        for year in range(int(start), int(end)):
            held.setdefault(year, []).append(holder)
    return years


def _order(years: Years, role: str, of: str) -> list[str]:
    """Return who held a role, in the order in which they came to it."""
    held = years.get((role, of), {})
    return list(dict.fromkeys(holder for year in sorted(held) for holder in held[year]))


def _own_years(years: Years, said: dict) -> list[int]:
    """Return the years in which an entity held a role."""
    held = years.get((said["role"], said["of"]), {})
    return sorted(year for year, holders in held.items() if said["who"] in holders)


def _beside(years: Years, said: dict) -> list[str]:
    order = _order(years, said["role"], said["of"])
    if said["who"] not in order:
        return []
    place = order.index(said["who"]) + (1 if said["side"] == "after" else -1)
    return [order[place]] if 0 <= place < len(order) else []


def _in_year(years: Years, said: dict) -> list[str]:
    return years.get((said["role"], said["of"]), {}).get(int(said["year"]), [])


def _end(years: Years, said: dict) -> list[str]:
    own = _own_years(years, said)
    return [str(own[0 if said["side"] == "first" else -1])] if own else []


def _meanwhile(years: Years, said: dict) -> list[str]:
    other = {"who": said["who"], "role": said["other_role"], "of": said["other_of"]}
    own = _own_years(years, other)
    return _in_year(years, {**said, "year": own[0]}) if own else []


def _outermost(years: Years, said: dict) -> list[str]:
    order = _order(years, said["role"], said["of"])
    return [order[0 if said["side"] == "first" else -1]] if order else []


def _came(years: Years, said: dict) -> list[str]:
    span = range(int(said["start"]), int(said["end"]) + 1)
    starts = [
        _own_years(years, {**said, "who": who})[0]
        for who in _order(years, said["role"], said["of"])
    ]
    return [str(sum(start in span for start in starts))]


def _length(years: Years, said: dict) -> list[str]:
    own = _own_years(years, said)
    return [str(len(own))] if own else []


def _all(years: Years, said: dict) -> list[str]:
    return [",".join(_order(years, said["role"], said["of"]))]


_QUESTIONS: dict[str, Callable[[Years, dict], list[str]]] = {
    "before_after": _beside,
    "event_at_time_t": _in_year,
    "event_at_what_time": _end,
    "event_at_the_time_of_another_event": _meanwhile,
    "first_last": _outermost,
    "number_of_events_in_time_interval": _came,
    "relation_duration": _length,
    "timeline": _all,
}
