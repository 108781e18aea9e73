"""The scores as rewards: in the signature of TRL, over a fresh pack."""

import importlib.util
import json
import pickle

import pytest

from tests.conftest import EXAMPLES
from tests.test_fresh import FRESH, perfect
from utils import reward, training_set
from utils.__main__ import main


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reward") / "pack"
    assert main(["generate", str(folder), "--gen-seed", "5", "--gen-rows", "10"]) == 0
    return str(folder)


@pytest.mark.parametrize("task", FRESH)
def test_a_perfect_completion_is_rewarded_and_others_are_not(pack, task):
    data = training_set(task, pack)
    documents = [json.loads(doc) for doc in data["doc"]]
    good = [perfect(document) for document in documents]
    rewards = reward(task)(completions=good, prompts=data["prompt"], doc=data["doc"])
    assert rewards == [1.0] * len(data)
    messages = [[{"role": "assistant", "content": text}] for text in good]
    assert reward(task)(messages, doc=documents, trainer_state=None) == rewards
    for bad in ("", "lol", "<think>" * 1000, "\ud800", "\\boxed{" * 100):
        assert reward(task)([bad] * len(data), doc=data["doc"]) == [0.0] * len(data)


def test_the_prompt_is_the_one_of_the_task(pack):
    for row in training_set("fresh_date_arithmetic", pack):
        question = json.loads(row["doc"])["question"]
        [message] = row["prompt"]
        assert message["role"] == "user"
        assert message["content"].startswith(question)


def test_a_format_instruction_of_its_own_is_the_system_message():
    for row in training_set("tot_arithmetic_separate", str(EXAMPLES)):
        document = json.loads(row["doc"])
        assert [x["role"] for x in row["prompt"]] == ["system", "user"]
        assert row["prompt"][0]["content"] == document["instruction"].strip()


def test_rewards_can_be_pickled_and_say_what_they_are():
    made = pickle.loads(pickle.dumps(reward("tot_arithmetic", metric="acc")))
    assert made.__name__ == "tot_arithmetic_acc"
    doc = {"question": "How many days?", "label": '{"answer": 3}'}
    assert made(['{"answer": 3}', '{"answer": "3"}'], doc=[doc, doc]) == [1.0, 0.0]
    assert reward("tot_arithmetic")(['{"answer": "3"}'], doc=[doc]) == [1.0]


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        ([{"role": "assistant", "content": "\\boxed{2012-11-05}"}], 1.0),
        ([{"content": [{"type": "text", "text": "\\boxed{2012-11-05}"}]}], 1.0),
        ([{"content": [{"type": "image"}, "\\boxed{2012-11-05}", 5]}], 0.0),
        ([{"role": "assistant", "tool_calls": []}], 0.0),
        (
            [
                {"role": "assistant", "content": "\\boxed{2012-11-05}"},
                {"role": "tool", "content": "ok"},
                {"role": "user", "content": "thanks"},
            ],
            1.0,
        ),
        ([{"role": "user", "content": "\\boxed{2012-11-05}"}], 0.0),
        ([{"content": None}], 0.0),
        (["\\boxed{2012-11-05}"], 0.0),
        *((odd, 0.0) for odd in ([], None, 5, {"content": "x"})),
    ],
)
def test_any_completion_has_a_reward(completion, expected):
    doc = {"answer": "2012-11-05", "answer_format": "YYYY-MM-DD"}
    assert reward("tcp_long")([completion], doc=[doc]) == [expected]


def test_invalid_arguments_are_refused():
    with pytest.raises(ValueError, match="task 'tcp' is a group"):
        reward("tcp")
    with pytest.raises(
        ValueError, match="has no metric 'f1' to maximise; choose from acc"
    ):
        reward("tcp_long", metric="f1")
    doc = {"answer": "2012-11-05", "answer_format": "YYYY-MM-DD"}
    with pytest.raises(ValueError, match="longer|shorter"):
        reward("tcp_long")(["a", "b"], doc=[doc])


@pytest.mark.parametrize("task", ["fresh", None, ["tcp_long"], "tpc_long"])
def test_what_is_not_a_task_is_one_error_that_names_it(task):
    for call in (reward, training_set):
        with pytest.raises(ValueError, match="^task ") as caught:
            call(task)
        assert repr(task) in str(caught.value)


NOT_OF_TCP = [
    (None, "is a NoneType"),
    ({}, "has no 'answer'"),
    ("{}", "has no 'answer'"),
    ("{", "JSONDecodeError"),
    ("[]", "is a list"),
    ({"question": "How many?", "label": "{'answer': 3}"}, "has no 'answer'"),
    ({"answer": 5, "answer_format": None}, "Error"),
]


@pytest.mark.parametrize(("doc", "fault"), NOT_OF_TCP)
def test_what_is_not_a_document_is_named_with_its_place(doc, fault):
    good = {"answer": "2012-11-05", "answer_format": "YYYY-MM-DD"}
    for completion in ("\\boxed{2012-11-05}", ""):
        with pytest.raises(
            ValueError, match=r"^doc\[1\]: is not a document of"
        ) as caught:
            reward("tcp_long")(["", completion], doc=[good, doc])
        assert fault in str(caught.value)


@pytest.mark.parametrize("task", FRESH)
def test_an_empty_document_is_refused_by_every_task(task):
    with pytest.raises(ValueError, match=rf"^doc\[0\]: is not a document of {task}"):
        reward(task)(["x"], doc=[{}])


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
            output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=2,
            num_generations=2, max_completion_length=8, use_cpu=True, report_to=[],
            logging_steps=1,
        ),
    )  # fmt: skip
    trainer.train()
    logged = [x for x in trainer.state.log_history if "reward" in x]
    assert len(logged) == 2
    assert "rewards/fresh_date_arithmetic_score_flexible/mean" in logged[0]
