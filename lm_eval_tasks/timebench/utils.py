"""TimeBench: the published rule, the flexible one by kinds, verdicts, documents."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import string
import unicodedata
from collections import Counter
from contextlib import suppress
from datetime import date, datetime, timezone
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dateutil import parser as dateutil_parser


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from datasets import Dataset

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
        return _DEFAULTS[0].replace(int(match[2]), int(_MONTHS[match[1].lower()]))
    if len(text) > LONGEST or not _KNOWN_WORDS.issuperset(_SMALL_WORD.findall(text)):
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


# ------------------------------------------- the answer statement (equal in each family)
LONGEST = 2_000  # characters of a statement; what is longer is not read
_NAME = r"(?i:think|thinking|reasoning)[>\]\u25b7]"
_THOUGHT_END = rf"[<\[\u25c1]/{_NAME}"
_THOUGHT = re.compile(
    rf"[<\[\u25c1](?:{_NAME}|(?<=<)\|(?i:channel)\|>)"
    rf"(?:[^<\[\u25c1]+|[<\[\u25c1])*?(?:{_THOUGHT_END}|\Z)"
)
_FINAL = re.compile(r"(?:<\|channel\|>|assistant)final(?:<\|message\|>)?")  # gpt-oss
_TEXT = (  # on the line of its cue or, without a word there, on the next that has one
    r"(?=(?:(?:[^\w\n]{0,200}\n)+\s*(?:[-#>\u2022]+ +)*|\s*)"
    rf"(?P<cue>[^\n]{{0,{2 * LONGEST}}}))"
)
_INSIDE = "[^{}]*"
for _ in range(3):  # braces within a box
    _INSIDE = rf"[^{{}}]*(?:\{{{_INSIDE}\}}[^{{}}]*){{0,99}}"
_JOINED_BOX = rf"\}}(?:[^\w\n]|and|or|text|quad){{0,20}}boxed\s*\{{{_INSIDE}"
_CUES = {  # by what stands in each; its text is the group that is named like its kind
    "the ": (
        r"the +(?:(?:final|correct) +)?(?:answer|option|label)(?:s|\(s\))? +"
        rf"(?:is/are|is|are)\b *:?{_TEXT}"
    ),
    "answer": rf"answers? *(?::|->|\u2192|(?=\n|\Z)){_TEXT}",
    "correct": rf"correct +options? *:{_TEXT}",
    "<answer>": r"<answer>\s*(?P<tag>[^<\n]*)",
    '"answer"': r'"answer"\s{0,20}:\s{0,20}["\[](?P<json>(?<=")[^"]*|[^\]]*)',
    "boxed": rf"boxed\s*\{{(?P<box>{_INSIDE}(?:{_JOINED_BOX}){{0,20}})\}}",
}
_START = re.compile(r"(?:\A|\n|[.!?]\s)[^\w\n]*(?:final +)?$")  # of "Final answer:"
_WORDS = re.compile(r"(?s)(?=[\W_]*[^\W_])\s*(\S(?:.*\S)?)")  # linear in blanks
_MORE_LINES = re.compile(r"(?:\n[ \t]*\S[^\n]*)*")  # up to an empty one
_REJECTED = re.compile(
    r"\b(?:(?:if|whether)\b[^.!?;:\n]*"
    r"|(?:not|cannot|\w+n't|would|might|doubt|thought)\b[^.!?,;:\n]*)$"
)
_DOUBTED = re.compile(r"(?i)\b(?:not|maybe|perhaps|possibly|probably)[^\w\n]*$")
_TAKEN_BACK = re.compile(  # behind a statement, in small letters
    r"[.!?\u2026>})\]\n][^\w\n]{0,20}(?:wait|actually|sorry|correction"
    r"|that(?:'s| is) wrong|(?<!\? )no(?=,))\b|\b(?:answer should be|i now get)\b"
)
_BACK = "wait", "actually", "sorry", "correction", "no,", "wrong", "should be", "now"
_PLAIN = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—―−。：", "'" * 4 + '"' * 6 + "-" * 7 + ".:")
_QUIET = _PLAIN | str.maketrans("\u0130*_`", "I   ")  # cues are found without Markdown
_TAG = "(?:b|i|u|em|strong|br|p|div|span|code|sub|sup|center|answer)"
_MARKUP = {  # and what stands for it, in the order in which it goes
    "[\u200b-\u200d\u2060\ufe0f\ufeff\u2600-\u2790\U0001f000-\U0001faff]": "",
    r"\\colon\b\s*": ":",
    r"\\[,;:! ]|\\q?quad\b|\\\\(?![a-z])|(?<=\S)~(?=\S)": " ",
    r"(?i)\\+(?:boxed|[fhm]box|underline|emph|bf|rm|large|displaystyle)\b": "",
    r"\\+(?:(?:text)?color\s*\{\w*\}|(?:text|math)[a-z]*|[()\[\]]|(?=[&$%_]))|[{}$]": "",
    rf"(?i)</?{_TAG}/?>|</s>|<(?:end_of_turn|eos)>|<\|[^<>|]{{0,40}}\|>": "",
    r"<([^<>\n]{1,80})>": r"\1",
    r"`+|(?<!\d)\*\*+|\*\*+(?!\d)": "",
    r"[^\S\n]+": " ",
}
_NO_MARKUP = re.compile(r"[A-Za-z0-9.,:;()/-]+(?: [A-Za-z0-9.,:;()/-]+)*")
_ENDS = " \n\t*_`\"',;:!\\"  # what may stand around a value and says nothing
_LEAD = r"(?i)\A(?:(?:it|this|that|s?he|they) (?:is|was|were|are)\b|in (?=\d)) ?:?\s*"
_WHY = r"\b(?i:because|since|given|based on|as(?! well\b)|not|instead of|rather than)\b"
_REASON = re.compile(  # anything may follow; "(9 months before June)" is one, too
    rf"(?i){_WHY}|[(\[]\d+ [a-z]+ (?:before|after|from)\b(?![^()\n]*(?:=|\bis\b))"
)
_COMMENT = re.compile(
    rf"[(\[]|:\s| -+ |(?:(?<=[A-Za-z]{{3}})|(?<=\d))\.\s+(?=[A-Z])|{_WHY}|\Z"
)
_HEDGE = re.compile(
    r"(?i)\b(?:or|either|maybe|perhaps|possibly|probably|might|could|unless|otherwise"
    r"|alternatively|wait|actually|sorry|wrong)\b|\?"
)
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August"]
MONTHS += ["September", "October", "November", "December"]
_MONTHS = {x[:k].lower(): str(n) for n, x in enumerate(MONTHS, 1) for k in range(3, 10)}
_CUT_MONTH = "|".join(name[:3] for name in MONTHS)
_NUMBER = re.compile(rf"(?<![A-Za-z\d])\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{_CUT_MONTH})")
_IDLE = re.compile(  # what says nothing beside a date, weekdays too
    r"(?<=\d)(?:st|nd|rd|th|t)\b|\b(?:at|in|on|of|the|month|year|hrs|gmt|utc|a\.?d|ce"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?)\b"
)
_FIELD = re.compile("[0-9]+|[a-z]+|^-|[^ ,./()-]")


class Statement(NamedTuple):
    """Where a response says its answer."""

    kind: str  # "box", "cue" (words), "tag", "json", "line" (a response of one line)
    span: tuple[int, int]  # of its text in the response
    superseded: bool = False  # taken back, or contradicted, by what stands behind it


def mask(response: str) -> str:
    """Return a text of equal length with newlines for reasoning."""
    text = _FINAL.split(response)[-1] if "final" in response else response
    lower_text = text.lower() if "<" in text or "[" in text or "\u25c1" in text else ""
    if any(tag in lower_text for tag in ("think", "reasoning", "<|channel|>")):
        text = _THOUGHT.sub(lambda thought: "\n" * len(thought[0]), text)
        text = re.split(_THOUGHT_END, text)[-1]  # lone: all before it goes
    return text.rjust(len(response), "\n")


def statements(text: str, prompt: re.Pattern, several: bool = False) -> list[Statement]:
    """Return the statements of a masked response (steps 2 to 4) before a made-up prompt."""
    lower_text = text.translate(_QUIET).lower()  # of the same length
    regexes = [_CUES[needed_text] for needed_text in _CUES if needed_text in lower_text]
    cues = [cue for regex in regexes for cue in re.finditer(regex, lower_text)]
    cues.sort(key=re.Match.start)
    prompt_start = prompt.search(text, cues[0].start() if cues else 0).start()
    answers = []
    for cue in cues:
        text_start, text_end = cue.span(cue.lastgroup)
        if text_start > prompt_start or _is_rejected(lower_text, cue):
            continue
        if several and cue.lastgroup == "cue":
            end_limit = text_end + LONGEST + 100
            text_end = _MORE_LINES.match(lower_text, text_end, end_limit).end()
        if answer_match := _WORDS.match(text, text_start, min(text_end, prompt_start)):
            answers.append(Statement(cue.lastgroup, answer_match.span(1)))
    line = None if cues or "\\boxed" in lower_text else re.search(r"(?m)^.*\w.*$", text)
    is_only_line = line and not re.search(r"\w", text[line.end() :])
    answer_match = is_only_line and _WORDS.match(text, *line.span())
    if answer_match and len(line[0]) <= 100:  # a longer one is prose
        answers.append(Statement("line", answer_match.span(1)))
    behind_first = (answers[0].span[1] if answers else prompt_start, prompt_start)
    may_retract = any(lower_text.find(word, *behind_first) >= 0 for word in _BACK)
    retractions = _TAKEN_BACK.finditer(lower_text, *behind_first) if may_retract else ()
    retracted_at = max((retraction.start() for retraction in retractions), default=-1)
    return [Statement(kind, span, span[1] <= retracted_at) for kind, span, _ in answers]


def _is_rejected(lower_text: str, cue: re.Match) -> bool:
    """Tell whether what stands before a cue keeps it from pointing to an answer."""
    text_before = lower_text[max(0, cue.start() - 200) : cue.start()]
    if cue[0][0] == "a":  # "Answer:"
        return not _START.search(text_before)
    rejecting_pattern = _DOUBTED if cue.lastgroup == "box" else _REJECTED
    return cue[0][-1] != ":" and bool(rejecting_pattern.search(text_before))


def plain(text: str, ends: bool = False) -> str:
    """Return a text without markup, "" for one too long; `ends` keeps marks at its ends."""
    text = text.translate(_PLAIN) if len(text) <= LONGEST else ""
    for pattern, replacement in () if _NO_MARKUP.fullmatch(text) else _MARKUP.items():
        text = re.sub(pattern, replacement, text)
    text = unicodedata.normalize("NFKC", text)
    return text.strip() if ends else text.lstrip(_ENDS).rstrip(_ENDS + ".")


def readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the readings of a text without a hedge, and their comment up to a reason."""
    leadless = re.sub(_LEAD, "", text)
    main_end = _COMMENT.search(leadless, 1).start()
    main_text, comment = leadless[:main_end].rstrip(_ENDS + "."), leadless[main_end:]
    for reading, reading_comment in ((text, ""), (leadless, ""), (main_text, comment)):
        if not is_hedged(reading, reading_comment):
            yield reading, _REASON.split(reading_comment, maxsplit=1)[0]


