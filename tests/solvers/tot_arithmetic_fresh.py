"""The families of fresh questions of ToT arithmetic, each with its brute force.

A family is a pattern of the question, without what it says of the format, and a function
that takes its match and yields each possible answer with the reckoning behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count

from tests.solvers import reading as r
from tests.solvers.reading import Unreadable, each, pattern


Found = Iterator[tuple[dict, str]]

GREGORIAN = "Use the Gregorian calendar."
NUMBERS = "Give numbers as JSON numbers, without quotes and units."
NO_YEAR_ZERO = "There is no year zero: 1 BC is followed by 1 AD."
HALVES = "Times without AM or PM are on the 24-hour clock."
DAY_SAID = (
    'Here "day" is "same_day", or "+x" or "-x" for x calendar days after or before the day'
    " of the time given first."
)
LOCAL = f"{DAY_SAID} Days and times are local, on the 24-hour clock."
PRECISION = (
    "A month without a day stands for its first day and a date without a time for 00:00 of"
    " that day; numeric dates are yyyy-mm-dd and times are on the 24-hour clock."
)
MEETING = (
    "They want to meet for {number} minutes without a break, starting on {when:the hour or"
    " the half hour|the hour or 15, 30 or 45 minutes after it}. They may begin at the very"
    " time at which somebody becomes free, and end at the very time at which somebody stops being free. Times are"
    " on the 24-hour clock. {asked:At how many|What is the earliest|What is the latest}"
    f"<| time> <times can they begin? {NUMBERS}|at which they can begin? If there is none,"
    ' the answer is "unanswerable".>'
)


def dynasties(match: re.Match) -> Found:
    """The year in which a dynasty took or lost power, from another's and their lengths."""
    found = re.findall(r"(\d+)(?:st|nd|rd|th) for (\d+) years?", match["rest"])
    years = [int(length) for _, length in found]
    # Boundary n is where the dynasty of rank n loses power.
    at = int(match["number"]) - (match["known"] == "took")
    asked = int(match["number2"]) - (match["asked"] == "take")
    year, way = r.read_era(match["year"]), [match["year"]]
    while at != asked:
        if at < asked:
            year, at = r.walk_years(year, years[at]), at + 1
        else:
            year, at = r.walk_years(year, -years[at - 1]), at - 1
        way.append(r.era(year))
    yield {"answer": r.era(year)}, " -> ".join(way)


def one_dynasty(match: re.Match) -> Found:
    """The year in which a dynasty took or lost power, from its length."""
    years = int(match["number"]) * (1 if match["known"] == "took" else -1)
    year = r.era(r.walk_years(r.read_era(match["year"]), years))
    yield {"answer": year}, f"{match['year']} {years:+} years = {year}"


def _moves(told: str) -> list[tuple[int, str]]:
    template = "{number} {unit} {side:later|earlier}"
    matches = [pattern(template).fullmatch(piece) for piece in told.split(", then ")]
    if not all(matches):
        raise Unreadable(told)
    return [
        (int(m["number"]) * (1 if m["side"] == "later" else -1), m["unit"].rstrip("s"))
        for m in matches
    ]


def moved_weekday(match: re.Match) -> Found:
    """The weekday of what was moved, day by day."""
    at, way = r.WEEKDAYS.index(match["weekday"]), [match["weekday"]]
    for number, unit in _moves(match["rest"]):
        for _ in range(abs(number) * (7 if unit == "week" else 1)):
            at = (at + (1 if number > 0 else -1)) % 7
        way.append(f"{number:+} {unit}: {r.WEEKDAYS[at]}")
    yield {"answer": r.WEEKDAYS[at]}, ", ".join(way)


def moved_date(match: re.Match) -> Found:
    """The date of what was moved, day by day or month by month."""
    day = r.read_date(match["date"])
    way = [r.iso(day)]
    for number, unit in _moves(match["rest"]):
        if unit in ("day", "week"):
            day = r.walk(day, number * (7 if unit == "week" else 1))
        else:
            day = r.walk_months(day, number * (12 if unit == "year" else 1))
        way.append(f"{number:+} {unit}: {r.iso(day)}")
    yield {"date": r.american(day)}, ", ".join(way)


