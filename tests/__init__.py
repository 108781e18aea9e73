"""The tests; `tests/cases` is the verdict corpus."""
