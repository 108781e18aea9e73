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
from ..core.progress import tracked
from ..core.task_scorers import FOLDER as TASKS, leaf_tasks, scorer, task_files
from .manifest import LOCK, Manifest
from .task_rows import Source, checked_lines, find_sources


LOADER = Path(__file__).with_name("local_data.py")
LEAF = """\
include: {file}
custom_dataset: !function local_data.load
dataset_kwargs:
  data_file: {data}
"""
# Files of families end so, beside compiled ones.
COPIED = (".py", ".md", ".json", ".jsonl", "yaml")
README_TEXT = """\
# Offline pack of temporal reasoning tasks

Made by `temporal-eval`. It needs no network. In this folder:

    {command}

From elsewhere, give `--include_path` the path of this folder.
It can be carried anywhere.

`manifest.json` has the tasks of each data file, its upstream, licence and fingerprint, and
the SHA-256 of each file; a run compares those of the data, `temporal-eval offline DIR
--check` all.
"""
COMMAND = "lm_eval --model dummy --include_path {folder} --tasks {tasks}"


def main(arguments: list[str] | None = None) -> int:
    """Make or check the pack that the command line names; return the exit status."""
    parser = tool_parser("offline", __doc__)
    add = parser.add_argument
    add("folder", type=output_path, metavar="DIR", help="the pack")
    add("--tasks", metavar="NAME,...", help="tasks and groups; default: all")
    add("--source", action="append", metavar="FAMILY=FOLDER", help="local files")
    partial_help = "take files with fewer or more rows than the benchmark's"
    add("--allow-partial", action="store_true", help=partial_help)
    add("--check", action="store_true", help="compare with the manifest")
    options = parser.parse_args(arguments)
    pack_folder = options.folder.resolve()
    if options.check:
        faults = check(pack_folder)
        for message in faults or [f"{pack_folder}: all files are as they were made"]:
            say(message)
        return bool(faults)
    task_names = options.tasks.split(",") if options.tasks else []
    sources = _use_local_files(find_sources(task_names), options.source or [])
    make(pack_folder, sources, task_names, options.allow_partial)
    return 0


def _use_local_files(sources: list[Source], source_options: list[str]) -> list[Source]:
    """Return sources of which some read the files that `--source FAMILY=FOLDER` names."""
    family_names = sorted({source.family for source in find_sources([])})
    for source_option in source_options:
        family, _, folder = source_option.partition("=")
        if family not in family_names or not folder or not Path(folder).is_dir():
            fix = f"give one of {', '.join(family_names)}, '=', and a folder"
            raise ToolError(f"--source {source_option}: {fix}")
        for source_index, source in enumerate(sources):
            if source.family == family:
                matching_paths = [*Path(folder).rglob(source.file)]
                if len(matching_paths) != 1:
                    fault = f"has {len(matching_paths) or 'no'} files {source.file}"
                    raise ToolError(f"{folder}: {fault}; name a folder with one")
                sources[source_index] = source._replace(path=matching_paths[0])
    return sources


