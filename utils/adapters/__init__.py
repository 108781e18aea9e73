"""The tasks of the pack in other tools: the same prompts, documents and verdicts."""
