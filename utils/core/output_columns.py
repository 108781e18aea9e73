"""The formats that tools write: every column with its type, its unit and its meaning.

From here are made the JSON Schemas in `utils/schemas` and the tables in `utils/FORMATS.md`:
`python -m tests.formats`. In names of columns, words in capitals stand for one of several.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .task_scorers import all_tasks, scorer


RULES = "published|flexible"
ENDS = "_low|_high"


class Column(NamedTuple):
    """A column of rows, or a key of an object."""

    name: str  # words in capitals are those of `placeholders`
    type: str  # of JSON; several are parted by "|", and "null" is one of them
    meaning: str
    unit: str = ""


class Format(NamedTuple):
    """What a file holds: an object, or a list or lines of objects, with these columns."""

    title: str
    about: str  # by which command it is written, and what a row is
    is_list: bool
    columns: list[Column]
    required: list[str]


# Unit -> the least and the largest value of a column with it.
_BOUNDS = {"share": (0, 1), "difference of shares": (-1, 1)}


_FIGURES = [
    Column("published", "number|null", "score by the benchmark's own rule", "share"),
    Column("flexible", "number|null", "score by the value in any form", "share"),
    Column("extracted", "number|null", "documents in which the published rule finds an answer", "share"),
    Column("METRIC", "number|null", "mean of a metric of the task", "as its family's METRICS say"),
    Column("METRIC n", "integer", "documents that the metric applies to, where these are not all"),
    *(
        Column(f"{rule}_{end}", "number|null", f"{word} end of its 95 % interval, to draw error bars by", "share")
        for rule in ("published", "flexible")
        for end, word in (("low", "lower"), ("high", "upper"))
    ),
    Column("format_cost", "number", "flexible minus published score", "difference of shares"),
    Column("FIGUREEND", "number|null", "end of another figure's 95 % interval", "as the figure"),
    Column("RULE_error", "number|null", "standard error of the score (CR2); the interval is not made of it", "share"),
    Column("RULE_freedom", "number|null", "degrees of freedom of that error"),
    Column("RULE_design_effect", "number|null", "variance of the score by that of as many independent documents"),
    Column("constant", "number|null", "published score of the best one answer to every document", "share"),
    Column("constant_answer", "string|null", "that answer"),
    Column("pass@K_RULE", "number", "chance that one of K answers to a document is right (`--k`)", "share"),
    Column("majority_RULE", "number", "score of the most frequent answer to a document (`--k`)", "share"),
    Column("median_error_UNIT", "number", "median over documents of value minus reference, the mean of their answers with a value", "in the name"),
    Column("error_read", "number", "answers with such a value", "share"),
    Column("clusters", "integer", "groups of documents that share a text or template"),
    Column("n", "integer", "documents"),
    Column("answers", "integer", "answers to them"),
    Column("changed", "integer", "answers to which the log gives other scores"),
    Column("no_instruction", "integer", "answers to prompts without the format instruction"),
    Column("cut_off", "integer", "answers that end before an answer, as far as it shows"),
    Column("cut_off_unknown", "integer", "answers of which nothing says why they ended"),
    Column("reason_REASON", "integer", "answers with this reason"),
    Column("unextracted_REASON", "integer", "those of them in which the published rule finds nothing"),
    Column("left_out", "integer|null", "documents that `--leave_out` leaves out"),
    Column("rows", "string|null", "whether the documents are the benchmark's rows"),
    Column("fingerprint", "string|null", "digest of the documents, in any order"),
    Column("tasks", "string", "how many tasks of the benchmark have answers; of a mean, its benchmarks"),
]  # fmt: skip
_PLACE = [
    Column(
        "by",
        "string|null",
        "breakdown of a part, such as `level`; null for a whole task or benchmark",
    ),
    Column("value", "string|null", "value of that breakdown, such as `3` of `level`"),
]
_DIFFERENCE = [
    Column("run_a", "string", "name of a run"),
    Column("run_b", "string", "name of the run that it is compared with"),
    Column("scope", "string", "benchmark or task"),
    Column("score", "string", "published or flexible"),
    Column("n", "integer", "documents that both answered"),
    Column("a", "number", "score of run a on these", "share"),
    Column("b", "number", "score of run b", "share"),
    Column("difference", "number", "run a minus run b, paired by document", "difference of shares"),
    Column("low", "number|null", "lower end of its 95 % interval", "difference of shares"),
    Column("high", "number|null", "upper end", "difference of shares"),
    Column("error", "number|null", "standard error of the difference (CR2)", "share"),
    Column("freedom", "number|null", "degrees of freedom"),
    Column("clusters", "integer", "groups of documents that share a text or template"),
    Column("design_effect", "number|null", "variance by that of as many independent documents"),
    Column("p", "number|null", "p-value of the paired test, two-sided; of recall, one-sided"),
    Column("p_holm", "number|null", "p-value, adjusted for all tests of the command"),
    Column("tests", "integer", "how many these are"),
    Column("detectable", "number|null", "least difference that 4 of 5 such tests would show", "share"),
    Column("better", "string|null", "run that is shown to be better"),
    Column("run", "string", "of a row on recall: name of the run"),
    Column("pairs", "integer", "pairs of twins that have both an answer"),
    Column("recalled", "integer", "twins of them with the public row's label"),
    Column("mirror", "integer", "twins of them with its mirror image"),
    Column("pairs_for", "integer", "pairs with more of the former"),
    Column("pairs_against", "integer", "pairs with more of the latter"),
    Column("recalls", "boolean", "whether the model is named"),
    Column("least_share", "number|null", "least share of recalled labels that 4 of 5 tests would name", "share"),
    Column("unpaired", "boolean", "whether the pack's twins are not in pairs"),
    Column("rows", "integer", "twins of which the public row is answered, too"),
    Column("value", "number", "public minus twin score on these", "difference of shares"),
]  # fmt: skip
FORMATS = {
    "score": Format(
        "Figures of runs",
        "Written by `temporal-eval score --format json` and `csv`. A row is of a benchmark (it has `tasks`), of a"
        " task, or of a part of a task (`by` and `value`); no two rows have equal `run`, `task`, `filter`, `by` and"
        " `value`. Parts stand in the order of their values, numbers as numbers. A part without answers has no row."
        " Each interval is of its own row, over documents that share a text as one cluster",
        True,
        [
            Column("run", "string", "name of the run"),
            Column("task", "string", "benchmark or task"),
            Column("filter", "string|null", "filter of the harness, null for `none`"),
            *_PLACE, *_FIGURES,
        ],
        ["run", "task", "by", "value", "n", "published", "flexible"],
    ),
    "compare": Format(
        "Differences of runs",
        "Written by `temporal-eval compare --format json` and `csv`. A row is of two runs, a benchmark or task, and"
        " a score, or of what a run recalls",
        True,
        _DIFFERENCE, ["scope"],
    ),
    "leaderboard": Format(
        "Figures of models",
        "Written by `temporal-eval leaderboard --json` and `--csv`. A row is of a model and the mean of benchmarks,"
        " a benchmark, a task, or a part of a task (`by` and `value`)",
        True,
        [
            Column("model", "string", "name of the model"),
            Column("status", "string", "verified, not verified or not ranked: in the scope of the row"),
            Column("remarks", "string|null", "what is remarked of it"),
            Column("scope", "string", "benchmark or task, or `mean`: of the public benchmarks of which the model answered all tasks, in part or whole (see `n`)"),
            *_PLACE,
            Column("RULE_rank", "string|null", "first and last place that the tests leave open"),
            Column("rank_of", "integer|null", "models that are ranked together"),
            Column("rank_group", "string|null", "equal for models that are ranked together"),
            *_FIGURES,
        ],
        ["model", "status", "scope", "by", "value", "n"],
    ),
    "verdicts": Format(
        "Verdicts on answers",
        "`verdicts_TASK.jsonl` of `temporal-eval score --output`. A row is of an answer",
        False,
        [
            Column("task", "string", "task of the document"),
            Column("doc_id", "integer|string|null", "number of the document, where the line says it"),
            Column("digest", "string", "digest of what prompt and score depend on"),
            Column("cluster", "string", "digest of what the document shares with others"),
            Column("sample", "string|null", "number of the answer among those to the document"),
            Column("filter", "string|null", "filter of the harness, null for `none`"),
            Column("scores", "object", "metric -> score, null where it does not apply"),
            Column("reason", "string", "the family's word for the verdict"),
            Column("why", "string", "what the word means"),
            Column("published", "string|null", "what the published rule extracts"),
            Column("published_span", "array|null", "where it stands in the response", "characters"),
            Column("flexible", "string|null", "what the flexible rule extracts"),
            Column("flexible_span", "array|null", "where it stands in the response", "characters"),
            Column("value", "string|null", "the value that the flexible rule reads, as JSON"),
            Column("reference", "string|null", "the value of the reference, as JSON"),
            Column("gold", "string|null", "the reference in the form that the prompt asks for"),
            Column("invalid", "string|null", "no_instruction or cut_off: the answer says little of the model"),
            Column("finish_reason", "string|null", "why the answer ended, where the file says it"),
            Column("changed", "boolean", "whether the log gives the answer other scores"),
            Column("error", "number|null", "value minus reference"),
            Column("error_unit", "string|null", "unit of that error"),
            Column("length", "integer", "length of the response", "characters"),
            Column("response", "string", "start of the SHA-256 of the response"),
            Column("excerpt", "string|null", "start and end of the response"),
            Column("BREAKDOWN", "string|null", "part that the document is in"),
            Column("file", "string", "name of the file of answers"),
            Column("line", "integer", "line of the answer in it"),
            Column("has_system", "boolean|null", "whether the prompt has the run's system instruction"),
        ],
        ["task", "doc_id", "digest", "scores", "reason", "published", "flexible", "value"],
    ),
    "run": Format(
        "The head of a table", "`run.json` of `temporal-eval score --output`", False,
        [
            Column("schema", "string", "name and version of the format of tables"),
            Column("key", "string", "digest of all that the table depends on"),
            Column("pack", "string", "name and version of this pack"),
            Column("source", "string", "path of the file of answers"),
            Column("failure", "null", "of a table that is written, nothing"),
            Column("sha256", "array", "SHA-256 of the file, and of its results or null"),
            Column("model", "string|null", "name of the model, where the files say it"),
            Column("refused", "object", "`lines` that do not count, and how many by task and filter"),
            Column("end", "string|null", "why the file was not read to its end"),
            Column("tasks", "array", "of each task and filter: documents, claims of results, examples, checks"),
            Column("files", "object", "other files of the table -> rows, bytes and SHA-256"),
            Column("digest", "string", "digest of this object without it"),
        ],
        ["schema", "key", "source", "sha256", "tasks", "files", "digest"],
    ),
}  # fmt: skip


def placeholders() -> dict[str, str]:
    """Return word in capitals -> regular expression of what it stands for."""
    metrics: dict = {}
    reasons: dict = {}
    breakdowns: dict = {}
    for task in all_tasks():
        metrics |= scorer(task).metrics
        reasons |= scorer(task).utils.REASONS
        breakdowns |= scorer(task).utils.BREAKDOWNS
    names = "|".join(sorted(metrics))
    figures = f"{RULES}|extracted|format_cost|{names}|pass@[0-9]+_({RULES})"
    return {
        "METRIC": f"({names})",
        "FIGURE": f"({figures}|majority_({RULES})|median_error_[a-z]+)",
        "END": f"({ENDS})",
        "RULE": f"({RULES})",
        "REASON": f"({'|'.join(sorted(reasons))})",
        "BREAKDOWN": f"({'|'.join(sorted(breakdowns))})",
        "UNIT": "[a-z]+",
        "K": "[0-9]+",
    }


def json_schema(form: Format) -> dict:
    """Return the JSON Schema of a format, which knows no column but those of it."""
    patterns = placeholders()
    words = re.compile("|".join(patterns))
    properties, pattern_properties = {}, {}
    for column in form.columns:
        types = column.type.split("|")
        entry: dict = {"type": types if len(types) > 1 else types[0]}
        entry["description"] = column.meaning
        if column.unit:
            entry["description"] += f" ({column.unit})"
        if column.unit in _BOUNDS:
            entry["minimum"], entry["maximum"] = _BOUNDS[column.unit]
        if words.search(column.name):
            pattern = words.sub(lambda word: patterns[word[0]], column.name)
            pattern_properties[f"^{pattern}$"] = entry
        else:
            properties[column.name] = entry
    row = {
        "type": "object",
        "properties": properties,
        "patternProperties": pattern_properties,
        "required": form.required,
        "additionalProperties": False,
    }
    whole = {"type": "array", "items": row} if form.is_list else row
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | {"title": form.title, "description": f"{form.about}."} | whole


def markdown_table(form: Format) -> str:
    """Return a section of the page of formats: each column with its meaning and unit."""
    lines = [f"## {form.title}", "", f"{form.about}.", ""]
    lines += ["| column | type | meaning | unit |", "|---|---|---|---|"]
    for column in form.columns:
        types = column.type.replace("|", " or ")
        lines.append(
            f"| `{column.name}` | {types} | {column.meaning} | {column.unit} |"
        )
    return "\n".join([*lines, ""])
