"""The families of the public questions of ToT arithmetic, each with its brute force.

A family is a pattern, and what yields each possible answer with its reckoning. Where English or a number leaves two readings (05-04-2010, "moved forward"),
both are answers. Nothing is fitted to the labels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

from tests.solvers import Solution, reading as r
from tests.solvers.reading import Unreadable, pattern


Found = Iterator[tuple[dict, str]]


# ---------------------------------------------------------------------- add_subtract


def _shift_years(match: re.Match, sign: int) -> Found:
    """A year some years from another, over the line between the eras."""
    start, years = r.read_era(match["year"]), sign * int(match["number"])
    reached = r.era(r.walk_years(start, years))
    note = " (there is no year 0)" if start * r.walk_years(start, years) < 0 else ""
    yield {"answer": reached}, f"{match['year']} {years:+} years = {reached}{note}"


def _shift_weekday(match: re.Match, sign: int) -> Found:
    """A weekday some days from another."""
    start, days = r.WEEKDAYS.index(match["weekday"]), int(match["number"])
    at = start
    for _ in range(days):
        at = (at + sign) % 7
    yield {"answer": r.WEEKDAYS[at]}, f"{match['weekday']} {sign * days:+} days"


def _shifted(day: r.Day, number: int, unit: str) -> list[r.Day]:
    """Return the days that some days, weeks, months or years from a day may be."""
    if unit in ("day", "week"):
        return [r.walk(day, number * (7 if unit == "week" else 1))]
    months = number * (12 if unit == "year" else 1)
    reached = r.walk_months(day, months)
    is_short = reached[2] != day[2]  # where a month has no such day, some count on
    return [reached, r.walk(reached, 1)] if is_short else [reached]


def _shift_date(match: re.Match, signs: tuple[int, ...]) -> Found:
    """A date some units from another, in all its readings."""
    unit = match["unit"].rstrip("s")
    for day, sign in product(r.read_dates(match["date"]), signs):
        number = sign * int(match["number"])
        for reached in _shifted(day, number, unit):
            way = f"{r.iso(day)} {number:+} {unit}s = {r.iso(reached)}"
            yield {"answer" if unit == "year" else "date": r.american(reached)}, way


def _year_only(match: re.Match, sign: int) -> Found:
    """The year some years from a date."""
    for year in sorted({day[0] for day in r.read_dates(match["date"])}):
        reached = r.walk_years(year, sign * int(match["number"]))
        yield {"answer": str(reached)}, f"{year} {sign * int(match['number']):+} years"


# --------------------------------------------------------------------------- compare

Item = tuple[str, str]  # what it is, and when


def _respectively(names: str, times: str) -> list[Item]:
    names = [name.strip() for name in re.split(r",|\band\b", names) if name.strip()]
    told = [re.sub(r"^and ", "", time.strip()) for time in times.split(";")]
    if len(names) != len(told):
        raise Unreadable(names)
    return list(zip(names, told))


def _activities(match: re.Match) -> list[Item]:
    item = pattern(
        "{rest} {when}. ... some {rest2} and {rest3} {when2} and {when3} ... also {rest4}"
        " {when4} and {rest5} {when5}"
    ).fullmatch(match["rest"])
    if not item:
        raise Unreadable(match["rest"])
    return [(item[f"rest{n}"], item[f"when{n}"]) for n in ("", 2, 3, 4, 5)]


def _listed(match: re.Match) -> list[Item]:
    return _respectively(match["rest"], match["rest2"])


def _times_first(match: re.Match) -> list[Item]:
    return _respectively(match["rest2"], match["rest"])


def _projects(match: re.Match) -> list[Item]:
    names = list(
        re.finditer(r"(?:^|, | and )(\w+) finished their project on/in ", match["rest"])
    )
    ends = [name.start() for name in names[1:]] + [len(match["rest"])]
    return [
        (name[1], match["rest"][name.end() : end]) for name, end in zip(names, ends)
    ]


def _readings(items: list[Item]) -> Iterator[list[tuple[tuple, str]]]:
    """Yield the moments and names of items, for each reading of them all."""
    for moments in product(*(r.read_moments(when) for _, when in items)):
        yield list(zip(moments, (name for name, _ in items)))


def _told(items: list[tuple[tuple, str]]) -> str:
    return ", ".join(
        f"{name} {r.iso(day) if day[0] else ''} {r.clock(seconds)}"
        for (day, seconds), name in items
    )


def _beyond(match: re.Match, read: Callable) -> Found:
    """What is strictly before or after a limit."""
    for limit in r.read_moments(match["when"]):
        for items in _readings(read(match)):
            chosen = [
                name
                for moment, name in items
                if (moment < limit if match["side"] == "before" else moment > limit)
            ]
            yield {"unordered_list": chosen}, f"{match['side']} {limit}: {_told(items)}"


def _sorted(match: re.Match, read: Callable) -> Found:
    """All in order; those at the same time may come in any."""
    for items in _readings(read(match)):
        order = sorted(items, key=lambda item: item[0])
        if match["way"] == "descending":
            order.reverse()
        names = [name for _, name in order]
        yield {"ordered_list": names}, _told(order)
        for place, (one, other) in enumerate(zip(order, order[1:])):
            if one[0] == other[0]:
                swapped = [*names]
                swapped[place : place + 2] = reversed(names[place : place + 2])
                yield {"ordered_list": swapped}, f"{one[1]} and {other[1]} are equal"


def _outermost(match: re.Match, read: Callable) -> Found:
    """All that are first, or last."""
    for items in _readings(read(match)):
        moments = sorted(moment for moment, _ in items)
        wanted = moments[0 if match["rank"] == "first" else -1]
        chosen = [name for moment, name in items if moment == wanted]
        yield {"unordered_list": chosen}, _told(items)


def _moments_of_eras(told: str) -> list[tuple]:
    date, name = told.rsplit(" ", 1)
    if re.fullmatch(r"\d+", date):
        return [(r.read_era(told), 0, 0)]
    days = r.read_dates(date)
    return [(-year if name == "BC" else year, month, day) for year, month, day in days]


def _earlier(match: re.Match) -> Found:
    """Which of two is earlier, or that they are equal."""
    one, other = (_moments_of_eras(match[key]) for key in ("rest", "rest2"))
    for first, second in product(one, other):
        answer = match["name"] if first < second else match["name2"]
        if first == second:
            answer = "equal"
        elif first[0] == second[0] and 0 in (first[1], second[1]):
            raise Unreadable("a year and a day in it")
        yield {"answer": answer}, f"{match['name']} {first}, {match['name2']} {second}"


# -------------------------------------------------------------------------- duration


def _pairs(match: re.Match) -> Iterator[tuple[r.Day, r.Day]]:
    for first, last in product(
        *(r.read_dates(match[key]) for key in ("date", "date2"))
    ):
        if r.exists(first) and r.exists(last):
            yield first, last


def _people(match: re.Match) -> Iterator[tuple[r.Day, r.Day]]:
    """Yield when the two people of the second sentence were born, who were of the first."""
    order = [match[name] for name in ("name", "name2")]
    one, other = (order.index(match[name]) for name in ("name3", "name4"))
    for born in _pairs(match):
        yield born[one], born[other]


def _days_after(match: re.Match) -> Found:
    """Days between two dates, and those that were over on the first."""
    over = int(match["number"]) if "number" in match.re.groupindex else 0
    for first, last in _pairs(match):
        days = r.days_between(first, last)
        way = f"{r.iso(first)} to {r.iso(last)}: {days} days" + f", {over:+}" * bool(
            over
        )
        yield {"answer": days + over}, way


def _days_older(match: re.Match) -> Found:
    """The age in days of one when another had an age; the one may be older or younger."""
    for reference, asked in _people(match):
        days, over = r.days_between(asked, reference), int(match["number"])
        way = f"born {r.iso(asked)}, {days} days before {r.iso(reference)}; {over:+}"
        yield {"answer": days + over}, way


def _days_apart(match: re.Match) -> Found:
    """By how many days one is older than another."""
    for older, younger in _people(match):
        days = r.days_between(older, younger)
        yield {"answer": days}, f"{r.iso(older)} to {r.iso(younger)}: {days} days"


def _months_after(match: re.Match) -> Found:
    """Full months between two dates."""
    is_of_two = "name4" in match.re.groupindex
    for pair in _people(match) if is_of_two else _pairs(match):
        first, last = reversed(pair) if is_of_two else pair
        months = r.full_months(first, last)
        yield {"answer": months}, f"{r.iso(first)} to {r.iso(last)}: {months} months"


def _time_passed(match: re.Match) -> Found:
    """The time from a start to an end, which may be on the next day."""
    start, end = r.read_time(match["time"]), r.read_time(match["time2"])
    if "ended" in match.re.groupindex:
        start, end = end, start
    passed = end - start + (r.DAY_SECONDS if end < start else 0)
    hours, minutes, seconds = r.split_time(passed)
    answer = {"hours": hours, "minutes": minutes, "seconds": seconds}
    yield answer, f"{r.clock(start)} to {r.clock(end)}: {r.clock(passed)}"


# -------------------------------------------------------------------------- multi_op


def _split(seconds: int, times: int, parts: int, keys: str) -> Found:
    """Yield a duration times a number, divided by another, under three keys."""
    if seconds * times % parts:
        raise Unreadable("no full seconds")
    total = seconds * times // parts
    answer = dict(zip(keys, r.split_time(total)))
    yield answer, f"{r.clock(seconds)} x {times} / {parts} = {r.clock(total)}"


def _average(match: re.Match) -> Found:
    """The mean of durations."""
    times = [r.read_duration(time) for time in re.findall(r"\d+:\d+:\d+", match[0])]
    if len(times) < 2:
        raise Unreadable("no mean")
    yield from _split(sum(times), 1, len(times), "HMS")


def _paced(match: re.Match, keys: str) -> Found:
    """The same, where the number stands somewhere in what is done."""
    jobs = []
    for told in (match["rest"], match["rest2"]):
        found = re.search(r"\b\d+\b", told)
        thing = re.sub(r"\b(?:\d+|an?|one)\b|\btimes\b", " ", told)
        thing = " ".join(re.sub(r"(?:es|e|s)\b", "", word) for word in thing.split())
        jobs.append((int(found[0]) if found else 1, thing))
    (sample, thing), (wanted, same) = jobs
    if thing.replace("for", "").split() != same.replace("for", "").split():
        raise Unreadable((thing, same))
    yield from _split(r.read_duration(match["duration"]), wanted, sample, keys)


def _next_date(match: re.Match) -> Found:
    """The first day after today that is so many days, or a multiple, from the first."""
    told = match["date"], match["date2"]
    for first, today in _pairs(match):
        forms = {_form(text, day) for text, day in zip(told, (first, today))} - {"May"}
        if len(forms) != 1:  # of dates with numbers alone, one has the month first
            continue
        day = first
        while day <= today:
            day = r.walk(day, int(match["number"]))
        way = f"every {match['number']} days from {r.iso(first)}, today {r.iso(today)}"
        yield {"answer": _written(day, forms.pop(), told[0])}, f"{way}: {r.iso(day)}"


def _form(told: str, day: r.Day) -> str:
    """Return the strftime code of a date's month, or the order of its numbers."""
    if name := re.search("[A-Za-z]+", told):
        is_full = name[0].lower() in r.MONTHS
        return "May" if name[0] == "May" else "%B" if is_full else "%b"
    return "mdy" if (int(told[:2]), int(told[3:5])) == day[1:] else "dmy"


