"""What `score` prints to be read: the scores of each run, and why they are what they are."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..core.families import benchmarks, scorer
from ..core.tables import escaped, percent, points, render
from ..verdicts.judge import shown, value_text
from ..verdicts.runs import Model
from .health import faults, silent_ends
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
within: of all documents; where no date was read, it is a miss. median error: the middle error \
of the dates that were read, from early to late [likely range: 95 % interval].
"""
# What is told below the table where it is not 0, and of how many answers.
_NOTES = {
    "changed": "Answers to which the harness's log gives other scores",
    "left_out": "Left out",
}


class Part(NamedTuple):
    """What there is to say of a run."""

    model: Model
    rows: list[dict]  # as of `rows`


def report(parts: list[Part], by: list[str]) -> str:
    """Return faults, the tables of runs as Markdown, and the breakdowns that `by` names."""
    texts = [
        _wrapped(f"**Fault** in the run {escaped(part.model.name)}: {fault}")
        for part in parts
        for fault in faults(part.model)
    ]
    texts += [text for part in parts for text in _run(part, by)]
    if ends := silent_ends([part.model for part in parts]):
        texts.append(_wrapped(ends))
    breakdowns: dict[tuple, list[dict]] = defaultdict(list)
    for row in (row for part in parts for row in part.rows if row["by"] in by):
        breakdowns[row["task"], row["filter"], row["by"]].append(row)
    return "\n".join([*texts, *map(_breakdown, breakdowns.values()), _wrapped(_LEGEND)])


def _run(part: Part, by: list[str]) -> Iterator[str]:
    rows = [row for row in part.rows if row["by"] is None]
    yield f"## {escaped(part.model.name)}\n"
    for row_cells, legend in (
        (_line, ""),
        (_several, ""),
        (_errors, f"\n{_wrapped(_ERRORS)}"),
    ):
        if lines := [*filter(None, map(row_cells, rows))]:
            yield render(lines, "markdown", percent) + legend
    if notes := "".join(_notes(part.model, rows)):
        yield notes
    yield render([*_reasons(part.model, rows, "task" in by)], "markdown", percent)
    if examples := "".join(_examples(part.model)):
        yield examples


def _name(row: dict) -> str:
    part, _, number = row.get("tasks", "").partition(" of ")
    part_of_tasks = f"({part} of {number} tasks)" if part != number else None
    return " ".join(filter(None, (row["task"], part_of_tasks, row["filter"])))


def _line(row: dict) -> dict:
    cells = {"task": _name(row)} | {rule: with_interval(row, rule) for rule in RULES}
    cells["format cost"] = with_interval(row, "format_cost", points)
    cells |= {name: row[name] for name in ("extracted", "constant")}
    is_unknown = row["cut_off_unknown"] and not row["cut_off"]
    share = row["cut_off"] / row["answers"]
    return cells | {"cut off": "unknown" if is_unknown else share, "n": row["n"]}


def with_interval(row: dict, name: str, form: Callable = percent) -> str | None:
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
    columns = [column for column in row if column.endswith("_published")]
    measures = [column.removesuffix("_published") for column in columns]
    for name in (f"{measure}_{rule}" for measure in measures for rule in RULES):
        cells[name.replace("_", " ")] = with_interval(row, name)
    return cells


def _errors(row: dict) -> dict | None:
    """Return how near values in time are, and the median error of those that were read."""
    names = [
        name for name in row if name.startswith("within_") and f"{name}_low" in row
    ]
    cells = {name.replace("_", " "): with_interval(row, name) for name in names}
    for unit in ("hours", "days"):
        if (name := f"median_error_{unit}") in row:
            cells[f"median error, {unit}"] = with_interval(row, name, _lateness)
            cells["date read"] = row["error_read"]
    return {"task": _name(row), **cells} if cells else None


def _lateness(error: float) -> str:
    return f"{abs(error):.4g} {'late' if error > 0 else 'early'}" if error else "exact"


