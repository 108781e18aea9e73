"""Whether models recall public rows: they answer twins with the labels of these.

Two twins are a pair if they have the same right year, in the middle between the years of
their public labels: the label of either row is the other's mirror image. A model that
recalls nothing answers either year as often to the one as to the other, whatever its habits.
So a pair speaks for recall where the labels of the public rows are answered more often in it
than the mirror images, and against it where they are less often. Under any habit of a model
both are equally likely, and the sign test over pairs is exact. `tests/recall.py` simulates it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc, bdtrik

from ..core.documents import documents_of
from ..core.files import read_jsonl
from ..core.format_tables import p_text, percent, points
from ..core.task_scorers import scorer, transformations
from ..packs.manifest import FILE, Manifest
from ..stats import CONFIDENCE, POWER, estimate_difference, holm
from ..verdicts.judge_answer import encode_value
from ..verdicts.runs_by_model import Model
from ..verdicts.tally import Document


class Original(NamedTuple):
    """The public row of a twin, and two wrong values of the twin, as JSON."""

    digest: str
    recalled: str
    mirror: str | None  # as far on the other side of the right one; of pairs
    partner: str | None  # digest of the other twin of a pair


class Hits(NamedTuple):
    """How the pairs of twins are answered that have both an answer."""

    pairs: int
    recalled: int  # twins with the label of their public row
    mirror: int  # twins with the mirror image
    pairs_for: int  # with more of the former than of the latter
    pairs_against: int  # with fewer


def sign_test(
    pairs_for: int | np.ndarray, pairs_against: int | np.ndarray
) -> np.ndarray:
    """Return the chance of so many pairs for recall if both sides were equally likely."""
    return bdtrc(pairs_for - 1, pairs_for + pairs_against, 0.5)


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
        # Before version 2, a twin had a mirror image, and no partner.
        public_digest, _, mirror_label, *partner = record_by_twin[digest]
        original_by_twin[digest] = Original(
            digest=public_digest,
            recalled=recalled_value,
            mirror=mirror_value if mirror_label else None,
            partner=partner[0] if partner else None,
        )
    return original_by_twin


def recall(models: list[Model], include_path: Path) -> list[dict]:
    """Return a row for each model and task of twins.

    The tests of a model are corrected together: what other models answered, and how many
    there are, changes no verdict on it. Twins that are no pairs are not tested: their rows
    have the difference alone.
    """
    rows = []
    for model in models:
        model_rows = [*_rows_of(model, include_path)]
        tested_rows = [row for row in model_rows if "p" in row]
        adjusted = holm(row["p"] for row in tested_rows)
        for row, adjusted_p in zip(tested_rows, adjusted):
            row["p_holm"], row["recalls"] = adjusted_p, adjusted_p < 1 - CONFIDENCE
            row["tests"] = len(tested_rows)
            row["least_share"] = least_share(row["pairs"], row["mirror"], row["tests"])
        rows += model_rows
    return rows


def _rows_of(model: Model, include_path: Path) -> Iterator[dict]:
    """Yield a row for each task of twins of a model, with the p-value of its test alone."""
    for task in sorted(filter(transformations, model.tasks)):
        originals_by_twin = originals(task, include_path)
        twins = {
            twin_doc: originals_by_twin[twin_doc.digest]
            for twin_doc in model.tasks[task].all.documents
            if twin_doc.digest in originals_by_twin
        }
        hits = count_hits(
            {doc.digest: doc.row["value"] for doc in twins}, originals_by_twin
        )
        cells = {"pairs": hits.pairs} | _gap(model, task, [*twins.items()])
        if hits.pairs:
            cells |= {"p": float(sign_test(hits.pairs_for, hits.pairs_against))}
        if any(twin.mirror and not twin.partner for twin in twins.values()):
            cells["unpaired"] = True
        if "rows" in cells or cells.keys() & {"p", "unpaired"}:
            row: dict = {"run": model.name, "scope": task}
            yield row | hits._asdict() | cells


def count_hits(values: dict[str, str | None], twins: dict[str, Original]) -> Hits:
    """Return how pairs are answered; `values` are those of last answers, by digest."""
    pairs = recalled_count = mirror_count = pairs_for = pairs_against = 0
    for digest, original in twins.items():
        partner = original.partner
        if (
            partner is None
            or not digest < partner
            or not {digest, partner} <= values.keys()
        ):
            continue
        pairs += 1
        sides = [(values[twin], twins[twin]) for twin in (digest, partner)]
        recalled_in_pair = sum(value == twin.recalled for value, twin in sides)
        mirror_in_pair = sum(value == twin.mirror for value, twin in sides)
        recalled_count += recalled_in_pair
        mirror_count += mirror_in_pair
        pairs_for += recalled_in_pair > mirror_in_pair
        pairs_against += recalled_in_pair < mirror_in_pair
    return Hits(pairs, recalled_count, mirror_count, pairs_for, pairs_against)


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
    metric = scorer(task).headline["flexible"]
    twin_scores = [twin_doc.means()[metric] for twin_doc, _ in doc_pairs]
    public_scores = [public_doc.means()[metric] for _, public_doc in doc_pairs]
    clusters = [public_doc.cluster for _, public_doc in doc_pairs]
    gap_estimate = estimate_difference(twin_scores, public_scores, clusters)
    interval_ends = {"low": gap_estimate.low, "high": gap_estimate.high}
    return {"rows": len(doc_pairs), "value": gap_estimate.value} | interval_ends


def least_share(pairs: int, mirror: int, tests: int) -> float | None:
    """Return the share of labels from which on recall is named with a chance of POWER.

    Of the twins of the pairs, `mirror` have the mirror image, and other answers have either
    wrong value as often. None where there are too few pairs.
    """
    test_level, pair_counts = (1 - CONFIDENCE) / tests, np.arange(pairs + 1)
    # Of so many pairs that speak, how many for recall name no model.
    unnamed_maxima = np.ceil(np.nan_to_num(bdtrik(1 - test_level, pair_counts, 0.5)))
    for label_share in np.arange(1, 1000) / 1000:
        mirror_share = (1 - label_share) * mirror / max(1, 2 * pairs)
        recalled_share = min(1 - mirror_share, label_share + mirror_share)
        # A pair speaks for a side where one twin has its value, and the other not the other's.
        other_share = 1 - recalled_share - mirror_share
        for_share = recalled_share * (recalled_share + 2 * other_share)
        against_share = mirror_share * (mirror_share + 2 * other_share)
        either_share = for_share + against_share
        count_chances = np.diff(bdtr(pair_counts, pairs, either_share), prepend=0)
        chances = bdtrc(unnamed_maxima, pair_counts, for_share / either_share)
        if count_chances @ chances >= POWER:
            return float(label_share)
    return None


def recall_sentence(row: dict, name: str) -> str:
    """Return what a row of `recall` claims of a model, and the figures beside it."""
    sentences = [_claim(row, name)] if "p" in row else []
    if "unpaired" in row:
        sentences.append(
            f"The twins of {name} are not in pairs (twin_version 1), so that habits could"
            " look like recall: no verdict; make the pack anew with temporal-eval twins."
        )
    if "rows" in row:
        figure_texts = [points(row[column]) for column in ("value", "low", "high")]
        gap_text = "{} points (95 % interval {} to {}, ".format(*figure_texts)
        of_model_text = "" if sentences else f" of {name}"
        sentences.append(
            f"Public − twin{of_model_text}: {gap_text}{row['rows']} rows)."
        )
    return f"{row['scope']}: {' '.join(sentences)}"


def _claim(row: dict, name: str) -> str:
    """Return whether a model recalls public rows, or what share would be noticed."""
    counts = (
        f"{row['recalled']} of {2 * row['pairs']} paired twins with the public row's answer,"
        f" and {row['mirror']} with its mirror image"
    )
    sides = f"{row['pairs_for']} of {row['pairs']} pairs against {row['pairs_against']}"
    p_value = f"p {p_text(row['p_holm'])}"
    if row["tests"] > 1:
        p_value = f"p {p_text(row['p_holm'])}, adjusted for {row['tests']} tests"
    if row["recalls"]:
        return f"{name} answers {counts} ({sides}; {p_value}): it recalls public rows."
    power_text = "these are too few pairs to name a model that recalls all labels"
    if label_share := row["least_share"]:
        power_text = f"a model that recalls {percent(label_share)} % of the labels or"
        power_text += f" more would be named in {5 * POWER:.0f} of 5 such tests"
    return f"no sign that {name} recalls labels: it answers {counts} ({sides}); {power_text}."