def _written(day: r.Day, form: str, like: str) -> str:
    """Return a day in the form of other dates, such as `like`."""
    year, month, number = day
    if form in ("mdy", "dmy"):
        pair = (month, number) if form == "mdy" else (number, month)
        return f"{pair[0]:02}-{pair[1]:02}-{year}"
    name = r.MONTHS[month - 1].capitalize()[: 3 if form == "%b" else None]
    return (
        f"{number:02} {name}, {year}"
        if like[0].isdigit()
        else f"{name} {number:02}, {year}"
    )


def _clock_after(match: re.Match) -> Found:
    """The clock after durations."""
    parts = [
        r.read_duration(found[0])
        for found in re.finditer(r.SHAPES["duration"], match["rest"])
    ]
    days, moment = r.wait(r.read_time(match["time"]) + sum(parts))
    way = " + ".join(map(r.clock, parts))
    answer = {"day": r.day_offset(days), "time": r.clock(moment)}
    yield answer, f"{match['time']} + {way} = {answer['day']} {answer['time']}"


# -------------------------------------------------------------------------- schedule

_SPAN = re.compile(r"(noon|\d+(?::\d\d)?)\s*to\s*(noon|\d+(?::\d\d)?)")


def _office_minute(told: str) -> int:
    """Return a minute of the day of an hour between 9 AM and 5 PM."""
    hours, _, minutes = told.replace("noon", "12").partition(":")
    hour = int(hours) + (12 if int(hours) < 8 else 0)
    return 60 * hour + int(minutes or 0)


