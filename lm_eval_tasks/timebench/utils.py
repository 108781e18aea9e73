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
    from lm_eval_tasks import answer
else:  # What the families share stands beside their folders, whatever pack is installed.
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
REASONS = {  # why an answer scores as it does: one of these
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
    Path(row["file"]).stem.removesuffix("_timebench"): (row["rows"], row["fingerprint"])
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
# What dateutil surely reads so, and takes 20 times as long for: "Aug, 1987", "May 1987".
_PLAIN_MONTH = re.compile(
    rf"({'|'.join(answer.MONTHS)}|{answer.CUT_MONTHS}),? ([1-9][0-9]{{3}})"
)
_KNOWN_WORDS = {
    word.lower()
    for table in ("JUMP", "WEEKDAYS", "MONTHS", "HMS", "AMPM", "UTCZONE", "PERTAIN")
    for entry in getattr(_PARSER.info, table)
    for word in ([entry] if isinstance(entry, str) else entry)
}


def extract_published(response: str) -> tuple[str, tuple[int, int] | None]:
    """Return the answer behind the last marker, and its span (card); "", None for none."""
    _, marker, tail = response.rpartition(MARKER)
    if not marker:
        return "", None
    first_line, _, _ = tail.strip().partition("\n")
    published = first_line.rstrip(".!?").strip()
    if not published:
        return "", None
    start = len(response) - len(tail.lstrip())
    span = start, start + len(published)
    if "unanswerable" in published.lower():
        return "unanswerable", span
    return published, span


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
        month, year = answer.MONTH_NUMBERS[match[1].lower()], match[2]
        return _DEFAULTS[0].replace(int(year), int(month))
    if len(text) > answer.LONGEST:  # dateutil takes quadratic time
        return None
    if not _KNOWN_WORDS.issuperset(_SMALL_WORD.findall(text)):
        return None
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


# ------------------------------------------------- flexible rule: what the kinds share
MADE_UP_PROMPT = answer.Pattern(
    "A line that begins like a fixed line of a prompt",
    r"""
    \n [ \t#*>]*
    (?: Context: | Facts: | Question: | Premise: | Hypothesis:
      | What[ ]is[ ]the[ ]time \b
      | How[ ]does[ ]the[ ]premise[ ]relate
      | Which[ ]of[ ]these[ ]can[ ]stand
      | More[ ]than[ ]one[ ]option[ ]can[ ]be
      | The[ ]answer[ ]is[ ]a[ ] (?: name | month )
      | Write[ ]two[ ]sentences[ ]that
      )
    """,
    reads={"B.\n\n## Question: Who": "\n## Question:", "B\nFacts: x": "\nFacts:"},
    refuses=["Question: Who", "\nThe answer is B", "\nquestion: who"],
)


# -------------------------------------------------------------- flexible rule: months
LAST_VERB = answer.Pattern(
    "What stands before a month: is, was, or an equals sign",
    r"\b (?: is | was ) \b | =",
    reads={"it was May": "was", "May + 2 = July": "="},
    refuses=["isn't", "wash"],
)
YEAR_OF_THREE_DIGITS = answer.Pattern(
    "A year of three digits, which gets a zero",
    r"(?<! [0-9] ) ( [0-9]{3} ) (?! [0-9] )",
    replacement=r"0\1",
    reads={"May 987": "May 0987"},
    refuses=["May 1987", "May 87"],
)


def read_month(text: str) -> tuple[int, int] | None:
    """Return the year and month that a text is, or what is behind its last "is"."""
    for reading, comment in answer.readings(text):
        text_behind_verb = LAST_VERB.regex.split(reading)[-1]
        dated_text = YEAR_OF_THREE_DIGITS.remove_from(text_behind_verb)
        fields = answer.date_fields(dated_text.lower())
        if len(fields) == 2:  # without a day; numbers in either order
            fields = [*sorted(fields, key=len, reverse=True), "1"]
        if day := answer.read_day(fields):
            names_another = answer.numbers(comment) - answer.numbers(text_behind_verb)
            return None if names_another else (day.year, day.month)
    return None


# -------------------------------------------------------------- flexible rule: labels
LABEL_BY_STEM = {
    "entail": "Entailment",
    "neutral": "Neutral",
    "contradict": "Contradiction",
}
LABEL = answer.Pattern(
    "A label by word, inflected or not, with its article",
    rf"""
    \b (?: an? [ ] )?
    (?P<stem> {" | ".join(LABEL_BY_STEM)} )
    (?: s | ed | ing | ments? | ions? | ory | ity )? \b
    """,
    reads={
        "It is an entailment": "entail",
        "contradicts": "contradict",
        "Neutrality": "Neutral",
    },
    refuses=["neutrally", "entailable", "uncontradicted"],
    flags=re.IGNORECASE,
)
BESIDE_LABEL = answer.Pattern(
    "What may stand beside a label: words of the task, a lead, marks",
    r"""
    \b (?: the | premise | hypothesis | option | label | true | it | is | of | by | with ) \b
    | [\s.,:;()[\]'\"-]
    """,
    replacement="",
    reads={
        "the premise  the hypothesis.": "",
        "(A)": "A",
        "it seems": "seems",
    },
    refuses=["strong", "far", "never"],
    flags=re.IGNORECASE,
)


RELATION_IS = answer.Pattern(
    'The lead of a label: "the relation is" or "the relationship is"',
    r"""
    \A the [ ] relation (?:ship)? [ ]
    (?: between [ ] the [ ] premise [ ] and [ ] the [ ] hypothesis [ ] )?
    is \b [ ]? :?
    """,
    replacement="",
    reads={
        "The relationship is neutral": "neutral",
        "the relation between the premise and the hypothesis is: B": " B",
    },
    refuses=["The relationship seems neutral", "Their relation is neutral"],
    flags=re.IGNORECASE,
)


def read_label(text: str, options: list[str]) -> str | None:
    """Return the one label that a text is by word, by letter or by both, or None."""
    label_by_letter = dict(zip(LETTERS, options, strict=False))
    for reading, comment in answer.readings(text):
        reading = RELATION_IS.remove_from(reading)
        rest = BESIDE_LABEL.remove_from(LABEL.regex.sub(" ", reading))
        labels = _labels_by_word(reading)
        if rest in label_by_letter:
            labels.add(label_by_letter[rest])
        if labels and rest in ("", *LETTERS):
            is_one = len(labels) == 1 and labels <= set(options)
            is_contradicted = not _labels_by_word(comment) <= labels
            return labels.pop() if is_one and not is_contradicted else None
    return None


def _labels_by_word(text: str) -> set[str]:
    return {LABEL_BY_STEM[stem.lower()] for stem in LABEL.regex.findall(text)}


# ------------------------------------------------------------- flexible rule: options
# The texts of options in a statement are replaced by their letters in quotation marks.
ITEM = answer.Pattern(
    'An item of a list of options: its letter, its text (as "A"), or both, and a remark',
    r"""
    (?i: (?: both \s+ )?
         (?: (?: [-*\u2022] | \d{1,2}[.)] ) \s+ )?          # a bullet or a number
         (?: options? :? \s+ )? )
    [(\[' ]*
    (?= [A-D]\b | \" ) (?P<letter> [A-D]? )
    (?: [])'.:= -]* \" (?P<text> \w+ ) \" )?
    [])']*
    (?: \s* \( (?P<remark> [^()\n]* ) \) )?
    """,
    reads={
        "A, C": "A",
        "both (B) and C": "both (B)",
        '2. Option A: "A" (ten days)': '2. Option A: "A" (ten days)',
        '"BC"': '"BC"',
    },
    refuses=["about ten days", "E", "a, b"],
)
_OPTION_LETTER = r"\b (?: [B-D] | A (?! [ ][a-z] ) ) \b"  # "A week" is no letter
JOINT = answer.Pattern(
    "What joins two items: marks, and, plus, as well as; or blanks before a letter",
    rf"""
    \s* [.!]? \s* (?: (?: [,;&/+\n] | (?: and | plus | as[ ]well[ ]as ) \b ) \s* )+
    | \s* \.? \s+ (?= {_OPTION_LETTER} )
    """,
    reads={"A, and C": ", and ", "A C": " ", "A.\nC": ".\n", "A & C": " & "},
    refuses=["A week", "A-C"],
    flags=re.IGNORECASE,
)
LIST_END = answer.Pattern(
    "The end of a list: a verdict on it, then the end of the text or a comment",
    rf"""
    (?i: \s+ only \b
       | \s+ (?: is | are ) [ ] (?: both [ ] )? (?: correct | plausible | right ) \b
       | \s+ fits? [ ] best \b
       )?
    [.!\s]*
    (?: \Z
      | (?<= \.[ ] ) (?= [A-Z] )
      | ,? \s* (?: [(\[:] | -+[ ] | {answer.BECAUSE} )
      )
    """,
    reads={
        " are both correct.": " are both correct.",
        " only": " only",
        ", because it is so": ", because",
        " - ten days": " - ",
    },
)
LETTERS_ALONE = answer.Pattern(
    "Letters in a row, or small letters in a list of two or more, and nothing else",
    r"""
    \A (?: [A-D]{2,4} | [a-d] (?: (?: [\s,;/&+] | \b and \b ){1,9} [a-d] \b ){1,3} ) \Z
    """,
    reads={"ABD": "ABD", "c, d": "c, d", "a and b": "a and b"},
    refuses=["A", "a", "B, D", "bad"],
)
ALL_OPTIONS = answer.Pattern(
    "All options",
    r"\b all [ ] of [ ] (?: them | the [ ] above ) \b",
    reads={"All of the above.": "All of the above"},
    refuses=["all", "none of the above"],
    flags=re.IGNORECASE,
)
NAMED_OPTION = answer.Pattern(
    "A letter, or the letters of a text, in what stands beside the list",
    rf'(?<= " ) \w+ (?= " ) | {_OPTION_LETTER}',
    reads={'not "AB"': "AB", "and not C": "C"},
    refuses=["A day", "b", "DNA"],
)
WORD_OR_MARK = answer.Pattern(
    "A word or a mark, but for quotation marks",
    r"\w+ | [^\w\s\"]",
    reads={"12-hour": "12", "!": "!"},
    refuses=['"', " "],
)


def read_options(text: str, options: list[str]) -> set[str] | None:
    """Return the letters of the options that a text lists, or None."""
    offered = LETTERS[: len(options)]
    text = ALL_OPTIONS.regex.sub(", ".join(offered), _with_letters(text, options))
    text = answer.LEAD.remove_from(text)
    if LETTERS_ALONE.regex.search(text):
        text = ", ".join(re.findall(r"[A-D]|\b[a-d]\b", text)).upper()
    letters, remarks, list_end = _read_list(text)
    if not letters:
        return None
    comment = text[list_end:]
    named = NAMED_OPTION.regex.findall(remarks + answer.before_working(comment))
    if not letters <= {*offered} or not {*"".join(named)} <= letters:
        return None
    if not LIST_END.regex.match(text, list_end):
        return None
    is_doubtful = answer.is_hedged(text[:list_end]) or answer.is_doubtful(comment)
    return None if is_doubtful else letters


def _read_list(text: str) -> tuple[set[str], str, int]:
    """Return the letters of a list's items, what their remarks say, and where it ends.

    No letters: there is no item, or the letter of one is another's than its text.
    """
    letters, remarks, list_end = set(), "", 0
    item = ITEM.regex.match(text)
    while item:
        letter, letters_of_text = item["letter"], {*(item["text"] or "")}
        if letter and letters_of_text:
            item_letters = letters_of_text & {letter}
        else:
            item_letters = letters_of_text or {letter}
        if not item_letters:
            return set(), "", 0
        letters |= item_letters
        remarks += answer.before_working(item["remark"] or "")
        list_end = item.end()
        joint = JOINT.regex.match(text, list_end)
        item = ITEM.regex.match(text, joint.end()) if joint else None
    return letters, remarks, list_end


def _with_letters(text: str, options: list[str]) -> str:
    """Return a text with `"A"` for the text of option A, `"AB"` for that of two options."""
    text = text.replace('"', "")
    word_matches = [*WORD_OR_MARK.regex.finditer(text)]
    text_words = [match[0].lower() for match in word_matches]
    words_by_letter = {
        letter: WORD_OR_MARK.regex.findall(answer.plain(option).lower())
        for letter, option in zip(LETTERS, options, strict=False)
    }
    pieces, word_at, copied_to = [], 0, 0
    while word_at < len(text_words):
        length_by_letter = {
            letter: len(words)
            for letter, words in words_by_letter.items()
            if words == text_words[word_at : word_at + len(words)]
        }
        longest = max(length_by_letter.values(), default=0)
        if longest:
            letters = "".join(x for x, n in length_by_letter.items() if n == longest)
            start = word_matches[word_at].start()
            pieces.append(f'{text[copied_to:start]}"{letters}"')
            copied_to = word_matches[word_at + longest - 1].end()
        word_at += longest or 1
    return "".join([*pieces, text[copied_to:]])


# --------------------------------------------------------------- flexible rule: names
NOT_STATED = answer.Pattern(
    'A wording of "not stated" at the start of a text',
    r"""
    \A (?: (?: the[ ]answer | it | this | that | there | (?: the | this ) [ ] question )
           (?: [ ]is | 's )? [ ] )?
    (?: un-?answerable | unknown | unspecified | undetermined | unstated
      | (?: can[ ]?not | can't | could[ ]not ) [ ] be [ ]
      | not [ ] (?: mentioned | stated | specified | given | provided | covered | found
                  | known | available | answerable | enough )
      | insufficient
      | no [ ] (?: information | answer | mention )
      | (?: the | this ) [ ] (?: context | text | passage | article )
        [ ] (?: does[ ]not | doesn't | never | lacks ) [ ]
      )
    """,
    reads={
        "Unanswerable": "Unanswerable",
        "It is not mentioned in the text": "It is not mentioned",
        "The context does not say": "The context does not ",
        "No information is given": "No information",
    },
    refuses=["Nobody", "None", "He is unknown", "N/A", "Not Bern"],
    flags=re.IGNORECASE,
)
SO_NOT_STATED = answer.Pattern(
    '"so unanswerable" and its like at the end of a text',
    r"""
    [,;.] [ ] (?: so | thus | hence | therefore ) ,? [ ]
    (?: (?: it | this | the[ ] (?: answer | question ) ) [ ]is[ ] )?
    unanswerable \Z
    """,
    reads={
        "no club, so unanswerable": ", so unanswerable",
        "none; hence, the answer is unanswerable": "; hence, the answer is unanswerable",
    },
    refuses=["so unanswerable", ", so it is unanswerable here"],
    flags=re.IGNORECASE,
)
OTHER_NAME = answer.Pattern(
    "Another name: a word that introduces one, and soon a capitalised word",
    r"""
    (?: , \s+ and
      | \b (?i: so | but | or | rather | instead | maybe | perhaps | possibly | probably
              | (?: might | could ) [ ] (?: also [ ] )? be ) \b
      | \?
      )
    [^.]{0,200}? \s (?! The[ ] ) [A-Z]\w
    """,
    reads={
        "not stated, but perhaps Bern": "but perhaps Be",
        "Bern, and Basel": ", and Ba",
        "Bern? or Basel": "? or Ba",
    },
    refuses=["Bern and Basel", "so it is. Basel", "but the town"],
)
TWO_NAMES = answer.Pattern(
    'Two names that are joined by ";" or "as well as"',
    r"(?: ; | \b as[ ]well[ ]as \b ) \s* (?: the[ ] | an?[ ] )? [A-Z\d]",
    reads={"Bern; Basel": "; B", "Bern as well as the Alps": "as well as the A"},
    refuses=["Bern and Basel", "Bern; or so"],
)
_NAME_BECAUSE = rf"\b (?i: {answer.REASON_WORDS} | as[ ]stated | as[ ]of ) \b"
NAME_REASON = answer.Pattern(
    'A reason or a denial behind a name ("as" is one only in "as stated", "as of")',
    _NAME_BECAUSE,
    reads={"Bern, as stated": "as stated", "Bern, not Basel": "not"},
    refuses=["Bern as usual", "notable"],
)
_PERIOD = rf"(?: (?: {answer.CUT_MONTHS} ) [a-z]* \.? ,? \s )? \d{{4}} \b"
NAME_COMMENTS = (  # in the order in which they are removed
    answer.Pattern(
        "Brackets",
        r"\s* [(\[] [^()\[\]]* [)\]]?",
        reads={"Bern (a town)": " (a town)", "Bern [1]": " [1]"},
        refuses=["Bern, a town"],
    ),
    answer.Pattern(
        "A year, with a month before it, a preposition, or a second year",
        rf"""
        ,? \s* \b (?: (?i: from | since | between | in | until | during ) \s )? {_PERIOD}
        (?: \s? (?: - | to | until | and ) \s? (?: {_PERIOD} | present \b ) )?
        """,
        reads={
            "Bern from May 1987 to 1990": " from May 1987 to 1990",
            "Bern, 1987-present": ", 1987-present",
        },
        refuses=["Bern in May", "Bern 87", "from Bern"],
    ),
    answer.Pattern(
        "All behind a dash, a new sentence, a reason or a denial",
        rf"""
        (?: [ ]-+[ ] | (?<= [A-Za-z]{{3}} ) \. \s+ (?= [A-Z] ) | [,\s]+ {_NAME_BECAUSE} )
        .*
        """,
        reads={
            "Bern - a town": " - a town",
            "Bern. It is so": ". It is so",
            "Bern, since he lived there": ", since he lived there",
        },
        refuses=["Bern-Mitte", "St. Gallen", "Bern as usual"],
        flags=re.DOTALL,
    ),
)
ENDING = answer.Pattern(
    "An ending of a word that makes no difference to the question's words",
    r"(?<= \w{3} ) (?: ing | ed | es | s | e | d ) $",
    replacement="",
    reads={"played": "play", "schools": "school"},
    refuses=["is", "club"],
)


def read_name(text: str, golds: list[list[str]]) -> str | None:
    """Return the name or phrase that a text gives, "unanswerable", or None.

    golds: the words of each gold; a text with just these is read as it is.
    """
    if normalise(text) in golds and "?" not in text:
        return text
    text = answer.LEAD.remove_from(text)
    is_not_stated = NOT_STATED.regex.search(text) and not OTHER_NAME.regex.search(text)
    if is_not_stated or SO_NOT_STATED.regex.search(text):
        return None if answer.takes_back(text) else "unanswerable"
    for pattern in NAME_COMMENTS:
        if any(map(_is_unclear, pattern.regex.findall(text))):
            return None
        text = pattern.regex.sub(" ", text)
    if answer.is_hedged(text) or TWO_NAMES.regex.search(text):
        return None
    return text.strip() or None


def _is_unclear(comment: str) -> bool:
    """Tell whether a comment on a name is doubtful, or goes on to another name."""
    comment_before_reason = NAME_REASON.regex.split(comment, maxsplit=1)[0]
    names_another = OTHER_NAME.regex.search(comment_before_reason)
    return bool(names_another) or answer.is_doubtful(comment)


def name_f1(name: str, golds: list[list[str]], question: str) -> float:
    """Return the F1 of a name's words, but for the question's, with the best gold's."""
    name_words = normalise(name)
    if name_words in golds or name_words == ["unanswerable"]:
        return float(name_words in golds)
    question_stems = {*map(ENDING.remove_from, normalise(question))}
    new_words = [
        word for word in name_words if ENDING.remove_from(word) not in question_stems
    ]
    always_counted = Counter(new_words or name_words)
    scores = [0.0]
    for gold in golds:
        if gold != ["unanswerable"]:
            # Words of the question count where the gold has them.
            counted_words = Counter(name_words) & Counter(gold) | always_counted
            scores.append(f1(counted_words, gold))
    return max(scores)


# ------------------------------------------------------------------------- verdicts
class Answers(NamedTuple):
    """What both rules find in a response, before it is read as a kind of value."""

    published: str  # what the metric card's rule extracts, or ""
    published_span: tuple[int, int] | None
    flexible: str | None  # the statement that the response commits to, as it stands
    flexible_span: tuple[int, int] | None
    to_read: (
        str  # the text of the statement, or "" if there is none or it is taken back
    )
    reason: str  # why no value is read, if none is


def extract_answers(response: str, several: bool = False) -> Answers:
    """Return what both rules find; `several`: a statement may go on over more lines."""
    published, published_span = extract_published(response)
    masked_text = answer.mask(response)
    found = answer.statements(masked_text, MADE_UP_PROMPT, several)
    last = found[-1] if found else None
    flexible_span = last.span if last else None
    flexible = response[slice(*last.span)] if last else None
    if last and last.superseded:
        to_read, reason = "", "superseded"
    else:
        is_open = response.rfind("\\boxed{") > response.rfind("}")
        reason = answer.reason_without_value(
            response, masked_text, flexible_span or published_span, is_open
        )
        to_read = flexible or ""
    return Answers(published, published_span, flexible, flexible_span, to_read, reason)


def _verdict(
    answers: Answers, scores: dict[str, float], value: object, reference: object
) -> Verdict:
    """Return the verdict on answers by the scores of a value, None where none was read."""
    return Verdict(
        scores={**scores, "extracted": float(answers.published != "")},
        reason=_reason(answers, scores, value),
        published=answers.published or None,
        published_span=answers.published_span,
        flexible=answers.flexible,
        flexible_span=answers.flexible_span,
        value=value,
        reference=reference,
    )


def _reason(answers: Answers, scores: dict[str, float], value: object) -> str:
    """Return the word of REASONS for the scores of a value."""
    is_exact = scores.get("score") == 1
    flexible_score = scores.get("score_flexible", 0)
    if flexible_score == 1:
        return "right" if is_exact else "flexible_only"
    if value is not None and is_exact:
        return "superseded"
    if value is not None:
        return "partly_right" if flexible_score else "other_value"
    if answers.reason == "superseded" and not is_exact:
        return "unreadable"
    return answers.reason


def _scores(exact: bool, flexible: float, f1_score: float | None = None) -> dict:
    """Return the metrics of a kind; its headline is the F1 where it has one (paper)."""
    scores = {"exact_match": float(exact)}
    if f1_score is not None:
        scores["f1_score"] = f1_score
    headline = float(exact) if f1_score is None else f1_score
    return {
        **scores,
        "score": headline,
        "score_flexible": float(flexible),
        "accuracy_flexible": float(flexible == 1),
    }


def _require(is_usable: object, doc: dict, column: str) -> None:
    """Raise ValueError for a document with a column that no response can be scored by."""
    if not is_usable:
        raise ValueError(f"'{column}': {doc[column]!r:.80} cannot be used")


def explain_qa(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should give a name, or "unanswerable"."""
    _require(doc["golds"], doc, "golds")
    answers = extract_answers(response)
    published_words = normalise(answers.published)
    golds = [normalise(gold) for gold in doc["golds"]]
    plain_golds = [normalise(answer.plain(gold)) for gold in doc["golds"]]
    name = read_name(answer.plain(answers.to_read), plain_golds)
    scores = _scores(
        exact=published_words in golds,
        flexible=name_f1(name or "", plain_golds, doc.get("question") or ""),
        f1_score=max(f1(published_words, gold) for gold in golds),
    )
    return _verdict(answers, scores, name, doc["golds"])


def explain_date(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should give a month of a year."""
    gold_dates = [*map(parse_month, doc["golds"])]
    _require(gold_dates and None not in gold_dates, doc, "golds")
    gold_months = [(gold.year, gold.month) for gold in gold_dates if gold]
    answers = extract_answers(response)
    month = read_month(answer.plain(answers.to_read))
    scores = _scores(
        exact=parse_month(answers.published) in gold_dates,
        flexible=month in gold_months,
    )
    return _verdict(answers, scores, month, gold_months)


def explain_options(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should list options (`letters`: published)."""
    _require(doc["letters"] and {*doc["letters"]} <= {*LETTERS}, doc, "letters")
    answers = extract_answers(response, several=True)
    gold = {*doc["letters"]}
    published_letters = {*_PUBLISHED_LETTER.findall(answers.published)}
    letters = read_options(answer.plain(answers.to_read), doc["options"]) or set()
    scores = _scores(
        exact=published_letters == gold,
        flexible=f1(letters, gold),
        f1_score=f1(published_letters, gold),
    )
    return _verdict(answers, scores, sorted(letters) or None, doc["letters"])


def explain_nli(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should give a label."""
    options, gold = doc["options"], doc["label"]
    _require(all(options), doc, "options")
    _require(gold in options, doc, "label")
    answers = extract_answers(response)
    label = read_label(answer.plain(answers.to_read), options)
    scores = _scores(
        exact=read_published_label(answers.published, options) == gold,
        flexible=label == gold,
    )
    return _verdict(answers, scores, label, gold)


def explain_generation(doc: dict, response: str) -> Verdict:
    """Return the verdict on a response that should be sentences with keywords."""
    _require(doc["keywords"] and doc["statement"], doc, "statement")
    _require({*doc["keywords_pos"]} <= {0, 1}, doc, "keywords_pos")
    answers = extract_answers(response, several=True)
    text = " ".join(answer.plain(answers.to_read, keeps_ends=True).split())
    gold = doc["statement"]
    bleu_scorer, rouge_scorer = _overlap_scorers()
    scores = {  # floating point may leave 1.0 by a hair
        "bleu": min(bleu_scorer.sentence_score(text, [gold]).score / 100, 1.0),
        "rouge_l": float(rouge_scorer.score(gold, text)["rougeL"].fmeasure),
        "keywords": keyword_share(text, doc["keywords"], doc["keywords_pos"]),
    }
    return _verdict(answers, scores, text or None, gold)


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


def process_results_qa(doc: dict, results: list[str]) -> dict[str, float]:
    return answer.mean_scores(explain_qa, doc, results)


def process_results_date(doc: dict, results: list[str]) -> dict[str, float]:
    return answer.mean_scores(explain_date, doc, results)


def process_results_options(doc: dict, results: list[str]) -> dict[str, float]:
    return answer.mean_scores(explain_options, doc, results)


def process_results_nli(doc: dict, results: list[str]) -> dict[str, float]:
    return answer.mean_scores(explain_nli, doc, results)


def process_results_generation(doc: dict, results: list[str]) -> dict[str, float]:
    return answer.mean_scores(explain_generation, doc, results)


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


fingerprint = answer.fingerprint


# -------------- what the tools know of this family (`Family` in utils/core/family_contract.py)
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
