"""Packs of tasks that run without a network, and what is known of their rows."""
