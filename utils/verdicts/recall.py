"""Whether models recall public rows: they answer twins with the labels of these.

Beside the right label of a twin stand two wrong ones, equally far from it: that of the
public row, and its mirror image. A model that recalls nothing gives either equally often,
however hard twins are: so the sign test compares both. `tests/recall.py` simulates it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc

from ..core.documents import documents_of
from ..core.families import scorer, transformations
from ..core.jsonl import parse, read_lines
from ..core.tables import p_text, percent, points
from ..packs.manifest import FILE, Manifest
from ..stats import CONFIDENCE, POWER, estimate_difference, holm
from .figures import Document
from .judge import value_json
from .runs import Model


_SHARES = [n / 1000 for n in range(1, 1000)]


class Original(NamedTuple):
    """What a twin is of, and two wrong values of it, as JSON."""

    digest: str  # of the public row
    recalled: str
    mirror: str | None  # None where no other wrong value is as far away


class Hits(NamedTuple):
    """How many twins with both wrong values a model answered, and how many with either."""

    twins: int
    recalled: int
    mirror: int

    @property
    def p_value(self) -> float:
        """The chance of so many recalled labels, were both equally likely."""
        return float(bdtrc(self.recalled - 1, self.recalled + self.mirror, 0.5))


@cache
def originals(task: str, include_path: Path) -> dict[str, Original]:
    """Return digest -> original of the twins of a pack; none of other tasks."""
    if not (include_path / FILE).is_file():
        return {}
    manifest = Manifest.of(include_path)
    file = manifest.tasks.get(task)
    if not file or not (record := manifest.data[file].get("twins")):
        return {}
    rows = [parse(line) for line in read_lines(include_path / "data" / file)]
    utils, explain = scorer(task).utils, scorer(task).explain
    digests = [utils.digest(doc).hex() for doc in documents_of(task, rows)]
    found = [record["originals"][digest] for digest in digests]
    column, texts = record["column"], []
    for place in (1, 2):  # the label of the public row, and the mirror image
        labels = [x[place] or row[column] for row, x in zip(rows, found)]
        others = [row | {column: label} for row, label in zip(rows, labels)]
        responses = ((x, utils.gold_response(x)) for x in documents_of(task, others))
        texts.append([value_json(explain(*x).value) for x in responses])
    return {
        digest: Original(x[0], recalled, mirror if x[2] else None)
        for digest, x, recalled, mirror in zip(digests, found, *texts)
    }


def recall(models: list[Model], include_path: Path) -> list[dict]:
    """Return a row for each model and task of twins; all rows are tested together."""
    rows = []
    for model in models:
        for task in sorted(filter(transformations, model.tasks)):
            of_twins = originals(task, include_path)
            if any(x.mirror for x in of_twins.values()):
                hits = count_hits(model.tasks[task].all.documents, of_twins)
                row = {"run": model.name, "scope": task} | hits._asdict()
                row |= {"p": hits.p_value, "hits": hits}
                rows.append(row | _gaps(model, task, include_path))
    for row, p_value in zip(rows, holm(row["p"] for row in rows)):
        row["p_holm"], row["recalls"] = p_value, p_value < 1 - CONFIDENCE
        row["least_share"] = least_share(row.pop("hits"), len(rows))
    return rows


def count_hits(documents: list[Document], of_twins: dict[str, Original]) -> Hits:
    """Return how often the last answers to twins have either wrong value."""
    twins = [(x.row["value"], of_twins.get(x.digest)) for x in documents]
    tested = [(value, twin) for value, twin in twins if twin and twin.mirror]
    recalled = sum(value == twin.recalled for value, twin in tested)
    return Hits(len(tested), recalled, sum(value == x.mirror for value, x in tested))


def least_share(hits: Hits, tests: int) -> float | None:
    """Return the share of labels from which on recall is named with a chance of POWER.

    Other answers have either wrong value as often as the mirror images were given. None
    where there are too few twins.
    """
    level, counts = (1 - CONFIDENCE) / tests, np.arange(hits.twins + 1)
    critical, least = [], 0  # recalled labels that do not name a model, by hits
    for count in counts:
        while bdtrc(least - 1, count, 0.5) >= level and least <= count:
            least += 1
        critical.append(least - 1)
    for share in _SHARES:
        mirror = (1 - share) * hits.mirror / max(1, hits.twins)
        either = min(1.0, share + 2 * mirror)
        chances = np.diff(bdtr(counts, hits.twins, either), prepend=0)
        if chances @ bdtrc(critical, counts, 1 - mirror / either) >= POWER:
            return share
    return None


def _gaps(model: Model, task: str, include_path: Path) -> dict[str, float | int]:
    """Return public - twin, of twins and of controls that a model answered, too."""
    base, gaps = scorer(task).base, {}
    others = (x for x in model.tasks if transformations(x) and x != task)
    controls = (x for x in others if scorer(x).base == base)
    public = model.tasks[base].all.documents if base in model.tasks else []
    by_digest = {x.digest: x for x in public}
    for name, other in (("", task), ("control_", next(controls, None))):
        of_twins = originals(other, include_path) if other else {}
        twins = model.tasks[other].all.documents if of_twins else []
        known = [(of_twins[x.digest].digest, x) for x in twins if x.digest in of_twins]
        pairs = [(by_digest[x], y) for x, y in known if x in by_digest]
        if pairs:
            metric = scorer(task).headline[1]
            before, after = ([x.means()[metric] for x in side] for side in zip(*pairs))
            gap = estimate_difference(after, before, [x.cluster for x, _ in pairs])
            gaps[f"{name}pairs"] = len(pairs)
            gaps |= {f"{name}{x}": getattr(gap, x) for x in ("value", "low", "high")}
    return gaps


def recall_sentence(row: dict, name: str) -> str:
    """Return what a row of `recall` claims of a model, and the figures beside it."""
    if row["recalls"]:
        text = f"{name} answers {row['recalled']} of {row['twins']} twins with the"
        text += f" published row's answer, and {row['mirror']} with its mirror image"
        text += f" (adjusted p {p_text(row['p_holm'])}): it recalls published rows."
    else:
        text = f"no sign that {name} recalls labels ({row['recalled']} against"
        text += f" {row['mirror']} of {row['twins']} twins); "
        share, power = row["least_share"], f"{100 * POWER:.0f} % power"
        start = f"from a share of {percent(share)} % on" if share else "is out of reach"
        text += f"{power} {start}."
    for what, key in (("Public − twin", ""), ("Public − control", "control_")):
        if f"{key}pairs" in row:
            low, high = (points(row[f"{key}{x}"]) for x in ("low", "high"))
            interval = f"95 % interval {low} to {high}, {row[f'{key}pairs']} rows"
            text += f" {what}: {points(row[f'{key}value'])} points ({interval})."
    return f"{row['scope']}: {text}"
