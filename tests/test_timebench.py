"""TimeBench: the card's examples, the flexible rule, bad rows, the real data."""

import json
import logging

import datasets
import pytest

from lm_eval_tasks.timebench import utils


MARKER = "Thus, the correct answer is:"

ROWS = {
    "qa": {
        "question": "Which club?",
        "answer": ["Cardiff City"],
        "context": "He joined Cardiff City.",
        "fact_context": "He joined Cardiff City in 1990.",
    },
    "date": {"question": "When?", "answer": ["Aug, 1987"], "context": ""},
    "options": {
        "qid": 0,
        "context": "He waits.",
        "options": [
            "two hours",
            "no more than ten minutes ",
            "No more than five minutes",
            "a day",
        ],
        "labels": ["no", "yes", "yes", "no"],
    },
    "nli": {"Premise": "It rains.", "Hypothesis": "It is wet.", "Label": "Entailment"},
    "generation": {
        "keywords": ["moon", "sun", "night", "day"],
        "keywords_pos": [0, 1, 0, 1],
        "statements": ["The moon shines at night.", "The sun shines by day."],
        "ids": ["a", "b"],
    },
}


def documents(*rows: dict) -> datasets.Dataset:
    return utils.process_docs(datasets.Dataset.from_list(list(rows)))


def score(response: str, row: dict) -> dict[str, float]:
    # A row with the label Neutral makes the NLI task a three-way one.
    others = [ROWS["nli"] | {"Label": "Neutral"}] if "Label" in row else []
    scores = utils.process_results(documents(row, *others)[0], [response])
    assert all(type(value) is float and 0 <= value <= 1 for value in scores.values())
    return scores


@pytest.mark.parametrize(
    "response, row, expected",
    [  # Source: the metric card's examples, word for word.
        (f"... {MARKER} Aug, 1987.", ROWS["date"], {"exact_match": 1}),
        (
            f"... {MARKER} January 2020.",
            ROWS["date"] | {"answer": ["Feb, 2020"]},
            {"exact_match": 0},
        ),
        (f"... {MARKER} Cardiff City.", ROWS["qa"], {"exact_match": 1, "f1": 1}),
        (
            f"... {MARKER} unanswerable",
            ROWS["qa"] | {"answer": ["unanswerable"]},
            {"exact_match": 1, "f1": 1},
        ),
        (f"... {MARKER} B, C.", ROWS["options"], {"exact_match": 1, "f1": 1}),
    ],
)
def test_published_score_is_that_of_the_card(response, row, expected):
    assert expected.items() <= score(response, row).items()


def test_the_card_s_form_of_a_reference_is_read():
    reference = "B. No more than ten minutes && C. No more than five minutes"
    assert utils.read_letters(reference) == {"B", "C"}
    assert utils.read_published_letters(reference) == {"B", "C"}


@pytest.mark.parametrize(
    "answer, kind, published, flexible",
    [
        # QA: SQuAD normalisation, the best gold, hedges, unanswerable or not.
        ("the cardiff city", "qa", 1, 1),
        ("**Cardiff City**", "qa", 1, 1),
        ("Cardiff", "qa", 2 / 3, 2 / 3),
        ("Cardiff City or Swansea City", "qa", 4 / 7, 0),
        ("unanswerable", "qa", 0, 0),
        ("Cardiff\u2013City", "qa", 0, 0),
        # Dates: month and year, however they are spelled.
        ("August 1987", "date", 1, 1),
        ("1987-08", "date", 1, 1),
        ("August 3rd, 1987", "date", 1, 1),
        ("**Aug, 1987**", "date", 0, 1),
        ("Aug", "date", 0, 0),
        ("1987", "date", 0, 0),
        ("Aug, 87", "date", 0, 0),
        ("Sep, 1987", "date", 0, 0),
        ("Aug, 1987 or Sep, 1987", "date", 0, 0),
        ("unanswerable", "date", 0, 0),
        # Options: letters, texts, both; articles and other words name no letter.
        ("B and C", "options", 1, 1),
        ("B & C", "options", 1, 1),
        ("(b), (c)", "options", 0, 1),
        ("b, c", "options", 0, 1),
        ("No more than ten minutes, no more than five minutes.", "options", 0, 1),
        (
            "B. No more than ten minutes && C. No more than five minutes",
            "options",
            1,
            1,
        ),
        ("B. ten minutes at most, C. five minutes at most", "options", 1, 1),
        ("A few minutes", "options", 0, 0),
        ("B", "options", 2 / 3, 2 / 3),
        ("A, B and D", "options", 2 / 5, 2 / 5),
        ("A. no more than ten minutes", "options", 0, 0),
        ("a.m.", "options", 0, 0),
        ("B or C", "options", 1, 0),
        ("not B, C", "options", 1, 0),
        ("none", "options", 0, 0),
        # NLI: by word, by letter, by both.
        ("A", "nli", 1, 1),
        ("(a)", "nli", 0, 1),
        ("A. Entailment", "nli", 1, 1),
        ("The premise entails the hypothesis", "nli", 0, 1),
        ("**Entailment**", "nli", 1, 1),
        ("A. Contradiction", "nli", 0, 0),
        ("C. Entailment", "nli", 1, 0),
        ("not Entailment", "nli", 1, 0),
        ("Entailment or Neutral", "nli", 0, 0),
        ("a contradiction", "nli", 0, 0),
    ],
)
def test_headline_scores(answer, kind, published, flexible):
    scores = score(f"So. {MARKER} {answer}", ROWS[kind])
    assert scores["score"] == pytest.approx(published)
    assert scores["score_flexible"] == pytest.approx(flexible)
    assert scores["score"] == scores.get("f1", scores["exact_match"])