def make(
    folder: Path, sources: list[Source], tasks: list[str], allow_partial: bool = False
) -> None:
    """Make a pack of the rows of sources, or go on with one; say how to run its tasks.

    ToolError for rows of another seed, size or levels than those in the pack.
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
        content_by_file = _task_files(manifest, sources)
        data_file_names = {f"data/{source.file}" for source in sources}
        manifest.begin(data_file_names | content_by_file.keys())
        for source_number, source in enumerate(sources, 1):
            file_summary = _add_data(manifest, source, allow_partial)
            say(f"[{source_number}/{len(sources)}] {source.file}: {file_summary}")
        for file_name, file_bytes in content_by_file.items():
            manifest.write(file_name, [file_bytes])
        # Without what killed runs alone would have written.
        manifest.files = {file: sha for file, sha in manifest.files.items() if sha}
        manifest.complete = True
        manifest.save()
    if faults := check(folder):
        raise ToolError(faults[0])
    say(f"{folder} is complete. Run it:")
    tasks_text = ",".join(tasks or [min(manifest.tasks)])
    say(COMMAND.format(folder=shlex.quote(str(folder)), tasks=tasks_text))


def _add_data(manifest: Manifest, source: Source, allow_partial: bool) -> str:
    """Put the rows of a source into the pack, unless they are there; return a summary."""
    file, old_entry = f"data/{source.file}", manifest.data.get(source.file)
    given_as = "generated" if source.generated else "upstream"
    old_sha256 = manifest.files[file] if old_entry and manifest.has(file) else None
    if old_entry:
        source = source._replace(tasks=source.tasks | {*old_entry["tasks"]})
    if source.path:
        given_as = "local file"
    elif old_entry and old_sha256:
        source = source._replace(path=manifest.folder / file)
        given_as = old_entry["given_as"]
    task_scorer = scorer(min(source.tasks))
    doc_digests: list[bytes] = []
    benchmark_row_count, benchmark_fingerprint = task_scorer.upstream
    expected_row_count = None if allow_partial else benchmark_row_count
    row_lines = checked_lines(source, expected_row_count, doc_digests)
    kept = "whole files are kept, and the same command goes on"
    with tracked(row_lines, source.file, benchmark_row_count, kept) as tracked_lines:
        manifest.write(file, tracked_lines)
    fingerprint = task_scorer.utils.fingerprint(doc_digests)
    has_upstream_rows = given_as != "local file" or fingerprint == benchmark_fingerprint
    manifest.data[source.file] = {
        "family": source.family,
        "fingerprint": fingerprint,
        "generated": source.generated,
        "given_as": given_as,
        "rows": len(doc_digests),
        "tasks": sorted(source.tasks),
        "upstream": source.upstream,
        "upstream_licence": task_scorer.licence,
        "upstream_revision": source.revision if has_upstream_rows else None,
    } | ({"twins": source.twins} if source.twins else {})
    manifest.save()
    summary = f"{len(doc_digests)} rows"
    if benchmark_row_count not in (None, len(doc_digests)):
        summary += f", of {benchmark_row_count}"
    elif benchmark_fingerprint not in (None, fingerprint):
        summary += f", of fingerprint {fingerprint}, not {benchmark_fingerprint}"
    return summary + ", there already" * (manifest.files[file] == old_sha256)


def _task_files(manifest: Manifest, sources: list[Source]) -> dict[str, bytes]:
    """Return name -> content of files but data; ToolError for other versions or rows."""
    file_by_task = manifest.tasks
    request_by_file = {file: data["generated"] for file, data in manifest.data.items()}
    for source in sources:
        if request_by_file.get(source.file, source.generated) != source.generated:
            raise ToolError(
                f"{manifest.folder / 'data' / source.file}: has the rows of another request"
                f" ({manifest.data[source.file]['upstream']}); name a new folder, or take"
                " the release of its gen_version"
            )
        request_by_file[source.file] = source.generated
        file_by_task |= dict.fromkeys(source.tasks, source.file)
    if unknown_tasks := sorted(file_by_task.keys() - task_files().keys()):
        fault = f"this version has no task {unknown_tasks[0]}; make a new pack"
        raise ToolError(f"{manifest.folder}: {fault} in another folder")
    run_command = COMMAND.format(folder=".", tasks=min(file_by_task))
    content_by_file = {"README.md": README_TEXT.format(command=run_command).encode()}
    content_by_file[LOADER.name] = LOADER.read_bytes()
    for name, (yaml_path, config, _) in task_files().items():
        if name in file_by_task:
            bare_path = yaml_path.relative_to(TASKS.parent).with_suffix("").as_posix()
            yaml_text = LEAF.format(file=f"{bare_path}_yaml", data=file_by_task[name])
            if request := request_by_file[file_by_task[name]]:
                yaml_text += f"metadata: {json.dumps(config['metadata'] | request)}\n"
            content_by_file[f"{name}.yaml"] = yaml_text.encode()
        elif "group" in config and {*leaf_tasks(name)} <= file_by_task.keys():
            content_by_file[f"{name}.yaml"] = yaml_path.read_bytes()
    family_names = {scorer(task).family for task in file_by_task}
    family_names |= {task_files()[task].path.parent.name for task in file_by_task}
    return content_by_file | _copies(family_names)


def _copies(families: set[str]) -> dict[str, bytes]:
    """Return the files of families, without the suffix by which the harness indexes them."""
    content_by_file = {}
    family_paths = (path for family in families for path in (TASKS / family).rglob("*"))
    for path in [*TASKS.glob("*"), *family_paths]:
        if path.name.endswith(COPIED):
            file = path.relative_to(TASKS.parent).as_posix().replace(".yaml", "_yaml")
            text = path.read_text(encoding="utf-8")
            if path.name.endswith("yaml"):
                text = re.sub(r"(?m)^((include: |  - ).*)\.yaml$", r"\1_yaml", text)
            content_by_file[file] = text.encode()
    return content_by_file


def check(folder: Path) -> list[str]:
    """Return a line for each file that is not as it was made; ToolError for no whole pack."""
    manifest = Manifest.of(folder)
    if not manifest.complete:
        raise ToolError(f"{folder}: is not a complete pack; make it, or make it again")
    return [
        f"{folder / file}: is missing, or not as it was made; make the pack again"
        for file in sorted(manifest.files)
        if not manifest.has(file)
    ] + [
        f"{folder / file}: is not in the manifest; move it elsewhere"
        for file in manifest.strangers()
        if file.endswith((".yaml", ".py")) or file.startswith("data/")
    ]
