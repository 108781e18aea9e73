"""A document of each family and kind, for tests of what holds for any response."""

from lm_eval_tasks.tcp import utils as tcp
from lm_eval_tasks.timebench import utils as timebench
from lm_eval_tasks.tot import utils as tot


QUESTION = 'Return a JSON = {"explanation": <steps>, "date": "mm/dd/yyyy"}.'
DOCUMENTS = [
    (tcp, {"answer": "2012-11-05", "answer_format": tcp.LONG_FORMAT}),
    (tcp, {"answer": "2020-05-28 16:00 GMT", "answer_format": tcp.SHORT_FORMAT}),
    *(
        (tot, {"question": QUESTION, "label": label})
        for label in (
            *("{'answer': '1307'}", "{'date': '06/18/2007'}", "{'answer': '792 AD'}"),
            *('{"H": 1.0, "M": 2.0}', "{'day': '+1', 'time': '01:10'}"),
            *("{'unordered_list': ['a', 'b']}", "{'answer': 'unanswerable'}"),
        )
    ),
    (tot, {"question": "?", "prompt": "?", "label": "E59,E57"}),
    (timebench, {"kind": "qa", "golds": ["Cardiff City", "unanswerable"]}),
    (timebench, {"kind": "date", "golds": ["Aug, 1987"]}),
    (timebench, {"kind": "options", "options": ["a day", "B", "no"], "letters": ["A"]}),
    (timebench, {"kind": "nli", "options": timebench.THREE_WAY, "label": "Neutral"}),
    (
        timebench,
        {
            "kind": "generation",
            "statement": "Now A. Then B.",
            "keywords": ["A", "B"],
            "keywords_pos": [0, 1],
        },
    ),
]  # fmt: skip
