"""A script over the stable interface, as a user of the wheel writes one.

It is run in the wheel's environment and has to pass a strict type checker.

    python .ci/stable_interface.py PACK
"""

import sys

from temporal_eval import compute, render, reward, score_batch, training_set

from lm_eval_tasks.tot.utils import Verdict, explain_arithmetic


TASK = "tot_arithmetic"
doc = {"question": "How many days?", "label": "{'answer': '1307'}"}
response = 'So it is {"answer": "1,307"}'

verdict: Verdict = explain_arithmetic(doc, response)
assert verdict.scores["accuracy_flexible"] == 1, verdict
assert verdict.reason == "flexible_only", verdict
assert reward(TASK)([response], [doc]) == [1.0]

batch = score_batch({"task": [TASK], "doc": [doc], "response": [response]})
assert batch["flexible"] == [1.0], batch

found = compute(["\\boxed{2012-11-05}"], ["2012-11-05"], subset="tcp_long")
assert found == {"accuracy": 1.0}, found

prompt, document = render(TASK, doc | {"question_type": "duration"})
assert "How many days?" in prompt and document["label"] == doc["label"]

row = training_set(TASK, sys.argv[1])[0]
assert {*row} == {"prompt", "doc"}, row
