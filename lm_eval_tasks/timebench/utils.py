"""Documents and scores of TimeBench.

Read from top to bottom: tables, the answer in a response (which no reference is shown
to), then for each kind of task, QA, dates, options, NLI labels and generation, how an
answer is read and scored, then documents and `process_results`.
"""

import hashlib
import json
import logging
import re
import string
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import datasets
from dateutil import parser as dateutil_parser


eval_logger = logging.getLogger("lm_eval.tasks.timebench")

MARKER = "Thus, the correct answer is:"  # what the prompts ask for and the card reads

# The files of the benchmark: rows, and the fingerprint of their documents.
FILES = {
    "timexnli_cs1": (500, "a53455797a766c3d"),
    "timexnli_cs2": (500, "4bd0cdf368dd6b7d"),
    "timexnli_cs3": (500, "609b4b28bdb7847f"),
    "tracie": (500, "3352bfe595c676eb"),
    "mctaco_f2": (851, "3275b4288deebd73"),
    "durationqa_f2": (687, "709fd44f039f9c0c"),
    "timedial_f2": (500, "04a7fe87a1b528f2"),
    "menatqa_scope": (500, "5d1bd92e1e72e682"),
    "menatqa_order": (200, "0b72e4a1b9aefbe6"),
    "menatqa_counterfactual": (200, "1947cf109586d3ea"),
    "tempreason_l2": (500, "e34fa811d22ffe1f"),
    "tempreason_l3": (500, "0d3922b7fd90014a"),
    "timeqa_easy": (500, "900f6f0371598e73"),
    "timeqa_hard": (500, "5f7eb252afb88a85"),
    "tempreason_l1": (500, "17916b70f0670a7d"),
    "situatedgen": (115, "b6297111b3beabf1"),
}

# What tells files from others are their columns: kind of task, columns, files.
_NLI = ("Premise", "Hypothesis", "Label")
_OPTIONS = ("qid", "context", "options", "labels")
_QA = ("question", "answer", "context")
SCHEMAS = (
    ("nli", _NLI, ("timexnli_cs1", "timexnli_cs2", "timexnli_cs3", "tracie")),
    ("options", (*_OPTIONS, "question", "type"), ("mctaco_f2",)),
    ("options", (*_OPTIONS, "question"), ("durationqa_f2",)),
    ("options", _OPTIONS, ("timedial_f2",)),
    (
        "qa",
        (*_QA, "meta"),
        ("menatqa_scope", "menatqa_order", "menatqa_counterfactual"),
    ),
    ("qa", (*_QA, "fact_context"), ("tempreason_l2", "tempreason_l3")),
    ("qa", (*_QA, "question_type", "idx"), ("timeqa_easy", "timeqa_hard")),
    ("date", _QA, ("tempreason_l1",)),
    ("generation", ("keywords", "keywords_pos", "statements", "ids"), ("situatedgen",)),
)

LETTERS = "ABCD"
THREE_WAY = ["Entailment", "Neutral", "Contradiction"]
TWO_WAY = ["Entailment", "Contradiction"]
MONTHS = (
    "january february march april may june july august september october november"
    " december"
).split()
# Hyphens, dashes and the minus sign that models write for "-".
DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))

# What is longer is no answer of its kind; a generated pair of sentences is cut there.
MAX_ANSWER_LENGTH = 2000
MAX_DATE_LENGTH = 100


# ------------------------------------------------------------ the answer in a response


def extract_published(response: str) -> str | None:
    """Return the first line after the last marker, or None (source: metric card).

    Trailing `.!?` go; with "unanswerable" in it the answer is just that; an empty one
    is none.
    """
    _, marker, rest = response.rpartition(MARKER)
    answer = rest.split("\n")[0].strip().rstrip(".!?").strip()
    if not marker or not answer:
        return None
    return "unanswerable" if "unanswerable" in answer.lower() else answer


_REASONING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_CUE = re.compile(
    r"\b(?:(?:correct|final|right|best|likely) (?:options?|choices?|labels?)|answers?)"
    r"\b[*_]* ?(?:(?:is|are)\b[*_]* ?(?P<colon>:)?|(?P<only_colon>:))",
    re.IGNORECASE,
)
_BOX_OR_BRACE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\[{}]|[{}]")
_MARKUP = re.compile(
    r"\\(?:boxed|fbox|mbox|(?:text|math)(?:rm|bf|it|tt|sf)?)(?![a-z])|[\\{}$*`]|(?<![^\W_])_+|_+(?![^\W_])"
)


