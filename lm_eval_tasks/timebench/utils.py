"""TimeBench: the published rule, the flexible one by kinds, verdicts, documents."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import re
import string
from collections import Counter
from contextlib import suppress
from datetime import datetime, timezone
from functools import cache, lru_cache, partial
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dateutil import parser as dateutil_parser


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from datasets import Dataset

# What the families share stands beside their folders, whatever pack is installed.
_SPEC = importlib.util.spec_from_file_location(
    "temporal_answer", Path(__file__).parents[1] / "answer.py"
)
answer = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(answer)

_log = lru_cache(logging.getLogger("lm_eval.tasks.timebench").log)  # once a run
MARKER = "Thus, the correct answer is:"  # what the prompts ask for and the card reads
LETTERS = "ABCD"
LABELS = ["Entailment", "Neutral", "Contradiction"]
TWO_WAY = LABELS[::2]
REASONS = {  # the first that holds
    "right": "both rules say right",
    "flexible_only": "the right value in a form that only the flexible rule reads",
    "superseded": "the published answer is right, but then taken back or replaced",
    "partly_right": "some of what is right, or more than that (0 < F1 < 1)",
    "other_value": "a value, but not the reference's",
    "unreadable": "an answer that is not one value of the kind asked for",
    "no_answer": "no answer outside of the reasoning",
    "cut_off": "no answer, and the response ends within its reasoning or a box",
}
LICENCE = "MIT"
_FILES = Path(__file__).with_name("files.jsonl").read_text("utf-8").splitlines()
FILES = {  # of the benchmark: rows, and the fingerprint of their documents
    re.search("/(.*)_timebench", row["file"])[1]: (row["rows"], row["fingerprint"])
    for row in map(json.loads, _FILES)
}


class Verdict(NamedTuple):
    """What both rules read in a response, and what follows from it."""

    scores: dict[str, float]
    reason: str  # one of REASONS
    published: str | None  # the answer that the metric card's rule extracts
    published_span: tuple[int, int] | None  # of it in the response
    flexible: str | None  # the statement that the response commits to, as it stands
    flexible_span: tuple[int, int] | None
    value: object  # what the statement is read as; None where it cannot be read
    reference: object


# ------------------------------------------------------- the published rule (card)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_PUBLISHED_LETTER = re.compile(r"\b([A-D])(?:\.|,|\s|&|$)")
_LABEL_WORD = re.compile(r"\b(?:entailment|neutral|contradiction)\b", re.IGNORECASE)
# Two defaults show what a text does not say; no zone is asked of the machine.
_DEFAULTS = [datetime.fromisoformat(day) for day in ("2000-01-01", "2001-02-01")]
_PARSER = dateutil_parser.parser()
_ZONE = {"tzinfos": lambda *zone: None if zone == (None, None) else timezone.utc}
# A year of two digits is taken as it is, where dateutil would ask the clock.
_PARSER.info.convertyear = lambda year, century_specified=False: year
# A word in small letters that dateutil does not know makes it fail, which takes it long.
_SMALL_WORD = re.compile(r"(?<![\w.])[a-z]+(?![\w.])")
_KNOWN_WORDS = {
    word.lower()
    for table in ("JUMP", "WEEKDAYS", "MONTHS", "HMS", "AMPM", "UTCZONE", "PERTAIN")
    for entry in getattr(_PARSER.info, table)
    for word in ([entry] if isinstance(entry, str) else entry)
}


def extract_published(response: str) -> tuple[str, tuple[int, int] | None]:
    """Return the answer behind the last marker, and its span (card); "", None for none."""
    _, marker, tail = response.rpartition(MARKER)
    answer = tail.strip().partition("\n")[0].rstrip(".!?").strip() if marker else ""
    if not answer:
        return "", None
    answer_start = len(response) - len(tail.lstrip())
    published_answer = "unanswerable" if "unanswerable" in answer.lower() else answer
    return published_answer, (answer_start, answer_start + len(answer))


def normalise(text: str) -> list[str]:
    """Return the words of a text as SQuAD compares them: no case, punctuation, articles."""
    return _ARTICLE.sub(" ", text.lower().translate(_WITHOUT_PUNCTUATION)).split()


def f1(answered: Iterable[str], wanted: Iterable[str]) -> float:
    """Return the F1 of two multisets, of words (SQuAD) or of letters."""
    answered, wanted = Counter(answered), Counter(wanted)
    return 2 * (answered & wanted).total() / ((answered + wanted).total() or 1)


def parse_month(text: str) -> datetime | None:
    """Return the datetime, its day set to 1 (card), of a text with a year and a month."""
    if match := _PLAIN_MONTH.fullmatch(text):
        return _DEFAULTS[0].replace(
            int(match[2]), int(answer.MONTH_NUMBERS[match[1].lower()])
        )
    if len(text) > answer.LONGEST or not _KNOWN_WORDS.issuperset(
        _SMALL_WORD.findall(text)
    ):
        return None  # dateutil takes quadratic time
    with suppress(Exception):  # of hostile text dateutil raises anything
        dates = [_PARSER.parse(text, default=default, **_ZONE) for default in _DEFAULTS]
        first_days = {parsed_date.replace(day=1) for parsed_date in dates}
        return first_days.pop() if len(first_days) == 1 else None
    return None


def read_published_label(text: str, options: list[str]) -> str | None:
    """Return the label that an answer names, by word or else by letter (card)."""
    labels = {label.capitalize() for label in _LABEL_WORD.findall(text)} & set(options)
    if not labels:
        option_by_letter = dict(zip(LETTERS, options, strict=False))
        named_options = map(option_by_letter.get, re.findall(r"\b[A-C]\b", text))
        return next(filter(None, named_options), None)
    return labels.pop() if len(labels) == 1 else None


# ------------------------------------------------------------- the rule for each kind

# Fixed lines of the prompts: behind an answer they begin a prompt that is made up.
_ECHO = re.compile(
    r"\n[ \t#*>]*(?:Context:|Facts:|Question:|Premise:|Hypothesis:|What is the time\b"
    r"|How does the premise relate|Which of these can stand|More than one option can be"
    r"|The answer is a (?:name|month)|Write two sentences that)|\Z"
)
# What dateutil surely reads so, and takes 20 times as long for: "Aug, 1987", "May 1987".
_PLAIN_MONTH = re.compile(
    rf"({'|'.join(answer.MONTHS)}|{answer.CUT_MONTH}),? ([1-9][0-9]{{3}})"
)
_BEHIND = re.compile(r"\b(?:is|was)\b|=")
_YEAR_987 = re.compile("(?<![0-9])([0-9]{3})(?![0-9])")
# Labels.
_STEMS = {"entail": "Entailment", "neutral": "Neutral", "contradict": "Contradiction"}
_LABEL = rf"(?i)\b(?:an? )?({'|'.join(_STEMS)})(?:s|ed|ing|ments?|ions?|ory|ity)?\b"
_BESIDE = re.compile(
    r"(?i)\b(?:the|premise|hypothesis|option|label|true|it|is|of|by|with)\b"
    r"|[\s.,:;()[\]'\"-]"
)
# Options. With the text of an option as `"A"`: its letter, its text or both, a remark.
_ITEM = re.compile(
    r"(?i:(?:both\s+)?(?:(?:[-*\u2022]|\d{1,2}[.)])\s+)?(?:options?:?\s+)?)[(\[' ]*"
    r"(?=[A-D]\b|\")([A-D]?)(?:[])'.:= -]*\"(\w+)\")?[])']*(?:\s*\(([^()\n]*)\))?"
)
_LETTER = r"\b(?:[B-D]|A(?! [a-z]))\b"
_JOINT = re.compile(
    r"(?i)\s*[.!]?\s*(?:(?:[,;&/+\n]|(?:and|plus|as well as)\b)\s*)+"
    rf"|\s*\.?\s+(?={_LETTER})"
)
_END = re.compile(
    r"(?i:\s+only\b|\s+(?:is|are) (?:both )?(?:correct|plausible|right)\b|\s+fits? best\b)?"
    rf"[.!\s]*(?:\Z|(?<=\. )(?=[A-Z])|,?\s*(?:[(\[:]|-+ |{answer.WHY}))"
)
_LETTERS_ALONE = re.compile(  # "ABCD", "c, d"
    r"[A-D]{2,4}|[a-d](?:(?:[\s,;/&+]|\band\b){1,9}[a-d]\b){1,3}"
)
_ALL = re.compile(r"(?i)\ball of (?:them|the above)\b")
_NAMED = re.compile(rf'(?<=")\w+(?=")|{_LETTER}')
_WORD = re.compile(r"\w+|[^\w\s\"]")
# Names.
_NOT_STATED = re.compile(
    r"(?i)(?:(?:the answer|it|this|that|there|(?:the|this) question)(?: is|'s)? )?"
    r"(?:un-?answerable|un(?:known|specified|determined|stated)|(?:can ?not|can't|could not)"
    r" be |not (?:mentioned|stated|specified|given|provided|covered|found|known|available"
    r"|answerable|enough)|insufficient|no (?:information|answer|mention)"
    r"|(?:the|this) (?:context|text|passage|article) (?:does not|doesn't|never|lacks) )"
)
# "so unanswerable" behind a reason; a name behind what may introduce another answer.
_SO_NOT_STATED = re.compile(
    r"(?i)[,;.] (?:so|thus|hence|therefore),? (?:(?:it|this|the (?:answer|question)) is )?"
    r"unanswerable\Z"
)
_NAME_BEHIND = re.compile(
    r"(?:,\s+and|\b(?i:so|but|or|rather|instead|maybe|perhaps|possibly|probably"
    r"|(?:might|could) (?:also )?be)\b|\?)[^.]{0,200}?\s(?!The )[A-Z]\w"
)
_TWO_NAMES = re.compile(r"(?:;|\bas well as\b)\s*(?:the |an? )?[A-Z\d]")
_NAME_REASON = re.compile(answer.WHY.replace(r"as(?! well\b)", "as stated|as of"))
_TIME = rf"(?:(?:{answer.CUT_MONTH})[a-z]*\.?,?\s)?\d{{4}}\b"
# Comments of three kinds: brackets, a period, and what goes on to the end.
_NAME_COMMENTS = [
    re.compile(r"\s*[(\[][^()\[\]]*[)\]]?"),
    re.compile(
        rf",?\s*\b(?:(?i:from|since|between|in|until|during)\s)?{_TIME}"
        rf"(?:\s?(?:-|to|until|and)\s?(?:{_TIME}|present\b))?"
    ),
    re.compile(
        rf"(?s)(?: -+ |(?<=[A-Za-z]{{3}})\.\s+(?=[A-Z])|[,\s]+{_NAME_REASON.pattern}).*"
    ),
]
_stem = partial(re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e|d)$").sub, "")


def read_month(text: str) -> tuple[int, int] | None:
    """Return the year and month that a text is, or what is behind its last "is"."""
    for reading, comment in answer.readings(text):
        tail = _BEHIND.split(reading)[-1]
        fields = answer.date_fields(_YEAR_987.sub(r"0\1", tail).lower())
        if len(fields) == 2:  # without a day; numbers in either order
            fields = [*sorted(fields, key=len, reverse=True), "1"]
        if day := answer.read_day(fields):
            adds_a_number = answer.numbers(comment) - answer.numbers(tail)
            return None if adds_a_number else (day.year, day.month)
    return None


def read_label(text: str, options: list[str]) -> str | None:
    """Return the one label that a text is by word, by letter or by both, or None."""
    option_by_letter = dict(zip(LETTERS, options, strict=False))
    for reading, comment in answer.readings(text):
        without_labels = _BESIDE.sub("", re.sub(_LABEL, " ", reading))
        labels = _labels(reading) | {option_by_letter.get(without_labels)} - {None}
        if labels and without_labels in ("", *LETTERS):
            is_single = len(labels) == 1 and _labels(comment) <= labels <= set(options)
            return labels.pop() if is_single else None
    return None


def _labels(text: str) -> set[str]:
    return {_STEMS[stem.lower()] for stem in re.findall(_LABEL, text)}


def read_options(text: str, options: list[str]) -> set[str] | None:
    """Return the letters of the options that a text lists, or None."""
    offered, text = LETTERS[: len(options)], _lettered(text, options)
    text = re.sub(answer.LEAD, "", _ALL.sub(", ".join(offered), text))
    if _LETTERS_ALONE.fullmatch(text):
        text = ", ".join(re.findall(r"[A-D]|\b[a-d]\b", text)).upper()
    letters, remarks, item_start, end = set(), "", 0, 0
    while item_start is not None and (item_match := _ITEM.match(text, item_start)):
        letter, quoted, end = item_match[1], {*(item_match[2] or "")}, item_match.end()
        named_letters = quoted & {letter} if letter and quoted else quoted or {letter}
        if not named_letters:
            return None
        letters |= named_letters
        remarks += answer.REASON.split(item_match[3] or "", maxsplit=1)[0]
        joint_match = _JOINT.match(text, end)
        item_start = joint_match and joint_match.end()
    remarks += answer.REASON.split(text[end:], maxsplit=1)[0]
    unlisted = {*"".join(_NAMED.findall(remarks))} - letters or letters - {*offered}
    if (
        unlisted
        or not _END.match(text, end)
        or answer.is_hedged(text[:end], text[end:])
    ):
        return None
    return letters or None


def _lettered(text: str, options: list[str]) -> str:
    """Return a text with `"A"` for the text of option A, `"AB"` for that of two options."""
    text = text.replace('"', "")
    word_matches = [*_WORD.finditer(text)]
    text_words = [word_match[0].lower() for word_match in word_matches]
    words_by_option = [
        _WORD.findall(answer.plain(option).lower()) for option in options
    ]
    lettered, word_at, copied_to = "", 0, 0
    while word_at < len(word_matches):
        lengths = {
            letter: len(words_of_one)
            for letter, words_of_one in zip(LETTERS, words_by_option, strict=False)
            if words_of_one == text_words[word_at : word_at + len(words_of_one)]
        }
        if length := max(lengths.values(), default=0):
            letters = "".join(letter for letter in lengths if lengths[letter] == length)
            lettered += f'{text[copied_to : word_matches[word_at].start()]}"{letters}"'
            copied_to = word_matches[word_at + length - 1].end()
        word_at += length or 1
    return lettered + text[copied_to:]


def read_name(text: str, names: list[list[str]]) -> str | None:
    """Return the name or phrase that a text gives, "unanswerable", or None."""
    if normalise(text) in names and "?" not in text:
        return text
    text = re.sub(answer.LEAD, "", text)
    name_behind = _NAME_BEHIND.search(text)
    if _SO_NOT_STATED.search(text) or (_NOT_STATED.match(text) and not name_behind):
        return None if answer.TAKEN_BACK.search(text.lower()) else "unanswerable"
    for comment_pattern in _NAME_COMMENTS:
        for comment in comment_pattern.findall(text):
            comment_before_reason = _NAME_REASON.split(comment, maxsplit=1)[0]
            names_another = _NAME_BEHIND.search(comment_before_reason)
            if names_another or answer.is_hedged("", comment):
                return None
        text = comment_pattern.sub(" ", text)
    is_single_name = not (answer.is_hedged(text) or _TWO_NAMES.search(text))
    return text.strip() or None if is_single_name else None


def name_f1(name: str, names: list[list[str]], question: str) -> float:
    """Return the F1 of a name's words, but for the question's, with the best gold's."""
    name_words = normalise(name)
    if name_words in names or name_words == ["unanswerable"]:
        return float(name_words in names)
    question_stems = {*map(_stem, normalise(question))}
    new_words = [word for word in name_words if _stem(word) not in question_stems]
    new_words = Counter(new_words or name_words)
    golds = [gold_words for gold_words in names if gold_words != ["unanswerable"]]
    words_per_gold = [Counter(name_words) & Counter(gold) | new_words for gold in golds]
    return max(map(f1, words_per_gold, golds), default=0.0)


