"""Tools around the task pack: `temporal-eval TOOL` where it is installed, `python -m utils
TOOL` in the checkout.

For other programs: `compute`, the metric cards' function; `reward` and `training_set`,
which make the scores rewards.
"""

# Not imported when first asked for: a module's name would then hide the function's. These
# import the standard library alone; families and what they need come with the first call.
from .core.compute import compute as compute
from .core.reward import reward as reward, training_set as training_set
