"""How a pack is made: what goes into it, and in which order."""

import json
import os
import re
import sys
from pathlib import Path

from ..core.families import leaf_tasks, scorer
from ..core.files import is_part
from .check import check_files
from .errors import PackError
from .folder import Folder
from .manifest import Manifest, sha256
from .sources import (
    TASKS,
    Rows,
    Source,
    fingerprint,
    index,
    read_rows,
)


# What a pack holds of this folder, and its task files.
LOADER = [Path(__file__).with_name("local_data.py")]
LINKED = [*LOADER, Path(__file__).with_name("linked.py")]
LEAF = "include: {file}\n"
LINKED_LEAF = "task: {task}\nclass: !function linked.Task\ncheckout_file: {file}\n"
ROWS = """\
custom_dataset: !function local_data.load
dataset_kwargs:
  data_file: {data}
"""
# What a pack of generated rows says of them, for `fresh/task.py`.
GENERATED = """\
  generated: {generated}
metadata:
  version: {version}
"""
README = "README.md"
COMMAND = "lm_eval --model dummy --include_path {folder} --tasks {task}"


def make(
    folder: Folder,
    found: list[Source],
    given: dict[str, Path],
    link: bool = False,
    allow_partial: bool = False,
) -> Manifest:
    """Make a pack of the rows of sources, or go on with one; return its manifest.

    `given`: family -> folder with its files, instead of upstream. With `link`, the task
    files are those of this checkout. Raises PackError for whatever is in the way.
    """
    entries = index()
    folder.create()
    with folder.locked():
        manifest = _begin(folder)
        _check_seeds(manifest, found)
        manifest.content["complete"] = False
        files = _task_files(manifest, entries, found, link)
        _check_way(manifest, {*files, *(f"data/{source.file}" for source in found)})
        manifest.save()
        for number, source in enumerate(found, 1):
            sys.stderr.write(f"[{number}/{len(found)}] {source.file}: ")
            sys.stderr.flush()
            place = given.get(source.family)
            try:
                said = _add_data(manifest, source, place, allow_partial)
            except Exception:  # which has a line of its own
                sys.stderr.write("\n")
                raise
            sys.stderr.write(f"{said}\n")
        for name, content in files.items():
            manifest.add(name, content if name != README else _readme(manifest))
        check_files(manifest)
        manifest.content["complete"] = True
        manifest.save()
    return manifest


def _begin(folder: Folder) -> Manifest:
    """Return the manifest of the pack in a folder, a new one where it is empty.

    Raises PackError for a folder that holds anything else.
    """
    if manifest := Manifest.of(folder):
        return manifest
    stranger = next((name for name in folder.names() if not is_part(name)), None)
    if stranger:
        raise PackError(
            f"{folder.path}: is not a pack and holds {stranger}; name a new or an empty"
            " folder"
        )
    return Manifest.new(folder)


def _check_seeds(manifest: Manifest, found: list[Source]) -> None:
    """Raise PackError where the pack has rows of another seed, size or levels."""
    for source in found:
        old = manifest.data.get(source.file)
        if old and old.get("generated") != source.generated:
            raise PackError(
                f"{manifest.folder.path / 'data' / source.file}: has the rows of another"
                f" request ({old['upstream']}); name a new folder"
            )


def _check_way(manifest: Manifest, planned: set[str]) -> None:
    """Raise PackError where a file is in the way, or is not made any more."""
    for name in sorted(planned - manifest.files.keys()):
        if manifest.folder.has(name):
            raise PackError(
                f"{manifest.folder.path / name}: is not of the pack and in its way;"
                " move it elsewhere"
            )
    for name in sorted(manifest.files):
        manifest.folder.has(name)  # raises for a symlink
        if name not in planned and not name.startswith("data/"):
            raise PackError(
                f"{manifest.folder.path / name}: this version makes no such file; make"
                " a new pack in another folder"
            )


# --------------------------------------------------------------------------- the rows


def _add_data(
    manifest: Manifest, source: Source, folder: Path | None, allow_partial: bool
) -> str:
    """Put the rows of a source into the pack, unless they are there; say which."""
    name = f"data/{source.file}"
    old = manifest.data.get(source.file, {})
    tasks = sorted({*source.tasks, *old.get("tasks", [])})
    is_there = bool(old) and manifest.has(name)
    given_as = "local file" if folder else source.given_as
    if is_there and not folder:
        rows, given_as = read_rows(manifest.folder.path / name), old["given_as"]
    else:
        rows = source.rows(folder)
    digest = fingerprint(tasks, rows, source.file)
    said = _compare(rows, digest, source.known, allow_partial)
    is_upstream = given_as != "local file" or digest == source.known[1]
    manifest.data[source.file] = {
        "family": source.family,
        "fingerprint": digest,
        "generated": source.generated,
        "given_as": given_as,
        "rows": len(rows.rows),
        "tasks": tasks,
        "upstream": source.url,
        "upstream_licence": source.licence,
        "upstream_revision": source.revision if is_upstream else None,
    }
    content = b"".join(map(_line, rows.rows))
    is_same = is_there and manifest.files[name] == sha256(content)
    manifest.add(name, content)
    return f"{said}, there already" if is_same else said


