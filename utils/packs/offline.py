"""Make a pack of tasks that runs on a machine without a network, or check one.

    temporal-eval offline DIR [--tasks NAME,...] [--source FAMILY=FOLDER ...]
    temporal-eval offline DIR --check

A pack is a folder with the task files and their data; it can be moved anywhere. The rows
come by the tasks' own configuration, or, with `--source`, from files in a local folder
that bear the names of the upstream ones. DIR is new, empty, or a pack: nothing else in it
is touched. A run that was interrupted goes on where it stopped.

Example, of a pack over the hand-made rows, which needs no network itself:

    temporal-eval offline output/pack --tasks tcp_long --source tcp=examples/data \\
        --allow-partial
    temporal-eval offline output/pack --check
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from filelock import FileLock, Timeout

from ..core.cli import output_path, say, tool_parser
from ..core.errors import ToolError
from ..core.families import FOLDER as TASKS, leaf_tasks, scorer, task_files
from .manifest import FILE, LOCK, Manifest
from .sources import Source, checked_lines, find_sources


LOADER = Path(__file__).with_name("local_data.py")
LEAF = """\
include: {file}
custom_dataset: !function local_data.load
dataset_kwargs:
  data_file: {data}
"""
# What the files of families are, beside compiled ones.
COPIED = re.compile(r".*(\.py|\.md|\.jsonl?|yaml)")
README = "README.md"
README_TEXT = """\
# Offline pack of temporal reasoning tasks

Made by `temporal-eval`. It needs no network. In this folder:

    {command}

From elsewhere, give `--include_path` the path of this folder.
It can be carried anywhere.

Tasks: {tasks}, and the groups whose tasks
are all here. `manifest.json` has the SHA-256 of each file; a run compares those
of the data, `temporal-eval offline DIR --check` all.