# --------------------------------------------------------------------- the verdicts
def extract_answers(response: str, several: bool = False) -> tuple[str, str, Verdict]:
    """Return the published answer, the statement to be read, and a verdict on neither."""
    published, published_span = extract_published(response)
    masked_text = answer.mask(response)
    all_statements = answer.statements(masked_text, _ECHO, several)
    last = all_statements[-1] if all_statements else None
    flexible_span = last and last.span
    flexible_text = flexible_span and response[slice(*flexible_span)]
    shown_span = flexible_span or published_span
    if last and last.superseded:
        reason = "superseded"
    elif shown_span and masked_text[shown_span[0]] == response[shown_span[0]]:
        reason = "unreadable"  # and outside of the reasoning
    else:
        ends_in_box = response.rfind("\\boxed{") > response.rfind("}")
        ends_in_thought = answer.mask(f"{response}.").endswith("\n")
        reason = "cut_off" if ends_in_box or ends_in_thought else "no_answer"
    texts_and_spans = published or None, published_span, flexible_text, flexible_span
    scores = {"extracted": float(published != "")}
    to_read = flexible_text if last and not last.superseded else ""
    return published, to_read, Verdict(scores, reason, *texts_and_spans, None, None)


def _judge(verdict: Verdict, scores: dict, value: object, reference: object) -> Verdict:
    """Return a verdict with the scores of its value, and the reason for them."""
    is_exact, flexible_score = scores.get("score") == 1, scores.get("score_flexible", 0)
    reason = verdict.reason
    if flexible_score == 1:
        reason = "right" if is_exact else "flexible_only"
    elif value is not None and is_exact:
        reason = "superseded"
    elif value is not None:
        reason = "partly_right" if flexible_score else "other_value"
    elif reason == "superseded" and not is_exact:
        reason = "unreadable"
    return Verdict(scores | verdict.scores, reason, *verdict[2:6], value, reference)