def _settled(facts: dict[str, Callable[[dict], int | None]]) -> dict[str, int]:
    """Return the value of each name, as soon as those that it is told by are known."""
    known: dict[str, int] = {}
    while len(known) < len(facts):
        before = len(known)
        for name, fact in facts.items():
            if name not in known and (value := fact(known)) is not None:
                known[name] = value
        if len(known) == before:
            raise Unreadable(facts.keys() - known.keys())
    return known


def _fact(value: int | None, other: str | None, shift: int, step: Callable) -> Callable:
    """Return what finds a value that is told, or told by that of another."""

    def find(known: dict) -> int | None:
        if other is None:
            return value
        return step(known[other], shift) if other in known else None

    return find


def _signed(match: re.Match, number: int) -> int:
    return (
        -number if match["side"] in ("before", "behind", "earlier", "older") else number
    )


def founded(match: re.Match) -> Found:
    """The year of an anniversary, over the guilds founded after and before others."""
    facts = {match["name"]: _fact(int(match["number"]), None, 0, r.walk_years)}
    if told := match["rest"].removeprefix(", "):
        for piece in told.split(", "):
            item = pattern(
                "that of {name} {rest}{side:before|after|in the same year as} that of"
                " {name2}"
            ).fullmatch(piece)
            if not item:
                raise Unreadable(piece)
            shift = _signed(item, int(item["rest"].split()[0])) if item["rest"] else 0
            facts[item["name"]] = _fact(None, item["name2"], shift, r.walk_years)
    known = _settled(facts)
    year = r.walk_years(known[match["name2"]], int(match["number2"]))
    yield {"answer": str(year)}, f"{known}; + {match['number2']} years = {year}"


# -------------------------------------------------------------------------- compare


def _moments(told: str) -> list[tuple[tuple, str]]:
    items = each("{name} {how:on|in} {rest}", told, "; ")
    moments = []
    for item in items:
        (moment,) = r.read_moments(item["rest"])
        moments.append((moment, item["name"]))
    return moments


def in_order(match: re.Match) -> Found:
    """The order, by taking the earliest of those that are left."""
    left, order = _moments(match["rest"]), []
    while left:
        first = [item for item in left if all(item[0] <= other[0] for other in left)]
        if len(first) > 1:
            raise Unreadable("two are at the same time")
        order += first
        left.remove(first[0])
    if match["way"].startswith("latest"):
        order.reverse()
    reckoning = " < ".join(f"{name} {moment}" for moment, name in order)
    yield {"ordered_list": [name for _, name in order]}, reckoning


def before_or_after(match: re.Match) -> Found:
    """The names on the side of the limits that is asked for."""
    chosen = _moments(match["rest"])
    for limit in match["rest2"].split(" and "):
        side, told = limit.removeprefix("strictly ").split(" ", 1)
        (cut,) = r.read_moments(told)
        chosen = [
            (moment, name)
            for moment, name in chosen
            if (moment < cut if side == "before" else moment > cut)
        ]
    names = [name for _, name in chosen]
    yield {"unordered_list": names}, f"{match['rest2']}: {chosen}"


def first_or_last(match: re.Match) -> Found:
    """Who arrived at the earliest or latest of all times."""
    facts = {}
    for piece in match["rest"].split("; "):
        if item := pattern("{name} at {time}").fullmatch(piece):
            facts[item["name"]] = _fact(r.read_time(item["time"]), None, 0, int.__add__)
        elif item := pattern("{name} {duration} {side:after|before} {name2}").fullmatch(
            piece
        ):
            shift = _signed(item, r.read_duration(item["duration"]))
            facts[item["name"]] = _fact(None, item["name2"], shift, int.__add__)
        else:
            raise Unreadable(piece)
    _check_clocks(match["rest"])
    known = _settled(facts)
    if not all(0 <= time < r.DAY_SECONDS for time in known.values()):
        raise Unreadable("not on one day")
    wanted = sorted(known.values())[0 if match["rank"] == "first" else -1]
    names = [name for name in facts if known[name] == wanted]
    times = ", ".join(f"{name} {r.clock(time)}" for name, time in known.items())
    yield {"unordered_list": names}, times


