"""Who held which role when, of ToT semantic: facts and question read from the prompt.

Every role of an entity is followed year by year; a question is answered from that
calendar of years alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.solvers import Solution


_FACT = re.compile(r"\b(E\d+) was the (R\d+) of (E\d+) from (\d+) to (\d+)\b")
_LET = re.compile(
    r"Let (X\d+) be the entity that was the (R\d+) of ([EX]\d+) in (\d+)\. "
)

# (role, of) -> year -> who held it, each as often as a fact says so.
Years = dict[tuple[str, str], dict[int, list[str]]]


def solve(prompt: str) -> Solution | None:
    """Return the answers to a prompt's question; None where it cannot be read."""
    told, _, question = prompt.rpartition("\n\n")
    years = _calendar(_FACT.findall(told))
    names: dict[str, str] = {}
    while let := _LET.match(question):
        name, role, of, year = let.groups()
        held = years.get((role, names.get(of, of)), {}).get(int(year), [])
        if len(held) != 1:
            return None
        names[name] = held[0]
        question = question[let.end() :]
    for pattern, answer in _QUESTIONS:
        if asked := re.fullmatch(pattern, question):
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
    return [str(own[0 if said["end"] == "first" else -1])] if own else []


def _meanwhile(years: Years, said: dict) -> list[str]:
    other = {"who": said["who"], "role": said["other_role"], "of": said["other_of"]}
    own = _own_years(years, other)
    return _in_year(years, {**said, "year": own[0]}) if own else []


def _outermost(years: Years, said: dict) -> list[str]:
    order = _order(years, said["role"], said["of"])
    return [order[0 if said["end"] == "first" else -1]] if order else []


def _came(years: Years, said: dict) -> list[str]:
    span = range(int(said["from"]), int(said["to"]) + 1)
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


_ROLE = r"the (?P<role>R\d+) of (?P<of>[EX]\d+)"
_WHO = r"(?P<who>E\d+)"
_QUESTIONS: list[tuple[str, Callable[[Years, dict], list[str]]]] = [
    (rf"Which entity was {_ROLE} right (?P<side>before|after) {_WHO}\?", _beside),
    (rf"Which entity was {_ROLE} in (?P<year>\d+)\?", _in_year),
    (
        rf"Which was the (?P<end>first|last) year in which {_WHO} was {_ROLE}\?",
        _end,
    ),
    (
        rf"Which entity was {_ROLE} in the year in which {_WHO} became"
        r" the (?P<other_role>R\d+) of (?P<other_of>E\d+)\?",
        _meanwhile,
    ),
    (rf"Which entity was the (?P<end>first|last) to be {_ROLE}\?", _outermost),
    (
        rf"How many entities became {_ROLE} in the years from (?P<from>\d+) to"
        r" (?P<to>\d+), both included\?",
        _came,
    ),
    (rf"For how many years was {_WHO} {_ROLE}\?", _length),
    (
        rf"Which entities were {_ROLE}, in the order in which they became it\?",
        _all,
    ),
]
