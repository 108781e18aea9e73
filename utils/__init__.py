"""Tools around the task pack: `temporal-eval TOOL` where it is installed, `python -m utils
TOOL` in the checkout.

`temporal_eval.compute` is for other programs: the metric cards' function.
"""

# Not imported when first asked for: a module's name would then hide the function's. It
# imports the standard library alone; families and what they need come with the first call.
from .compute import compute as compute