@pytest.mark.parametrize(
    "response, published, flexible, extracted",
    [
        (f"{MARKER} B\n\nNo. {MARKER} A", 1, 1, 1),
        (f"{MARKER} A\n\nNo. {MARKER} B", 0, 0, 1),
        (f"{MARKER} A\n\nAgain: {MARKER}", 0, 1, 0),
        (f"{MARKER}\nA", 0, 1, 0),
        ("**Thus, the correct answer is:** A", 1, 1, 1),
        ("Therefore, the answer is: A", 0, 1, 0),
        ("The correct answer is **A**.", 0, 1, 0),
        ("Final answer: A", 0, 1, 0),
        ("so $\\boxed{\\text{A}}$", 0, 1, 0),
        (f"{MARKER} C. Hm: \\boxed{{A}}", 0, 1, 1),
        (f"<think>{MARKER} C</think>{MARKER} A", 1, 1, 1),
        (f"<think>{MARKER} A</think>", 1, 0, 1),
        (f"{MARKER} C</think>\nFinal answer: A", 0, 1, 1),
        (f"<think>{MARKER} A", 1, 0, 1),
        ("Entailment", 0, 0, 0),
        ("", 0, 0, 0),
    ],
)
def test_the_answer_is_the_last_one_outside_of_the_reasoning(
    response, published, flexible, extracted
):
    scores = score(response, ROWS["nli"])
    assert scores["score"] == published
    assert scores["score_flexible"] == flexible
    assert scores["extracted"] == extracted


def test_the_best_of_several_golds_counts():
    row = ROWS["qa"] | {"answer": ["TU Wien", "Vienna University of Technology"]}
    assert score(f"{MARKER} TU Wien", row)["f1"] == 1
    assert score(f"{MARKER} University of Technology", row)["f1"] == pytest.approx(
        6 / 7
    )


def test_a_two_way_task_knows_no_neutral_and_no_third_letter():
    doc = documents(ROWS["nli"], ROWS["nli"] | {"Label": "Contradiction"})[1]
    assert doc["options"] == ["Entailment", "Contradiction"]
    for answer, expected in (("B", 1), ("C", 0), ("Neutral", 0)):
        scores = utils.process_results(doc, [f"{MARKER} {answer}"])
        assert (scores["score"], scores["score_flexible"]) == (expected, expected)


@pytest.mark.parametrize(
    "answer, keywords",
    [
        ("The moon shines at night. The sun shines by day.", 1),
        ("The sun shines by day. The moon shines at night.", 1),
        ("Dr. Moon sees the moon at night. Mr. Day sees the sun by day.", 1),
        ("The moon shines by day. The sun shines at night.", 0.5),
        ("The moon shines at night.", 0.5),
        ("Moonlight, sunny, nights, days.", 0),
    ],
)
def test_keywords_count_in_the_sentence_they_belong_to(answer, keywords):
    assert score(f"{MARKER} {answer}", ROWS["generation"])["keywords"] == keywords


def test_generation_that_is_the_reference_scores_one():
    scores = score(
        f"{MARKER} {' '.join(ROWS['generation']['statements'])}", ROWS["generation"]
    )
    assert scores == {"bleu": 1.0, "rouge_l": 1.0, "keywords": 1.0, "extracted": 1.0}


def without(kind: str, column: str) -> dict:
    return {name: cell for name, cell in ROWS[kind].items() if name != column}