def _notes(model: Model, rows: list[dict]) -> Iterator[str]:
    """Yield what has to be known beside the scores."""
    if refused := sum(model.refused.values()):
        yield f"Not in these figures: {refused:,} {'line' if refused == 1 else 'lines'} refused.\n"
    if any(table.head["end"] for table in model.tables):
        yield "A file could not be read to its end.\n"
    notes: dict[str, list[str]] = defaultdict(list)
    for row in (row for row in rows if "rows" in row):
        name, (text, _, number) = _name(row), row["rows"].partition(" the benchmark's ")
        if number:
            count = f"{name} {row['n']} of {number}"
            notes["Fewer documents than the benchmark's"].append(count)
        elif text not in ("the benchmark's", "as many as the benchmark's"):
            notes[f"The rows are {text}"].append(name)
        for column, text in _NOTES.items():
            if row[column]:
                notes[text].append(f"{name} {row[column]}")
    for text, names in notes.items():
        yield _wrapped(f"{text}: {', '.join(names)}.")


def _reasons(model: Model, rows: list[dict], by_task: bool) -> Iterator[dict]:
    """Yield how many answers have each reason, by benchmark or by task."""
    counts: dict[str, tuple[Counter[str], Counter[str]]] = {}
    for task in (row["task"] for row in rows if "tasks" not in row):
        name = task if by_task else benchmarks([task])[0].name
        name = " ".join(filter(None, (name, model.filter)))
        reasons, unextracted = counts.setdefault(name, (Counter(), Counter()))
        reasons.update(model.tasks[task].all.reasons)
        unextracted.update(model.tasks[task].all.unextracted)
    for name, (reasons, unextracted) in counts.items():
        for reason, count in reasons.most_common():
            cells = {"answers to": name, "reason": reason, "answers": count}
            cells |= {"%": count / reasons.total()}
            yield cells | {"no answer by the published rule": unextracted[reason]}
            name = ""


def _examples(model: Model) -> Iterator[str]:
    """Yield an answer for each reason that is frequent in a family, with what is read.

    It is one to the task that has most such answers.
    """
    families: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for task, tally in model.tasks.items():
        for reason, count in tally.all.reasons.items():
            families[scorer(task).family][reason, task] += count
    for counts in families.values():
        reasons: Counter[str] = Counter()
        for (reason, _), count in counts.items():
            reasons[reason] += count
        tasks = {}  # of each reason, in the order of their numbers
        for (reason, task), _ in counts.most_common():
            tasks.setdefault(reason, task)
        for reason, task in tasks.items():
            if reason != "right" and reasons[reason] >= FREQUENT * counts.total():
                yield _example(model.tasks[task].examples[reason])


def _example(row: dict) -> str:
    reason, task = row["reason"], row["task"]
    cells = {"published": row["published"], "flexible": value_text(row)}
    cells["label"] = row["gold"]
    if row["flexible"] is None:
        cells["response"] = row["excerpt"]
    doc_id = row["digest"][:12] if row["doc_id"] is None else row["doc_id"]
    first_line = f"- {reason}, as in document {escaped(str(doc_id))} of {task}: "
    first_line += scorer(task).utils.REASONS[reason]
    cell_lines = (f"    {name}: {_cell(cell)}" for name, cell in cells.items())
    filled = textwrap.fill(first_line, WIDTH, subsequent_indent="  ")
    return "\n".join([filled, *cell_lines, ""])


def _cell(value: str | None) -> str:
    return "nothing" if value is None else escaped(shown(value, WIDTH - 30))


def _breakdown(rows: list[dict]) -> str:
    """Return a table of the parts of a task, with a column for each run."""
    by, table_rows = rows[0]["by"], {}
    for row in rows:
        cells = {by: row["value"], "n": row["n"]}
        table_row = table_rows.setdefault(row["value"], cells)
        if table_row["n"] != row["n"]:  # as a rule, the runs answer the same documents
            table_row["n"] = "differs"
        scores = [with_interval(row, rule) for rule in RULES]
        scores.append(None if row["extracted"] is None else percent(row["extracted"]))
        # The blank, which no table shows, keeps a run called "n" apart.
        table_row[f"{row['run']} "] = " / ".join(filter(None, scores))
    title = f"{escaped(_name(rows[0]))} by {by}; published / flexible / extracted"
    return f"{title}\n\n{render([*table_rows.values()], 'markdown')}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False) + "\n"
