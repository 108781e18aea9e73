"""The files of TimeBench: where they are, what is in them, how they are loaded.

The commit stands here alone. To use another one, change it and the digests in
`files.jsonl`; the error that a task then ends with shows the digest of the rows.
"""

import asyncio
import hashlib
import json
import logging
import urllib.error
import urllib.request
from pathlib import Path

import datasets


eval_logger = logging.getLogger("lm_eval.tasks.timebench")

COMMIT = "e7fd6722fd0b3814dc595912749223d45e42fab9"
SUBSET = (
    f"https://raw.githubusercontent.com/zchuz/TimeBench/{COMMIT}/TimeBench-subset-7553"
)

# File below SUBSET: its rows, and their digest. A pinned commit cannot change.
with Path(__file__).with_name("files.jsonl").open(encoding="utf-8") as _lines:
    FILES = {
        row["file"]: (row["rows"], row["digest"]) for row in map(json.loads, _lines)
    }

# Seconds of a request. A load makes at most four; the largest file has 1.4 MB.
TIME_LIMIT = 60

USE_A_PACK = "or run an offline pack (utils/README.md, 'No network')"
BAD_COPY = (
    "see what a proxy gives for it and run again; `datasets` keeps a copy in"
    f" {datasets.config.HF_DATASETS_CACHE}, which can be deleted"
)


def load(data_file: str, **_metadata: object) -> datasets.DatasetDict:
    """Return the rows of a file of TimeBench, from the cache or its URL.

    `data_file` is a key of FILES. Other content than that of the commit, such as an HTML page
    or a part of the file, is fetched once again. ValueError (other rows) or ConnectionError
    names the URL and the fix in one line.
    """
    url = f"{SUBSET}/{data_file}"
    rows = _fetch(url, "reuse_dataset_if_exists")
    if rows is None or not _is_known(rows, data_file):
        eval_logger.warning("%s: not the file of the commit; fetching it again", url)
        rows = _fetch(url, "force_redownload")
        if rows is None or not _is_known(rows, data_file):
            fault = _difference(url, rows, *FILES[data_file])
            raise ValueError(f"{url}: {fault}; {BAD_COPY}")
    rows.info.config_name = Path(data_file).stem
    return datasets.DatasetDict(test=rows)


def _is_known(rows: datasets.Dataset, data_file: str) -> bool:
    return (len(rows), digest(rows)) == FILES[data_file]


def digest(rows: datasets.Dataset) -> str:
    """Return a digest of rows in their order, however their file spells them."""
    rows_hash = hashlib.sha256()
    for row in rows:
        rows_hash.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    return rows_hash.hexdigest()[:16]


def _fetch(url: str, mode: str) -> datasets.Dataset | None:
    """Return the rows at a URL, None where what is there is not JSON Lines."""
    import aiohttp  # what `datasets` reads URLs with; a pack needs none of it

    request_timeout = aiohttp.ClientTimeout(total=TIME_LIMIT)
    try:
        return datasets.load_dataset(
            "json",
            data_files={"test": url},
            split="test",
            download_mode=mode,
            storage_options={"client_kwargs": {"timeout": request_timeout}},
        )
    except (OSError, asyncio.TimeoutError, aiohttp.ClientError) as error:
        raise _transfer_error(url, error) from None
    except Exception as error:  # noqa: BLE001, of parsing they differ between versions
        if isinstance(error.__cause__, OSError):
            raise _transfer_error(url, error.__cause__) from None
        return None


def _transfer_error(url: str, error: Exception) -> OSError:
    """Return in one line why a file did not get here."""
    is_local = type(error) in (OSError, PermissionError)
    if isinstance(error, OSError) and is_local and error.errno:
        cache_folder = datasets.config.HF_DATASETS_CACHE
        return OSError(
            f"{cache_folder}: {error.strerror}; free space or set HF_HOME to a folder that can"
            f" be written, for the download of {url}"
        )
    return ConnectionError(f"{url}: {_unreachable(url, error)}, {USE_A_PACK}")


def _unreachable(url: str, error: Exception) -> str:
    """Return why a URL cannot be loaded, and the fix.

    `datasets` says "Unable to find" for every reason, so the URL is asked once more.
    """
    if datasets.config.HF_HUB_OFFLINE:
        set_variables = "HF_HUB_OFFLINE or HF_DATASETS_OFFLINE"
        return f"not loaded, since {set_variables} is set; unset it"
    try:
        _first_bytes(url)
    except urllib.error.HTTPError as answer:
        return (
            f"the server answers {answer.code} {answer.reason}; check the commit and the"
            " path in sources.py, try again later"
        )
    except OSError as reason:
        return f"cannot be reached ({getattr(reason, 'reason', reason)}); check the network"
    error_text = " ".join(f"{type(error).__name__} {error}".split())[:100]
    return f"broke off or took over {TIME_LIMIT} s ({error_text}); try again"


def _difference(url: str, rows: datasets.Dataset | None, count: int, known: str) -> str:
    """Return in what way a file that was loaded is not the benchmark's."""
    try:
        file_start = _first_bytes(url).lstrip()
    except OSError:
        file_start = b"{"
    if not file_start:
        return "is empty"
    if file_start.startswith(b"<"):
        return "is an HTML page instead of JSON Lines"
    if file_start.startswith(b"version https://git-lfs"):
        return "is a pointer of Git LFS instead of JSON Lines"
    if rows is None:
        return "is not JSON Lines, or only half a file"
    if len(rows) == 1:
        return f"is one row, such as an error message: {str(rows[0])[:80]!r}"
    if len(rows) < count:
        return f"is only part of the file: {len(rows)} of {count} rows"
    return f"has {len(rows)} rows of digest {digest(rows)}, not {count} of {known}"


def _first_bytes(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310, it is https
        return response.read(200)
