"""Task pack for the LM Evaluation Harness: TCP, Test of Time and TimeBench."""

from pathlib import Path


NAME = "lm-eval-temporal-tasks"  # of the distribution


def version() -> str:
    """Return name and version of the pack, and whether it is a checkout's.

    A checkout says what its setup.cfg says, whatever is installed beside it.
    """
    # Imported here: runs of the harness load the families alone.
    from configparser import ConfigParser
    from importlib import metadata

    config = ConfigParser()
    config.read(Path(__file__).parent.parent / "setup.cfg", encoding="utf-8")
    if config.get("metadata", "name", fallback=None) == NAME:
        return f"{NAME} {config['metadata']['version']} (checkout)"
    try:
        return f"{NAME} {metadata.version(NAME)}"
    except metadata.PackageNotFoundError:
        return f"{NAME}, version unknown (a copy of its folder)"
