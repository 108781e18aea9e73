"""The tool `score`: tables of how good answers are, and why."""
