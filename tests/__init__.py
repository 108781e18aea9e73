"""Tests, and the second reader that the scores were adjudicated with."""
