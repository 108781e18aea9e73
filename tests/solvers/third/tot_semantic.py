"""Solve a prompt of ToT semantic: `solve(text)` returns the answer as a string.

The facts are (subject, role, object, first year, year of the end), in any wording that
names two entities, a role and two years. A description or a question that fits none or
several gives "none" or "ambiguous", which is no label.
"""

from __future__ import annotations

import re
from functools import cache


Fact = tuple[str, str, str, int, int]


def read_facts(text: str) -> list[Fact]:
    return [fact for x in re.split(r"[.\n]", text) if (fact := read_fact(x))]


@cache  # as prompts are solved without one fact after the other
def read_fact(sentence: str) -> Fact | None:
    entities = re.findall(r"\b[EX]\d+", sentence)
    roles = re.findall(r"\bR\d+", sentence)
    years = re.findall(r"\b\d{4}\b", sentence)
    if (len(entities), len(roles), len(years)) != (2, 1, 2):
        return None
    if " had " in sentence:  # "E5 had E40 for its R1"
        entities.reverse()
    return entities[0], roles[0], entities[1], *map(int, years)


def one(found) -> str:
    values = sorted({str(x) for x in found})
    return values[0] if len(values) == 1 else ("ambiguous" if values else "none")


def holders(facts, role, of, year) -> set:
    return {s for s, r, o, a, b in facts if (r, o) == (role, of) and a <= year < b}


def solve(text: str) -> str:
    *lines, question = text.strip().split("\n")
    facts = read_facts("\n".join(lines))
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
    plain = re.sub(r"Let E\d+ be .+?\. ", "", question)
    for wording, words in ROLES:
        plain = re.sub(wording, words, plain)
    for pattern, answer in QUESTIONS:
        if match := re.search(pattern, plain):
            return answer([x for x in facts if x[2][0] == "E"], **match.groupdict())
    raise ValueError(plain)


def _terms(facts, role, of) -> list:
    return sorted((a, b, s) for s, r, o, a, b in facts if (r, o) == (role, of))


def _before(facts, role, of, who) -> str:
    terms = _terms(facts, role, of)
    return one(x for (_, _, x), (_, _, y) in zip(terms, terms[1:]) if y == who)


def _after(facts, role, of, who) -> str:
    terms = _terms(facts, role, of)
    return one(y for (_, _, x), (_, _, y) in zip(terms, terms[1:]) if x == who)


def _at(facts, role, of, year) -> str:
    return one(holders(facts, role, of, int(year)))


def _years(facts, who, role, of) -> list:
    return [(a, b) for a, b, s in _terms(facts, role, of) if s == who]


def _start(facts, who, role, of) -> str:
    return one(a for a, _ in _years(facts, who, role, of))


def _end(facts, who, role, of) -> str:
    return one(b for _, b in _years(facts, who, role, of))


def _last_year(facts, who, role, of) -> str:
    return one(b - 1 for _, b in _years(facts, who, role, of))


def _when(facts, role, of, who, role2, of2, end=None) -> str:
    years = {b if end else a for a, b in _years(facts, who, role2, of2)}
    return one(x for year in years for x in holders(facts, role, of, year))


def _first(facts, role, of) -> str:
    return one(s for _, _, s in _terms(facts, role, of)[:1])


def _last(facts, role, of) -> str:
    return one(s for _, _, s in _terms(facts, role, of)[-1:])


def _count_starts(facts, role, of, first, last) -> str:
    terms = _terms(facts, role, of)
    return str(len({s for a, _, s in terms if int(first) <= a <= int(last)}))


def _count(facts, role, of, first, last) -> str:
    terms = _terms(facts, role, of)
    return str(len({s for a, b, s in terms if a < int(last) and b > int(first)}))


def _long(facts, who, role, of) -> str:
    return str(sum(b - a for a, b in _years(facts, who, role, of)))


def _line(facts, role, of) -> str:
    return ",".join(s for _, _, s in _terms(facts, role, of))


ROLES = (  # the wordings of a role, and a plain one
    (r"took up|first acted as|started being", "became"),
    (r"(E\d+) have (?:for its|as) (R\d+)", r"\2 of \1"),
    (r"(R\d+) that (E\d+) had", r"\1 of \2"),
    (
        r"(?:\b(?:act(?:ed)?|begin) as )?(?:the )?(R\d+) (?:of|for|at) (E\d+)",
        r"\1 of \2",
    ),
)
_ROLE, _WHO = r"(?P<role>R\d+) of (?P<of>E\d+)", r"(?P<who>E\d+)"
_ROLE_2 = r"(?P<role2>R\d+) of (?P<of2>E\d+)"
_SPAN = r"(?P<first>\d{4})(?: to | up to | and )(?P<last>\d{4})"
QUESTIONS = (  # the first that is in the question counts
    (rf"{_ROLE}\b.*(?:in the order in which|chronological)", _line),
    (rf"(?:oldest first|chronological).*{_ROLE}", _line),
    (rf"became {_ROLE} in the years from {_SPAN}, both included", _count_starts),
    (rf"(?:How many|number of).*{_ROLE} (?:from|between) {_SPAN}", _count),
    (rf"(?:how (?:many years|long)|number of years).*{_WHO} .*{_ROLE}", _long),
    (rf"(?:right|immediately) (?:before|prior to) {_WHO}.*{_ROLE}", _before),
    (rf"{_ROLE} (?:right|immediately) (?:before|prior to) {_WHO}", _before),
    (rf"{_ROLE} (?:right|immediately) after {_WHO}", _after),
    (rf"followed {_WHO} as {_ROLE}", _after),
    (rf"{_ROLE}.* (?:when|in which) {_WHO} became {_ROLE_2}", _when),
    (rf"{_ROLE}.* (?:when|in which) {_WHO} (?P<end>ceased) to be {_ROLE_2}", _when),
    (rf"year that {_WHO} became {_ROLE_2}, .*{_ROLE}", _when),
    (rf"last year in which {_WHO} was {_ROLE}", _last_year),
    (rf"{_WHO} (?:cease|stop)\w* (?:to be|being) {_ROLE}", _end),
    (rf"first year in which {_WHO} was {_ROLE}", _start),
    (rf"(?:[Ww]hen|year|time).* {_WHO} (?:start being |became )?{_ROLE}", _start),
    (rf"\b(?:first|earliest).* {_ROLE}", _first),
    (rf"\b(?:last|final|latest).* {_ROLE}", _last),
    (rf"{_ROLE} (?:in|on the first day of) (?P<year>\d{{4}})", _at),
    (rf"In (?P<year>\d{{4}}), .*{_ROLE}", _at),
)
