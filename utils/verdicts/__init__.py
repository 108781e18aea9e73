"""Recorded answers: reading them, finding the runs they belong to, and scoring them."""
