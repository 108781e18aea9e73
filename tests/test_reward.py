"""The scores as rewards: in the signature of TRL, over a fresh pack."""

import importlib.util
import json
import pickle

import pytest

from lm_eval_tasks.fresh.utils import rows
from tests.conftest import EXAMPLES
from tests.test_fresh import FRESH, perfect
from utils import render, reward, training_set
from utils.__main__ import main
from utils.core.task_scorers import scorer


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reward") / "pack"
    assert main(["generate", str(folder), "--gen-seed", "5", "--gen-rows", "5"]) == 0
    return str(folder)


@pytest.mark.parametrize("task", FRESH)
def test_a_perfect_completion_is_rewarded_and_others_are_not(pack, task):
    data, score = training_set(task, pack), reward(task)
    documents = [json.loads(doc) for doc in data["doc"]]
    good = [perfect(task, document) for document in documents]
    rewards = score(completions=good, prompts=data["prompt"], doc=data["doc"])
    assert rewards == [1.0] * len(data)
    messages = [[{"role": "assistant", "content": text}] for text in good]
    assert score(messages, doc=documents, trainer_state=None) == rewards
    for bad in ("", "lol", "<think>" * 1000, "\ud800", "\\boxed{" * 100):
        assert {*score([bad] * len(data), doc=data["doc"])} == {0.0}


@pytest.mark.parametrize("task", ["tot_arithmetic", "tot_arithmetic_separate"])
def test_the_prompt_is_the_one_of_the_task(task, offline_tasks):
    built, made = offline_tasks[task], training_set(task, str(EXAMPLES))
    for row, doc in zip(made, built.eval_docs, strict=True):
        assert json.loads(row["doc"]) == doc
        said = [("system", doc.get("instruction")), ("user", built.doc_to_text(doc))]
        assert row["prompt"] == [{"role": x, "content": y} for x, y in said if y]


def test_rewards_can_be_pickled_and_say_what_they_are():
    published, flexible = scorer("tot_arithmetic").headline.values()
    docs = [{"question": "How many days?", "label": '{"answer": 3}'}] * 2
    for metric, rewards in ((published, [1.0, 0.0]), (None, [1.0, 1.0])):
        made = pickle.loads(pickle.dumps(reward("tot_arithmetic", metric)))
        assert made.__name__ == f"tot_arithmetic_{metric or flexible}"
        assert made(['{"answer": 3}', '{"answer": "3"}'], doc=docs) == rewards


RIGHT = "\\boxed{2012-11-05}"
DOC = {"answer": "2012-11-05", "answer_format": "YYYY-MM-DD"}
COMPLETIONS = [
    (RIGHT, 1.0),
    ([{"role": "assistant", "content": RIGHT}], 1.0),
    ([{"content": [{"type": "text", "text": RIGHT}]}], 1.0),
    ([{"content": [{"type": "image"}, *({"text": x} for x in (RIGHT[:9], RIGHT[9:]))]}], 1.0),
    ([{"content": [{"type": "image"}, RIGHT, 5]}], 0.0),
    ([{"role": "assistant", "tool_calls": []}], 0.0),
    ([{"role": "assistant", "content": RIGHT}, {"role": "user", "content": "no"}], 1.0),
    ([{"role": "assistant", "content": x} for x in ("Let me see.", RIGHT)], 1.0),
    ([{"role": "user", "content": RIGHT}], 0.0),
    *((odd, 0.0) for odd in ([RIGHT], [], None, 5, {"content": "x"}, [{"content": None}])),
]  # fmt: skip


def test_any_completion_has_a_reward():
    completions, rewards = map(list, zip(*COMPLETIONS))
    assert reward("tcp_long")(completions, doc=[DOC] * len(rewards)) == rewards


def test_what_makes_no_reward_is_refused():
    for task, metric in (("tcp_long", "within_1h"), ("tot_arithmetic", "smape")):
        with pytest.raises(ValueError, match=f"no metric '{metric}' to maximise; "):
            reward(task, metric)
    fix = "choose from accuracy, accuracy_flexible, extracted$"
    with pytest.raises(ValueError, match=fix):
        reward("tot_arithmetic", "smape")
    for make in (reward, training_set):
        with pytest.raises(ValueError, match="task 'tcp' is a group; its tasks are"):
            make("tcp")
    with pytest.raises(ValueError, match="are 2 completions and 1 documents; give as"):
        reward("tcp_long")(["a", "b"], doc=[DOC])


def test_a_task_without_headline_scores_is_rewarded_by_its_first_metric():
    assert reward("timebench_situatedgen").metric == "bleu"


def test_an_empty_name_of_a_pack_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task = "fresh_timexnli"
    assert [*training_set(task, "")] == [*training_set(task)]


def test_a_row_is_rendered_as_the_harness_does(pack):
    task, row = "fresh_tcp_long", next(rows("tcp_long", 5, 1, range(1, 2)))
    [first, *_] = training_set(task, pack)
    prompt, doc = render(task, row)
    assert first["prompt"] == [{"role": "user", "content": prompt}]
    assert reward(task)([perfect(task, doc)], doc=[doc]) == [1.0]
    with pytest.raises(ValueError, match="column 'answer'|no 'answer'|answer"):
        render(task, {x: row[x] for x in row if x != "answer"})


NOT_OF_TCP = [
    *((None, "is a NoneType"), ("{", "JSONDecodeError"), ("[]", "is a list")),
    *(
        ("{}", "has no 'answer'"),
        ({"answer": 5, "answer_format": None}, "'answer' is 5, not a str"),
    ),
]


def test_what_is_not_a_document_is_named_with_its_place():
    for doc, fault in NOT_OF_TCP:
        with pytest.raises(ValueError, match=rf"^doc\[1\]: .*{fault}"):
            reward("tcp_long")(["", RIGHT], doc=[DOC, doc])


@pytest.mark.trl
@pytest.mark.skipif(not importlib.util.find_spec("trl"), reason="trl is not installed")
def test_a_trainer_makes_two_steps_over_a_fresh_pack(pack, tmp_path):
    from trl import GRPOConfig, GRPOTrainer

    from tests.tiny_model import model, tokenizer

    trainer = GRPOTrainer(
        model=model(),
        processing_class=tokenizer(),
        reward_funcs=reward("fresh_date_arithmetic"),
        train_dataset=training_set("fresh_date_arithmetic", pack),
        args=GRPOConfig(
            output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=2, num_generations=2,
            max_completion_length=8, use_cpu=True, report_to=[], logging_steps=1,
        ),
    )  # fmt: skip
    trainer.train()
    logged = [x for x in trainer.state.log_history if "reward" in x]
    assert len(logged) == 2
    assert "rewards/fresh_date_arithmetic_score_flexible/mean" in logged[0]
