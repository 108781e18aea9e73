"""What tests share: the checkout, the shared data, the families' scorers."""

import os
from pathlib import Path

import pytest


ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real data and real answers; tests that need it skip without."""
    folder = os.environ.get("TEMPORAL_EVAL_SHARED", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("TEMPORAL_EVAL_SHARED names no folder with the shared data")
    return Path(folder)
