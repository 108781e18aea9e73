"""Make a pack of tasks that runs on a machine without a network, or check one.

    python -m utils.offline DIR [--tasks NAME,...] [--source FAMILY=FOLDER ...]
    python -m utils.offline DIR --check

A pack is a folder with the task files, the data as JSON Lines, a manifest and a README
with the command to run; it can be moved anywhere. The rows come by the tasks' own
configuration, or, with `--source`, from files in a local folder that bear the names of
the upstream ones. A run that was interrupted goes on where it stopped.
"""

import argparse
import hashlib
import importlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import datasets
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml

from utils.jsonl import read_jsonl


ROOT = Path(__file__).parent.parent
TASKS = ROOT / "lm_eval_tasks"
LOADER = ROOT / "examples" / "local_data.py"

LICENCES = {
    "tcp": "see https://huggingface.co/datasets/Beanbagdzf/TCP",
    "tot": "CC BY 4.0",
    "timebench": "MIT",
}

NO_NETWORK = "run on a machine with a network, or give the files with --source"
NO_ACCESS = "check the network, its name and your access, or use --source"
# What to do about an error of loading or writing, by words in its type or message.
MENDS = {
    "no space left": "free space on the disk and run again: it goes on where it stopped",
    "gated": "accept the terms on its page and log in with `hf auth login`",
    "revision": "mend the revision in the task's YAML file",
    "offline": NO_NETWORK,
    "connection": NO_NETWORK,
    "resolve": NO_NETWORK,
    "timeout": NO_NETWORK,
    "notfound": NO_ACCESS,
    "doesn't exist": NO_ACCESS,
    "permission": "make it readable and writable",
}


class PackError(Exception):
    """What went wrong, in one line that names the source and the mend."""


def explain(error: Exception, source: str) -> PackError:
    """Return an error of loading or writing as one line."""
    said = str(error).strip().split("\n")[0] or type(error).__name__
    if type(error) is ValueError:  # of rows: the families say what to mend
        return PackError(f"{source}: {said}")
    words = f"{type(error).__name__} {error}".casefold()
    mends = (mend for word, mend in MENDS.items() if word in words)
    return PackError(f"{source}: {said}; {next(mends, '--traceback shows more')}")


# ------------------------------------------------------------------ what goes into it


def leaves(index: dict, names: list[str]) -> Iterator[str]:
    """Yield the tasks that names of tasks and groups stand for, each as often as named.

    Raises PackError for a name that the pack does not have.
    """
    for name in names:
        if name not in index:
            raise PackError(
                f"{name}: no such task or group; `lm_eval ls tasks` lists them"
            )
        config = index[name].cfg
        if "group" in config:
            yield from leaves(index, config["task"])
        else:
            yield name


class Source:
    """The rows that one or several tasks read, and where these come from."""

    def __init__(self, family: str, config: dict):
        self.family = family
        self.path, self.name = config["dataset_path"], config.get("dataset_name")
        self.kwargs = config.get("dataset_kwargs") or {}
        self.split = config["test_split"]
        self.readers = {}  # task -> its process_docs

    @property
    def url(self) -> str:
        """What the manifest and messages call the source."""
        files = self.kwargs.get("data_files", {}).get(self.split)
        if self.path == "json":
            return files
        return "/".join(filter(None, (self.path, self.name, files)))

    @property
    def file(self) -> str:
        """The name of the file with the rows, upstream's where it has one."""
        files = self.kwargs.get("data_files", {}).get(self.split)
        return Path(files).name if files else f"{self.name}.jsonl"

    def rows(self, folder: Path | None) -> list[dict]:
        """Return the rows, from a file of that name in a folder or from upstream."""
        if folder:
            found = sorted(folder.rglob(self.file))
            if not found:
                raise PackError(f"{folder}: holds no file {self.file}; put it there")
            return read_jsonl(found[0])
        dataset = datasets.load_dataset(self.path, self.name, **self.kwargs)
        return [without_nulls(row) for row in dataset[self.split]]


def without_nulls(row: dict) -> dict:
    """Return a row whose dicts have the keys they had before a table gave all to all."""
    return {
        column: {key: value for key, value in cell.items() if value is not None}
        if isinstance(cell, dict)
        else cell
        for column, cell in row.items()
    }


def sources(index: dict, names: list[str]) -> list[Source]:
    """Return the sources of the tasks named, tasks with the same rows together."""
    found: dict[str, Source] = {}
    for name in leaves(index, names):
        path = index[name].yaml_path
        config = load_yaml(path)
        source = Source(path.parent.name, config)
        found.setdefault(source.file, source).readers[name] = config["process_docs"]
    return list(found.values())


# --------------------------------------------------------------------- the pack itself


def write(path: Path, content: bytes) -> None:
    """Write a file so that it is under its name whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def digest(path: Path) -> str | None:
    """Return the SHA-256 of a file, None where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


