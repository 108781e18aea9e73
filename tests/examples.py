"""The offline pack in `examples/`, made of its own data: `python -m tests.examples`.

It is what `temporal-eval offline` makes of `examples/data`, but for the copies of the
families' files: its tasks include those of this checkout, so that an edit of a rule or a
prompt shows at once.
"""

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

from utils.__main__ import main


EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SOURCES = [f"--source={x}={EXAMPLES / 'data'}" for x in ("tcp", "tot", "timebench")]
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
    made = {}
    for name in manifest["files"]:
        content = (folder / name).read_text(encoding="utf-8")
        # Where the harness looks for the file, and with the suffix that copies lack.
        content = re.sub(
            r"(?m)^include: (lm_.*)_yaml$", r"include: ../\1.yaml", content
        )
        if not name.startswith("lm_eval_tasks/"):
            made[name] = content.encode()
    text = made["README.md"].decode().replace("It can be carried anywhere.\n", HOW)
    made["README.md"] = text.encode()
    digests = {name: hashlib.sha256(made[name]).hexdigest() for name in made}
    whole = json.dumps(manifest | {"files": digests}, indent=2, sort_keys=True)
    return made | {"manifest.json": f"{whole}\n".encode()}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for name, content in files(Path(place)).items():
            (EXAMPLES / name).write_bytes(content)
    sys.exit(main(["offline", str(EXAMPLES), "--check"]))