def oldest_city(match: re.Match) -> Found:
    """The city of the first or last year."""
    facts = {}
    for piece in match["rest"].split("; "):
        if item := pattern("{name} was founded in {year}").fullmatch(piece):
            facts[item["name"]] = _fact(r.read_era(item["year"]), None, 0, r.walk_years)
        elif item := pattern(
            "{name} was founded {number} {unit} {side:after|before} {name2}"
        ).fullmatch(piece):
            shift = _signed(item, int(item["number"]))
            facts[item["name"]] = _fact(None, item["name2"], shift, r.walk_years)
        else:
            raise Unreadable(piece)
    known = _settled(facts)
    wanted = sorted(known.values())[0 if match["rank"] == "first" else -1]
    names = [name for name in facts if known[name] == wanted]
    answer = names[0] if len(names) == 1 else "equal"
    yield {"answer": answer}, ", ".join(f"{n} {r.era(y)}" for n, y in known.items())


# ------------------------------------------------------------------------- duration


def open_days(match: re.Match) -> Found:
    """The days of the spans, counted; none in two of them."""
    total, way, end = 0, [], None
    for item in each("from {date} to {date2}", match["rest"], "; "):
        first, last = r.read_date(item["date"]), r.read_date(item["date2"])
        if end and first <= end:
            raise Unreadable("spans overlap")
        days, end = r.days_between(first, last) + 1, last
        total += days
        way.append(f"{r.iso(first)} to {r.iso(last)}: {days}")
    yield {"answer": total}, f"{', '.join(way)}; in all {total}"


def full_months(match: re.Match) -> Found:
    """The full months of all ages."""
    today, total, way = r.read_date(match["date"]), 0, []
    for item in each("{name} was born on {date}", match["rest"], ". "):
        months = r.full_months(r.read_date(item["date"]), today)
        total += months
        way.append(f"{item['name']} {months}")
    yield {"answer": total}, f"{', '.join(way)}; in all {total}"


def shifts_worked(match: re.Match) -> Found:
    """The time of all shifts."""
    total, way = 0, []
    for item in each(
        "{name} was logged in from {time} to {time2}", match["rest"], ", "
    ):
        start, end = r.read_time(item["time"]), r.read_time(item["time2"])
        if start == end:
            raise Unreadable("no span or a whole day")
        end += r.DAY_SECONDS if end < start else 0
        total += end - start
        way.append(r.clock(end - start))
    _check_clocks(match["rest"])
    hours, minutes, seconds = r.split_time(total)
    answer = {"hours": hours, "minutes": minutes, "seconds": seconds}
    yield answer, f"{' + '.join(way)} = {r.clock(total)}"


def _check_clocks(told: str) -> None:
    """Raise Unreadable for clocks of two styles."""
    if len({*map(bool, re.findall(r"\d:\d\d\b(?!:)( [AP]M)?", told))}) > 1:
        raise Unreadable(told)


def reigns(match: re.Match) -> Found:
    """The years of all spans, walked one by one."""
    total, way = 0, []
    for item in each(
        "{name} was a republic from {year} to {year2}", match["rest"], "; "
    ):
        first, last = r.read_era(item["year"]), r.read_era(item["year2"])
        years = r.years_between(first, last)
        total += years
        way.append(f"{item['year']} to {item['year2']}: {years}")
    yield {"answer": total}, f"{', '.join(way)}; in all {total}"


# ------------------------------------------------------------------------- multi_op


def average(match: re.Match) -> Found:
    """The mean of durations."""
    items = each("{duration}", match["rest"], "; ")
    times = [r.read_duration(item["duration"]) for item in items]
    total = sum(times)
    if len(times) != int(match["number"]) or total % len(times):
        raise Unreadable("not so many, or no full seconds")
    mean = next(second for second in count() if second * len(times) >= total)
    hours, minutes, seconds = r.split_time(mean)
    yield (
        {"H": hours, "M": minutes, "S": seconds},
        f"{total} s / {len(times)} = {mean} s",
    )