class Pack:
    """A pack in a folder: its manifest says what is in it."""

    def __init__(self, folder: Path):
        self.folder, self.file = folder, folder / "manifest.json"
        self.manifest = {"command": "", "complete": False, "data": {}, "files": {}}
        if self.file.is_file():
            try:
                self.manifest = json.loads(self.file.read_text(encoding="utf-8"))
                self.manifest["data"], self.manifest["files"]
            except (ValueError, KeyError, TypeError) as error:
                raise PackError(
                    f"{self.file}: no manifest of a pack ({error!r}); delete it and make"
                    " the pack again"
                ) from None

    def add(self, name: str, content: bytes) -> None:
        """Write a file of the pack, and the manifest with its SHA-256."""
        write(self.folder / name, content)
        self.manifest["files"][name] = hashlib.sha256(content).hexdigest()
        self.save()

    def save(self) -> None:
        """Write the manifest."""
        text = json.dumps(self.manifest, indent=2, sort_keys=True, ensure_ascii=False)
        write(self.file, f"{text}\n".encode())

    def has(self, name: str) -> bool:
        """Tell whether a file is there as the manifest says."""
        return digest(self.folder / name) == self.manifest["files"].get(name, "")

    def differences(self) -> list[str]:
        """Return a line for each file that is not as the manifest says."""
        lines = []
        for name, wanted in sorted(self.manifest["files"].items()):
            found = digest(self.folder / name)
            if found is None:
                lines.append(f"{name}: is missing")
            elif found != wanted:
                lines.append(f"{name}: has SHA-256 {found}, the manifest {wanted}")
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            ours = path.suffix in (".yaml", ".py") or name.startswith("data/")
            if path.is_file() and ours and name not in self.manifest["files"]:
                lines.append(f"{name}: is not in the manifest")
        for file, entry in sorted(self.manifest["data"].items()):
            if self.has(f"data/{file}"):
                rows = read_jsonl(self.folder / "data" / file)
                found = {
                    "rows": len(rows),
                    "fingerprint": fingerprint(entry["family"], rows),
                }
                lines += [
                    f"data/{file}: has {name} {value}, the manifest {entry[name]}"
                    for name, value in found.items()
                    if value != entry[name]
                ]
        return lines


def scorer(family: str):
    """Return the module of a family."""
    return importlib.import_module(f"lm_eval_tasks.{family}.utils")


def fingerprint(family: str, rows: list[dict]) -> str:
    """Return the fingerprint of rows by the rule of their family."""
    utils = scorer(family)
    return utils.fingerprint(utils.process_docs(datasets.Dataset.from_list(rows)))


def add_data(pack: Pack, source: Source, folder: Path | None) -> str:
    """Put the rows of a source into the pack, unless they are there; say which."""
    name = f"data/{source.file}"
    entry = pack.manifest["data"].get(source.file)
    tasks = sorted({*source.readers, *(entry or {}).get("tasks", [])})
    there = bool(entry) and pack.has(name)
    if folder or not there:
        rows = source.rows(folder)
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        # Lone surrogates, which UTF-8 cannot hold, stay what they are in JSON: \ud800.
        content = "".join(lines).encode("utf-8", "backslashreplace")
        there = there and content == (pack.folder / name).read_bytes()
    if there:
        entry["tasks"] = tasks
        return f"{entry['rows']} rows, there already"
    dataset = datasets.Dataset.from_list(rows)
    dataset.info.config_name = Path(source.file).stem
    documents = [read(dataset) for read in source.readers.values()][0]
    revision = source.kwargs.get("revision")
    if in_url := re.search(r"/([0-9a-f]{40})/", source.url):
        revision = in_url[1]
    pack.manifest["data"][source.file] = {
        "family": source.family,
        "fingerprint": scorer(source.family).fingerprint(documents),
        "given_as": "local file" if folder else "upstream",
        "rows": len(rows),
        "tasks": tasks,
        "upstream": source.url,
        "upstream_licence": LICENCES[source.family],
        "upstream_revision": revision,
    }
    pack.add(name, content)
    return f"{len(rows)} rows"


def add_task_files(pack: Pack, index: dict, link: bool) -> None:
    """Put into the pack its tasks and groups, and the files that these include.

    With `link`, they include the files of this checkout by a relative path. Otherwise
    the files are copied, without the suffix by which the harness would index them.
    """
    tasks = {
        task: file
        for file, entry in pack.manifest["data"].items()
        for task in entry["tasks"]
    }
    groups = [
        name
        for name, entry in index.items()
        if "group" in entry.cfg and set(leaves(index, [name])) <= tasks.keys()
    ]
    base = os.path.relpath(TASKS, pack.folder.resolve()) if link else "lm_eval_tasks"
    for name in sorted([*tasks, *groups]):
        path = index[name].yaml_path.relative_to(TASKS).as_posix()
        text = f"include: {base}/{path if link else unindexed(path)}\n"
        if name in tasks:
            text += (
                "custom_dataset: !function local_data.load\n"
                f"dataset_kwargs:\n  data_file: {tasks[name]}\n"
            )
        pack.add(f"{name}.yaml", text.encode())
    pack.add("local_data.py", LOADER.read_bytes())
    if link:
        return
    families = {entry["family"] for entry in pack.manifest["data"].values()}
    for path in sorted(TASKS.rglob("*")):
        name = path.relative_to(TASKS).as_posix()
        if path.suffix in (".py", ".md", ".yaml") or path.name.endswith("_yaml"):
            if path.parent == TASKS or path.parent.name in families:
                text = path.read_text(encoding="utf-8")
                if path.name.endswith("yaml"):
                    text = re.sub(
                        r"^include: (.*)",
                        lambda m: f"include: {unindexed(m[1])}",
                        text,
                        flags=re.M,
                    )
                pack.add(f"lm_eval_tasks/{unindexed(name)}", text.encode())


