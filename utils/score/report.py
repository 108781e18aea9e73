"""What `score` prints to be read: the scores of each run, and why they are what they are."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..core.families import benchmarks, scorer
from ..core.tables import escaped, percent, points, render
from ..verdicts.judge import shown, value_text
from ..verdicts.runs import Model
from .health import faults
from .rows import RULES


WIDTH = 100
# A reason is frequent that so many of the answers to a benchmark have.
FREQUENT = 0.05
_LEGEND = """\
Percent [likely range: 95 % interval]. published: score by the benchmark's own rule (its metric \
card); flexible: the same for the value in any form; format cost: flexible - published; constant: \
published score of the best answer that is the same for every document; cut off: answers seen to \
end too early. More: utils/README.md, "How to read the figures"
"""
_ERRORS = """\
within: of all documents; where no date was read, it is a miss. median error: half of the dates that \
were read are later [likely range: 95 % interval].
"""
# What is told below the table where it is not 0, and of how many answers.
_NOTES = {
    "no_instruction": "Answers to prompts without the format instruction, which say nothing"
    " of the model",
    "changed": "Answers to which the harness's log gives other scores",
}


class Part(NamedTuple):
    """What there is to say of a run."""

    model: Model
    rows: list[dict]  # as of `rows`


def report(parts: list[Part], by: list[str]) -> str:
    """Return the tables of runs as Markdown, then the breakdowns that are asked for.

    They begin with what would make the figures worthless.
    """
    texts = [
        _wrapped(f"**Fault** in the run {escaped(part.model.name)}: {fault}")
        for part in parts
        for fault in faults(part.model)
    ]
    texts += [text for part in parts for text in _run(part, by)]
    rows = [row for part in parts for row in part.rows if row["by"] in by]
    places = dict.fromkeys((row["task"], row["filter"], row["by"]) for row in rows)
    for place in places:
        those = [x for x in rows if (x["task"], x["filter"], x["by"]) == place]
        texts.append(_breakdown(those))
    return "\n".join([*texts, _wrapped(_LEGEND)])


def _run(part: Part, by: list[str]) -> Iterator[str]:
    rows = [row for row in part.rows if row["by"] is None]
    yield f"## {escaped(part.model.name)}\n"
    yield render([_line(row) for row in rows], "markdown", percent)
    if lines := [*filter(None, map(_several, rows))]:
        yield render(lines, "markdown", percent)
    if lines := [*filter(None, map(_errors, rows))]:
        yield f"{render(lines, 'markdown', percent)}\n{_wrapped(_ERRORS)}"
    if notes := "".join(_notes(part.model, rows)):
        yield notes
    of_tasks = [row for row in rows if "tasks" not in row]
    yield render([*_reasons(of_tasks, "task" in by)], "markdown", percent)
    if examples := "".join(_examples(part)):
        yield examples


def _name(row: dict) -> str:
    some = row.get("tasks")
    is_whole = not some or len({*some.split(" of ")}) == 1
    name = row["task"] if is_whole else f"{row['task']} ({some} tasks)"
    return " ".join(filter(None, (name, row["filter"])))


def _line(row: dict) -> dict:
    cells = {"task": _name(row)}
    cells |= {rule: _sure(row, rule) for rule in RULES}
    cells["format cost"] = _sure(row, "format_cost", points)
    cells |= {name: row[name] for name in ("extracted", "constant")}
    is_unknown = row["cut_off_unknown"] and not row["cut_off"]
    share = row["cut_off"] / row["answers"]
    return cells | {"cut off": "unknown" if is_unknown else share, "n": row["n"]}


def _sure(row: dict, name: str, form: Callable = percent) -> str | None:
    """Return a figure with the ends of its interval."""
    if row.get(name) is None:
        return None
    value, low, high = (form(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"


def _several(row: dict) -> dict | None:
    """Return how many answers there are, and what `--k` asks for."""
    if row["answers"] == row["n"]:
        return None
    cells = {"task": _name(row), "answers": row["answers"]}
    measures = [x.removesuffix("_published") for x in row if x.endswith("_published")]
    for name in (f"{x}_{rule}" for x in measures for rule in RULES):
        cells[name.replace("_", " ")] = _sure(row, name)
    return cells


def _errors(row: dict) -> dict | None:
    """Return how near values in time are, and the median error of those that were read."""
    near = [name for name in row if name.startswith("within_") and f"{name}_low" in row]
    cells = {name.replace("_", " "): _sure(row, name) for name in near}
    for unit in ("hours", "days"):
        if (name := f"median_error_{unit}") in row:
            cells[f"median error, {unit}"] = _sure(row, name, _lateness)
            cells["date read"] = row["error_read"]
    return {"task": _name(row), **cells} if cells else None


def _lateness(error: float) -> str:
    return f"{abs(error):.4g} {'late' if error > 0 else 'early'}" if error else "exact"


def _notes(model: Model, rows: list[dict]) -> Iterator[str]:
    """Yield what has to be known beside the scores."""
    if n := sum(model.refused.values()):
        yield f"Not in these figures: {n:,} {'line' if n == 1 else 'lines'} refused.\n"
    if any(table.head["end"] for table in model.tables):
        yield "A file could not be read to its end.\n"
    told: dict[str, list[str]] = {}
    for row in (row for row in rows if "rows" in row):
        text, _, number = row["rows"].partition(" the benchmark's ")
        if number:
            name = f"{_name(row)} {row['n']} of {number}"
            told.setdefault("Fewer documents than the benchmark's", []).append(name)
        elif text not in ("the benchmark's", "as many as the benchmark's"):
            told.setdefault(f"The rows are {text}", []).append(_name(row))
        for name, text in _NOTES.items():
            if row[name]:
                told.setdefault(text, []).append(f"{_name(row)} {row[name]}")
        if row["left_out"]:
            told.setdefault("Left out", []).append(f"{_name(row)} {row['left_out']}")
    for text, names in told.items():
        yield _wrapped(f"{text}: {', '.join(names)}.")


def _reasons(rows: list[dict], by_task: bool) -> Iterator[dict]:
    """Yield how many answers have each reason, by benchmark or by task."""
    counts: dict[str, tuple[Counter[str], Counter[str]]] = {}
    for row in rows:
        name = _name(row) if by_task else _benchmark(row)
        totals = counts.setdefault(name, (Counter(), Counter()))
        for kind, total in zip(("reason_", "unextracted_"), totals):
            cells = (x for x in row.items() if x[0].startswith(kind))
            total.update({x.removeprefix(kind): number for x, number in cells})
    for name, (reasons, unextracted) in counts.items():
        for reason, number in reasons.most_common():
            cells = {"answers to": name, "reason": reason, "answers": number}
            cells |= {"%": number / reasons.total()}
            yield cells | {"no answer by the published rule": unextracted[reason]}
            name = ""


def _benchmark(row: dict) -> str:
    (group, *_) = benchmarks([row["task"]])
    return " ".join(filter(None, (group.name, row["filter"])))


def _examples(part: Part) -> Iterator[str]:
    """Yield an answer for each reason that is frequent in a benchmark, with what is read.

    It is one to the task that has most such answers.
    """
    families: dict[str, Counter[tuple[str, str]]] = {}
    for task, tally in part.model.tasks.items():
        counts = families.setdefault(scorer(task).family, Counter())
        for reason, number in tally.all.reasons.items():
            counts[reason, task] += number
    for counts in families.values():
        total, seen = counts.total(), {"right"}
        for (reason, task), _ in counts.most_common():
            number = sum(x for (other, _), x in counts.items() if other == reason)
            if reason not in seen and number >= FREQUENT * total:
                seen.add(reason)
                yield _example(part.model.tasks[task].examples[reason])


def _example(row: dict) -> str:
    reason, task = row["reason"], row["task"]
    why = scorer(task).utils.REASONS[reason]
    cells = {
        "published": row["published"],
        "flexible": value_text(row),
        "label": row["gold"],
    }
    if row["flexible"] is None:
        cells["response"] = row["excerpt"]
    doc_id = row["digest"][:12] if row["doc_id"] is None else row["doc_id"]
    first = f"- {reason}, as in document {escaped(str(doc_id))} of {task}: {why}"
    lines = (f"    {name}: {_cell(cell)}" for name, cell in cells.items())
    return "\n".join([textwrap.fill(first, WIDTH, subsequent_indent="  "), *lines, ""])


def _cell(value: str | None) -> str:
    return "nothing" if value is None else escaped(shown(value, WIDTH - 30))


def _breakdown(rows: list[dict]) -> str:
    """Return a table of the parts of a task, with a column for each run."""
    by, lines = rows[0]["by"], {}
    for row in rows:
        line = lines.setdefault(row["value"], {by: row["value"], "n": row["n"]})
        if line["n"] != row["n"]:  # as a rule, the runs answer the same documents
            line["n"] = "differs"
        scores = [_sure(row, rule) for rule in RULES]
        scores.append(None if row["extracted"] is None else percent(row["extracted"]))
        # The blank, which no table shows, keeps a run called "n" apart.
        cell = " / ".join(filter(None, scores))
        line[f"{row['run']} "] = cell
    title = f"{escaped(_name(rows[0]))} by {by}; published / flexible / extracted"
    return f"{title}\n\n{render([*lines.values()], 'markdown')}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False) + "\n"
