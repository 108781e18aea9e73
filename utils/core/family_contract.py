"""What a family declares to the tools, and the checks that it does as it says.

CONTRIBUTING.md ("Add a task") says in which order to write it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, Protocol, cast

from .errors import FamilyError


SHARE, NUMBER, ERROR = KINDS = ("share", "number", "error")  # of metrics
PUBLISHED, FLEXIBLE = ROLES = ("published", "flexible")  # of the two headline scores
EXTRACTED = "extracted"  # the metric that is 1 where the published rule finds a value
HIGHER_IS_BETTER = "higher_is_better"  # what the YAML says of a metric
RIGHT, CUT_OFF = "right", "cut_off"  # the reasons that tools know
SEE = "see 'Add a task' in CONTRIBUTING.md"


class Metric(NamedTuple):
    """What a metric is: an entry of METRICS has those fields that differ from these."""

    kind: str = SHARE  # from 0 to `top`; NUMBER: any; ERROR: signed
    role: str | None = None  # PUBLISHED or FLEXIBLE score of a task
    top: float = 1  # of a SHARE
    unit: str = ""  # of a NUMBER or an ERROR
    optional: bool = False  # only some documents have it
    shown: bool = False  # the tables of `score` show it; CSV and JSON show all
    overlap: bool = False  # an answer that shares words with a gold has a part of it
    formerly: str | None = None  # what logs before version 2.0 call it
    higher_is_better: bool = True  # the YAML says it, not METRICS


class Verdict(Protocol):
    """What a family's `explain` makes of a response: a NamedTuple of these fields.

    Spans are positions in the response; None stands for what was not found.
    """

    scores: dict[str, float]  # in the order of the YAML
    reason: str  # one of the family's REASONS
    published: str | None  # the answer that the metric card's rule extracts
    published_span: tuple[int, int] | None
    flexible: str | None  # the answer that the response commits to, as it stands there
    flexible_span: tuple[int, int] | None
    value: object  # what the flexible answer was read as
    reference: object  # the value of the reference, read the same way


# Column of documents -> type; a list holds that of its items.
Columns = dict[str, type | list[type]]


class Family(Protocol):
    """What tools use of a family, by its names in the family's `utils.py`.

    Beside these, the file has `process_docs_KIND`, `process_results_KIND` and
    `explain_KIND` for each kind of task; the YAML files name the first two. `explain` raises
    ValueError for a document whose reference it cannot read, and nothing else for documents
    that are as DOCUMENTS says. A family may also have these:

    - `signed_error(value, reference)`, of a verdict: how far the value is from the
      reference, and in which unit; `score` shows the median;
    - `choices(document)`: every response to choose from, where a document has options;
    - `golds(document)`: text -> response of each gold, for metrics with `overlap`.
    """

    # Upstream's name of a file, or what is before its last "_" -> rows, fingerprint or None.
    FILES: dict[str, tuple]
    LICENCE: str  # of the rows, as upstream states it
    REASONS: dict[str, str]  # the word of a verdict -> what it means
    METRICS: dict[str, dict]  # metric of the YAML -> fields of its `Metric`
    # Name of an `explain` -> column of its documents -> type.
    DOCUMENTS: dict[str, Columns]
    # What scores are split by -> column of documents, or a function of one.
    BREAKDOWNS: dict[str, str | Callable[[dict], object]]
    BOARD_COLUMNS: list[str]  # the breakdowns that have columns on a board
    reference_key: Callable[[dict], str]  # equal for documents with equal references
    digest: Callable[[dict], bytes]  # document -> digest of what prompt and score need
    cluster: Callable[[dict], str]  # document -> what it shares with others
    fingerprint: Callable[[Iterable[bytes]], str]  # digests in any order -> one digest
    gold_response: Callable[[dict], str]  # document -> its reference, as prompts ask

    # Every module has these: they are nothing to check.
    @property
    def __name__(self) -> str: ...

    @property
    def __file__(self) -> str: ...


def check_names(
    place: object, verb: str, needed_names: Iterable[str], names: Container[str]
) -> None:
    """Raise FamilyError for a place that lacks some of the names that it needs."""
    if missing_names := [name for name in needed_names if name not in names]:
        raise FamilyError(f"{place}: {verb} no {', '.join(missing_names)}; {SEE}")


def check_family(module: ModuleType) -> Family:
    """Return the family of a module; FamilyError where a name or a reason is missing."""
    check_names(f"{module.__file__}", "has", Family.__annotations__, vars(module))
    utils = cast(Family, module)
    check_names(f"{utils.__file__}: REASONS", "has", (RIGHT, CUT_OFF), utils.REASONS)
    place = f"{utils.__file__}: BREAKDOWNS"
    check_names(place, "has", utils.BOARD_COLUMNS, utils.BREAKDOWNS)
    return utils


def read_metrics(
    module: ModuleType, yaml_path: Path, entries: list[dict]
) -> dict[str, Metric]:
    """Return the metrics that a YAML file lists; FamilyError where METRICS lacks one."""
    check_names(f"{module.__file__}", "has", ["METRICS"], vars(module))
    names = [entry["metric"] for entry in entries]
    check_names(f"{yaml_path}: metric_list", "has", [EXTRACTED], names)
    check_names(f"{module.__file__}: METRICS", "has", names, module.METRICS)
    metrics = {}
    known_fields = [name for name in Metric._fields if name != HIGHER_IS_BETTER]
    for entry in entries:
        name, fields = entry["metric"], module.METRICS[entry["metric"]]
        place = f"{module.__file__}: METRICS['{name}']"
        if unknown_fields := [field for field in fields if field not in known_fields]:
            fix = f"its fields are {', '.join(known_fields)}"
            raise FamilyError(f"{place} has {', '.join(unknown_fields)}; {fix}")
        check_names(
            f"{yaml_path}: metric_list: {name}", "has", [HIGHER_IS_BETTER], entry
        )
        metrics[name] = Metric(**fields, higher_is_better=entry[HIGHER_IS_BETTER])
        if metrics[name].kind not in KINDS:
            raise FamilyError(f"{place} has another kind than {', '.join(KINDS)}")
        if metrics[name].kind == SHARE and metrics[name].unit:
            raise FamilyError(f"{place} is a share, which has no unit; give it a kind")
    return metrics


def headline_of(metrics: dict[str, Metric], yaml_path: Path) -> dict[str, str]:
    """Return role -> metric of both headline scores, {} for none; FamilyError for one alone."""
    name_by_role = {metric.role: name for name, metric in metrics.items()}
    headline = {role: name_by_role[role] for role in ROLES if role in name_by_role}
    if len(headline) == 1:
        fault = (
            "has a metric with the role published or flexible, and none with the other"
        )
        raise FamilyError(f"{yaml_path}: {fault}; {SEE}")
    return headline


def check_verdict(
    explain: Callable, metrics: dict[str, Metric], reasons: dict, verdict: Verdict
) -> None:
    """Raise FamilyError for a verdict of `explain` that is not as the family declares."""
    scores = verdict.scores
    for name, metric in metrics.items():
        if name not in scores and not metric.optional:
            fault = f"returns no '{name}', which the YAML names"
        elif metric.kind == SHARE and not 0 <= scores.get(name, 0) <= metric.top:
            fault = f"returns {scores[name]:g} as '{name}', which METRICS calls a share"
            fault += f" of {metric.top:g}, as it has no other kind or top"
        else:
            continue
        raise _fault_of(explain, fault)
    if unknown_names := scores.keys() - metrics.keys():
        names_text = ", ".join(sorted(unknown_names))
        raise _fault_of(explain, f"returns {names_text}, which the YAML does not name")
    if verdict.reason not in reasons:
        fault = f"returns the reason '{verdict.reason}', which REASONS lacks"
        raise _fault_of(explain, fault)


def _fault_of(explain: Callable, fault: str) -> FamilyError:
    place = f"{sys.modules[explain.__module__].__file__}: {explain.__name__}"
    return FamilyError(f"{place} {fault}; {SEE}")


def column_fault(columns: Columns, doc: dict) -> str | None:
    """Return which column a document lacks, or has with another type; None for a document."""
    for column, column_type in columns.items():
        if column not in doc:
            return f"has no '{column}'"
        if not _has_type(doc[column], column_type):
            name = column_type if isinstance(column_type, type) else column_type[0]
            plural = "" if isinstance(column_type, type) else "list of "
            return f"'{column}' is {doc[column]!r:.60}, not a {plural}{name.__name__}"
    return None


def _has_type(cell: object, cell_type: type | list[type]) -> bool:
    if isinstance(cell_type, list):
        return isinstance(cell, list) and all(
            isinstance(item, cell_type[0]) for item in cell
        )
    is_odd_number = isinstance(cell, bool) and cell_type is int
    return isinstance(cell, cell_type) and not is_odd_number