| data | rows | fingerprint | upstream | its licence | given as |
|---|--:|---|---|---|---|
{rows}
"""
COMMAND = "lm_eval --model dummy --include_path {folder} --tasks {task}"


def main(arguments: list[str] | None = None) -> int:
    """Make or check the pack that the command line names; return the exit status."""
    parser = tool_parser("offline", __doc__)
    add, switch_option = parser.add_argument, {"action": "store_true"}
    add("folder", type=output_path, metavar="DIR", help="the pack")
    add("--tasks", metavar="NAME,...", help="tasks and groups; default: all")
    source_option = {"action": "append", "default": [], "metavar": "FAMILY=FOLDER"}
    add("--source", **source_option, help="local files of a family's benchmark")
    partial_help = "take files with fewer or more rows than the benchmark's"
    add("--allow-partial", **switch_option, help=partial_help)
    add("--check", **switch_option, help="compare with the manifest")
    options = parser.parse_args(arguments)
    pack_folder = options.folder.resolve()
    task_names = options.tasks.split(",") if options.tasks else []
    if options.check:
        faults = check(pack_folder)
        for message in faults or [f"{pack_folder}: all files are as they were made"]:
            say(message)
        return bool(faults)
    folder_by_family = {}
    family_names = sorted({source.family for source in find_sources([])})
    for source_argument in options.source:
        family, _, folder = source_argument.partition("=")
        if family not in family_names or not folder or not Path(folder).is_dir():
            fix = f"give one of {', '.join(family_names)}, '=', and a folder"
            raise ToolError(f"--source {source_argument}: {fix}")
        folder_by_family[family] = Path(folder)
    manifest = make(
        pack_folder, find_sources(task_names), folder_by_family, options.allow_partial
    )
    say_command(pack_folder, task_names or [min(manifest.tasks)])
    return 0


def make(
    folder: Path,
    sources: list[Source],
    folders: dict[str, Path] | None = None,
    allow_partial: bool = False,
) -> Manifest:
    """Make a pack of the rows of sources, or go on with one; return its manifest.

    `folders`: family -> folder with its files, instead of upstream. ToolError for rows of
    another seed, size or levels than those in the pack.
    """
    Manifest.of(folder)  # before a lock is put into what is not ours
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(folder / LOCK).acquire(timeout=0)
    except Timeout:
        fault = "another run is making this pack; wait for its end"
        raise ToolError(f"{folder}: {fault}") from None
    with lock:
        manifest = Manifest.of(folder)
        files = _task_files(manifest, sources)
        for source in sources:
            entry_in_pack = manifest.data.get(source.file)
            if entry_in_pack and entry_in_pack["generated"] != source.generated:
                fault = f"has the rows of another request ({entry_in_pack['upstream']})"
                fix = "name a new folder, or take the release of its gen_version"
                raise ToolError(f"{folder / 'data' / source.file}: {fault}; {fix}")
        manifest.begin({*files, README, *(f"data/{source.file}" for source in sources)})
        for source_number, source in enumerate(sources, 1):
            local_folder = (folders or {}).get(source.family)
            data_summary = _add_data(manifest, source, local_folder, allow_partial)
            say(f"[{source_number}/{len(sources)}] {source.file}: {data_summary}")
        files[README] = _readme(manifest)
        for file_name, file_content in files.items():
            manifest.write(file_name, [file_content])
        if faults := _differences(manifest):
            raise ToolError(faults[0])
        manifest.complete = True
        manifest.save()
    return manifest


def say_command(folder: Path, tasks: list[str]) -> None:
    """Say that a pack is made, and how to run it."""
    say(f"{folder} is complete. Run it:")
    say(COMMAND.format(folder=shlex.quote(str(folder)), task=",".join(tasks)))


def _add_data(
    manifest: Manifest, source: Source, folder: Path | None, allow_partial: bool
) -> str:
    """Put the rows of a source into the pack, unless they are there; return a summary."""
    file_name, entry_in_pack = f"data/{source.file}", manifest.data.get(source.file, {})
    source = source._replace(tasks=source.tasks | {*entry_in_pack.get("tasks", [])})
    is_in_pack = bool(entry_in_pack) and manifest.has(file_name)
    digest_before = manifest.files[file_name] if is_in_pack else None
    rows_path, rows_origin = None, "generated" if source.generated else "upstream"
    if folder:
        rows_path, rows_origin = _find_file(folder, source.file), "local file"
    elif is_in_pack:
        rows_path, rows_origin = manifest.folder / file_name, entry_in_pack["given_as"]
    task_scorer, doc_digests = scorer(min(source.tasks)), []
    upstream_row_count, upstream_fingerprint = task_scorer.upstream
    expected_count = None if allow_partial else upstream_row_count
    manifest.write(
        file_name, checked_lines(source, rows_path, expected_count, doc_digests)
    )
    fingerprint = task_scorer.utils.fingerprint(doc_digests)
    is_upstream = rows_origin != "local file" or fingerprint == upstream_fingerprint
    manifest.data[source.file] = {
        "family": source.family,
        "fingerprint": fingerprint,
        "generated": source.generated,
        "given_as": rows_origin,
        "rows": len(doc_digests),
        "tasks": sorted(source.tasks),
        "upstream": source.upstream,
        "upstream_licence": task_scorer.licence,
        "upstream_revision": source.revision if is_upstream else None,
    }
    manifest.save()
    summary = f"{len(doc_digests)} rows"
    if upstream_row_count not in (None, len(doc_digests)):
        summary += f", of {upstream_row_count}"
    elif upstream_fingerprint not in (None, fingerprint):
        fault = f"fingerprint {fingerprint}, not {upstream_fingerprint}"
        summary += f", but not the benchmark's: {fault}"
    return summary + ", there already" * (manifest.files[file_name] == digest_before)


def _find_file(folder: Path, file_name: str) -> Path:
    """Return the one file of a name in a folder or below; ToolError for none or more."""
    matching_paths = sorted(folder.rglob(file_name))
    if len(matching_paths) != 1:
        fault = f"has {len(matching_paths) or 'no'} files {file_name}"
        raise ToolError(f"{folder}: {fault}; name a folder with one")
    return matching_paths[0]


def _task_files(manifest: Manifest, sources: list[Source]) -> dict[str, bytes]:
    """Return name -> content of the pack's files but data and README."""
    task_file_by_name = task_files()
    new_file_by_task = {
        task: source.file for source in sources for task in source.tasks
    }
    file_by_task = manifest.tasks | new_file_by_task
    if unknown_tasks := sorted(file_by_task.keys() - task_file_by_name.keys()):
        fault = f"this version has no task {unknown_tasks[0]}"
        fix = "make a new pack in another folder"
        raise ToolError(f"{manifest.folder}: {fault}; {fix}")
    request_by_file = {
        data_file: data_entry["generated"]
        for data_file, data_entry in manifest.data.items()
    }
    request_by_file |= {source.file: source.generated for source in sources}
    contents = {LOADER.name: LOADER.read_bytes()}
    for name, entry in sorted(task_file_by_name.items()):
        if name in file_by_task:
            stem = entry.path.relative_to(TASKS.parent).with_suffix("")
            yaml = LEAF.format(file=f"{stem.as_posix()}_yaml", data=file_by_task[name])
            if request := request_by_file[file_by_task[name]]:
                yaml += f"metadata: {json.dumps(entry.config['metadata'] | request)}\n"
            contents[f"{name}.yaml"] = yaml.encode()
        elif "group" in entry.config and {*leaf_tasks(name)} <= file_by_task.keys():
            contents[f"{name}.yaml"] = entry.path.read_bytes()
    family_folders = {task_file_by_name[task].path.parent.name for task in file_by_task}
    return contents | _copies(
        family_folders | {scorer(task).family for task in file_by_task}
    )