def extract_flexible(response: str) -> str | None:
    r"""Return the line of the last answer outside of the reasoning block, or None.

    An answer stands in a `\boxed{}`, or after the marker in any wording with a colon;
    where there is neither, after "the answer is". It is complete when it is not empty.
    """
    text = _REASONING.sub("", response).rpartition("</think>")[2]
    cues = list(_CUE.finditer(text))
    sure = [cue for cue in cues if cue["colon"] or cue["only_colon"]]
    box = _last_box(text)
    if (
        box
        and (not sure or box[0] > sure[-1].start())
        and (inside := _unmark(text[slice(*box)]))
    ):
        return inside
    for cue in reversed(sure or cues):
        rest = text[cue.end() : cue.end() + MAX_ANSWER_LENGTH].lstrip("*_ \t\r\n")
        if answer := _unmark(rest.split("\n")[0]):
            return answer
    return None


def _last_box(text: str) -> tuple[int, int] | None:
    r"""Return where the inside of the last complete `\boxed{}` starts and ends."""
    opened: list[int | None] = []  # where a box starts, None for other braces
    box = None
    for mark in _BOX_OR_BRACE.finditer(text):
        if mark[0] == "}":
            if opened and (start := opened.pop()) is not None:
                box = start, mark.start()
        elif mark[0].endswith("{") and mark[0] != "\\{":
            opened.append(mark.end() if mark[0] != "{" else None)
    return box


def _unmark(text: str) -> str:
    """Return `text` without LaTeX, Markdown and doubled blanks, or "" for nothing."""
    text = _MARKUP.sub("", text[:MAX_ANSWER_LENGTH].translate(DASHES))
    return " ".join(text.split()) if _bare(text) else ""


def _bare(text: str) -> str:
    """Return `text` without outer punctuation."""
    return text.strip(" .!?,;:\"'\u201c\u201d[]<>")


# ---------------------------------------------------------------------------- QA

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_HEDGE = re.compile(r"\b(?:or|not|either|neither)\b", re.IGNORECASE)


def normalise(text: str) -> str:
    """Return `text` as SQuAD compares it: no case, punctuation, articles, more blanks."""
    text = text.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", text).split())


def token_f1(answer: str, gold: str) -> float:
    """Return the F1 of the tokens of two texts after normalisation (SQuAD)."""
    tokens, gold_tokens = normalise(answer).split(), normalise(gold).split()
    return _f1(
        sum((Counter(tokens) & Counter(gold_tokens)).values()),
        len(tokens),
        len(gold_tokens),
    )


def _f1(shared: int, answered: int, wanted: int) -> float:
    return 2 * shared / (answered + wanted) if shared else 0.0


def score_qa(doc: dict, published: str | None, answer: str | None) -> dict[str, float]:
    """Score an answer to an extractive question against the best of its golds.

    Flexible: as published, but an answer that hedges ("X or Y") is none, and questions
    without an answer are answered or not, without overlap of words.
    """
    published, answer = published or "", _bare(answer or "")
    exact = max(
        float(normalise(published) == normalise(gold) != "") for gold in doc["golds"]
    )
    if re.search(r"\bunanswerable\b", answer, re.IGNORECASE) and not _HEDGE.search(
        answer
    ):
        answer = "unanswerable"
    return _scores(
        exact=exact,
        f1=max(token_f1(published, gold) for gold in doc["golds"]),
        flexible=max(_flexible_f1(answer, _unmark(gold)) for gold in doc["golds"]),
    )


def _flexible_f1(answer: str, gold: str) -> float:
    if normalise(answer) == normalise(gold):
        return 1.0
    if "unanswerable" in (normalise(answer), normalise(gold)):
        return 0.0
    return 0.0 if re.search(r"\b(?:or|not)\b", answer) else token_f1(answer, gold)


# ------------------------------------------------------------------------- dates


class _YearsAsWritten(dateutil_parser.parserinfo):
    """Takes a year of two digits as it is, where dateutil would ask the clock."""

    def convertyear(self, year: int, century_specified: bool = False) -> int:
        return year


