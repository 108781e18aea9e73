"""The class of the fresh tasks: a real task of the pack over rows made from a seed."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import NoReturn

import datasets
from lm_eval.api.task import ConfigurableTask


eval_logger = logging.getLogger("lm_eval.tasks.fresh")


class FreshTask(ConfigurableTask):
    """A task whose prompts and scoring are those of the one that its YAML file includes.

    To its scores it adds `score` and `score_flexible`, the published and the flexible
    headline score by the same names in every family, and `score_flexible_level_N` for a
    document of level N; to its metadata, and so to the results file, the fingerprint of
    the documents and the version of their generator.
    """

    def __init__(self, config: dict):
        own = {key: value for key, value in config.items() if key != "class"}
        made = own["dataset_kwargs"].get("generated")
        try:
            if made:  # in a pack
                own["metadata"] = _of_pack(own["metadata"], made)
            super().__init__(config=own)
        except ValueError as error:
            _stop(error)
        documents = self.test_docs()
        origin = {**self.config.metadata, **self._origin(documents)}
        self.config.metadata = origin
        said = ", ".join(f"{k} {v}" for k, v in origin.items() if k.startswith("gen_"))
        eval_logger.info("%s: %d rows, %s", self.config.task, len(documents), said)
        levels = sorted(set(documents["level"]))
        for metric in ("score", "score_flexible", *map(_of_level, levels)):
            self._aggregation_list[metric] = self._aggregation_list["extracted"]
            self._higher_is_better[metric] = True

    def _origin(self, documents: datasets.Dataset) -> dict[str, str]:
        """Return what names the documents, beside seed, size and levels."""
        # The harness loads these modules by their paths: they cannot be imported here.
        family = self.config.process_docs.__globals__
        fingerprint = family["fingerprint"](map(family["digest"], documents))
        if generator := self.config.dataset_kwargs.get("generator"):
            find_generator = self.config.custom_dataset.__globals__["find_generator"]
            version = {"gen_version": find_generator(generator).VERSION}
        else:  # the metadata of a pack has it
            version = {}
        return version | {"gen_fingerprint": fingerprint}

    def process_results(self, doc: dict, results: list) -> dict[str, float]:
        """Return the scores of the family, and the common ones and those by level."""
        scores = super().process_results(doc, results)
        is_timebench = "score" in scores
        published = scores["score" if is_timebench else "acc"]
        flexible = scores["score_flexible" if is_timebench else "acc_flexible"]
        common = {"score": published, "score_flexible": flexible}
        return scores | common | {_of_level(doc["level"]): flexible}

    def build_all_requests(self, *, tokenizer_name: str = "", **kwargs) -> None:
        """Build the requests, or take them from the cache where it has these very ones.

        The cache goes by the names of task and tokenizer: without the fingerprint, the
        prompts of one seed would be scored against the answers of another.
        """
        name = f"{tokenizer_name}-{self.config.metadata['gen_fingerprint']}"
        super().build_all_requests(tokenizer_name=name, **kwargs)


def _of_pack(metadata: dict, made: dict) -> dict:
    """Return the metadata with that of the rows in a pack; these cannot be changed."""
    for key in made:
        if key in metadata:
            raise ValueError(
                f"--metadata {key} changes nothing in a pack, whose rows are made"
                f" ({key} {made[key]}); leave it out, or make another pack with"
                " `temporal-eval generate`"
            )
    return metadata | made


def _of_level(level: int) -> str:
    return f"score_flexible_level_{level}"


def _stop(error: ValueError) -> NoReturn:
    """End a run of the harness's command line with one line; elsewhere, raise."""
    program = Path(*sys.argv[:1])
    if program.stem in ("lm_eval", "lm-eval") or program.match("lm_eval/__main__.py"):
        raise SystemExit(str(error)) from error
    raise error
