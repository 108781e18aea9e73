"""Solve a prompt of ToT semantic: `solve(text)` returns the answer as a string.

The facts are (subject, role, object, first year, year of the end). A description or a
question that fits none or several gives "none" or "ambiguous", which is no label.
"""

from __future__ import annotations

import re


FACT = re.compile(r"^(E\d+) was the (R\d+) of (E\d+) from (\d+) to (\d+)\.$", re.M)


def one(found) -> str:
    values = sorted({str(x) for x in found})
    return values[0] if len(values) == 1 else ("ambiguous" if values else "none")


def holders(facts, role, of, year) -> set:
    return {s for s, r, o, a, b in facts if (r, o) == (role, of) and a <= year < b}


def solve(text: str) -> str:
    facts = [(s, r, o, int(a), int(b)) for s, r, o, a, b in FACT.findall(text)]
    question = text.strip().split("\n")[-1]
    for name, role, of, year in re.findall(
        r"Let (X\d) be the entity that was the (R\d+) of (E\d+|X\d) in (\d+)\.",
        question,
    ):
        entity = one(holders(facts, role, of, int(year)))
        question = re.sub(rf"\b{name}\b", entity, question)
        if not entity.startswith("E"):
            return entity
        # Later descriptions say the name, as this loop reads the first wording.
        facts = [
            *facts,
            *((s, r, name, a, b) for s, r, o, a, b in facts if o == entity),
        ]
    asked = re.sub(r"Let E\d+ be .+?\. ", "", question)
    for pattern, answer in QUESTIONS:
        if found := re.fullmatch(pattern, asked):
            return answer([x for x in facts if x[2][0] == "E"], *found.groups())
    raise ValueError(asked)


def _terms(facts, role, of) -> list:
    return sorted((a, b, s) for s, r, o, a, b in facts if (r, o) == (role, of))


def _next(facts, role, of, way, than) -> str:
    terms = _terms(facts, role, of)
    found = []
    for i, (_, _, who) in enumerate(terms):
        other = i + (1 if way == "after" else -1)
        if who == than and 0 <= other < len(terms):
            found.append(terms[other][2])
    return one(found)


def _at(facts, role, of, year) -> str:
    return one(holders(facts, role, of, int(year)))


def _bound(facts, which, who, role, of) -> str:
    terms = [(a, b) for a, b, s in _terms(facts, role, of) if s == who]
    return one(a if which == "first" else b - 1 for a, b in terms)


def _when(facts, role, of, who, how, role2, of2) -> str:
    years = {
        a if how == "became" else b for a, b, s in _terms(facts, role2, of2) if s == who
    }
    if len(years) != 1:
        return one(years) if not years else "ambiguous"
    return one(holders(facts, role, of, years.pop()))


def _end(facts, which, role, of) -> str:
    terms = _terms(facts, role, of)
    return terms[0 if which == "first" else -1][2] if terms else "none"


def _count(facts, role, of, first, last) -> str:
    terms = _terms(facts, role, of)
    return str(len({s for a, _, s in terms if int(first) <= a <= int(last)}))


def _long(facts, who, role, of) -> str:
    return str(sum(b - a for a, b, s in _terms(facts, role, of) if s == who))


def _line(facts, role, of) -> str:
    return ",".join(s for _, _, s in _terms(facts, role, of))


QUESTIONS = (
    (r"Which entity was the (R\d+) of (E\d+) right (before|after) (E\d+)\?", _next),
    (r"Which entity was the (R\d+) of (E\d+) in (\d+)\?", _at),
    (
        r"Which was the (first|last) year in which (E\d+) was the (R\d+) of (E\d+)\?",
        _bound,
    ),
    (
        r"Which entity was the (R\d+) of (E\d+) in the year in which (E\d+) (became)"
        r" the (R\d+) of (E\d+)\?",
        _when,
    ),
    (r"Which entity was the (first|last) to be the (R\d+) of (E\d+)\?", _end),
    (
        r"How many entities became the (R\d+) of (E\d+) in the years from (\d+) to"
        r" (\d+), both included\?",
        _count,
    ),
    (r"For how many years was (E\d+) the (R\d+) of (E\d+)\?", _long),
    (
        r"Which entities were the (R\d+) of (E\d+), in the order in which they became"
        r" it\?",
        _line,
    ),
)