def _copies(families: set[str]) -> dict[str, bytes]:
    """Return the files of families, without the suffix by which the harness indexes them."""
    content_by_name = {}
    for source_file in TASKS.rglob("*"):
        relative_path = source_file.relative_to(TASKS)
        if (
            COPIED.fullmatch(source_file.name)
            and {*relative_path.parts[:-1][:1]} <= families
        ):
            file_text = source_file.read_text(encoding="utf-8")
            if source_file.name.endswith("yaml"):
                file_text = re.sub(
                    r"(?m)^((include: |  - ).*)\.yaml$", r"\1_yaml", file_text
                )
            copy_name = f"{TASKS.name}/{relative_path.as_posix()}".replace(
                ".yaml", "_yaml"
            )
            content_by_name[copy_name] = file_text.encode()
    return content_by_name


def _readme(manifest: Manifest) -> bytes:
    """Return the README of a pack: its command, its tasks, and a table of its data."""
    task_names = sorted(manifest.tasks)
    table_rows = [
        f"| `data/{data_file}` | {entry['rows']} | `{entry['fingerprint']}` |"
        f" {entry['upstream']} | {entry['upstream_licence']} | {entry['given_as']} |"
        for data_file, entry in sorted(manifest.data.items())
    ]
    return README_TEXT.format(
        command=COMMAND.format(folder=".", task=task_names[0]),
        tasks=", ".join(f"`{task_name}`" for task_name in task_names),
        rows="\n".join(table_rows),
    ).encode()


def check(folder: Path) -> list[str]:
    """Return a line for each file that is not as it was made; ToolError for no whole pack."""
    manifest = Manifest.of(folder)
    if not manifest.files:
        raise ToolError(f"{folder}: holds no {FILE}; make the pack first")
    if not manifest.complete:
        raise ToolError(f"{folder}: is not complete; make it again, it goes on")
    return _differences(manifest)


def _differences(manifest: Manifest) -> list[str]:
    """Return a line for each file that is not as the manifest says, or not in it."""
    faults = []
    for file_name in sorted(manifest.files):
        file_path = manifest.folder / file_name
        if not file_path.is_file():
            faults.append(f"{file_path}: is missing; make the pack again")
        elif not manifest.has(file_name):
            fault = "has another SHA-256 than the manifest"
            faults.append(f"{file_path}: {fault}; make the pack again")
    for file_name in manifest.strangers():
        if file_name.endswith((".yaml", ".py")) or file_name.startswith("data/"):
            file_path = manifest.folder / file_name
            faults.append(f"{file_path}: is not in the manifest; move it elsewhere")
    return faults