def is_hedged(text: str, comment: str = "") -> bool:
    """Tell whether a text hedges, or a comment begins with a hedge or takes it back."""
    text_hedges = text[:4].lower() == "not " or _HEDGE.search(text)
    comment_hedges = _HEDGE.match(comment.lstrip(_ENDS + "([.-"))
    return bool(text_hedges or comment_hedges or _TAKEN_BACK.search(comment.lower()))


def numbers(text: str) -> set[str]:
    """Return the numbers of a text, and of its months by name; "24hr" is none."""
    text = re.sub(r"\b24[ -]?h(?:ou)?rs?\b", "", text)
    numerals = [number.replace(",", "").lstrip("0") for number in _NUMBER.findall(text)]
    return {_MONTHS.get(numeral.lower(), numeral) for numeral in numerals}


def read_day(fields: list[str]) -> date | None:
    """Return the day of year, month, day, or with a month's name of any three fields."""
    if named_months := [_MONTHS[field] for field in fields if field in _MONTHS]:
        others = sorted((field for field in fields if field not in _MONTHS), key=len)
        fields = [*others[1:], *named_months, *others[:1]]
    with suppress(ValueError, OverflowError):  # not three, no number, or no such day
        year, month, day = fields
        if len(year) == 4 and len(day) < 3:
            return date(int(year), int(month), int(day))
    return None