_PARSER = dateutil_parser.parser(_YearsAsWritten())
_MONTH_AND_YEAR = re.compile(
    r"(?:(?:in|it is) )?(?:"
    # August 1987, Aug., 1987, 1 August of 1987, August 1st, 1987
    r"(?:[0-9]{1,2}(?:st|nd|rd|th)? (?:of )?)?(?P<name>[a-z]{3,9})"
    r"(?:\.? [0-9]{1,2}(?:st|nd|rd|th)?,)?(?:[ ,/.-]| of )+(?P<year_last>[0-9]{3,4})"
    # 08/1987; 15/08/1987 or 08/15/1987, of which one number can be the month
    r"|(?P<month_or_day>[0-9]{1,2})[-/.](?:(?P<day_or_month>[0-9]{1,2})[-/.])?"
    r"(?P<year_last_too>[0-9]{4})"
    r"|(?P<year_first>[0-9]{4})(?:[-/.](?P<month>[0-9]{1,2})(?:[-/.][0-9]{1,2})?"
    r"|[ ,-]+(?P<name_last>[a-z]{3,9}))"  # 1987-08, 1987-08-01, 1987, August
    r")(?: ad| ce)?"
)


def parse_month(text: str) -> tuple[int, int] | None:
    """Return year and month as dateutil reads them, or None (source: metric card).

    What the text does not say is filled in from a default, so that with two defaults
    it shows: then there is no month or no year.
    """
    if len(text) > MAX_DATE_LENGTH:
        return None
    try:
        first, second = (
            _PARSER.parse(text, default=default, ignoretz=True)
            for default in (datetime(2000, 1, 1), datetime(2001, 2, 1))
        )
    except Exception:  # of hostile text, dateutil raises far more than ParserError
        return None
    same = (first.year, first.month) == (second.year, second.month)
    return (first.year, first.month) if same else None


def read_month(text: str) -> tuple[int, int] | None:
    """Return year and month of an answer that says these, and a day at the most."""
    text = text.casefold()
    match = len(text) <= MAX_DATE_LENGTH and _MONTH_AND_YEAR.fullmatch(
        text.strip(" ()")
    )
    if not match:
        return None
    year = match["year_first"] or match["year_last"] or match["year_last_too"]
    if name := match["name"] or match["name_last"]:
        months = {i for i, full in enumerate(MONTHS, 1) if full.startswith(name)}
    elif match["day_or_month"]:
        one, other = int(match["month_or_day"]), int(match["day_or_month"])
        pairs = ((one, other), (other, one))
        months = {month for month, day in pairs if month <= 12 and day <= 31}
    else:
        months = {int(match["month"] or match["month_or_day"])}
    month = months.pop() if len(months) == 1 else 0
    return (int(year), month) if 1 <= month <= 12 else None


def score_date(
    doc: dict, published: str | None, answer: str | None
) -> dict[str, float]:
    """Score the month and year of an answer."""
    golds = [parse_month(gold) for gold in doc["golds"]]
    return _scores(
        exact=float(published is not None and parse_month(published) in golds),
        flexible=float(answer is not None and read_month(_bare(answer)) in golds),
    )


# ----------------------------------------------------------------------- options

_PUBLISHED_LETTER = re.compile(r"\b([A-D])(?:\.|,|\s|&|$)")
_PUNCTUATION = re.compile(r"[\s,;&.()\[\]:*-]+")
_FILLER = re.compile(r"(?:and|both|options?|choices?)\b", re.IGNORECASE)
_LETTER = re.compile(r"\(([A-Da-d])\)|([A-D])(?![A-Za-z0-9'])|([a-d])(?:\)|\.(?=\s))")
_WITHIN_OPTION = re.compile(r"[.):\s(-]*")
_NEXT_OPTION = re.compile(r"[,;&\s](?:and)?\s*(?:\(?[A-D][.):]|\(?[a-d]\))")
_ANOTHER_LETTER = re.compile(
    r"(?:(?:and|or)\b\s*)?(?:\(?[A-D](?:[.):,;&\s]|$)|\(?[a-d]\))"
)
_LETTER_OF_TEXT = re.compile(r"\s*\(([A-Da-d])\)")
_REASON = re.compile(r"[,\s]*(?:because|since)\b")
_RANGE = re.compile(r"\b[A-D]\s*-\s*[A-D]\b")
_RUN_OF_LETTERS = re.compile(r"[A-D]{2,4}")
_LOWER_LETTERS = re.compile(r"[a-d](?:(?:[\s,;&]+|\band\b)+[a-d])*")


def read_published_letters(text: str) -> set[str]:
    """Return the letters that the card's pattern finds in an answer or a reference."""
    return set(_PUBLISHED_LETTER.findall(text))


