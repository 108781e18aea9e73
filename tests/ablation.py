"""Count what each sentence of the flexible rule does, for the tables of the families.

    TEMPORAL_EVAL_SHARED=DIR python -m tests.ablation [WORD ...]

A sentence is taken out by its mutants; WORDs choose sentences. Three figures a family: real
verdicts that change without it, right answers of `spellings` and `blind` that it saves, and
wrong ones that get more credit without it, hostile ones too: right values of the blind
documents in forms that commit to none, and repeated prompts of ToT arithmetic.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.corpus import FAMILIES, read_jsonl, spellings
from tests.mutants import MUTANTS, families_with
from utils.core.task_scorers import scorer


MARKER = "Thus, the correct answer is: "
# ANSWER is the right value as the prompt asks for it, RIGHT alone; OTHER and WRONG are wrong.
OUTSIDE = (
    *("<think>ANSWER</think>\nI am done.", "[THINK]ANSWER[/THINK]\nI am done."),
    *("<think>First.\nSo ANSWER", "So ANSWER\n</think>\nI am done."),
    *("<|channel|>analysis<|message|>ANSWER<|end|>", "ANSWER\nNo.\nOTHER"),
    *("ANSWER\n\nThe answer is WRONG.", "I do not think the answer is RIGHT."),
    *("If it rains, the answer is RIGHT.", "At first I thought the answer is RIGHT."),
    *("It is not \\boxed{RIGHT}", "Perhaps \\boxed{RIGHT}"),
    *('Perhaps {"answer": "RIGHT"}', "ANSWER. Wait, that is wrong."),
    *("ANSWER\n\nCorrection: WRONG", "ANSWER\nThe answer should be WRONG."),
    f"{MARKER}RIGHT so {'it goes on ' * 300}",
)
INSIDE = (
    *("RIGHT or WRONG", "RIGHT (or WRONG)", "RIGHT (WRONG)", "RIGHT - WRONG"),
    *("RIGHT (maybe)", "RIGHT?", "RIGHT, maybe WRONG", "RIGHT - but rather WRONG"),
    *("RIGHT; WRONG", "RIGHT. Correction: WRONG", "not RIGHT", "probably RIGHT"),
)


# Task, document, response, and the flexible score that it deserves; None of real ones.
Answer = tuple[str, dict, str, float | None]


def answers(shared: Path) -> Iterator[Answer]:
    """Yield all answers at hand, and the hostile ones."""
    for path in sorted(shared.glob("responses*/*.jsonl")):
        task = "tot_semantic" if "semantic" in path.stem else "tot_arithmetic"
        for row in read_jsonl(path):
            yield task, row, row["response"], None
    for family in FAMILIES:
        for row, document in spellings(family, shared):
            yield row["task"], document, row["response"], row["flexible"]
    blind = {}
    for row in read_jsonl(shared / "blind" / "answers.jsonl"):
        yield row["task"], row["doc"], row["response"], float(row["judge"] == "right")
        blind[json.dumps(row["doc"])] = row["task"], row["doc"]
    for task, document in blind.values():
        for response in hostile_answers(task, document, [*blind.values()]):
            yield task, document, response, 0.0
    for row in read_jsonl(shared / "tot" / "tot_arithmetic.jsonl"):
        yield "tot_arithmetic", row, row["question"], 0.0


def hostile_answers(task: str, document: dict, others: list[tuple]) -> Iterator[str]:
    """Yield answers that do not commit to the right value, with values of one other."""
    answer, right = gold(task, document)
    golds = [gold(*x) for x in others if scorer(x[0]).explain == scorer(task).explain]
    other, wrong = next((x for x in golds if x[1] != right), ("", ""))
    if "letters" in document:
        wrong = next((x for x in "ABCD" if x not in document["letters"]), "")
        other = wrong and MARKER + wrong
    forms = [*OUTSIDE, *(answer.replace(right, x) for x in INSIDE)]
    for form in forms if other else ():
        text = form.replace("ANSWER", answer).replace("OTHER", other)
        yield text.replace("RIGHT", right).replace("WRONG", wrong)


def gold(task: str, document: dict) -> tuple[str, str]:
    """Return the right answer as the prompt asks for it, and its value alone."""
    answer = scorer(task).utils.gold_response(document)
    if answer.startswith("{"):
        *_, value = json.loads(answer).values()
        return answer, value if isinstance(value, str) else answer
    return answer, answer.removeprefix(MARKER).removeprefix("\\boxed{").rstrip("}")


def flexible_scores(modules: dict, sample: list[Answer]) -> list[float | None]:
    """Return the flexible score of each answer; None for those of another family."""
    scores = []
    for name, document, response, _ in sample:
        task = scorer(name)
        explain = getattr(modules.get(task.family), task.explain.__name__, None)
        verdict = explain and explain(document, response)
        scores.append(verdict and verdict.scores[task.headline["flexible"]])
    return scores


def main(words: list[str]) -> None:
    """Print a line of Markdown for each sentence and family."""
    sample = answers(Path(os.environ["TEMPORAL_EVAL_SHARED"]))
    sample = [answer for answer in sample if scorer(answer[0]).headline]
    before = flexible_scores(families_with([]), sample)
    for sentence in dict.fromkeys(x.sentence for x in MUTANTS if x.sentence):
        if words and not any(word in sentence for word in words):
            continue
        modules = families_with([x for x in MUTANTS if x.sentence == sentence])
        after = flexible_scores(modules, sample)
        for family in modules:
            real = saved = wrong = 0
            for (task, _, _, deserved), old, new in zip(sample, before, after):
                if task.startswith(family) and deserved is None:
                    real += old != new
                elif task.startswith(family):
                    saved += new < old <= deserved
                    wrong += new > max(old, deserved)
            print(f"{family} | {sentence} | {real} | {saved} | {wrong} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