# ------------------------------------------------------------- the rule for each kind

# Fixed lines of the prompts: behind an answer they begin a prompt that is made up.
_ECHO = re.compile(
    r"\n[ \t#*>]*(?:Context:|Facts:|Question:|Premise:|Hypothesis:|What is the time\b"
    r"|How does the premise relate|Which of these can stand|More than one option can be"
    r"|The answer is a (?:name|month)|Write two sentences that)|\Z"
)
# What dateutil surely reads so, and takes 20 times as long for: "Aug, 1987", "May 1987".
_PLAIN_MONTH = re.compile(rf"({'|'.join(MONTHS)}|{_CUT_MONTH}),? ([1-9][0-9]{{3}})")
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
    rf"[.!\s]*(?:\Z|(?<=\. )(?=[A-Z])|,?\s*(?:[(\[:]|-+ |{_WHY}))"
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
_NAME_REASON = re.compile(_WHY.replace(r"as(?! well\b)", "as stated|as of"))
_TIME = rf"(?:(?:{_CUT_MONTH})[a-z]*\.?,?\s)?\d{{4}}\b"
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
    for reading, comment in readings(text):
        tail = _BEHIND.split(reading)[-1]
        fields = _FIELD.findall(_IDLE.sub(" ", _YEAR_987.sub(r"0\1", tail).lower()))
        if len(fields) == 2:  # without a day; numbers in either order
            fields = [*sorted(fields, key=len, reverse=True), "1"]
        if day := read_day(fields):
            return (day.year, day.month) if numbers(comment) <= numbers(tail) else None
    return None


