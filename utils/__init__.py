"""Tools around the task pack: `temporal-eval TOOL` where it is installed, `python -m utils
TOOL` in the checkout.

For other programs: `compute`, the metric cards' function; `reward` and `training_set`,
which make the scores rewards; `render`, which makes a prompt and a document of a row; and
`score_batch`, which scores many answers at once.
"""

# These import little: the harness comes with the first data set.
from .adapters.batch import score_batch as score_batch
from .adapters.cards import compute as compute
from .adapters.rewards import (
    render as render,
    reward as reward,
    training_set as training_set,
)