def _minutes(told: str) -> set[int]:
    minutes: set[int] = set()
    for start, end in _SPAN.findall(told):
        minutes |= set(range(_office_minute(start), _office_minute(end)))
    return minutes


def _half_hours(free: set[int]) -> Found:
    starts = [
        start
        for start in range(0, 24 * 60, 30)
        if all(minute in free for minute in range(start, start + 30))
    ]
    told = " ".join(r.clock(60 * start, False) for start in starts)
    yield {"answer": len(starts)}, f"{len(starts)} starts: {told}"


def _available(match: re.Match) -> Found:
    """The half hours in which all are available."""
    free = set(range(24 * 60))
    for told in re.split(r"[A-Z]\w+(?: is (?:available )?from| is|:)", match[0]):
        if _SPAN.search(told):
            free &= _minutes(told)
    yield from _half_hours(free)


def _booked(match: re.Match) -> Found:
    """The half hours from 9 to 5 in which nobody is booked who cannot move that."""
    free = set(range(9 * 60, 17 * 60))
    flexible = re.search(r"(\w+) is flexible", match["rest"])
    _, *told = re.split(r"(\w+)'s ", match["rest"])
    for owner, spans in zip(told[::2], told[1::2]):
        if not flexible or flexible[1] != owner:
            free -= _minutes(spans)
    yield from _half_hours(free)