def read_label(text: str, options: list[str]) -> str | None:
    """Return the one label that a text is by word, by letter or by both, or None."""
    option_by_letter = dict(zip(LETTERS, options, strict=False))
    for reading, comment in readings(text):
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
    text = re.sub(_LEAD, "", _ALL.sub(", ".join(offered), text))
    if _LETTERS_ALONE.fullmatch(text):
        text = ", ".join(re.findall(r"[A-D]|\b[a-d]\b", text)).upper()
    letters, remarks, item_start, end = set(), "", 0, 0
    while item_start is not None and (item_match := _ITEM.match(text, item_start)):
        letter, quoted, end = item_match[1], {*(item_match[2] or "")}, item_match.end()
        named_letters = quoted & {letter} if letter and quoted else quoted or {letter}
        if not named_letters:
            return None
        letters |= named_letters
        remarks += _REASON.split(item_match[3] or "", maxsplit=1)[0]
        joint_match = _JOINT.match(text, end)
        item_start = joint_match and joint_match.end()
    remarks += _REASON.split(text[end:], maxsplit=1)[0]
    unlisted = {*"".join(_NAMED.findall(remarks))} - letters or letters - {*offered}
    if unlisted or not _END.match(text, end) or is_hedged(text[:end], text[end:]):
        return None
    return letters or None


def _lettered(text: str, options: list[str]) -> str:
    """Return a text with `"A"` for the text of option A, `"AB"` for that of two options."""
    text = text.replace('"', "")
    word_matches = [*_WORD.finditer(text)]
    text_words = [word_match[0].lower() for word_match in word_matches]
    words_by_option = [_WORD.findall(plain(option).lower()) for option in options]
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
    text = re.sub(_LEAD, "", text)
    name_behind = _NAME_BEHIND.search(text)
    if _SO_NOT_STATED.search(text) or (_NOT_STATED.match(text) and not name_behind):
        return None if _TAKEN_BACK.search(text.lower()) else "unanswerable"
    for comment_pattern in _NAME_COMMENTS:
        for comment in comment_pattern.findall(text):
            comment_before_reason = _NAME_REASON.split(comment, maxsplit=1)[0]
            if is_hedged("", comment) or _NAME_BEHIND.search(comment_before_reason):
                return None
        text = comment_pattern.sub(" ", text)
    is_single_name = not (is_hedged(text) or _TWO_NAMES.search(text))
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
    masked_text = mask(response)
    all_statements = statements(masked_text, _ECHO, several)
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
        ends_in_thought = mask(f"{response}.").endswith("\n")
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


def explain_qa(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should give a name, or "unanswerable"."""
    published, statement_text, verdict = extract_answers(response)
    published_words, split_golds = normalise(published), [*map(normalise, doc["golds"])]
    published_f1 = max(f1(published_words, gold_words) for gold_words in split_golds)
    plain_golds = [normalise(plain(gold)) for gold in doc["golds"]]  # without markup
    flexible_name = read_name(plain(statement_text), plain_golds)
    flexible_f1 = name_f1(flexible_name or "", plain_golds, doc.get("question") or "")
    scores = _scores(published_words in split_golds, flexible_f1, f1_score=published_f1)
    return _judge(verdict, scores, flexible_name, doc["golds"])


def explain_date(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should give a month of a year."""
    published, statement, verdict = extract_answers(response)
    month, gold_dates = read_month(plain(statement)), [*map(parse_month, doc["golds"])]
    gold_months = [(gold_date.year, gold_date.month) for gold_date in gold_dates]
    scores = _scores(parse_month(published) in gold_dates, month in gold_months)
    return _judge(verdict, scores, month, gold_months)


def explain_options(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should list options (`letters`: published)."""
    published, statement_text, verdict = extract_answers(response, several=True)
    gold, letters = set(doc["letters"]), set(_PUBLISHED_LETTER.findall(published))
    our_letters = read_options(plain(statement_text), doc["options"]) or set()
    scores = _scores(letters == gold, f1(our_letters, gold), f1_score=f1(letters, gold))
    return _judge(verdict, scores, sorted(our_letters) or None, doc["letters"])


def explain_nli(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should give a label."""
    published, statement_text, verdict = extract_answers(response)
    options, gold_label = doc["options"], doc["label"]
    label = read_label(plain(statement_text), options)
    is_exact = read_published_label(published, options) == gold_label
    return _judge(verdict, _scores(is_exact, label == gold_label), label, gold_label)


def explain_generation(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should be sentences with keywords."""
    _, statement, verdict = extract_answers(response, several=True)
    plain_text, gold = " ".join(plain(statement, ends=True).split()), doc["statement"]
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
_golds = partial(_strings, lambda x: normalise(x) and normalise(plain(x)))
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
