"""Few-shot examples of TimeBench, written for this pack; none is one of its rows."""

import json
from functools import partial
from pathlib import Path


def read(name: str) -> list[dict]:
    """Return the documents of a file of `fewshot`."""
    examples_path = Path(__file__).with_name("fewshot") / f"{name}.jsonl"
    return [json.loads(line) for line in examples_path.read_text("utf-8").splitlines()]


date_arithmetic = partial(read, "date_arithmetic")
durationqa = partial(read, "durationqa")
mctaco = partial(read, "mctaco")
menatqa_counterfactual = partial(read, "menatqa_counterfactual")
menatqa_order = partial(read, "menatqa_order")
menatqa_scope = partial(read, "menatqa_scope")
situatedgen = partial(read, "situatedgen")
tempreason_l2 = partial(read, "tempreason_l2")
tempreason_l3 = partial(read, "tempreason_l3")
timedial = partial(read, "timedial")
timeqa_explicit = partial(read, "timeqa_explicit")
timeqa_implicit = partial(read, "timeqa_implicit")
timexnli_s1 = partial(read, "timexnli_s1")
timexnli_s2 = partial(read, "timexnli_s2")
timexnli_s3 = partial(read, "timexnli_s3")
tracie = partial(read, "tracie")