# -------------------------------------------------------------------------- timezone


def _zone_gap(match: re.Match) -> Found:
    """How far two zones are apart."""
    gap = abs(r.read_offset(match["offset"]) - r.read_offset(match["offset2"]))
    hours, minutes, _ = r.split_time(gap)
    yield {"hours": hours, "minutes": minutes}, f"{match['offset']}, {match['offset2']}"


def _converted(match: re.Match, with_seconds: bool) -> Found:
    """A local time elsewhere, after what may have passed."""
    there, here = r.read_offset(match["offset2"]), r.read_offset(match["offset"])
    passed = 0
    if "rest3" in match.re.groupindex:
        passed = r.read_duration(match["rest3"])
    moment = r.read_time(match["time"]) + passed + there - here
    days, time = r.wait(moment)
    answer = {"day": r.day_offset(days), "time": r.clock(time, with_seconds)}
    yield (
        answer,
        (
            f"{match['time']} + {r.clock(passed)} + {match['offset2']} - {match['offset']}"
            f" = {answer['day']} {r.clock(time)}"
        ),
    )


def _converted_back(match: re.Match) -> Found:
    """The time in A when it is another in B: the offsets stand the other way round."""
    here, there = r.read_offset(match["offset2"]), r.read_offset(match["offset"])
    days, time = r.wait(r.read_time(match["time"]) + there - here)
    answer = {"day": r.day_offset(days), "time": r.clock(time)}
    yield answer, f"{match['time']} + {match['offset']} - {match['offset2']}"


def _flight(match: re.Match) -> Found:
    """The time of a flight: arriving on the same local date, or as soon as can be."""
    start = r.read_time(match["time"]) - r.read_offset(match["offset"])
    end = r.read_time(match["time2"]) - r.read_offset(match["offset2"])
    passed = end - start
    passed += r.DAY_SECONDS if passed < 0 else 0
    for total in sorted({passed, passed % r.DAY_SECONDS}, reverse=True):
        days, rest = r.wait(total)
        hours, minutes, seconds = r.split_time(rest)
        answer = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds}
        yield answer, f"{match['time2']} - {match['time']} in UTC: {r.clock(total)}"


