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
from scipy.special import bdtr, bdtrc, bdtrik

from ..core.documents import documents_of
from ..core.families import scorer, transformations
from ..core.files import read_jsonl
from ..core.text_tables import p_text, percent, points
from ..packs.manifest import FILE, Manifest
from ..stats import CONFIDENCE, POWER, estimate_difference, holm
from ..verdicts.judge_answer import encode_value
from ..verdicts.runs import Model
from ..verdicts.tally import Document


class Original(NamedTuple):
    """The public row of a twin, and two wrong values of the twin, as JSON."""

    digest: str
    recalled: str
    mirror: str | None  # None where no other wrong value is as far away


def sign_test(recalled: int | np.ndarray, mirror: int | np.ndarray) -> np.ndarray:
    """Return the chance of so many recalled labels if both were equally likely."""
    return bdtrc(recalled - 1, recalled + mirror, 0.5)


@cache
def originals(task: str, include_path: Path) -> dict[str, Original]:
    """Return digest -> original of the twins of a pack; none of other tasks."""
    if not (include_path / FILE).is_file():
        return {}
    manifest = Manifest.of(include_path)
    twin_file = manifest.tasks.get(task)
    if not twin_file or not (twins_record := manifest.data[twin_file].get("twins")):
        return {}
    twin_rows = read_jsonl(include_path / "data" / twin_file)
    utils, label_column = scorer(task).utils, twins_record["column"]
    twin_digests = [utils.digest(doc).hex() for doc in documents_of(task, twin_rows)]
    record_by_twin, value_lists = twins_record["originals"], []
    for label_index in (1, 2):  # the label of the public row, and the mirror image
        mislabelled_twins = []
        for row, digest in zip(twin_rows, twin_digests):
            wrong_label = record_by_twin[digest][label_index] or row[label_column]
            mislabelled_twins.append(row | {label_column: wrong_label})
        mislabelled_docs = documents_of(task, mislabelled_twins)
        wrong_responses = map(utils.gold_response, mislabelled_docs)
        verdicts = map(scorer(task).explain, mislabelled_docs, wrong_responses)
        value_lists.append([encode_value(verdict.value) for verdict in verdicts])
    original_by_twin = {}
    for digest, recalled_value, mirror_value in zip(twin_digests, *value_lists):
        public_digest, _, mirror_label = record_by_twin[digest]
        mirror_value = mirror_value if mirror_label else None
        original_by_twin[digest] = Original(public_digest, recalled_value, mirror_value)
    return original_by_twin


def recall(models: list[Model], include_path: Path) -> list[dict]:
    """Return a row for each model and task of twins; all rows are tested together.

    Twins without a mirror image are not tested: their rows have the difference alone.
    """
    rows = []
    for model in models:
        for task in sorted(filter(transformations, model.tasks)):
            originals_by_twin = originals(task, include_path)
            twin_pairs = [
                (twin_doc, originals_by_twin[twin_doc.digest])
                for twin_doc in model.tasks[task].all.documents
                if twin_doc.digest in originals_by_twin
            ]
            cells = _count_hits(twin_pairs) | _gap(model, task, twin_pairs)
            if "pairs" in cells or cells["twins"]:
                rows.append({"run": model.name, "scope": task} | cells)
    tested_rows = [row for row in rows if row["twins"]]
    for row, adjusted_p in zip(tested_rows, holm(row["p"] for row in tested_rows)):
        row["p_holm"], row["recalls"] = adjusted_p, adjusted_p < 1 - CONFIDENCE
        row["least_share"] = least_share(row["twins"], row["mirror"], len(tested_rows))
    return rows


def _count_hits(twins: list[tuple[Document, Original]]) -> dict:
    """Return how many last answers to twins have either wrong value, and the p-value."""
    pairs = [(doc.row["value"], original) for doc, original in twins if original.mirror]
    recalled_count = sum(value == original.recalled for value, original in pairs)
    mirror_count = sum(value == original.mirror for value, original in pairs)
    cells = {"twins": len(pairs), "recalled": recalled_count, "mirror": mirror_count}
    if pairs:
        cells["p"] = float(sign_test(recalled_count, mirror_count))
    return cells


def _gap(model: Model, task: str, twins: list[tuple[Document, Original]]) -> dict:
    """Return public − twin, where a model answered the public rows, too."""
    public_tally, public_docs = model.tasks.get(scorer(task).base), {}
    if public_tally:
        public_docs = {doc.digest: doc for doc in public_tally.all.documents}
    doc_pairs = [
        (twin_doc, public_docs[original.digest])
        for twin_doc, original in twins
        if original.digest in public_docs
    ]
    if not doc_pairs:
        return {}
    metric = scorer(task).headline[1]
    score_lists = [[doc.means()[metric] for doc in side] for side in zip(*doc_pairs)]
    clusters = [public_doc.cluster for _, public_doc in doc_pairs]
    gap_estimate = estimate_difference(*score_lists, clusters)
    interval_ends = {"low": gap_estimate.low, "high": gap_estimate.high}
    return {"pairs": len(doc_pairs), "value": gap_estimate.value} | interval_ends


def least_share(twins: int, mirror: int, tests: int) -> float | None:
    """Return the share of labels from which on recall is named with a chance of POWER.

    Of the answers to twins, `mirror` have the mirror image, and other answers have either
    wrong value as often. None where there are too few twins.
    """
    test_level, hit_counts = (1 - CONFIDENCE) / tests, np.arange(twins + 1)
    # Of so many hits, how many recalled labels name no model.
    unnamed_maxima = np.ceil(np.nan_to_num(bdtrik(1 - test_level, hit_counts, 0.5)))
    for label_share in np.arange(1, 1000) / 1000:
        mirror_share = (1 - label_share) * mirror / max(1, twins)
        either_share = min(1.0, label_share + 2 * mirror_share)
        hit_chances = np.diff(bdtr(hit_counts, twins, either_share), prepend=0)
        recalled_share = 1 - mirror_share / either_share  # of the hits
        if hit_chances @ bdtrc(unnamed_maxima, hit_counts, recalled_share) >= POWER:
            return float(label_share)
    return None


def recall_sentence(row: dict, name: str) -> str:
    """Return what a row of `recall` claims of a model, and the figures beside it."""
    sentences = [_claim(row, name)] if row["twins"] else []
    if "pairs" in row:
        figure_texts = [points(row[column]) for column in ("value", "low", "high")]
        gap_text = "{} points (95 % interval {} to {}, ".format(*figure_texts)
        of_model_text = "" if sentences else f" of {name}"
        sentences.append(
            f"Public − twin{of_model_text}: {gap_text}{row['pairs']} rows)."
        )
    return f"{row['scope']}: {' '.join(sentences)}"


def _claim(row: dict, name: str) -> str:
    """Return whether a model recalls public rows, or what share would be noticed."""
    if row["recalls"]:
        return (
            f"{name} answers {row['recalled']} of {row['twins']} twins with the public"
            f" row's answer, and {row['mirror']} with its mirror image (adjusted p"
            f" {p_text(row['p_holm'])}): it recalls public rows."
        )
    power_text = "these are too few twins to name a model that recalls all labels"
    if label_share := row["least_share"]:
        power_text = f"a model that recalls {percent(label_share)} % of the labels or"
        power_text += f" more would be named in {5 * POWER:.0f} of 5 such tests"
    return (
        f"no sign that {name} recalls labels ({row['recalled']} against {row['mirror']}"
        f" of {row['twins']} twins); {power_text}."
    )
