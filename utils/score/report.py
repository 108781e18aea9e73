"""What `score` prints to be read: the scores of each run, and why they are what they are."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ..core.families import scorer
from ..core.tables import escaped, percent, render
from ..verdicts.judge import INVALID, shown, value_text
from ..verdicts.runs import Model


WIDTH = 100
# A reason is frequent that so many of the answers to a benchmark have.
FREQUENT = 0.05
_LEGEND = (
    "Scores are percentages of n documents; that of TimeBench is the mean of its tasks, those"
    " of other groups are the means of their documents. ±: the farther end of the 95 %"
    " interval of the score. published: by the metric card's rule. flexible: the right value"
    " in any form. extracted: answers in which the published rule finds one. trivial: the"
    " published score of one answer to everything: these documents' most frequent right one,"
    " or their best label or set of options; at least 1/n."
    f" cut off: {INVALID['cut_off']}, in percent of all answers; a + means “at least”, and"
    " “unknown” that the files do not say. pass@K, majority: published / flexible."
)
# What is told below the table where it is not 0, and of how many answers.
_NOTES = {
    "no_instruction": "The prompt lacks the format instruction, so these answers tell"
    " nothing of the model",
    "changed": "The harness's log gives these answers other scores",
}


class Part(NamedTuple):
    """What there is to say of a run."""

    model: Model
    rows: list[dict]  # as of `rows`


def report(parts: list[Part], by: list[str]) -> str:
    """Return the tables of runs as Markdown, then the breakdowns that are asked for."""
    texts = [text for part in parts for text in _run(part)]
    rows = [row for part in parts for row in part.rows if row["by"] in by]
    places = dict.fromkeys((row["task"], row["filter"], row["by"]) for row in rows)
    for place in places:
        those = [x for x in rows if (x["task"], x["filter"], x["by"]) == place]
        texts.append(_breakdown(those))
    return "\n".join([*texts, _wrapped(_LEGEND)])


def _run(part: Part) -> Iterator[str]:
    rows = [row for row in part.rows if row["by"] is None]
    yield f"## {escaped(part.model.name)}\n"
    yield render([_line(row) for row in rows], "markdown", percent)
    if any(row["answers"] > row["n"] for row in rows):
        yield render([_several(row) for row in rows], "markdown", percent)
    if notes := "".join(_notes(part.model, rows)):
        yield notes
    yield render([*_reasons(rows)], "markdown", percent)
    if examples := "".join(_examples(part)):
        yield examples


def _name(row: dict) -> str:
    some = row.get("tasks")
    is_whole = not some or len({*some.split(" of ")}) == 1
    name = row["task"] if is_whole else f"{row['task']} ({some} tasks)"
    return " ".join(filter(None, (name, row["filter"])))


def _line(row: dict) -> dict:
    cells = {"task": _name(row)}
    cells |= {rule: _sure(row, rule) for rule in ("published", "flexible")}
    cells |= {name: row[name] for name in ("extracted", "trivial")}
    share = row["cut_off"] / row["answers"]
    if row["cut_off_unknown"]:
        share = f"{percent(share)}+" if row["cut_off"] else "unknown"
    return cells | {"cut off": share, "n": row["n"]}


def _sure(row: dict, rule: str) -> str | None:
    """Return a score and how far its interval reaches, in two digits or to tenths."""
    if (score := row[rule]) is None:
        return None
    reach = 100 * max(score - row[f"{rule}_low"], row[f"{rule}_high"] - score)
    return f"{percent(score)} ±{reach:.{0 if reach >= 9.95 else 1}f}"


def _several(row: dict) -> dict:
    """Return how many answers there are, and what `--k` asks for: published / flexible."""
    cells = {"task": _name(row), "answers": row["answers"]}
    for name in (x.removesuffix("_published") for x in row if x.endswith("_published")):
        rules = (row[f"{name}_published"], row[f"{name}_flexible"])
        cells[name] = " / ".join(map(percent, rules))
    return cells


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


def _reasons(rows: list[dict]) -> Iterator[dict]:
    for row in rows:
        name = _name(row)
        reasons = [x.removeprefix("reason_") for x in row if x.startswith("reason_")]
        for reason in reasons:
            n, none = row[f"reason_{reason}"], row[f"unextracted_{reason}"]
            cells = {"task": name, "reason": reason, "answers": n}
            yield cells | {"%": n / row["answers"], "published finds none": none}
            name = ""


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
        "right": row["gold"],
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
        scores = (row["published"], row["flexible"], row["extracted"])
        # The blank, which no table shows, keeps a run called "n" apart.
        cell = " / ".join(percent(x) for x in scores if x is not None)
        line[f"{row['run']} "] = cell
    title = f"{escaped(_name(rows[0]))} by {by}; published / flexible / extracted"
    return f"{title}\n\n{render([*lines.values()], 'markdown')}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False) + "\n"
