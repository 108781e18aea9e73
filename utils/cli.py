"""What the command lines of the tools share."""

from __future__ import annotations

import argparse


def tool_parser(tool: str, description: str) -> argparse.ArgumentParser:
    """Return the parser of a tool; `description`, with its examples, is its help."""
    return argparse.ArgumentParser(
        prog=f"temporal-eval {tool}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