def at_the_same_pace(match: re.Match) -> Found:
    """The time of jobs, each a multiple of a part of its sample."""
    job = r"{word} {number} {word2}{when:| on day \d+}"
    samples, total, way = {}, 0, []
    for item in each(f"{{duration}} to {job}", match["rest"], "; "):
        samples[_job(item)] = r.read_duration(item["duration"]), int(item["number"])
    for item in each(job, match["rest2"], ", "):
        time, sample = samples.pop(_job(item))
        number = int(item["number"])
        if time * number % sample:
            raise Unreadable("no full seconds")
        total += time * number // sample
        way.append(f"{time} s x {number} / {sample}")
    if samples:
        raise Unreadable(samples)
    hours, minutes, seconds = r.split_time(total)
    yield {"X": hours, "Y": minutes, "Z": seconds}, f"{' + '.join(way)} = {total} s"


def _job(match: re.Match) -> tuple[str, str, str]:
    """Return what is done with things, which may be one, and when."""
    thing = re.sub("ves$", "f", match["word2"]).removesuffix("s")
    return match["word"], thing, match["when"]


def next_time(match: re.Match) -> Found:
    """The first day after today that all periods reach, day by day."""
    form = match["form"]
    first, today = (_numeric(match[name], form) for name in ("rest2", "rest3"))
    periods = [int(number) for number in re.findall(r"every (\d+) days", match["rest"])]
    passed = r.days_between(first, today)
    days = next(n for n in count(passed + 1) if not any(n % p for p in periods))
    found = r.walk(first, days)
    parts = {"yyyy": f"{found[0]:04}", "mm": f"{found[1]:02}", "dd": f"{found[2]:02}"}
    answer = re.sub(r"yyyy|mm|dd", lambda part: parts[part[0]], form)
    yield {"answer": answer}, f"{r.iso(first)} + {days} days, after {passed} days"


def _numeric(text: str, form: str) -> r.Day:
    """Return a day that is written as a form such as "mm/dd/yyyy" says."""
    shape = re.sub(r"([a-z])\1+", lambda m: rf"(?P<{m[0]}>\\d{{{len(m[0])}}})", form)
    found = re.fullmatch(shape.replace("\\\\", "\\"), text)
    if not found:
        raise Unreadable(text)
    return int(found["yyyy"]), int(found["mm"]), int(found["dd"])


def clock_time(match: re.Match) -> Found:
    """The clock after all parts of a plan, or before them."""
    items = match["rest"].split(", then ")
    found = [
        pattern("<heating|cooling> for {duration}").fullmatch(item) for item in items
    ]
    if not all(found):
        raise Unreadable(match["rest"])
    parts = [r.read_duration(item["duration"]) for item in found]
    sign = 1 if match["how"] == "begins" else -1
    days, moment = 0, r.read_time(match["time"])
    for part in parts:
        more, moment = r.wait(moment + sign * part)
        days += more
    answer = {"day": r.day_offset(days), "time": r.clock(moment)}
    yield (
        answer,
        f"{match['time']} {'+-'[sign < 0]} {parts} s = day {days:+}, {answer['time']}",
    )


# ------------------------------------------------------------------------- schedule


