"""Task pack for the LM Evaluation Harness: TCP, Test of Time and TimeBench."""

from pathlib import Path


__version__ = "0.4.0"  # as in setup.cfg
# A checkout may be ahead of the release.
_IS_CHECKOUT = (Path(__file__).parents[1] / "setup.cfg").is_file()
VERSION = f"lm-eval-temporal-tasks {__version__}{' (checkout)' if _IS_CHECKOUT else ''}"
