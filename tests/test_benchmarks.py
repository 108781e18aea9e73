"""Real rows: the gold is right in any form, and that of another row is not."""

import re
from operator import itemgetter

import pytest

from lm_eval_tasks.tot.utils import split_instruction
from tests.conftest import TASKS
from tests.corpus import headlines
from tests.solvers import card_rules
from tests.solvers.baselines import benchmark_files
from tests.solvers.obedient import read_label
from utils.core.documents import documents_of
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer


MARKER = "Thus, the correct answer is:"
# Those with a headline score whose rows are at hand.
REAL_TASKS = [x for x in TASKS if re.match("timebench_(?!situ)|tot_arithmetic", x)]


@pytest.fixture(scope="module")
def real_documents(shared) -> dict[str, list[dict]]:
    """Task -> its documents; those of one answer format follow one another."""
    documents = {
        task: documents_of(task, read_jsonl(path))
        for path, tasks in benchmark_files(shared)
        for task in tasks
    }
    documents["tot_arithmetic_separate"].sort(key=itemgetter("instruction"))
    return documents


def asked_value(document: dict) -> str:
    """Return the value that a prompt asks for, "" where it asks for several."""
    label = document.get("label", "")
    if label.startswith("{"):
        value, *others = read_label(label).values()
        text = ", ".join(value) if isinstance(value, list) else str(value)
        return "" if others else text
    return ", ".join(document.get("letters", ())) or label or document["golds"][0]


def sorted_letters(text: str) -> list[str]:
    """Return what texts share that say the same, in whatever order and case."""
    return sorted(re.findall(r"\w", text.casefold()))


@pytest.mark.parametrize("task", REAL_TASKS)
def test_the_gold_is_right_and_that_of_another_row_is_not(real_documents, task):
    documents, headline = real_documents[task], scorer(task).headline
    golds = [*map(scorer(task).utils.gold_response, documents)]
    for document, gold, other in zip(documents, golds, golds[1:] + golds[:1]):
        scores = scorer(task).process_results(document, [gold])
        assert {scores.pop("smape", 0.0), *scores.values()} == {0.0, 1.0}, document
        own = [gold, *(f"{MARKER} {name}" for name in document.get("golds", ()))]
        if sorted_letters(other) not in map(sorted_letters, own):
            scores = scorer(task).process_results(document, [other])
            assert max(scores[name] for name in headline.values()) < 1, (
                document,
                other,
            )
            assert scores["accuracy_flexible"] == 0


FORMS = [
    *("%s", "So the answer is %s.", "**Answer: %s**", "<answer>%s</answer>"),
    *("Let me see.\n\nFinal answer: %s", "## Answer\n\n%s", '{"answer": "%s"}'),
    *(f"{MARKER}\n%s", f"**{MARKER} %s**", f"**{MARKER}** %s"),
    *("So $\\boxed{\\text{%s}}$", "Hence $\\boxed{%s}$"),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", REAL_TASKS)
def test_a_value_is_right_or_wrong_in_any_form(real_documents, task, form):
    values = [(x, asked_value(x)) for x in real_documents[task][::5]]
    values = [(document, value) for document, value in values if value]
    assert len(values) > 0.7 * len(real_documents[task][::5])
    for (document, value), (_, other) in zip(values, values[1:] + values[:1]):
        scores = scorer(task).process_results(document, [form % value])
        assert scores["accuracy_flexible"] == 1, (document, value)
        if sorted_letters(other) not in map(
            sorted_letters, [value, *document.get("golds", ())]
        ):
            scores = scorer(task).process_results(document, [form % other])
            assert scores["accuracy_flexible"] == 0, (document, other)


@pytest.mark.parametrize("model", ["Llama-3_1", "Llama-3_3", "Phi-4", "Qwen2_5"])
def test_real_answers_score_and_their_prompts_are_split_as_published(shared, model):
    (path,) = (shared / "responses").glob(f"tot_arithmetic_{model}*.jsonl")
    for row in read_jsonl(path):
        scores = headlines("tot_arithmetic", row, row["response"])
        expected = card_rules.arithmetic(row["response"], row)
        assert (scores["published"], scores["extracted"]) == expected, row
        assert scores["flexible"] >= scores["published"], row
        problem, instruction = split_instruction(row["question"], row["question"])
        assert problem.split() == row["question_wo_instruct"].split()
        assert instruction.split() == row["instruction"].split()


# By type of question: answers, and how many are right by the published rule and the flexible one.
SEMANTIC = {
    "before_after": (49, 1, 2),
    "event_at_the_time_of_another_event": (37, 19, 21),
    "event_at_time_t": (34, 5, 7),
    "event_at_what_time": (28, 15, 18),
    "first_last": (44, 17, 20),
    "number_of_events_in_time_interval": (40, 15, 16),
    "relation_duration": (32, 13, 16),
    "timeline": (73, 0, 2),
}


def test_real_answers_to_tot_semantic_score_as_they_were_read(shared):
    (path,) = shared.glob("responses_semantic/*.jsonl")
    counts = dict.fromkeys(SEMANTIC, (0, 0, 0))
    for row in read_jsonl(path):
        scores = headlines("tot_semantic", row, row["response"])
        expected = card_rules.semantic(row["response"], row)
        assert (scores["published"], scores["extracted"]) == expected, row
        verdict = (1, scores["published"], scores["flexible"])
        counts[row["question_type"]] = tuple(
            map(sum, zip(counts[row["question_type"]], verdict))
        )
    assert counts == SEMANTIC


# Blind answers that the card credits and the rule refuses, each of a form that RESULTS names:
# hedged, denied or ambiguous. Answers taken back are `superseded`.
CREDITED_BY_THE_CARD_ALONE = {
    "A or B, depending on how one reads the story",
    "2024-05-13 16:00 GMT",
    "all except B and C",
    "A, and maybe B",
}


def test_what_the_card_credits_is_credited_taken_back_or_named(shared):
    refused = set()
    for path in sorted(shared.glob("responses*/*.jsonl")):
        task = "tot_semantic" if "semantic" in path.name else "tot_arithmetic"
        for row in read_jsonl(path):
            refused |= credited_by_the_card_alone(task, row, row["response"])
    assert refused == set()
    for row in read_jsonl(shared / "blind" / "answers.jsonl"):
        refused |= credited_by_the_card_alone(row["task"], row["doc"], row["response"])
    assert refused == CREDITED_BY_THE_CARD_ALONE


def credited_by_the_card_alone(task: str, document: dict, response: str) -> set[str]:
    """Return the published answer, if the flexible rule refuses it as not taken back."""
    verdict = scorer(task).explain(document, response)
    published, flexible = (
        verdict.scores[metric] for metric in scorer(task).headline.values()
    )
    is_refused = published > flexible and verdict.reason != "superseded"
    return {verdict.published} if is_refused else set()