def read_letters(text: str, options: list[str] | None = None) -> set[str] | None:
    """Return the letters of the options that a text names, by letter or by their text.

    None if it says anything else. "A few minutes" is the option with this text or none,
    "B. A few minutes" is B, and a letter with the text of another option is none. The
    card's form of a reference ("B. … && C. …") is read as well, without `options`.
    """
    letters_in_use = LETTERS[: len(options)] if options else LETTERS
    by_text = sorted(
        zip([_bare(_unmark(option)).casefold() for option in options or ()], LETTERS),
        key=lambda pair: -len(pair[0]),
    )
    if _LOWER_LETTERS.fullmatch(text):
        text = re.sub(r"\b[a-d]\b", lambda letter: letter[0].upper(), text)
    if _RUN_OF_LETTERS.fullmatch(text):
        text = " ".join(text)
    if _RANGE.search(text):  # from A to D, or A and D
        return None
    folded = text.casefold()
    named: set[str] = set()
    position = 0
    while position < len(text):
        if gap := _PUNCTUATION.match(text, position):
            position = gap.end()
        elif found := _option_at(folded, position, by_text):
            letter, position = found
            if beside := _LETTER_OF_TEXT.match(text, position):
                if beside[1].upper() != letter:
                    return None
                position = beside.end()
            named.add(letter)
        elif mark := _LETTER.match(text, position):
            letter = mark[mark.lastindex].upper()
            if letter not in letters_in_use:
                return None
            named.add(letter)
            position = _WITHIN_OPTION.match(text, mark.end()).end()
            if found := _option_at(folded, position, by_text):
                if found[0] != letter:
                    return None
                position = found[1]
            elif _REASON.match(text, position):
                position = len(text)
            elif re.search(r"[.):(-]", text[mark.end() - 1 : position]):
                if _ANOTHER_LETTER.match(text, position):
                    continue
                following = _NEXT_OPTION.search(text, position - 1)
                end = following.start() if following else len(text)
                if re.search(r"\b(?:or|not)$", text[position:end]):
                    return None
                position = end
        elif filler := _FILLER.match(text, position):
            position = filler.end()
        else:
            return None
    return named or None


def _option_at(
    text: str, position: int, by_text: list[tuple[str, str]]
) -> tuple[str, int] | None:
    """Return the letter and the end of the option whose text stands at `position`."""
    for option, letter in by_text:
        end = position + len(option)
        if (
            option
            and text.startswith(option, position)
            and not text[end : end + 1].isalnum()
        ):
            return letter, end
    return None


def score_options(
    doc: dict, published: str | None, answer: str | None
) -> dict[str, float]:
    """Score the set of options that an answer names against that of the right ones."""
    gold = set(doc["letters"])
    given = read_published_letters(published or "")
    flexible = read_letters(_bare(answer or ""), doc["options"]) or set()
    return _scores(
        exact=float(given == gold),
        f1=_f1(len(given & gold), len(given), len(gold)),
        flexible=_f1(len(flexible & gold), len(flexible), len(gold)),
    )


# -------------------------------------------------------------------- NLI labels

_NEGATION = re.compile(r"\b(?:not|non|no|neither|nor|cannot)\b|n't\b", re.I)
_ONLY_LETTER = re.compile(r"(?:(?:option|choice) )?\(?([A-Ca-c])\)?", re.IGNORECASE)
_LETTER_BESIDE = re.compile(r"^\(?([A-C])[.):]|\(([A-C])\)$")
_LABEL_STEMS = {
    "Entailment": "entail",
    "Neutral": "neutral",
    "Contradiction": "contradict",
}


def read_published_label(text: str, options: list[str]) -> str | None:
    """Return the label that an answer names, by word or else by letter (card)."""
    named = [
        label for label in options if re.search(rf"\b{label}\b", text, re.IGNORECASE)
    ]
    if len(named) == 1:
        return named[0]
    letters = re.findall(rf"\b([{LETTERS[: len(options)]}])\b", text)
    return options[LETTERS.index(letters[0])] if letters and not named else None


def read_label(text: str, options: list[str]) -> str | None:
    """Return the one label that an answer names by word, letter or both, or None.

    Words may be inflected ("contradicts"). Where one is denied, or letter and word
    differ, there is no label.
    """
    if _NEGATION.search(text):
        return None
    named = {
        label
        for label, stem in _LABEL_STEMS.items()
        if re.search(rf"\b{stem}", text, re.IGNORECASE)
    }
    letter = _ONLY_LETTER.fullmatch(text) or _LETTER_BESIDE.search(text)
    if letter:
        index = LETTERS.index(letter[letter.lastindex].upper())
        named.add(options[index] if index < len(options) else "")
    label = named.pop() if len(named) == 1 else None
    return label if label in options else None


