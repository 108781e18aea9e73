"""Count what each sentence of the flexible rule does, for the tables of the families.

    TEMPORAL_EVAL_SHARED=DIR python -m tests.ablation [WORD ...]

A sentence is taken out by its mutants (`tests/mutants.jsonl`); WORDs choose sentences. Three
figures a family: verdicts on real answers that change without it, right answers of the
`spellings` and `blind` that it saves, and wrong ones, of these and hostile ones, that get
more credit without it. The hostile answers say right values of the blind documents
in forms that commit to none, or repeat the prompt of a row of ToT arithmetic.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests.conftest import ROOT
from tests.corpus import FAMILIES, headline, read_jsonl, spellings
from tests.mutants import MUTANTS
from utils.core.families import scorer


MARKER = "Thus, the correct answer is: "
# ANSWER is the right value as the prompt asks for it, RIGHT alone; OTHER and WRONG are wrong.
OUTSIDE = (
    *("<think>ANSWER</think>\nI am done.", "[THINK]ANSWER[/THINK]\nI am done."),
    *("<think>First.\nSo ANSWER", "So ANSWER\n</think>\nI am done."),
    *("<|channel|>analysis<|message|>ANSWER<|end|>", "ANSWER\nNo.\nOTHER"),
    *("ANSWER\n\nThe answer is WRONG.", "I do not think the answer is RIGHT."),
    *("If it rains, the answer is RIGHT.", "At first I thought the answer is RIGHT."),
    *(
        "It is not \\boxed{RIGHT}",
        "Perhaps \\boxed{RIGHT}",
        'Perhaps {"answer": "RIGHT"}',
    ),
    *("ANSWER\n\nCorrection: WRONG", "ANSWER. Wait, that is wrong."),
    *("ANSWER\nThe answer should be WRONG.", f"{MARKER}RIGHT so {'it goes on ' * 300}"),
)
INSIDE = (
    *("RIGHT or WRONG", "RIGHT (or WRONG)", "RIGHT (WRONG)", "RIGHT - WRONG"),
    *("RIGHT (maybe)", "RIGHT?", "RIGHT, maybe WRONG", "RIGHT - but rather WRONG"),
    *("RIGHT; WRONG", "RIGHT. Correction: WRONG", "not RIGHT", "probably RIGHT"),
)


class Answer(NamedTuple):
    """An answer to a document, and the flexible score that it deserves."""

    source: str  # "real", "spellings", "blind", "hostile"
    task: str
    doc: dict
    response: str
    score: float | None = None  # None for real ones


def answers(shared: Path) -> Iterator[Answer]:
    """Yield all answers at hand, and the hostile ones."""
    for path in sorted(shared.glob("responses*/*.jsonl")):
        for row in read_jsonl(path):
            yield Answer("real", "tot_arithmetic", row, row["response"])
    for family in FAMILIES:
        for row, doc in spellings(family, shared):
            yield Answer(
                "spellings", row["task"], doc, row["response"], row["flexible"]
            )
    documents = {}
    for row in read_jsonl(shared / "blind" / "answers.jsonl"):
        score = float(row["judge"] == "right")
        yield Answer("blind", row["task"], row["doc"], row["response"], score)
        documents[json.dumps(row["doc"])] = row["task"], row["doc"]
    for task, doc in documents.values():
        for response in hostile_answers(task, doc, [*documents.values()]):
            yield Answer("hostile", task, doc, response, 0.0)
    for row in read_jsonl(shared / "tot" / "tot_arithmetic.jsonl"):
        yield Answer("hostile", "tot_arithmetic", row, row["question"], 0.0)


def hostile_answers(task: str, doc: dict, others: list[tuple]) -> Iterator[str]:
    """Yield answers that do not commit to the right value, with values of one other."""
    answer, right = gold(task, doc)
    kind = scorer(task).process_results
    golds = [gold(*x) for x in others if scorer(x[0]).process_results == kind]
    other, wrong = next((x for x in golds if x[1] != right), ("", ""))
    if "letters" in doc:
        wrong = next((x for x in "ABCD" if x not in doc["letters"]), "")
        other = wrong and MARKER + wrong
    forms = [*OUTSIDE, *(answer.replace(right, x) for x in INSIDE)]
    for form in forms if other else ():
        text = form.replace("ANSWER", answer).replace("OTHER", other)
        yield text.replace("RIGHT", right).replace("WRONG", wrong)


def gold(task: str, doc: dict) -> tuple[str, str]:
    """Return the right answer as the prompt asks for it, and its value alone."""
    answer = scorer(task).utils.gold_response(doc)
    if not answer.startswith("{"):
        return answer, answer.removeprefix(MARKER).removeprefix("\\boxed{").rstrip("}")
    *_, value = json.loads(answer).values()
    return answer, value if isinstance(value, str) else answer


def modules(sentence: str) -> dict[str, ModuleType]:
    """Return the families' modules without a sentence; of "" all, as they are."""
    found = {}
    for family in FAMILIES:
        path = ROOT / "lm_eval_tasks" / family / "utils.py"
        changes = [
            x for x in MUTANTS if x.sentence == sentence and path in x.files(ROOT)
        ]
        if sentence and not changes:
            continue
        code = path.read_text(encoding="utf-8")
        for change in changes if sentence else ():
            code = code.replace(change.old, change.new)
        found[family] = module = ModuleType(f"{family}_without")
        module.__file__ = str(path)
        sys.modules[module.__name__] = module
        exec(compile(code, str(path), "exec"), vars(module))
    return found


def scores(code: dict[str, ModuleType], sample: list[Answer]) -> list[float | None]:
    """Return the flexible score of each answer; None for those of another family."""
    found = []
    for answer in sample:
        one = scorer(answer.task)
        explain = getattr(code.get(one.family), one.explain.__name__, None)
        verdict = explain and explain(answer.doc, answer.response)
        found.append(verdict and headline(verdict.scores, "flexible"))
    return found


def main(words: list[str]) -> int:
    """Print a line of Markdown for each sentence and family; return the exit status."""
    sample = list(answers(Path(os.environ["TEMPORAL_EVAL_SHARED"])))
    sample = [x for x in sample if scorer(x.task).headline]
    before = scores(modules(""), sample)
    names = dict.fromkeys(x.sentence for x in MUTANTS if x.sentence)
    for name in names:
        if words and not any(word in name for word in words):
            continue
        code = modules(name)
        after = scores(code, sample)
        for family in code:
            own = [
                (x, old, new)
                for x, old, new in zip(sample, before, after)
                if x.task.startswith(family)
            ]
            real = sum(old != new for x, old, new in own if x.score is None)
            told = [(x.score, old, new) for x, old, new in own if x.score is not None]
            saved = sum(new < old <= score for score, old, new in told)
            wrong = sum(new > old and new > score for score, old, new in told)
            sys.stdout.write(f"{family} | {name} | {real} | {saved} | {wrong} |\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
