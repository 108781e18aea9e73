"""Count by kind where the verdicts on recorded answers to ToT arithmetic part.

    temporal-eval adjudicate FILE [FILE ...] [--show KIND]

A FILE has answers as `temporal-eval score` reads them; a line of another form is a row of
the benchmark with a model's `response`.

Kinds under "flexible right, published wrong" say what the published rule stumbled on;
kinds under "flexible wrong, readable as right" are rules: each has a case in
`tests/cases`. `--show` prints the rows of a kind, for reading.

Example:

    temporal-eval adjudicate examples/responses/tot_arithmetic.jsonl \\
        --include_path examples
"""

import re
import sys
from argparse import Namespace
from collections import Counter

from lm_eval_tasks.tot import utils as tot

from . import tables
from .cli import include_path_option, tool_parser
from .errors import ToolError
from .runs import Run, find_runs
from .scoring import score
from .second_reader import reads_as_right


TASK = "tot_arithmetic"
GAINED, LOST, REFUSED = (
    "flexible right, published wrong",
    "flexible wrong, published right",
    "flexible wrong, readable as right",
)


# What keeps a response from holding any JSON object, by what to look for in it; the first
# two look at what follows the last explanation.
NO_JSON = [
    (r"""explanation["']\s*:\s*\[""", "the explanation is a list of bare lines", False),
    (r"""["']\s*:\s*[0-9]+ (?:AD|BC)\s*}""", "a value without quotes", True),
    (
        r"""["']\s*:\s*\+?[0-9]+[-:/+][0-9:-]*\s*[,}]|:\s*\+[0-9]""",
        "a value without quotes",
        True,
    ),
    (r"\n", "raw line breaks in a string", False),
    ("", "other", False),
]


def why_published_is_wrong(row: dict, verdict: tot.Verdict) -> str:
    """Return what the published rule stumbled on in a response that has the value."""
    if verdict.published is None:
        response = row["response"]
        tail = response[response.rfind('"explanation"') :]
        return "no JSON: " + next(
            name
            for pattern, name, in_tail in NO_JSON
            if re.search(pattern, tail if in_tail else response)
        )
    published = tot.extract_published(row["response"]).fields
    reference = tot.read_label(row["label"], is_semantic=False)
    if set(published) != set(reference):
        if "age" in published and "age" not in reference:
            return "the key that the prompt asks for (`age`)"
        return "more keys, or an earlier object"
    if {key: _as_text(value) for key, value in published.items()} == {
        key: _as_text(value) for key, value in reference.items()
    }:
        return "a number for a text, or a text for a number"
    if "day" in reference or "time" in reference:
        return "another form of a day or time"
    return f"another form of a {'year' if re.search('AD|BC', row['label']) else 'date or number'}"


def _as_text(value: object) -> str:
    text = str(value).strip()
    return text[:-2] if text.endswith(".0") else text


def why_flexible_refuses(row: dict, verdict: tot.Verdict) -> str:
    """Return the rule by which a response that can be read as right is wrong."""
    if verdict.flexible is None:
        return "no object that is closed"
    text = verdict.flexible
    if re.search(r"-[0-9]+ (?:BC|AD)", text):
        return "a sign and an era (`-348 BC`)"
    if (
        re.search(r"""["']time["']: ["']?[0-9:]+:[0-9]{2}\b""", text)
        and "HH:MM:SS" not in row["question"]
    ):
        return "seconds where hours and minutes are asked (`01:10:37`)"
    if re.search(r"""["']day["']: ["']?[^"',]*/""", text):
        return "a hedge (`+1/same_day`)"
    return "other"


def adjudicate(row: dict, verdict: tot.Verdict) -> tuple[str, str] | None:
    """Return where the verdicts on a row part, and the kind, or None."""
    scores = verdict.scores
    if scores["acc_flexible"] > scores["acc"]:
        return GAINED, why_published_is_wrong(row, verdict)
    if scores["acc_flexible"] < scores["acc"]:
        return LOST, "a later object"
    if not scores["acc_flexible"] and reads_as_right(row):
        return REFUSED, why_flexible_refuses(row, verdict)
    return None


def main(arguments: list[str] | None = None) -> int:
    """Print the table of counts, or the rows of one kind; return the exit status."""
    parser = tool_parser("adjudicate", __doc__)
    parser.add_argument("file", nargs="+", metavar="FILE")
    parser.add_argument("--show", metavar="KIND", help="a part of its name")
    include_path_option(parser)
    options = parser.parse_args(arguments)
    runs = find_runs(options.file, TASK)
    counts = {run.name: _count(run, options) for run in runs}
    if not options.show:
        sys.stdout.write(_table(counts))
        return 0
    kinds = sorted({_name(kind) for counter in counts.values() for kind in counter})
    if not any(options.show in kind for kind in kinds):
        raise ToolError(
            f"--show {options.show}: no answer is of such a kind; those found are:"
            f" {'; '.join(kinds) or 'none'}"
        )
    return 0


def _count(run: Run, options: Namespace) -> Counter:
    """Return how many answers of a run are of each kind; print those that are asked for."""
    counter, has_answers = Counter(), False
    for answer in run.answers():
        has_answers = True
        if answer.task != TASK:
            raise ToolError(
                f"{answer.place}: answers {answer.task}; give answers to {TASK}"
            )
        scored = score(answer, options.include_path)
        row = {**scored.doc, "response": answer.response}
        if (kind := adjudicate(row, scored.verdict)) is None:
            continue
        counter[kind] += 1
        if options.show and options.show in _name(kind):
            sys.stdout.write(
                f"{answer.place} {kind[1]}\n  label {row['label']}\n"
                f"  answer {scored.verdict.flexible}\n"
                f"  {row['response'][-300:]!r}\n\n"
            )
    if not has_answers:
        raise ToolError(f"{run.files[0].path}: has no answers; give a file with some")
    return counter


def _name(kind: tuple[str, str]) -> str:
    return ": ".join(kind)


def _table(counts: dict[str, Counter]) -> str:
    lines = [
        f"| verdicts | kind | {' | '.join(map(tables.escaped, counts))} |",
        f"|---|---|{'--:|' * len(counts)}",
    ]
    # The kinds are Markdown.
    for kind in sorted({kind for counter in counts.values() for kind in counter}):
        numbers = " | ".join(str(counter[kind]) for counter in counts.values())
        lines.append(f"| {kind[0]} | {kind[1]} | {numbers} |")
    return "\n".join([*lines, ""])
