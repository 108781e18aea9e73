"""A document of each task and kind, and pieces of responses, for what holds for any."""

MARKER = "Thus, the correct answer is:"
QUESTION = 'Return a JSON = {"explanation": <steps>, "date": "mm/dd/yyyy"}.'
LONG = {"answer": "2012-11-05", "answer_format": "YYYY-MM-DD"}
SHORT = {"answer": "2020-05-28 16:00 GMT", "answer_format": "YYYY-MM-DD HH:MM GMT"}
CONTEXT = "He rowed for Cardiff City."
ENTITIES = {"question": "?", "prompt": "?", "label": "E59,E57"}
THREE_WAY = {"options": ["Entailment", "Neutral", "Contradiction"]}
NLI = {"premise": "It rained.", "hypothesis": "It was wet.", "label": "Neutral"}
OPTIONS = {"options": ["a day", "B", "no"], "letters": ["A"], "context": "It rained."}
WORDS = {"keywords": ["A", "B"], "keywords_pos": [0, 1]}
NAMES = {"golds": ["Cardiff City", "unanswerable"], "context": CONTEXT}
LABEL = "{'day': '+1', 'time': '01:10'}"
KINDS = {  # kind -> (task, document): one of each function that scores
    "tcp": ("tcp_short", SHORT),
    "tot_arithmetic": ("tot_arithmetic", {"question": QUESTION, "label": LABEL}),
    "tot_semantic": ("tot_semantic", ENTITIES),
    "qa": ("timebench_timeqa_explicit", NAMES | {"question": "Which club?"}),
    "date": ("timebench_date_arithmetic", {"question": "?", "golds": ["Aug, 1987"]}),
    "options": ("timebench_mctaco", OPTIONS | {"question": "How long?"}),
    "nli": ("timebench_timexnli_s1", NLI | THREE_WAY),
    "generation": ("timebench_situatedgen", WORDS | {"statement": "Now A. Then B."}),
}
LABELS = [
    *("{'answer': '1307'}", "{'date': '06/18/2007'}", "{'answer': '792 AD'}"),
    *('{"H": 1.0, "M": 2.0}', "{'unordered_list': ['a', 'b']}"),
    "{'answer': 'unanswerable'}",
]
DOCUMENTS = [*KINDS.values(), ("tcp_long", LONG)] + [
    ("tot_arithmetic", {"question": QUESTION, "label": label}) for label in LABELS
]
# What answers, markup, reasoning and broken objects are made of.
PIECES = [
    *("{", "}", "[", "]", '"', "'", "\\", "9", " ", "\n", "a", ":", ",", "a: "),
    *("{'a': ", '{"a":', '{"a":{', '{"":', '{":","', '{"a":"\\"', '"\\"', '"a":'),
    *('"a": x ', '"a": [', '{"a": "b" c, ', "{{", "{}", '{"a":1,', "'a': '", "\\{"),
    *("a: 'b a: ", '{"explanation": "', '"a":1 // ', "//\n", "[[", '{"a":[', '{"{":"{'),
    *('{"{', '{"answer": ', '"day": ', '"time": "', "Thus, the correct answer is: "),
    *("Thus, the correct answer is: Z ", "Answer:", "\n### Answer\n", "**Answer:** "),
    *("the answer is ", "(C), ", "not ", "* ", "**", "_", "`", "```\n", "```json\n"),
    *("- C\n", "1. ", "(", "((", "[1]", "or ", "B, C, ", "(d)", "because ", "since, "),
    *("\\boxed{", "\\boxed{x", "\\boxed {", "\\boxed{}", "<think>", "</think>"),
    *("\\text{", "\\ ", "~", "$", "\\boxed{\\text{C}} and ", "<answer>", "</answer>"),
    *("<think></think>", "<thinking>", "[THINK]", "[/THINK]", "\u25c1think\u25b7"),
    *("\u25c1/think\u25b7", "</reasoning>", "assistantfinal", "analysis", "answer "),
    *("<|channel|>final<|message|>", "<|channel|>", "<|im_end|>", "<|", "<", "</"),
    *("\x00", "\ud800", "\u0661", "\uff11", "\u202e", "\u2011", "\ufb01", "\u2014"),
    *("1e999 ", '"a": NaN, ', "__import__('os').system('true') ", "x - ", "Aa", "A1"),
    *("isn't unanswerable, ", "A", "Aa ", "1,000", "1 000 ", "E46 ", "next ", "days"),
    *("2012-11-05", "2012-11-", "05/06/2012", "16:00 ", "4 PM", "GMT", "+02:00", "1/"),
    *("12 ", "Aug, ", "May", "Entailment ", "1987 ", "BC ", "792 AD", "Sunday", "th"),
    *("1307", "-6.5", "same_day", "+1", '{"a": ' + "9" * 5000 + "}"),
]
