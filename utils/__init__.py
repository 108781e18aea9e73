"""Tools around the task pack: `temporal-eval TOOL`, or `python -m utils TOOL` in a checkout.

For other programs: `compute`, the metric cards' function; `reward` and `training_set`,
which make the scores rewards; `render`, which makes a prompt and a document of a row; and
`score_batch`, which scores many answers at once. The harness comes with the first data set.
"""

from .adapters.metric_card_compute import compute
from .adapters.rewards import render, reward, training_set
from .adapters.score_batch import score_batch


__all__ = ["compute", "render", "reward", "score_batch", "training_set"]