# ----------------------------------------------------------------------------- trick


def _from_today(match: re.Match) -> Found:
    """The date some days from a today that is told in a roundabout way."""
    (day,) = r.read_dates(match["date"])
    reached = r.walk(day, int(match["number"]))
    yield {"answer": r.iso(reached)}, f"{r.iso(day)} + {match['number']} days"


def _hours_on(match: re.Match) -> Found:
    """The weekday some hours from a time, or from any time of a day."""
    is_told = "time" in match.re.groupindex
    starts = [r.read_time(match["time"])] if is_told else range(0, r.DAY_SECONDS, 60)
    hours = int(match["number"])
    days = {(start + hours * 3600) // r.DAY_SECONDS for start in starts}
    first = r.WEEKDAYS.index(match["weekday"])
    names = [r.WEEKDAYS[(first + day) % 7] for day in sorted(days)]
    answer = names[0] if len(names) == 1 else "unanswerable"
    yield (
        {"answer": answer},
        f"{match['weekday']} + {hours} hours: {' or '.join(names)}",
    )


def _age(match: re.Match) -> Found:
    """The full years of an age; without the year of birth, unanswerable."""
    if "date2" not in match.re.groupindex:
        yield {"answer": "unanswerable"}, "the year of birth is not told"
        return
    for born, day in _pairs(match):
        years = r.full_years(born, day)
        yield {"answer": years}, f"{r.iso(born)} to {r.iso(day)}: {years} birthdays"


def _first_exam(match: re.Match) -> Found:
    """Who was first; several are no single answer."""
    people = [(match[f"name{n}"], match[f"date{n}"]) for n in ("", 2, 3)]
    for items in _readings(people):
        first = min(moment for moment, _ in items)
        names = [name for moment, name in items if moment == first]
        yield {"answer": names[0] if len(names) == 1 else "unanswerable"}, _told(items)


def _before_noon(match: re.Match) -> Found:
    """The weekdays some hours from a time before noon."""
    hours, noon = int(match["number"]), r.DAY_SECONDS // 2
    days = {(start + hours * 3600) // r.DAY_SECONDS for start in range(0, noon, 60)}
    first = r.WEEKDAYS.index(match["weekday"])
    names = [r.WEEKDAYS[(first + day) % 7] for day in sorted(days)]
    yield {"unordered_list": names}, f"{match['weekday']} 00:00-11:59 + {hours} hours"


def _days_before(match: re.Match) -> Found:
    """The date some days before another, if that exists."""
    day, days = r.read_date(match["date"]), int(match["number"])
    if not r.exists(day):
        yield {"answer": "unanswerable"}, f"{match['date']} is not in the calendar"
        return
    reached = r.walk(day, -days)
    yield {"answer": r.iso(reached)}, f"{r.iso(day)} - {days} days = {r.iso(reached)}"


# What solves a kind of question, and what shows it, without what it says of the format: of
# its words only those that tell it from others.
_TABLE: tuple[tuple, ...] = (
    (
        partial(_shift_years, sign=1),
        "... started in {year} and <went on for|took> {number} years. ...",
        "... {number} year period ... {year}. ...",
        "... born in the year {year} and lived {number} years. ...",
    ),
    (
        partial(_shift_years, sign=-1),
        "... ended in {year} after ... {number} years. ...",
    ),
    (
        partial(_shift_weekday, sign=1),
        "... {weekday} ... in {number} days. ...",
        "... {weekday}, ... {number} days from now?",
    ),
    (
        partial(_shift_weekday, sign=-1),
        "... {weekday}, ... {number} days before now?",
        "... {weekday} ... {number} days ago. ...",
    ),
    (
        partial(_shift_date, signs=(1,)),
        "... {date}, ... postponed by {number} {unit}. ...",
        "... current date is {date}, ... {number} {unit} from now ...",
        "... {date}. ... {number} {unit} from expiry. ...",
        "... {date}, ... a {number} {unit} extension. ...",
        "... sent on {date} and takes {number} {unit} ...",
    ),
    (
        partial(_shift_date, signs=(-1,)),
        "... {date}, ... preponed by {number} {unit}. ...",
        "... current date is {date}, ... {number} {unit} before now?",
        "... {date}. ... {number} {unit} in advance. ...",
        "... delivered on {date}. It takes {number} {unit} ...",
        "... {date}, ... early by {number} {unit}. ...",
        "... early by {number} {unit}. ... {date}, ...",
    ),
    (
        partial(_shift_date, signs=(1, -1)),
        "... forward by {number} {unit}. ... {date}, ...",
    ),
    (
        partial(_year_only, sign=1),
        "... exactly {number} years ... started ... in {date}. ...",
        "... established in {date}. ... {number}<st|nd|rd|th|> anniversary?",
    ),
    (
        partial(_year_only, sign=-1),
        "... exactly {number} years ... ended ... in {date}. ...",
        "... {number}<st|nd|rd|th|> anniversary today. ... {date}, ...",
    ),
    (
        partial(_beyond, read=_listed),
        "<If|>{rest} have their exams at ...: {rest2} respectively<.|,> ... strictly"
        " {side:before|after} the ... of {when}. {rest3}",
    ),
    (
        partial(_beyond, read=_activities),
        "... did. He was {rest}. Find ... strictly {side:before|after} the ... of {when}."
        " {rest3}",
    ),
    (
        partial(_sorted, read=_listed),
        "If {rest} have their exams at ...: {rest2} respectively, arrange ..."
        " {way:ascending|descending} {rest3}",
    ),
    (
        partial(_sorted, read=_activities),
        "... did. He was {rest}. Arrange ... {way:ascending|descending} {rest3}",
    ),
    (
        _earlier,
        r"... {name:E\d+} ... in {rest} and ... {name2:E\d+} ... in {rest2}. ...",
    ),
    (
        partial(_outermost, read=_listed),
        "<In a story, if|If> {rest} <finished|have> ...: {rest2} respectively, ..."
        " {rank:first|last}? ...",
        "... activities {rest} is {rest2} respectively. ... {rank:first|last}? ...",
    ),
    (
        partial(_outermost, read=_times_first),
        '... ";". {rest} were ... cities {rest2} respectively, ... {rank:first|last}? ...',
    ),
    (
        partial(_outermost, read=_projects),
        "In a movie, <if|> {rest}, who finished {rank:first|last}? ...",
    ),
    (
        _days_older,
        "{name} and {name2} were born on {date} and {date2} ... When {name3} was {number}"
        " days old, ... {name4} ...",
    ),
    (
        _days_apart,
        "{name} was born on {date} and {name2} was born on {date2}. ... is {name3} older"
        " than {name4}?",
    ),
    (
        _days_after,
        "... {number} days <old|> on {date}. ... days ... on {date2}<,|.> {rest}",
    ),
    (
        _days_after,
        "... birthdate ... is {date}. Today is {date2}. ... days.",
        "... current date ... is {date2} and ... born on {date}, ... days?",
        "... born on {date}. ... days on {date2}. ...",
    ),
    (
        _months_after,
        "Today is {date2} ... born on {date}. ... months old. {rest}",
        "{name} was born on {date} and {name2} was born on {date2}. {name3} ... months"
        " younger than {name4}. {rest}",
    ),
    (
        _time_passed,
        "... {ended:ended} at {time}. ... at {time2}? ... next day.",
        "... at {time} and <finished|wrapped up> at {time2}<,|.> ... next day.",
    ),
    (
        _average,
        "{rest} average{rest2}",
    ),
    (
        _next_date,
        "... every {number} days<.|,> ... on {date}. ... today is {date2}, ...",
        "... on {date} and ... every {number} days. ... today is {date2}, ...",
    ),
    (
        partial(_paced, keys="HMS"),
        "... the robot {duration} to {rest}. ... has to {rest2}. Suppose ...",
        "{name} {rest} in {duration}. ... to {rest2}, at the same pace. ...",
        "... to {rest2} if the time taken to {rest} is {duration}, ...",
    ),
    (
        partial(_paced, keys="ABC"),
        "... the robot {duration} to {rest}, on average. ... to {rest2}, ... A hours, ...",
        r"... the robot {duration:\d+:\d+:\d+} ... to {rest}, on average. ... to {rest2}."
        " ... A hours, ...",
    ),
    (
        partial(_paced, keys="XYZ"),
        "It takes {name} ... {duration} to {rest}<, on average|>. ... to {rest2} at the same"
        " rate, ... X hours, ...",
        "... to {rest} is {duration}. ... to {rest2} at the same rate. ...",
        "... to {rest2} if {name} takes {duration} to {rest}. ... X hours, ...",
    ),
    (
        _clock_after,
        "... starts ... at {time}. {rest} What time ...?",
        "... leaves ... at {time} and {rest} What time ...?",
        "... has {number} assignments ... {rest} If ... at {time}, what time ...?",
    ),
    (
        _booked,
        "{rest2}work from 9am to 5pm. {rest}",
    ),
    (
        _available,
        "{rest}availab{rest2}",
    ),
    (
        _zone_gap,
        "... difference ... in {name}({offset}) and ... in {name2}({offset2}). ...",
    ),
    (
        partial(_converted, with_seconds=False),
        "... call ... at {time} <UTC|IST|PST|EST>{offset}. ... {name}({offset2}).",
        r"... at {time} <UTC|IST|PST|EST>{offset} and ... {rest3:\d+:\d+:\d+}(hh:mm:ss)"
        " later. ... {name}({offset2})).",
    ),
    (
        partial(_converted, with_seconds=True),
        "... ({name} {offset}) ... at {time}, A's time. ... {name2} ({offset2}), ...",
        "... UTC {offset}, ... UTC {offset2}. ... in Location A is {time}, ...",
        "... it is {time} in ... ({name} {offset}), ... in ... ({name2} {offset2})?",
    ),
    (
        _converted_back,
        "... time in ... ({offset} {name}) when ... is {time} {name2} ({offset2}).",
    ),
    (
        _flight,
        "... departs ... {time} {name}({offset}). ... {time2} {name2}({offset2}). ...",
    ),
    (
        _from_today,
        "... {number} days from now ... day <after yesterday|before tomorrow> is {date}?",
        "... day <after yesterday|before tomorrow> ... is {date}<.|,> ... {number} days from"
        " now ...?",
    ),
    (
        _hours_on,
        "If it is {time} on {weekday} , ... {number} hours from now?",
        "If it is {weekday}, ... {number} hours from now?",
    ),
    (
        _age,
        "... birthday is on {date}, how many years ... on {date2}?",
        "... birthday is on {number} {name}, how many years ... on {date}?",
    ),
    (
        _first_exam,
        "... if {name} wrote ... on {date}, {name2} wrote ... on {date2} and {name3} wrote"
        " ... on {date3}, ... first?",
    ),
    (
        _before_noon,
        "... {weekday} before noon, ... {number} hours ...",
    ),
    (
        _days_before,
        "... on {date} ... {number} days before <it|me>. ...",
        "... today ... is {date}, ... {number} days ago ...",
    ),
)


# Where a question begins to say how its answer is to be written.
_FORMAT = re.compile(
    r"\s*\b(?:(?:Return|Format|Share) your answer\b|Answer with time and day in json"
    r"|Report as a json|Report the (?:values|answer)\b|Help them by computing)"
)


@cache
def _patterns() -> list[tuple]:
    return [(pattern(x), solver) for solver, *templates in _TABLE for x in templates]


def solve(question: str) -> Solution | None:
    """Return the answers that a question may have; None where it cannot be read."""
    text = " ".join(_FORMAT.split(question, maxsplit=1)[0].split())
    for shape, solver in _patterns():
        if match := shape.fullmatch(text):
            try:
                found = list(solver(match))
            except Unreadable:
                continue
            answers = {json.dumps(answer): answer for answer, _ in found}
            reckoning = "; or ".join(dict.fromkeys(way for _, way in found))
            return Solution(tuple(answers.values()), reckoning)
    return None