def score_nli(doc: dict, published: str | None, answer: str | None) -> dict[str, float]:
    """Score the label of an answer."""
    return _scores(
        exact=float(
            read_published_label(published or "", doc["options"]) == doc["label"]
        ),
        flexible=float(read_label(_bare(answer or ""), doc["options"]) == doc["label"]),
    )


# -------------------------------------------------------------------- generation


def keyword_share(text: str, keywords: list[str], positions: list[int]) -> float:
    """Return the share of keywords that stand in the sentence they belong to.

    Abbreviations make it unsure where the first of two sentences ends, and either may
    come first: the split and order with the greatest share counts.
    """
    ends = [end.end() for end in re.finditer(r"[.!?]\s+", text)]
    best = 0
    for halves in ((text[:end], text[end:]) for end in [*ends, len(text)]):
        for sentences in (halves, halves[::-1]):
            best = max(
                best, sum(map(_holds, (sentences[p] for p in positions), keywords))
            )
    return best / len(keywords)


def _holds(text: str, phrase: str) -> bool:
    pattern = rf"(?<!\w){re.escape(phrase.casefold())}(?!\w)"
    return re.search(pattern, text.casefold()) is not None


def score_generation(
    doc: dict, published: str | None, answer: str | None
) -> dict[str, float]:
    """Score generated sentences: sentence BLEU-4, ROUGE-L (F1) and the keywords."""
    # Imported here, since they take long to load and one task in eighteen needs them.
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_bleu

    answer = answer or ""
    bleu = sentence_bleu(answer, [doc["statement"]]).score / 100
    rouge = RougeScorer(["rougeL"]).score(doc["statement"], answer)["rougeL"]
    return {
        "bleu": min(max(bleu, 0.0), 1.0),  # floating point may leave 1.0 by a hair
        "rouge_l": float(rouge.fmeasure),
        "keywords": keyword_share(answer, doc["keywords"], doc["keywords_pos"]),
    }


# --------------------------------------------------------- what the YAML files name


def _scores(exact: float, flexible: float, f1: float | None = None) -> dict[str, float]:
    """Return the metrics of a task; its headline is F1 where there is one (paper)."""
    published = {"exact_match": exact} | ({} if f1 is None else {"f1": f1})
    return {
        **published,
        "score": exact if f1 is None else f1,
        "score_flexible": flexible,
    }