@pytest.mark.parametrize(
    "rows, message",
    [
        ([], "TimeBench: there is no row"),
        ([without("nli", "Label")], "TimeBench (nli): column 'Label' is missing"),
        ([without("options", "labels")], "(options): column 'labels' is missing"),
        ([ROWS["qa"] | {"answer": ["the"]}], "(qa), row 0, column 'answer': ['the'] holds"),
        ([ROWS["qa"] | {"question": None}], "(qa), row 0, column 'question': None is no"),
        ([ROWS["date"] | {"answer": ["Aug"]}], "(date), row 0, column 'answer': ['Aug']"),
        ([ROWS["nli"] | {"Label": "Maybe"}], "(nli), row 0, column 'Label': 'Maybe' is"),
        (
            [ROWS["options"], ROWS["options"] | {"labels": ["no"] * 4}],
            "(options), row 1, column 'labels': ['no', 'no', 'no', 'no'] is no list of",
        ),
        ([ROWS["options"] | {"labels": ["yes"]}], "(options), row 0, column 'labels'"),
        ([ROWS["generation"] | {"keywords_pos": [0]}], "column 'keywords_pos': [0] has"),
    ],
)  # fmt: skip
def test_bad_rows_stop_with_their_place(rows, message):
    with pytest.raises(ValueError) as error:
        documents(*rows)
    assert message in str(error.value)


def test_another_row_count_is_a_warning_with_both_numbers(caplog):
    with caplog.at_level(logging.WARNING):
        documents(ROWS["date"])
    assert "1 rows, fingerprint" in caplog.text
    assert "the benchmark has 500 rows, fingerprint" in caplog.text


def test_the_warning_is_about_the_file_where_its_name_is_known(caplog):
    rows = datasets.Dataset.from_list([ROWS["nli"]])
    rows.info.config_name = "tracie_timebench"
    with caplog.at_level(logging.WARNING):
        utils.process_docs(rows)
    assert "TimeBench (tracie): 1 rows" in caplog.text
    assert utils.FILES["tracie"][1] in caplog.text
    assert utils.FILES["timexnli_cs1"][1] not in caplog.text


# ------------------------------------------------------------------ on the real data

FILES = {  # file -> rows; 7,553 in all
    "durationqa_f2": 687,
    "mctaco_f2": 851,
    "menatqa_counterfactual": 200,
    "menatqa_order": 200,
    "menatqa_scope": 500,
    "situatedgen": 115,
    "tempreason_l1": 500,
    "tempreason_l2": 500,
    "tempreason_l3": 500,
    "timedial_f2": 500,
    "timeqa_easy": 500,
    "timeqa_hard": 500,
    "timexnli_cs1": 500,
    "timexnli_cs2": 500,
    "timexnli_cs3": 500,
    "tracie": 500,
}


@pytest.fixture(scope="module")
def real_documents(shared) -> dict[str, list[dict]]:
    found = {}
    for name in FILES:
        path = shared / "timebench" / f"{name}_timebench.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = datasets.Dataset.from_list([json.loads(line) for line in lines])
        found[name] = list(utils.process_docs(rows))
    return found


def gold_answer(doc: dict) -> str:
    """Return what the prompt asks for, with the label's value."""
    if doc["kind"] == "options":
        return ", ".join(doc["letters"])
    return doc.get("label") or doc.get("statement") or doc["golds"][0]


@pytest.mark.parametrize("name, rows", FILES.items())
def test_rows_load(real_documents, name, rows, record_property):
    assert len(real_documents[name]) == rows
    record_property("rows of TimeBench", (name, rows))


def test_the_files_have_7553_rows(real_documents):
    assert sum(map(len, real_documents.values())) == sum(FILES.values()) == 7553


@pytest.mark.parametrize("name", [name for name in FILES if name != "situatedgen"])
def test_perfect_responder_is_always_right(real_documents, name):
    for doc in real_documents[name]:
        scores = utils.process_results(doc, [f"So. {MARKER} {gold_answer(doc)}."])
        assert set(scores.values()) == {1.0}, doc


@pytest.mark.parametrize("name", [name for name in FILES if name != "situatedgen"])
def test_any_other_answer_gets_less(real_documents, name):
    docs = real_documents[name]
    for doc, other in zip(docs, docs[1:] + docs[:1], strict=True):
        answer = gold_answer(other)
        scores = utils.process_results(doc, [f"So. {MARKER} {answer}."])
        golds = [utils.normalise(gold) for gold in doc.get("golds", [gold_answer(doc)])]
        if utils.normalise(answer) not in golds:
            assert scores["score"] < 1 and scores["score_flexible"] < 1