def _line(row: dict) -> bytes:
    # Lone surrogates, which UTF-8 cannot hold, stay what they are in JSON: \ud800.
    text = json.dumps(row, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _compare(
    rows: Rows, digest: str, known: tuple[int | None, str | None], allow_partial: bool
) -> str:
    """Say which rows these are; PackError for a wrong number, unless it is allowed."""
    count, (known_count, known_digest) = len(rows.rows), known
    if known_count not in (None, count):
        if not allow_partial:
            guess = ", as after half a download" if count < known_count else ""
            raise PackError(
                f"{rows.place}: has {count} rows, the benchmark's file {known_count}"
                f"{guess}; give the whole file, or --allow-partial"
            )
        return f"{count} rows, of {known_count}"
    if known_digest not in (None, digest):
        difference = f"fingerprint {digest}, not {known_digest}"
        return f"{count} rows, but not the benchmark's: {difference}"
    return f"{count} rows"


# ---------------------------------------------------------------------- the task files


def _task_files(
    manifest: Manifest, entries: dict, found: list[Source], link: bool
) -> dict[str, bytes]:
    """Return name -> content of the pack's files but data; the README comes last, empty.

    With `link`, tasks are those of this checkout, by a relative path. Otherwise its
    files are copied, without the suffix by which the harness would index them.
    """
    tasks = manifest.tasks | {task: x.file for x in found for task in x.tasks}
    if strange := sorted(tasks.keys() - entries.keys()):
        raise PackError(
            f"{manifest.folder.path}: this version has no task {strange[0]}; make a new"
            " pack in another folder"
        )
    generated = {file: x.get("generated") for file, x in manifest.data.items()}
    generated |= {x.file: x.generated for x in found}
    checkout = os.path.relpath(TASKS, manifest.folder.path) if link else None
    manifest.content["linked_to"] = checkout
    loader = LINKED if link else LOADER
    files = {f"{path.stem}.py": path.read_bytes() for path in loader}
    for name in sorted(_with_groups(entries, tasks)):
        path = entries[name].yaml_path
        if name in tasks:
            text = _leaf(name, path, checkout)
            text += _rows_of_leaf(name, tasks[name], generated[tasks[name]])
        else:
            text = path.read_text(encoding="utf-8")
        files[f"{name}.yaml"] = text.encode()
    if not link:
        folders = {entries[task].yaml_path.parent.name for task in tasks}
        files |= _copies(folders | {scorer(task).family for task in tasks})
    return files | {README: b""}


def _leaf(task: str, path: Path, checkout: str | None) -> str:
    """Return the lines of a leaf that name its task file, in a checkout or a copy."""
    file = path.relative_to(TASKS).as_posix()
    if checkout:
        return LINKED_LEAF.format(task=task, file=f"{checkout}/{file}")
    return LEAF.format(file=f"{TASKS.name}/{_unindexed(file)}")


def _rows_of_leaf(task: str, file: str, generated: dict | None) -> str:
    """Return the lines of a leaf that name its rows."""
    lines = ROWS.format(data=file)
    if generated:
        said, version = json.dumps(generated), scorer(task).version
        lines += GENERATED.format(generated=said, version=version)
    return lines


def _with_groups(entries: dict, tasks: dict[str, str]) -> set[str]:
    """Return tasks and the groups whose tasks are all among them."""
    groups = {
        name
        for name, entry in entries.items()
        if "group" in entry.cfg and set(leaf_tasks(name)) <= tasks.keys()
    }
    return groups | tasks.keys()


def _copies(families: set[str]) -> dict[str, bytes]:
    """Return the files of families and what stands beside them."""
    files = {}
    for path in sorted(TASKS.rglob("*")):
        is_ours = path.suffix in (".py", ".md", ".yaml") or path.name.endswith("_yaml")
        if is_ours and (path.parent == TASKS or path.parent.name in families):
            text = path.read_text(encoding="utf-8")
            if path.name.endswith("yaml"):
                text = re.sub(
                    r"(?m)^(include: |  - ).*", lambda line: _unindexed(line[0]), text
                )
            name = path.relative_to(TASKS).as_posix()
            files[f"{TASKS.name}/{_unindexed(name)}"] = text.encode()
    return files


def _unindexed(name: str) -> str:
    """Return a file name that the harness, which indexes *.yaml, passes over."""
    return re.sub(r"\.yaml$", "_yaml", name)


def _readme(manifest: Manifest) -> bytes:
    """Return the pack's README, with the command to run and the sources."""
    tasks, linked_to = sorted(manifest.tasks), manifest.content["linked_to"]
    command = COMMAND.format(folder=".", task=tasks[0])
    manifest.content["command"] = command
    where = (
        f"It belongs to a checkout, whose tasks it takes from `{linked_to}`, and runs\n"
        "there alone; for a pack to carry, leave `--link` out."
        if linked_to
        else "It can be carried anywhere."
    )
    rows = [
        f"| `data/{file}` | {entry['rows']} | `{entry['fingerprint']}` |"
        f" {entry['upstream']} | {entry['upstream_licence']} | {entry['given_as']} |"
        for file, entry in sorted(manifest.data.items())
    ]
    is_fresh = all(entry.get("generated") for entry in manifest.data.values())
    tool = "generate" if is_fresh else "offline"
    lines = [
        "# Offline pack of temporal reasoning tasks",
        "",
        f"Made by `temporal-eval {tool}`. It needs no network. In this folder:",
        "",
        f"    {command}",
        "",
        "From elsewhere, give `--include_path` the path of this folder.",
        where,
        "",
        f"Tasks: {', '.join(f'`{task}`' for task in tasks)}, and the groups whose tasks",
        "are all here. `manifest.json` has the SHA-256 of each file; a run compares those",
        "of the data, `temporal-eval offline DIR --check` all.",
        "",
        "| data | rows | fingerprint | upstream | its licence | given as |",
        "|---|--:|---|---|---|---|",
        *rows,
    ]
    return ("\n".join(lines) + "\n").encode()