def _texts(value: object) -> list[str]:
    """Return a text or a list of texts as a list; ValueError for anything else."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(
        isinstance(text, str) for text in values
    ):
        raise ValueError("is no text or list of texts")
    return values


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("is no text or an empty one")
    return value


def _golds(value: object) -> list[str]:
    golds = [gold.strip() for gold in _texts(value)]
    if not golds or not all(map(normalise, golds)):
        raise ValueError("holds no answer")
    return golds


def _gold_months(value: object) -> list[str]:
    golds = _golds(value)
    if not all(map(parse_month, golds)):
        raise ValueError("names no month and year")
    return golds


def _gold_letters(value: object) -> list[str]:
    labels = _texts(value)
    letters = [letter for letter, label in zip(LETTERS, labels) if label == "yes"]
    if not letters or not set(labels) <= {"yes", "no"}:
        raise ValueError('is no list of "yes" and "no" with a "yes"')
    return letters


def _options(value: object) -> list[str]:
    options = [option.strip() for option in _texts(value)]
    if not 2 <= len(options) <= len(LETTERS) or not all(options):
        raise ValueError("is no list of two to four texts")
    return options


def _label(value: object) -> str:
    if value not in THREE_WAY:
        raise ValueError(f"is none of {', '.join(THREE_WAY)}")
    return value


def _positions(value: object) -> list[int]:
    if not isinstance(value, list) or not all(position in (0, 1) for position in value):
        raise ValueError("is no list of 0 and 1")
    return value


def _joined(separator: str):
    return lambda value: separator.join(_texts(value))


# For each kind: how it is scored, and its documents' fields with the column and the
# reading of the column that they come from.
KINDS = {
    "qa": (
        score_qa,
        {
            "question": ("question", _text),
            "context": ("context", _joined("\n")),
            "golds": ("answer", _golds),
        },
    ),
    "date": (
        score_date,
        {"question": ("question", _text), "golds": ("answer", _gold_months)},
    ),
    "options": (
        score_options,
        {
            "context": ("context", _text),
            "options": ("options", _options),
            "letters": ("labels", _gold_letters),
        },
    ),
    "nli": (
        score_nli,
        {
            "premise": ("Premise", _text),
            "hypothesis": ("Hypothesis", _text),
            "label": ("Label", _label),
        },
    ),
    "generation": (
        score_generation,
        {
            "keywords": ("keywords", _texts),
            "keywords_pos": ("keywords_pos", _positions),
            "statement": ("statements", _joined(" ")),
        },
    ),
}
# Columns that some files of a kind have, for prompts, breakdowns and logs.
EXTRA_FIELDS = ("qid", "idx", "question", "question_type", "type", "fact_context")


def process_docs(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of the rows of a TimeBench file, whose columns tell the kind.

    Raises ValueError, naming kind, row and column, where a column is missing, a cell is
    not as it should be, or there is no row. Logs row count and fingerprint, as a
    warning where they are not the known ones.
    """
    if not len(dataset):
        raise ValueError("TimeBench: there is no row; give a split with at least one")
    columns = set(dataset.column_names)
    kind, expected, files = max(
        SCHEMAS, key=lambda schema: (len(columns & set(schema[1])), -len(schema[1]))
    )
    # A pack names its file; of a URL, datasets does not tell.
    file = (dataset.info.config_name or "").removesuffix("_timebench")
    files = (file,) if file in files else files
    source = f"TimeBench ({file if file in files else kind})"
    if missing := [column for column in expected if column not in columns]:
        raise ValueError(
            f"{source}: column {', '.join(map(repr, missing))} is missing; found"
            f" {dataset.column_names}. Give rows in the schema of TimeBench-subset-7553"
        )
    documents = [
        _document(f"{source}, row {row}", kind, cells)
        for row, cells in enumerate(dataset)
    ]
    if kind == "nli":
        labels = {document["label"] for document in documents}
        for document in documents:
            document["options"] = THREE_WAY if "Neutral" in labels else TWO_WAY
    digest = fingerprint(documents)
    found = f"{source}: {len(documents)} rows, fingerprint {digest}"
    eval_logger.info(found)
    if (len(documents), digest) not in [FILES[name] for name in files]:
        known = (
            f"{FILES[name][0]} rows, fingerprint {FILES[name][1]}" for name in files
        )
        eval_logger.warning(
            "%s; the benchmark has %s: scores may not be comparable",
            found,
            " or ".join(known),
        )
    return datasets.Dataset.from_list(documents)


def fingerprint(documents: Iterable[dict]) -> str:
    """Return a digest of what prompts and scores depend on, whatever the order."""
    ids = {"qid", "idx", "question_type", "type"}
    return _digest(
        [sorted(x for x in doc.items() if x[0] not in ids) for doc in documents]
    )


def _digest(rows: list) -> str:
    """Return a digest of JSON values that does not depend on their order."""
    hashes = sorted(hashlib.sha256(json.dumps(row).encode()).digest() for row in rows)
    return hashlib.sha256(b"".join(hashes)).hexdigest()[:16]


def _document(place: str, kind: str, cells: dict) -> dict:
    """Return the document of one row; ValueError says what is wrong at `place`."""
    document = {"kind": kind}
    for field, (column, read) in KINDS[kind][1].items():
        try:
            document[field] = read(cells[column])
        except ValueError as error:
            raise ValueError(
                f"{place}, column '{column}': {cells[column]!r} {error}; mend the row"
            ) from None
    for one, other in (("options", "labels"), ("keywords", "keywords_pos")):
        if one in document and len(cells[one]) != len(cells[other]):
            raise ValueError(
                f"{place}, column '{other}': {cells[other]!r} has not as many items as"
                f" '{one}'; mend the row"
            )
    return {name: cells[name] for name in EXTRA_FIELDS if name in cells} | document


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    """Score one response by the metric card and by value.

    Takes a document of `process_docs` and a list with one response; what is no text is
    scored as an empty response. Returns `exact_match`, `f1` (QA and options), `score`
    (the headline of these), `score_flexible`, and `extracted`, whether the card's rule
    found an answer; for generation `bleu`, `rouge_l`, `keywords` and `extracted`.
    """
    response = results[0] if isinstance(results[0], str) else ""
    published = extract_published(response)
    score, _ = KINDS[doc["kind"]]
    return {
        **score(doc, published, extract_flexible(response)),
        "extracted": float(published is not None),
    }
