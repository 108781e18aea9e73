"""A document of each task and kind, for tests of what holds for any response."""

QUESTION = 'Return a JSON = {"explanation": <steps>, "date": "mm/dd/yyyy"}.'
LONG = {"answer": "2012-11-05", "answer_format": "YYYY-MM-DD"}
SHORT = {"answer": "2020-05-28 16:00 GMT", "answer_format": "YYYY-MM-DD HH:MM GMT"}
CONTEXT = "He rowed for Cardiff City."
QUESTIONS = {"question": "?", "prompt": "?"}
NLI = {"premise": "It rained.", "hypothesis": "It was wet.", "label": "Neutral"}
OPTIONS = {"options": ["a day", "B", "no"], "letters": ["A"], "context": "It rained."}
WORDS = {"keywords": ["A", "B"], "keywords_pos": [0, 1]}
NAMES = {"golds": ["Cardiff City", "unanswerable"], "context": CONTEXT}
LABEL = "{'day': '+1', 'time': '01:10'}"
KINDS = {  # kind -> (task, document): one of each function that scores
    "tcp": ("tcp_short", SHORT),
    "tot_arithmetic": ("tot_arithmetic", {"question": QUESTION, "label": LABEL}),
    "tot_semantic": ("tot_semantic", QUESTIONS | {"label": "E59,E57"}),
    "qa": ("timebench_timeqa_explicit", NAMES | {"question": "Which club?"}),
    "date": ("timebench_date_arithmetic", {"question": "?", "golds": ["Aug, 1987"]}),
    "options": ("timebench_mctaco", OPTIONS | {"question": "How long?"}),
    "nli": (
        "timebench_timexnli_s1",
        NLI | {"options": ["Entailment", "Neutral", "Contradiction"]},
    ),
    "generation": ("timebench_situatedgen", WORDS | {"statement": "Now A. Then B."}),
}
DOCUMENTS = [
    *KINDS.values(),
    ("tcp_long", LONG),
    *(
        ("tot_arithmetic", {"question": QUESTION, "label": label})
        for label in (
            *("{'answer': '1307'}", "{'date': '06/18/2007'}", "{'answer': '792 AD'}"),
            *('{"H": 1.0, "M": 2.0}', "{'unordered_list': ['a', 'b']}"),
            "{'answer': 'unanswerable'}",
        )
    ),
]
