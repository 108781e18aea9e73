"""What `vf-eval temporal_eval_verifiers` finds: the taskset of `temporal_eval.adapters`."""

from temporal_eval.adapters.verifiers import TemporalTaskset


__all__ = ["TemporalTaskset"]
