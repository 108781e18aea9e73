"""What can be told of a run beside its scores: whether it is what it claims, and recalls rows."""