def unindexed(name: str) -> str:
    """Return a file name that the harness, which indexes *.yaml, passes over."""
    return re.sub(r"\.yaml$", "_yaml", name)


def add_readme(pack: Pack) -> None:
    """Put into the pack a README with the command to run and the sources."""
    tasks = sorted(
        {t for entry in pack.manifest["data"].values() for t in entry["tasks"]}
    )
    command = (
        f"lm_eval --model dummy --include_path {pack.folder.name} --tasks {tasks[0]}"
    )
    pack.manifest["command"] = command
    rows = [
        f"| `data/{file}` | {entry['rows']} | `{entry['fingerprint']}` |"
        f" {entry['upstream']} | {entry['upstream_licence']} | {entry['given_as']} |"
        for file, entry in sorted(pack.manifest["data"].items())
    ]
    lines = [
        "# Offline pack of temporal reasoning tasks",
        "",
        "Made by `python -m utils.offline`. It needs no network and runs from any working",
        "directory; give `--include_path` the path of this folder:",
        "",
        f"    {command}",
        "",
        f"Tasks: {', '.join(f'`{task}`' for task in tasks)}, and the groups whose tasks are",
        "all here. `manifest.json` has the SHA-256 of each file.",
        "",
        "| data | rows | fingerprint | upstream | its licence | given as |",
        "|---|--:|---|---|---|---|",
        *rows,
    ]
    pack.manifest["complete"] = True
    pack.add("README.md", ("\n".join(lines) + "\n").encode())


def make(folder: Path, names: list[str], given: dict[str, Path], link: bool) -> None:
    """Make a pack of tasks, or go on with one; PackError says what is in the way."""
    index = TaskManager(include_path=str(TASKS), include_defaults=False).task_index
    pack = Pack(folder)
    pack.manifest["complete"] = False
    found = sources(index, names or list(index))
    for number, source in enumerate(found, 1):
        print(
            f"[{number}/{len(found)}] {source.file}",
            end=": ",
            file=sys.stderr,
            flush=True,
        )
        try:
            said = add_data(pack, source, given.get(source.family))
        except PackError:
            raise
        except Exception as error:  # datasets and the hub raise all kinds
            raise explain(error, source.url) from error
        print(said, file=sys.stderr)
    try:
        add_task_files(pack, index, link)
        add_readme(pack)
    except OSError as error:
        raise explain(error, str(folder)) from error
    for part in folder.rglob("*.part"):
        part.unlink()
    command = pack.manifest["command"].replace(folder.name, str(folder.resolve()), 1)
    print(f"{folder} is complete. Run it:\n{command}", file=sys.stderr)


def check(folder: Path) -> None:
    """Raise PackError, a line for each difference, where a pack is not as it was made."""
    pack = Pack(folder)
    if not pack.manifest["files"]:
        raise PackError(f"{folder}: holds no manifest.json; make the pack first")
    if not pack.manifest.get("complete"):
        raise PackError(f"{folder}: is not complete; make it again, it goes on")
    if lines := pack.differences():
        raise PackError("\n".join(f"{folder}/{line}" for line in lines))
    print(f"{folder}: all {len(pack.manifest['files'])} files are as in the manifest")


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Return the command line's arguments; PackError for a source that is none."""
    parser = argparse.ArgumentParser(
        prog="python -m utils.offline", description=__doc__.split("\n")[0]
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the pack")
    parser.add_argument("--tasks", default="", help="tasks and groups; default: all")
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="FAMILY=FOLDER",
        help=f"local files for one of {', '.join(LICENCES)}",
    )
    parser.add_argument(
        "--link",
        action="store_true",
        help="include this checkout's task files instead of copying them",
    )
    parser.add_argument(
        "--check", action="store_true", help="compare with the manifest"
    )
    parser.add_argument("--traceback", action="store_true", help="show where it failed")
    options = parser.parse_args(arguments)
    options.given = {}
    for source in options.source:
        family, _, folder = source.partition("=")
        if family not in LICENCES or not Path(folder).is_dir():
            raise PackError(
                f"--source {source}: give one of {', '.join(LICENCES)}, '=', and a folder"
            )
        options.given[family] = Path(folder)
    return options


def main(arguments: list[str] | None = None) -> int:
    """Make or check a pack; return the exit status."""
    try:
        options = read_arguments(arguments)
        if options.check:
            check(options.folder)
        else:
            names = [name for name in options.tasks.split(",") if name]
            make(options.folder, names, options.given, options.link)
    except PackError as error:
        if "--traceback" in (arguments or sys.argv):
            raise
        print(f"\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
