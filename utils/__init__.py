"""Tools around the task pack: `temporal-eval TOOL` where it is installed, `python -m utils
TOOL` in the checkout.

For other programs: `reward` and `training_set`, which make the scores rewards.
"""

from .reward import reward as reward, training_set as training_set
