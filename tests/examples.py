"""The offline pack in `examples/`, made of its own data: `python -m tests.examples`.

It is what `temporal-eval offline` makes of `examples/data`, but its tasks include the
families' files of this checkout, so that an edit of a rule or a prompt shows at once.
"""

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

from tests.conftest import EXAMPLES
from utils.__main__ import main
from utils.core.task_scorers import all_tasks, is_generated, scorer


OF_ROWS = sorted(
    {scorer(task).family for task in all_tasks() if not is_generated(task)}
)
SOURCES = [f"--source={family}={EXAMPLES / 'data'}" for family in OF_ROWS]
HOW = """\
It belongs to a checkout: its tasks include the files in `../lm_eval_tasks`. After a change
of `data/`, of `utils/packs/` or of the tasks' names, `python -m tests.examples` makes all
files here but `data/` and `responses/` anew.
"""


def files(folder: Path) -> dict[str, bytes]:
    """Return name -> content of the examples, of a pack that is made in an empty folder."""
    if main(["offline", str(folder), "--allow-partial", *SOURCES]):
        sys.exit(1)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    contents = {}
    for name in manifest["files"]:
        if not name.startswith("lm_eval_tasks/"):
            text = (folder / name).read_text(encoding="utf-8")
            text = text.replace("It can be carried anywhere.\n", HOW)
            # Where the harness looks for the file, and with the suffix that copies lack.
            text = re.sub(r"(?m)^include: (lm_.*)_yaml$", r"include: ../\1.yaml", text)
            contents[name] = text.encode()
    digests = {name: hashlib.sha256(contents[name]).hexdigest() for name in contents}
    text = json.dumps(manifest | {"files": digests}, indent=2, sort_keys=True)
    return contents | {"manifest.json": f"{text}\n".encode()}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files(Path(folder)).items():
            (EXAMPLES / name).write_bytes(content)
    sys.exit(main(["offline", str(EXAMPLES), "--check"]))
