"""Scoring answers: `score_batch` for other programs; `command` is the tool."""

from .batch import score_batch as score_batch
