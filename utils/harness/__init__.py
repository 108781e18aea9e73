"""The tools that go through the harness: `export` and `replay`."""