def _minutes(told: str) -> set[int]:
    """Return the minutes of "from 08:00 to 09:30 and from 10:00 to 12:00"."""
    minutes: set[int] = set()
    for item in each("from {time} to {time2}", told, ", "):
        start, end = r.read_time(item["time"]), r.read_time(item["time2"])
        minutes |= set(range(start // 60, end // 60))
    return minutes


def _starts(free: set[int], match: re.Match) -> Found:
    """Yield what is asked of the starts of a meeting all of whose minutes are free."""
    step = 30 if "half" in match["when"] else 15
    length = int(match["number"])
    starts = [
        start
        for start in range(0, 24 * 60, step)
        if all(minute in free for minute in range(start, start + length))
    ]
    told = [r.clock(60 * start, False) for start in starts]
    answer = len(starts)
    if "est" in match["asked"]:
        edge = 0 if match["asked"].endswith("earliest") else -1
        answer = told[edge] if told else "unanswerable"
    yield {"answer": answer}, f"{len(starts)} starts: {' '.join(told)}"


def common_times(match: re.Match) -> Found:
    """The starts within the times that all have."""
    free = set(range(24 * 60))
    for item in each("{name} is free {rest}", match["rest"], "; "):
        free &= _minutes(item["rest"])
    yield from _starts(free, match)


def busy_calendars(match: re.Match) -> Found:
    """The starts within the hours that all work and in which none is taken."""
    free = _minutes(f"from {match['time']} to {match['time2']}")
    for piece in match["rest2"].split("; "):
        if pattern("{name} is not busy at all").fullmatch(piece):
            continue
        item = pattern("{name} is busy {rest}").fullmatch(piece)
        if not item:
            raise Unreadable(piece)
        if not item["rest"].endswith(", but can move all of it"):
            free -= _minutes(item["rest"])
    yield from _starts(free, match)


# ------------------------------------------------------------------------- timezone


def _zones(told: str) -> dict[str, int]:
    items = each("{name} is at {offset}", told, ", ")
    return {item["name"]: r.read_offset(item["offset"]) for item in items}


def _local_answer(moment: int, with_seconds: bool = False) -> dict:
    days, time = r.wait(moment)
    return {"day": r.day_offset(days), "time": r.clock(time, with_seconds)}


def calls(match: re.Match) -> Found:
    """The clock of the last one called, minute by minute."""
    zones = _zones(match["rest"])
    first = match["name"]
    if match["name2"] != first:
        raise Unreadable("another clock")
    # In seconds after the midnight before the first call, by the first one's clock.
    moment = r.read_time(match["time"])
    caller, called, way = first, match["name3"], [f"{match['time']} {first}"]
    for piece in filter(None, match["rest2"].split("; ")):
        item = pattern(
            "when {name}'s clock next shows {time}, {name2} calls {name3}"
        ).fullmatch(piece)
        if not item or not item["name"] == item["name2"] == called:
            raise Unreadable(piece)
        caller, called = called, item["name3"]
        shown, ahead = r.read_time(item["time"]), zones[caller] - zones[first]
        moment = next(
            later
            for later in count(moment + 60, 60)
            if (later + ahead) % r.DAY_SECONDS == shown
        )
        way.append(f"{item['time']} {caller}")
    answer = _local_answer(moment + zones[called] - zones[first])
    yield answer, f"{', '.join(way)}: {answer['day']} {answer['time']} {called}"


def landing(match: re.Match) -> Found:
    """The local time after flights and stops."""
    start, here, there = match["time"], match["offset"], match["offset2"]
    parts = []
    for piece in match["rest"].split(", then "):
        item = pattern("a <flight|stop> of {duration}").fullmatch(piece)
        if not item:
            raise Unreadable(piece)
        parts.append(r.read_duration(item["duration"]))
    ahead = r.read_offset(there) - r.read_offset(here)
    answer = _local_answer(r.read_time(start) + sum(parts) + ahead)
    yield answer, f"{start} + {parts} s {ahead:+} s = {answer['day']} {answer['time']}"


def time_in_the_air(match: re.Match) -> Found:
    """The time between the ends of each flight, all told in UTC."""
    zones, total, way = _zones(match["rest"]), 0, []
    template = "{name} at {time} on {date}, arriving in {name2} at {time2} on {date2}"
    for piece in match["rest2"].split("; from "):
        item = pattern(template).fullmatch(piece)
        if not item:
            raise Unreadable(piece)
        start = r.read_time(item["time"]) - zones[item["name"]]
        end = r.read_time(item["time2"]) - zones[item["name2"]]
        days = r.days_between(r.read_date(item["date"]), r.read_date(item["date2"]))
        flight = end + days * r.DAY_SECONDS - start
        total += flight
        way.append(r.clock(flight))
    days, rest = r.wait(total)
    hours, minutes, seconds = r.split_time(rest)
    answer = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds}
    yield answer, f"{' + '.join(way)} = {r.clock(total)}"


def widest_gap(match: re.Match) -> Found:
    """How far the outermost clocks are apart."""
    facts = {}
    for item in each("<the clocks|those> in {name} are {rest}", match["rest"], "; "):
        if told := pattern("at {offset}").fullmatch(item["rest"]):
            zone = r.read_offset(told["offset"])
            facts[item["name"]] = _fact(zone, None, 0, int.__add__)
        elif told := pattern(
            "{duration} {side:ahead of|behind} those in {name2}"
        ).fullmatch(item["rest"]):
            shift = _signed(told, r.read_duration(told["duration"]))
            facts[item["name"]] = _fact(None, told["name2"], shift, int.__add__)
        else:
            raise Unreadable(item[0])
    known = _settled(facts)
    gap = max(abs(a - b) for a in known.values() for b in known.values())
    if gap >= r.DAY_SECONDS:
        raise Unreadable("clocks a day apart show the same time")
    hours, minutes, _ = r.split_time(gap)
    yield {"hours": hours, "minutes": minutes}, f"{known}: {r.clock(gap)}"


# ---------------------------------------------------------------------------- trick


def impossible_date(match: re.Match) -> Found:
    """The date at the end of a chain, unless the first is in no calendar."""
    day, name = r.read_date(match["date"]), match["name"]
    if not r.exists(day):
        yield {"answer": "unanswerable"}, f"{match['date']} is not in the calendar"
        return
    way = [r.iso(day)]
    for piece in filter(None, match["rest"].split("; ")):
        item = pattern(
            "{name}'s is dated {number} {unit} {side:later|earlier} than {name2}'s"
        ).fullmatch(piece)
        if not item or item["name2"] != name:
            raise Unreadable(piece)
        name, days = item["name"], _signed(item, int(item["number"]))
        day = r.walk(day, days)
        way.append(f"{days:+} days: {r.iso(day)}")
    yield {"answer": r.iso(day)}, ", ".join(way)


def nested_days(match: re.Match) -> Found:
    """The date of today found among the days around, and the one that is asked for."""
    words = match["rest"].lower().split()
    named = {"yesterday": -1, "today": 0, "tomorrow": 1}[words.pop()]
    for step in re.findall("before|after", " ".join(words)):
        named += 1 if step == "after" else -1
    today = r.walk(r.read_date(match["date"]), -named)
    days = int(match["number"]) * (1 if match["side"] == "from" else -1)
    found = r.walk(today, days)
    reckoning = f"today is {r.iso(today)}, {days:+} days: {r.iso(found)}"
    yield {"answer": r.iso(found)}, reckoning


def possible_weekdays(match: re.Match) -> Found:
    """The weekdays of the end, from each minute of half a day on."""
    total = 0
    for piece in match["rest"].split(", then "):
        item = pattern("<sails|lies at anchor> for {duration}").fullmatch(piece)
        if not item:
            raise Unreadable(piece)
        total += r.read_duration(item["duration"])
    noon = r.DAY_SECONDS // 2
    begin = 0 if match["half"] == "before noon" else noon
    ends = {
        (begin + minute * 60 + total) // r.DAY_SECONDS for minute in range(noon // 60)
    }
    first = r.WEEKDAYS.index(match["weekday"])
    days = [r.WEEKDAYS[(first + days) % 7] for days in sorted(ends)]
    yield (
        {"unordered_list": days},
        f"{match['weekday']} + {total} s: {' or '.join(days)}",
    )


def age(match: re.Match) -> Found:
    """The full years of an age, unless a link to it is missing."""
    asked, facts, days, years = match["name"], {}, {}, {}
    for piece in match["rest"].split(". "):
        if item := pattern("{name} was born on {date}").fullmatch(piece):
            facts[item["name"]] = lambda born, day=r.read_date(item["date"]): day
        elif item := pattern("The birthday of {name} is on {rest}").fullmatch(piece):
            days[item["name"]] = item["rest"]
        elif item := pattern("{name} turned {number} in {number2}").fullmatch(piece):
            years[item["name"]] = int(item["number2"]) - int(item["number"])
        elif item := pattern(
            "{name} is exactly {number} {unit} and {number2} {unit2}"
            " {side:younger|older} than {name2}"
        ).fullmatch(piece):
            months = _signed(item, 12 * int(item["number"]) + int(item["number2"]))
            facts[item["name"]] = lambda born, months=months, other=item["name2"]: (
                r.walk_months(born[other], months) if other in born else None
            )
        elif not pattern("{name} is {side:younger|older} than {name2}").fullmatch(
            piece
        ):
            raise Unreadable(piece)
    for name in days.keys() & years.keys():
        day = r.read_date(f"{days[name]} {years[name]}")
        facts[name] = lambda born, day=day: day
    born = {}
    for _ in facts:
        born = {name: day for name, fact in facts.items() if (day := fact(born))}
    if asked not in born:
        yield {"answer": "unanswerable"}, f"nothing tells when {asked} was born"
        return
    today = r.read_date(match["date"])
    if max(born.values()) > today or today[0] - min(born.values())[0] > 110:
        raise Unreadable("somebody is not born yet, or very old")
    years = r.full_years(born[asked], today)
    yield {"answer": years}, f"{asked} was born on {r.iso(born[asked])}: {years} years"


# Name, type of question, pattern of the question, and what solves it.
FAMILIES = (
    (
        "years of dynasties",
        "add_subtract",
        "{rest} The {number}<st|nd|rd|th> dynasty {known:took|lost} power in {year}. In"
        " which year did the {number2}<st|nd|rd|th> dynasty {asked:take|lose} power?"
        f' {NO_YEAR_ZERO} Give the year with its era, such as "44 BC" or "44 AD".',
        dynasties,
    ),
    (
        "years of one dynasty",
        "add_subtract",
        "A dynasty ruled {name} for {number} {unit}. It {known:took|lost} power in {year}."
        " In which year did it {asked:take|lose} power?"
        f' {NO_YEAR_ZERO} Give the year with its era, such as "44 BC" or "44 AD".',
        one_dynasty,
    ),
    (
        "a weekday moved",
        "add_subtract",
        "The {rest2} was set for a {weekday}. It was moved to a day {rest}. On which day"
        " of the week does it take place now?",
        moved_weekday,
    ),
    (
        "a date moved",
        "add_subtract",
        "The {rest2} was set for {date}. It was moved to a day {rest}. On which date does"
        f" it take place now? {GREGORIAN}< A move by months or years keeps the day of the"
        " month; where the month that it leads to is too short for that, it leads to the"
        " last day of that month.|>",
        moved_date,
    ),
    (
        "anniversaries of guilds",
        "add_subtract",
        "The guild of {name} was founded in {number}{rest}. In which year does"
        " the {number2}<st|nd|rd|th> anniversary of the guild of {name2} fall?",
        founded,
    ),
    (
        "people in order",
        "compare",
        "These people sent in their {rest2} at the following times: {rest}. Put them in"
        " order, from the {way:earliest to the latest|latest to the earliest}."
        f" {PRECISION}",
        in_order,
    ),
    (
        "people before or after",
        "compare",
        "These people handed in their keys at the following times: {rest}. Which of them"
        f" did so {{rest2}}? {PRECISION} Where nobody did, the list is empty.",
        before_or_after,
    ),
    (
        "first or last at an inn",
        "compare",
        "On one day guests arrived at an inn: {rest}. Who arrived {rank:first|last}?"
        f" {HALVES} Name everybody who arrived at the <earliest|latest> time.",
        first_or_last,
    ),
    (
        "first or last city",
        "compare",
        "{rest}. Which of these cities was founded {rank:first|last}?"
        f" {NO_YEAR_ZERO} Only years count; where two or more cities share the"
        ' <first|last> year, the answer is "equal".',
        oldest_city,
    ),
    (
        "days open",
        "duration",
        "The museum of {name} was open {rest}. On how many days was it open in all? It was"
        " open on the first and the last day of each span and on every day between them."
        f" {GREGORIAN} {NUMBERS}",
        open_days,
    ),
    (
        "ages in full months",
        "duration",
        "{rest}. <How many full months old was|Add up their ages, each in full months: how"
        " many months did that make>{rest2} on {date}? A month is full on the same day of"
        f" the next month. {NUMBERS}",
        full_months,
    ),
    (
        "shifts on duty",
        "duration",
        "{rest}. <How long was that?|Add up these spans.> Each span is shorter"
        " than a day: where an end is before its start, it is on the next day."
        f" {HALVES} Minutes and seconds stay below 60, hours may be any number. {NUMBERS}",
        shifts_worked,
    ),
    (
        "years of republics",
        "duration",
        "{rest}. <For how many years was it a republic?|Add up these spans, in years.>"
        f" Beginning and end fall on the same day of the year. {NO_YEAR_ZERO} {NUMBERS}",
        reigns,
    ),
    (
        "mean of runs",
        "multi_op",
        "{name} timed {number} runs of a {rest2}: {rest}. How long did a run take on"
        f" average? Minutes and seconds stay below 60. {NUMBERS}",
        average,
    ),
    (
        "jobs at the same pace",
        "multi_op",
        "{name} needs {rest}. How long does {name2} need at the same pace to {rest2}<, one"
        " job after the other|>? Minutes and seconds stay below 60, hours may be any"
        f" number. {NUMBERS}",
        at_the_same_pace,
    ),
    (
        "the next time of all",
        "multi_op",
        "{rest}. <One such day was|Both were done on|All of these were done on> {rest2}."
        " Today is {rest3}. What is the date of the first <such day after today|day after"
        " today on which both are done|day after today on which all of these are done>?"
        " Dates are {form:yyyy-mm-dd|mm/dd/yyyy|dd-mm-yyyy}.",
        next_time,
    ),
    (
        "clock after a plan",
        "multi_op",
        "An experiment {how:begins|has to be over} at {time}. It runs without any gap:"
        f" {{rest}}. <When is it over|When does it have to begin>? {HALVES} {DAY_SAID}",
        clock_time,
    ),
    ("meeting by free times", "schedule", f"{{rest}}. {MEETING}", common_times),
    (
        "meeting by taken times",
        "schedule",
        "{rest} work from {time} to {time2} and meet within these hours. {rest2}."
        f" {MEETING}",
        busy_calendars,
    ),
    (
        "calls over zones",
        "timezone",
        "{rest}. At {time} on {name}'s clock, {name2} calls {name3}<; |>{rest2}. What"
        " do the clock and the calendar of {name4} show when the< last|> call comes?"
        f" {LOCAL}",
        calls,
    ),
    (
        "landing in a zone",
        "timezone",
        "{name} takes off in {name2} ({offset}) at {time} local time. The way to {name3}"
        " ({offset2}) is {rest}. What is the local time of the arrival in {name4}?"
        f" {LOCAL}",
        landing,
    ),
    (
        "time in the air",
        "timezone",
        "{rest}. {name} flies from {rest2}. All times are local ones, on the 24-hour clock."
        " How long is {name2} in the air? Hours stay below 24, minutes and seconds below"
        f" 60. {NUMBERS}",
        time_in_the_air,
    ),
    (
        "clocks apart",
        "timezone",
        "In a chain of hotels, {rest}. What is the <time difference between the two"
        f"|greatest time difference between any two of them>? Minutes stay below 60. {NUMBERS}",
        widest_gap,
    ),
    (
        "dates that may not exist",
        "trick",
        "{name}'s letter is dated {date}<; |>{rest}. Which date is on"
        f" {{name2}}'s letter? Dates are yyyy-mm-dd. {GREGORIAN} If a date that is given is not in"
        ' that calendar, the answer is "unanswerable".',
        impossible_date,
    ),
    (
        "days before and after days",
        "trick",
        "{rest} is {date}. What <is|was> the date {number} days {side:from|before} today?"
        f" Dates are yyyy-mm-dd. {GREGORIAN}",
        nested_days,
    ),
    (
        "weekdays that are possible",
        "trick",
        "On a {weekday}, {half:before noon|at noon or later}, a ship leaves the port of"
        " {name}; the exact time is not known. Without any other stop, it {rest}, all in"
        " one time zone. On which days of the week can the last of these stages end? Name"
        " all that are possible, be it one or more.",
        possible_weekdays,
    ),
    (
        "ages by those of others",
        "trick",
        "{rest}. How many full years old was {name} on {date}? A year is full on the"
        " birthday. If what is told does not settle it, the answer is"
        f' "unanswerable". {NUMBERS}',
        age,
    ),
)
