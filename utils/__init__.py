"""Command-line tools around the pack, run from the checkout: `python -m utils.NAME`."""
