"""Tools around the task pack: `temporal-eval TOOL` where it is installed, `python -m utils
TOOL` in the checkout."""
