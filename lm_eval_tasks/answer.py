"""Where a response states its answer: what the flexible rules of all families share."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    from collections.abc import Iterator


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
DOUBTED = re.compile(r"(?i)\b(?:not|maybe|perhaps|possibly|probably)[^\w\n]*$")
TAKEN_BACK = re.compile(  # behind a statement, in small letters
    r"[.!?\u2026>})\]\n][^\w\n]{0,20}(?:wait|actually|sorry|correction"
    r"|that(?:'s| is) wrong|(?<!\? )no(?=,))\b|\b(?:answer should be|i now get)\b"
)
_BACK = "wait", "actually", "sorry", "correction", "no,", "wrong", "should be", "now"
_PLAIN = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—―−。：", "'" * 4 + '"' * 6 + "-" * 7 + ".:")
QUIET = _PLAIN | str.maketrans("\u0130*_`", "I   ")  # cues are found without Markdown
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
LEAD = r"(?i)\A(?:(?:it|this|that|s?he|they) (?:is|was|were|are)\b|in (?=\d)) ?:?\s*"
WHY = r"\b(?i:because|since|given|based on|as(?! well\b)|not|instead of|rather than)\b"
REASON = re.compile(  # anything may follow; "(9 months before June)" is one, too
    rf"(?i){WHY}|[(\[]\d+ [a-z]+ (?:before|after|from)\b(?![^()\n]*(?:=|\bis\b))"
)
_COMMENT = re.compile(
    rf"[(\[]|:\s| -+ |(?:(?<=[A-Za-z]{{3}})|(?<=\d))\.\s+(?=[A-Z])|{WHY}|\Z"
)
_HEDGE = re.compile(
    r"(?i)\b(?:or|either|maybe|perhaps|possibly|probably|might|could|unless|otherwise"
    r"|alternatively|wait|actually|sorry|wrong)\b|\?"
)
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August"]
MONTHS += ["September", "October", "November", "December"]
MONTH_NUMBERS = {
    x[:k].lower(): str(n) for n, x in enumerate(MONTHS, 1) for k in range(3, 10)
}
CUT_MONTH = "|".join(name[:3] for name in MONTHS)
_NUMBER = re.compile(rf"(?<![A-Za-z\d])\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{CUT_MONTH})")
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
    lower_text = text.translate(QUIET).lower()  # of the same length
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
    retractions = TAKEN_BACK.finditer(lower_text, *behind_first) if may_retract else ()
    retracted_at = max((retraction.start() for retraction in retractions), default=-1)
    return [Statement(kind, span, span[1] <= retracted_at) for kind, span, _ in answers]


def _is_rejected(lower_text: str, cue: re.Match) -> bool:
    """Tell whether what stands before a cue keeps it from pointing to an answer."""
    text_before = lower_text[max(0, cue.start() - 200) : cue.start()]
    if cue[0][0] == "a":  # "Answer:"
        return not _START.search(text_before)
    rejecting_pattern = DOUBTED if cue.lastgroup == "box" else _REJECTED
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
    leadless = re.sub(LEAD, "", text)
    main_end = _COMMENT.search(leadless, 1).start()
    main_text, comment = leadless[:main_end].rstrip(_ENDS + "."), leadless[main_end:]
    for reading, reading_comment in ((text, ""), (leadless, ""), (main_text, comment)):
        if not is_hedged(reading, reading_comment):
            yield reading, REASON.split(reading_comment, maxsplit=1)[0]


def is_hedged(text: str, comment: str = "") -> bool:
    """Tell whether a text hedges, or a comment begins with a hedge or takes it back."""
    text_hedges = text[:4].lower() == "not " or _HEDGE.search(text)
    comment_hedges = _HEDGE.match(comment.lstrip(_ENDS + "([.-"))
    return bool(text_hedges or comment_hedges or TAKEN_BACK.search(comment.lower()))


def numbers(text: str) -> set[str]:
    """Return the numbers of a text, and of its months by name; "24hr" is none."""
    text = re.sub(r"\b24[ -]?h(?:ou)?rs?\b", "", text)
    numerals = [number.replace(",", "").lstrip("0") for number in _NUMBER.findall(text)]
    return {MONTH_NUMBERS.get(numeral.lower(), numeral) for numeral in numerals}


def date_fields(text: str) -> list[str]:
    """Return the numbers and words of a text in small letters, but for idle ones."""
    return _FIELD.findall(_IDLE.sub(" ", text))


def read_day(fields: list[str]) -> date | None:
    """Return the day of year, month, day, or with a month's name of any three fields."""
    if named_months := [
        MONTH_NUMBERS[field] for field in fields if field in MONTH_NUMBERS
    ]:
        others = sorted(
            (field for field in fields if field not in MONTH_NUMBERS), key=len
        )
        fields = [*others[1:], *named_months, *others[:1]]
    with suppress(ValueError, OverflowError):  # not three, no number, or no such day
        year, month, day = fields
        if len(year) == 4 and len(day) < 3:
            return date(int(year), int(month), int(day))
    return None