def _scores(exact: bool, flexible: float, **f1_score: float) -> dict[str, float]:
    """Return the metrics of a kind; its headline is the F1 where it has one (paper)."""
    scores = {"exact_match": float(exact), **f1_score}
    scores |= {"score": [*scores.values()][-1], "score_flexible": float(flexible)}
    return scores | {"accuracy_flexible": float(flexible == 1)}


def _require(is_usable: object, doc: dict, column: str) -> None:
    """Raise ValueError for a document with a column that no response can be scored by."""
    if not is_usable:
        raise ValueError(f"'{column}': {doc[column]!r:.80} cannot be used")


def explain_qa(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should give a name, or "unanswerable"."""
    _require(doc["golds"], doc, "golds")
    published, statement_text, verdict = extract_answers(response)
    published_words, split_golds = normalise(published), [*map(normalise, doc["golds"])]
    published_f1 = max(f1(published_words, gold_words) for gold_words in split_golds)
    plain_golds = [
        normalise(answer.plain(gold)) for gold in doc["golds"]
    ]  # without markup
    flexible_name = read_name(answer.plain(statement_text), plain_golds)
    flexible_f1 = name_f1(flexible_name or "", plain_golds, doc.get("question") or "")
    scores = _scores(published_words in split_golds, flexible_f1, f1_score=published_f1)
    return _judge(verdict, scores, flexible_name, doc["golds"])


def explain_date(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should give a month of a year."""
    published, statement, verdict = extract_answers(response)
    month = read_month(answer.plain(statement))
    gold_dates = [*map(parse_month, doc["golds"])]
    _require(gold_dates and None not in gold_dates, doc, "golds")
    gold_months = [(gold_date.year, gold_date.month) for gold_date in gold_dates]
    scores = _scores(parse_month(published) in gold_dates, month in gold_months)
    return _judge(verdict, scores, month, gold_months)


def explain_options(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should list options (`letters`: published)."""
    _require(doc["letters"] and {*doc["letters"]} <= {*LETTERS}, doc, "letters")
    published, statement_text, verdict = extract_answers(response, several=True)
    gold, letters = set(doc["letters"]), set(_PUBLISHED_LETTER.findall(published))
    our_letters = read_options(answer.plain(statement_text), doc["options"]) or set()
    scores = _scores(letters == gold, f1(our_letters, gold), f1_score=f1(letters, gold))
    return _judge(verdict, scores, sorted(our_letters) or None, doc["letters"])


def explain_nli(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should give a label."""
    _require(all(doc["options"]), doc, "options")
    _require(doc["label"] in doc["options"], doc, "label")
    published, statement_text, verdict = extract_answers(response)
    options, gold_label = doc["options"], doc["label"]
    label = read_label(answer.plain(statement_text), options)
    is_exact = read_published_label(published, options) == gold_label
    return _judge(verdict, _scores(is_exact, label == gold_label), label, gold_label)


def explain_generation(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should be sentences with keywords."""
    _require(doc["keywords"] and doc["statement"], doc, "statement")
    _require({*doc["keywords_pos"]} <= {0, 1}, doc, "keywords_pos")
    _, statement, verdict = extract_answers(response, several=True)
    plain_text, gold = (
        " ".join(answer.plain(statement, ends=True).split()),
        doc["statement"],
    )
    bleu_scorer, rouge_scorer = _overlap_scorers()
    scores = {  # floating point may leave 1.0 by a hair
        "bleu": min(bleu_scorer.sentence_score(plain_text, [gold]).score / 100, 1.0),
        "rouge_l": float(rouge_scorer.score(gold, plain_text)["rougeL"].fmeasure),
        "keywords": keyword_share(plain_text, doc["keywords"], doc["keywords_pos"]),
    }
    return _judge(verdict, scores, plain_text or None, gold)


@cache
def _overlap_scorers() -> tuple:  # they load slowly; one task in eighteen needs them
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import BLEU

    return BLEU(effective_order=True), RougeScorer(["rougeL"])


def keyword_share(text: str, keywords: list[str], positions: list[int]) -> float:
    """Return the greatest share of keywords in their sentence, of all splits into two."""
    # Abbreviations make splits unsure; both orders count.
    # Marks become blanks, so that a keyword between blanks is within no other word.
    padded_text = re.sub(r"\W", " ", f" {text.casefold()} ")
    padded_keywords = [re.sub(r"\W", " ", f" {word.casefold()} ") for word in keywords]
    placed = [*zip(padded_keywords, positions, strict=False)]
    ends = [match.end() for match in re.finditer(r"[.!?]\s+", text.casefold())][:50]
    most = 0
    for sentence_end in [*ends, len(padded_text)]:
        halves = padded_text[: sentence_end + 1], padded_text[sentence_end:]
        for order in (halves, halves[::-1]):
            most = max(most, sum(word in order[position] for word, position in placed))
    return most / len(keywords)


def _mean_scores(explain: Callable, doc: dict, results: list[str]) -> dict[str, float]:
    """Return means by metric of rows of scores, one a response; ValueError of no text."""
    if not all(isinstance(response, str) for response in results):
        raise ValueError("a response is not a string; use the filter take_first")
    rows = [explain(doc, response).scores for response in results]
    return {metric: sum(row[metric] for row in rows) / len(rows) for metric in rows[0]}


def process_results_qa(doc: dict, results: list[str]) -> dict[str, float]:
    return _mean_scores(explain_qa, doc, results)


def process_results_date(doc: dict, results: list[str]) -> dict[str, float]:
    return _mean_scores(explain_date, doc, results)


def process_results_options(doc: dict, results: list[str]) -> dict[str, float]:
    return _mean_scores(explain_options, doc, results)


def process_results_nli(doc: dict, results: list[str]) -> dict[str, float]:
    return _mean_scores(explain_nli, doc, results)


def process_results_generation(doc: dict, results: list[str]) -> dict[str, float]:
    return _mean_scores(explain_generation, doc, results)


# ------------------------------------------------------------------------ documents
def _strings(is_right: Callable[[str], object], cells: list) -> list[str]:
    """Return strings without blanks around them; none where one is not right."""
    stripped_texts = [str.strip(cell) for cell in cells]  # TypeError of bytes
    return stripped_texts if all(map(is_right, stripped_texts)) else []


def _letters(cells: list) -> list[str]:
    answers = _strings({"yes", "no"}.__contains__, cells)
    return [LETTERS[i] for i, answer in enumerate(answers[:4]) if answer == "yes"]


# Columns that some files have, for prompts, breakdowns and logs.
EXTRAS = ["qid", "idx", "question", "question_type", "type", "fact_context", "level"]
PAIRED_COLUMNS = {"labels": "options", "keywords_pos": "keywords"}  # equally long
# Kinds of fields: their column, what makes one of the items of a cell (nothing, or an
# error, where it cannot be used), and what the cell should be.
_golds = partial(_strings, lambda x: normalise(x) and normalise(answer.plain(x)))
_positions = lambda cells: cells * ({*map(repr, cells)} <= {"0", "1"})
NAMES = "answer", _golds, "an answer with a word"
MONTH = "answer", partial(_strings, parse_month), 'a month and a year ("Aug, 1987")'
OPTIONS = "options", lambda x: _strings(len, x) * (1 < len(x) < 5), "2 to 4 texts"
RIGHT = "labels", _letters, '"yes" or "no" for each option, and once "yes"'
TWO_LABELS = "Label", lambda x: TWO_WAY * (x[0] in TWO_WAY), f"in {TWO_WAY}"
THREE_LABELS = "Label", lambda x: LABELS * (x[0] in LABELS), f"in {LABELS}"
KEYWORDS = "keywords", partial(_strings, len), "a list of texts"
HALVES = "keywords_pos", _positions, "0 or 1 for each keyword"
TEXTS = "statements", lambda x: " ".join(_strings(len, x)), "a list of texts"


def process_docs_qa(dataset: Dataset) -> Dataset:
    """Return documents; as in all below, ValueError names file, row and column."""
    return _documents(dataset, "question context", golds=NAMES)


def process_docs_facts_qa(dataset: Dataset) -> Dataset:
    return _documents(dataset, "question context fact_context", golds=NAMES)


def process_docs_date(dataset: Dataset) -> Dataset:
    return _documents(dataset, "question", golds=MONTH)


def process_docs_options(dataset: Dataset) -> Dataset:
    return _documents(dataset, "question context", options=OPTIONS, letters=RIGHT)


def process_docs_dialogue_options(dataset: Dataset) -> Dataset:
    return _documents(dataset, "context", options=OPTIONS, letters=RIGHT)


def process_docs_nli_two_way(dataset: Dataset) -> Dataset:
    return _documents(dataset, "Premise Hypothesis Label", options=TWO_LABELS)


def process_docs_nli_three_way(dataset: Dataset) -> Dataset:
    return _documents(dataset, "Premise Hypothesis Label", options=THREE_LABELS)


def process_docs_generation(dataset: Dataset) -> Dataset:
    return _documents(dataset, keywords=KEYWORDS, keywords_pos=HALVES, statement=TEXTS)


def _documents(dataset: Dataset, texts: str = "", **fields: tuple) -> Dataset:
    """Return documents with columns that are texts, in small letters, and other fields."""
    stem = (dataset.info.config_name or "rows").removesuffix("_timebench")
    source = f"TimeBench ({stem})"
    fields = {key.lower(): (key, "\n".join, "a text") for key in texts.split()} | fields
    documents = [*map(partial(_document, fields, source), dataset, range(len(dataset)))]
    if not documents:
        raise ValueError(f"{source}: there are no rows; give a split with some")
    is_fresh = bool({"level", "twin"} & {*dataset.column_names})  # made from a seed
    row_count, checksum = len(documents), fingerprint(map(digest, documents))
    files = [FILES[stem]] if stem in FILES else [*FILES.values()]
    message = f"{source}: {row_count} rows, fingerprint {checksum}"
    if is_fresh or (row_count, checksum) in files:
        _log(logging.INFO, message)
    else:
        known_text = "{} rows, {}".format(*files[0]) if stem in FILES else "other files"
        message = f"{message}; the benchmark has {known_text}"
        _log(logging.WARNING, f"{message}: scores may not be comparable")
    return type(dataset).from_list(documents)


def _document(fields: dict, source: str, row: dict, row_number: int) -> dict:
    """Return a row's document; ValueError names its source, number and faulty column."""
    document = {column: row[column] for column in EXTRAS if column in row}
    for field_name, (column, make_field, expected_content) in fields.items():
        cell = row.get(column)
        items = cell if isinstance(cell, list) else [cell]
        document[field_name] = None
        with suppress(AttributeError, TypeError):  # of what is not a text
            paired_items = row.get(PAIRED_COLUMNS.get(column), items)
            document[field_name] = len(paired_items) == len(items) and make_field(items)
        if not document[field_name]:
            fault = f"column '{column}': {cell!r:.80} is not {expected_content}"
            fix = "fix the row" if column in row else "the column is missing"
            raise ValueError(f"{source}, row {row_number}, {fault}; {fix}")
    return document


def gold_response(doc: dict) -> str:
    """Return the reference of a document as the prompt asks for it."""
    letters_text = ", ".join(doc.get("letters", ()))
    gold = doc.get("label") or letters_text or doc.get("statement") or doc["golds"][0]
    return f"{MARKER} {gold}"


def digest(doc: dict) -> bytes:
    """Return a digest of what prompt and scores of a document depend on."""
    unused = {"qid", "idx", "question_type", "type", "level"}
    named_cells = sorted((key, cell) for key, cell in doc.items() if key not in unused)
    return hashlib.sha256(json.dumps(named_cells).encode()).digest()


def cluster(doc: dict) -> str:
    """Return what documents share that ask about one context, premise or question."""
    columns = ("context", "premise", "question", "statement")
    text = json.dumps(next((doc[column] for column in columns if doc.get(column)), doc))
    # A dialogue goes by its start: TimeDial masks several places of one.
    return text.replace("<MASK>", "")[:60] if "<MASK>" in text else text


def fingerprint(digests: Iterable[bytes]) -> str:
    """Return one digest of the digests of documents, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]


# --------------------- what the tools know of this family (`Family` in utils/core/contract.py)
METRICS = {
    "exact_match": {},
    "f1_score": {"overlap": True, "formerly": "f1"},
    "score": {"role": "published"},
    "score_flexible": {"role": "flexible"},
    "accuracy_flexible": {"formerly": "acc_flexible"},
    "extracted": {},
    "bleu": {},
    "rouge_l": {},
    "keywords": {},
}
DOCUMENTS = {
    "explain_qa": {"context": str, "question": str, "golds": [str]},
    "explain_date": {"question": str, "golds": [str]},
    "explain_options": {"context": str, "options": [str], "letters": [str]},
    "explain_nli": {"premise": str, "hypothesis": str, "options": [str], "label": str},
    "explain_generation": {"keywords": [str], "keywords_pos": [int], "statement": str},
}
BREAKDOWNS = {"question_type": "question_type", "type": "type", "level": "level"}
BOARD_COLUMNS = ["question_type", "type"]


def reference_key(doc: dict) -> str:
    """Return what is equal for documents with equal references."""
    columns = ("golds", "label", "letters", "statement")
    return json.dumps([doc.get(column) for column in columns])


def choices(doc: dict) -> list[str]:
    """Return every response to choose from: labels, or sets of options; else none."""
    options = doc.get("options", [])
    if "letters" not in doc:
        return [gold_response({"label": option}) for option in options]
    letters = LETTERS[: len(options)]
    sizes = range(1, len(letters) + 1)
    letter_sets = chain.from_iterable(combinations(letters, size) for size in sizes)
    return [gold_response({"letters": letter_set}) for letter_set in letter_sets]


def golds(doc: dict) -> dict[str, str]:
    """Return text -> response of each gold of a document with names."""
    return {gold: gold_response({"golds": [gold]}) for gold in doc["golds"]}
