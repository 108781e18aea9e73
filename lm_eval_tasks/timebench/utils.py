"""Documents and scores of TimeBench.

Read from top to bottom, as a response goes through it: the published answer, the
flexible answer (where it stands, what is noise, what only comments), then for each kind
of task, QA, dates, options, NLI labels and generation, how answers are read and scored.
No extraction sees a reference. How documents are made stands last.
"""

from __future__ import annotations

import hashlib
import html
import json
import logging
import re
import string
import unicodedata
from collections import deque
from datetime import datetime, timezone
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from dateutil import parser as dateutil_parser


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import datasets


eval_logger = logging.getLogger("lm_eval.tasks.timebench")

MARKER = "Thus, the correct answer is:"  # what the prompts ask for and the card reads
LETTERS = "ABCD"
THREE_WAY = ["Entailment", "Neutral", "Contradiction"]
TWO_WAY = ["Entailment", "Contradiction"]
# What is longer is no answer of its kind; a generated pair of sentences is cut there.
MAX_ANSWER_LENGTH = 2000
# More cues than any response has; of more, the last ones count.
MAX_CUES = 100
# What stands further before a value says nothing about it.
MAX_SENTENCE_LENGTH = 300

REASONS = {
    "right": "both rules say right",
    "flexible_only": "the right value in a form that only the flexible rule reads",
    "superseded": "the published rule's answer is right, but the response commits to"
    " another",
    "partly_right": "some of what is right, or more than that (0 < F1 < 1)",
    "other_value": "a value, but not the reference's",
    "unreadable": "an answer that is not one value of the kind asked for",
    "no_answer": "neither rule found an answer",
    "cut_off": "no answer, and the response ends within a reasoning block or a box",
}


class Verdict(NamedTuple):
    """What both rules read in a response, and what follows from it.

    Spans are character positions in the response. `published` and `flexible` are the
    answers as the rules extract them, None where there is none; `value` is what the
    flexible one was read as, None where it cannot be read, and `reference` the value of
    the reference. `reason` is one of REASONS.
    """

    scores: dict[str, float]
    reason: str
    published: str | None
    published_span: tuple[int, int] | None
    flexible: str | None
    flexible_span: tuple[int, int] | None
    value: object
    reference: object


class Answer(NamedTuple):
    """An answer and where it stands in the response."""

    text: str
    span: tuple[int, int]


# ------------------------------------------------------------ the published answer


def extract_published(response: str) -> Answer | None:
    """Return the first line of what follows the last marker, or None (metric card).

    White space around it and `.!?` at its end go; with "unanswerable" in it the answer
    is just that; an empty one is none.
    """
    marker = response.rfind(MARKER)
    if marker < 0:
        return None
    after = marker + len(MARKER)
    line, _, _ = response[after:].lstrip().partition("\n")
    answer = line.strip().rstrip(".!?").strip()
    if not answer:
        return None
    start = response.index(answer, after)
    text = "unanswerable" if _says_unanswerable(answer) else answer
    return Answer(text, (start, start + len(answer)))


def _says_unanswerable(answer: str) -> bool:
    """Tell whether the card takes an answer for "unanswerable"."""
    return "unanswerable" in answer.lower()


# ------------------------------------------- the flexible answer: where it stands

# Tags around reasoning, by their first character: one character is found fastest.
_REASONING_TAGS = {
    "<": re.compile(r"<(?P<closing>/?)(?P<name>think|thinking|reasoning)>"),
    "[": re.compile(r"\[(?P<closing>/?)(?P<name>THINK)\]"),
    "\u25c1": re.compile("\u25c1(?P<closing>/?)(?P<name>think)\u25b7"),
}
_CHANNEL = "<|channel|>"  # gpt-oss: "<|channel|>final<|message|>" precedes the answer


def mask_reasoning(response: str) -> str:
    """Return a text of equal length in which newlines stand for the reasoning blocks.

    A block that never closes reaches to the end; a closing tag that nothing opened ends
    one that starts with the response. Of gpt-oss's channels all that stands before the
    final one is reasoning, also where its headers have lost their special tokens.
    """
    text = response
    if "<" in text and (last := text.rfind(_CHANNEL)) >= 0:
        if (final := text.rfind(_CHANNEL + "final")) >= 0:
            message = text.find("<|message|>", final)
            end = message + len("<|message|>") if message >= 0 else final
            text = _mask(text, [(0, end)])
        elif text.startswith(_CHANNEL + "analysis", last):
            text = _mask(text, [(last, len(text))])
    elif text.startswith("analysis") and "assistantfinal" in text:
        end = text.rfind("assistantfinal") + len("assistantfinal")
        text = _mask(text, [(0, end)])
    for first_character, tags in _REASONING_TAGS.items():
        if first_character in text:
            text = _mask(text, _tagged_blocks(text, tags))
    return text


def _tagged_blocks(text: str, tags: re.Pattern) -> list[tuple[int, int]]:
    """Return where blocks between an opening and a closing tag start and end."""
    blocks: list[tuple[int, int]] = []
    opened: re.Match | None = None
    for tag in tags.finditer(text):
        if not tag["closing"]:
            opened = opened or tag
        elif not opened:
            blocks = [(0, tag.end())]
        elif tag["name"] == opened["name"]:
            blocks.append((opened.start(), tag.end()))
            opened = None
    if opened:
        blocks.append((opened.start(), len(text)))
    return blocks


def _mask(text: str, blocks: list[tuple[int, int]]) -> str:
    """Return `text` with newlines in place of the blocks, which follow each other."""
    parts, position = [], 0
    for start, end in blocks:
        parts += text[position:start], "\n" * (end - start)
        position = end
    return "".join([*parts, text[position:]]) if blocks else text


_NOUN = r"""
    (?:(?:correct(?:ed)?|final|right|best|likely|chosen|resulting|updated|revised)\s+
       (?:options?|choices?|labels?|relation(?:ship)?|answers?)
      |answers?
      |relationship
    )(?:\(s\))?
"""
_EMPHASIS = r"[*_`\s]{0,4}"
_KEY = r"(?:(?:final|correct)[_ ]?)?(?:answer|option|choice|letter|label)s?"
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_CUE = re.compile(
    rf"""
    # sure: {{"answer": …}}, <answer>, \boxed{{
    (?P<json> ["']{_KEY}["']\s*: )
    |(?P<tag> <(?:final_?)?answer> )
    |(?P<box> {_BOX.pattern} )
    # sure: a line or sentence that begins with "Final answer:", or is a heading
    |(?P<heading> (?:^[^\w\n]{{0,20}}|(?<=[.!?;])\s)
        (?:(?:so|thus|hence|therefore|and|my|the|your|our|overall|short)\b,?\s+){{0,3}}
        {_NOUN} (?:\s\([^()\n]{{0,40}}\))?
        {_EMPHASIS} (?:[:：]|\s[-–—]\s|[^\S\n]*$) )
    # sure: "the correct answer (to …) is: …"; weak: the same without a colon
    |\b{_NOUN}
        (?:\s(?:to|for|of|here|in|that|between)\b[^.:\n]{{0,80}}?)?
        {_EMPHASIS} \b(?:is/are|is|are|was|(?:w|sh)ould\ be|must\ be|will\ be)\b
        {_EMPHASIS} (?:(?P<said> [:：]) | (?P<weak>))
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
# Plain words, and no more: neither another cue nor a placeholder.
_PLAIN_END = re.compile(
    r" ?((?!Answer|Letter|Label|Option|Mon|N/?A)[A-Z][\w .,()'&-]*)\n*", re.ASCII
)
# What every cue has in it, to be looked for before the pattern.
_CUE_WORDS = "answer option choice label relation boxed fbox".split()
_EMPTY_LINES = "\n" * 1000  # of a masked block, passed over in one step
# Up to the brace that closes, with braces in braces in it.
_IN_BOX = re.compile(r"((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_BETWEEN_BOXES = re.compile(r"(?:[\s$,;&.+]|\\[\[\]()]|and|\\text|[{}])*")
_JSON_VALUE = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'
    |\[(?P<list>[^\]]*)\])""",
    re.VERBOSE,
)
_TABLE_HEADER = re.compile(r"[\s*_]*\|[^\n]{1,200}\n[ |:-]*-[ |:-]*\n")
_PLACEHOLDER = re.compile(
    r"(?:your |the |final |correct )*(?:answer|letters?|label|option|mon(?:th)?, y(?:yyy|ear)"
    r"|yyyy-mm(?:-dd)?|x+|n/?a)?(?: here)?"
    r"|an? (?:name|month) (?:or|and) an? .*",  # as the prompts describe it
    re.IGNORECASE,
)
_SHORT_LINE = re.compile(r"(?!.*\.\s)[^\n:]{1,100}")
_ABBREVIATIONS = (
    "st dr mr mrs ms jr sr prof gov sen rep gen col lt sgt capt rev hon inc ltd co corp no vs mt"
    " ft univ dept"
)
_NOT_ABBREVIATED = "".join(rf"(?<!\b{word}.)" for word in _ABBREVIATIONS.split())
# Where a new thought starts: a sentence, or what contrasts or concludes.
_THOUGHT = re.compile(
    rf"""[!?;]\s|\n(?![a-z])
    |\.[*"')]*(?:(?<=\w\w.){_NOT_ABBREVIATED}\s|\s(?=(?:The|My|Our|So)\b))
    |(?:^|[,:)-])\s*(?:and\s)?(?i:so|but|yet|however|still|consequently)\b
    |(?<!if\s)\bso\s(?=(?:the|my|our)\b)
    |\b(?i:thus|hence|therefore)\b""",
    re.VERBOSE,
)
# Conditions hold for the whole sentence, also where a comma comes between.
_CONDITION = re.compile(
    r"^\W*(?:were|had)\b|\b(?:(?<!even )if|unless|otherwise|suppos(?:e|ing)|assuming|provid(?:ed|ing) that"
    r"|in case|in the absence|depending|at first|initially|originally|a?s? long as"
    r"|(?:reading|interpretation|assumption|hypothesis)"
    r"|(?:when(?:ever)?|where(?:ver)?|should|once)\b[^,]*(?:\bnot?\b|n't))\b",
    re.IGNORECASE,
)
# Denials and doubts hold for their own clause.
_CLAUSE = re.compile(r"[,:]|\band\b")
_ASIDE = re.compile(r"\bthat,[^,]*,")
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|neither|nor|hardly|than|instead of|far from|anything but|no means"
    r"|no reason|nobody|(?:wrong|incorrect|false)(?:ly)?|mistak\w+|untrue|unlikely|(?<!no )(?<!without )"
    r"doubt\w*|den(?:y|ied|ies)|(?-i:may)|might|could|perhaps|maybe|possibly|possible that|whether"
    r"|tempt\w+|used to|although|though|while|despite|almost|(?<!\bi )would)\b|n't\b",
    re.IGNORECASE,
)
# What is said or thought counts where the response itself, or its text, says so.
_SAYING = r"(?:think|thought|believ|sa(?:y|id)|stat|argu|assum|claim|guess|suppos|suggest|conclu)"
_EMBEDDED = re.compile(
    rf"\b(?:that|{_SAYING}\w*)\s+(?:(?:the|my|our|it|this)\b\s*)?(?:(?:is|was)\b\s*)?$",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:i|we|one|you|context|text|passage|article)\s(?:\w+\s){0,2}?(?:think|believe|say|state|tell|know|see|find"
    r"|get|deduce|determine)s?\b|\b(?:sure|certain|clear|evident|obvious|confident|convinced|plain|safe|final|result|tells us|follows"
    r"|doubt|note|means?|meaning|impl(?:y|ies)|shows?|indicates?|confirms?|conclu\w+|infer|so|such)\b",
    re.IGNORECASE,
)


def extract(
    response: str, several: bool = False, alone: bool = False
) -> tuple[Answer | None, Answer | None]:
    """Return the published and the flexible answer of a response, None for none.

    Most responses end with the marker and plain words: no need to look for cues, and
    both rules extract the same.
    """
    text = mask_reasoning(response)
    marker = text.rfind(MARKER)
    plain = _PLAIN_END.fullmatch(text, marker + len(MARKER)) if marker >= 0 else None
    if not plain:
        return extract_published(response), extract_flexible(text, several, alone)
    words = plain[1]
    answer = Answer(words, plain.span(1))
    if text is response and words[-1] not in " ." and not _says_unanswerable(words):
        return answer, answer
    return extract_published(response), answer


def extract_flexible(
    text: str, several: bool = False, alone: bool = False
) -> Answer | None:
    r"""Return the answer that a text without reasoning commits to, or None.

    It stands where the last sure cue says: a marker in any wording with a colon, a line
    that begins with "Answer:" or is such a heading, `{"answer": …}`, `<answer>` or
    `\boxed{}`; where there is none, after the last "the answer is". It is the first line
    there that is not empty; with `several`, what follows on more lines as well.
    Empty answers and placeholders are none, nor is what a sentence only supposes, denies
    or reports. With `alone`, a response that is one short line needs no cue. (Design of
    this pack.)
    """
    weak = None
    for cue in islice(_cues(text), MAX_CUES):
        if weak and cue.lastgroup == "weak":
            continue
        before = text[max(0, cue.start() - MAX_SENTENCE_LENGTH) : cue.start()]
        if cue.lastgroup in ("weak", "said") and not commits(before):
            alone = False
            continue
        start, end = _reach(text, cue, several)
        answer = Answer(text[start:end], (start, end))
        if not _PLACEHOLDER.fullmatch(bare(clean(answer.text))):
            if cue.lastgroup != "weak" or _is_marker(text, cue):
                return answer
            weak = answer
    line = text.strip()
    if alone and not weak and line and _SHORT_LINE.fullmatch(line):
        start = text.index(line)
        weak = Answer(line, (start, start + len(line)))
    return weak


def _is_marker(text: str, cue: re.Match) -> bool:
    """Tell whether a cue is the marker at the start of a line, without its colon."""
    start = text.rfind("\n", 0, cue.start()) + 1
    return text[start : cue.end()].strip() == MARKER[:-1]


def commits(before: str) -> bool:
    """Tell whether a text leads to a value as one that is asserted.

    It does not where the value stands under a condition, a denial, a doubt or a report:
    "If …, it is X", "I do not think that it is X", "Some would say that it is X".
    """
    sentence = _ASIDE.sub("that ", _THOUGHT.split(before)[-1])
    clause = _CLAUSE.split(sentence)[-1]
    if _CONDITION.search(sentence) or _DOUBT.search(clause):
        return False
    return not _EMBEDDED.search(clause) or bool(_OWN.search(clause))


def _cues(text: str) -> Iterator[re.Match]:
    """Yield the cues of a text, the last one first."""
    end = len(text)
    while end >= 0:
        if text.endswith(_EMPTY_LINES, 0, end):
            end -= len(_EMPTY_LINES)
            continue
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end].lower()
        if any(map(line.__contains__, _CUE_WORDS)):
            yield from reversed(deque(_CUE.finditer(text, start, end), MAX_CUES))
        end = start - 1


def _reach(text: str, cue: re.Match, several: bool) -> tuple[int, int]:
    """Return from where to where the answer after a cue reaches."""
    kind, start = cue.lastgroup, cue.end()
    if kind == "box":
        return _boxed(text, cue, several)
    if kind == "json" and (value := _JSON_VALUE.match(text, start)):
        start, end = value.span(value.lastgroup)
        return start, min(end, start + MAX_ANSWER_LENGTH)
    if kind == "tag" and (closing := text.find("</", start)) >= 0:
        return start, min(closing, start + MAX_ANSWER_LENGTH)
    if header := _TABLE_HEADER.match(text, start):
        start = header.end()
    limit = min(len(text), start + MAX_ANSWER_LENGTH)
    if several:
        return start, limit
    for line in re.finditer("[^\n]+", text[start:limit]):
        if bare(clean(line[0])):
            return start + line.start(), start + line.end()
    return limit, limit


def _boxed(text: str, box: re.Match, several: bool) -> tuple[int, int]:
    """Return what is in a box; with `several`, also in those side by side before it."""
    following, start = box.span()
    inside = _IN_BOX.match(text, start, start + MAX_ANSWER_LENGTH)
    near = max(0, following - MAX_ANSWER_LENGTH)
    others = list(_BOX.finditer(text, near, following)) if several else []
    for other in reversed(others):
        before = _IN_BOX.match(text, other.end(), following)
        if not before or not _BETWEEN_BOXES.fullmatch(text, before.end(), following):
            break
        following, start = other.span()
    return (start, inside.end(1)) if inside else (start, start)


# ------------------------------------------- the flexible answer: noise and comments

# What stands for characters that models write, typographic and Chinese ones.
_TYPOGRAPHIC = str.maketrans(
    {
        character: plain
        for characters, plain in (
            ("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
            ("\u2018\u2019\u201a\u201b\u00b4\u02bc", "'"),
            ("\u201c\u201d\u201e\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f", '"'),
            ("\u3002\uff61", "."),
            ("\u3001\u548c", ", "),  # comma and "and"
            ("\u5e74", "-"),  # "year", before a month
            ("\u6708", ""),  # "month"
            ("\u2192\u21d2\u27f9", " gives "),
            ("\u274c\u2717\u2718\u2716\u274e", " not "),  # crosses
        )
        for character in characters
    }
)
# In this order: what each pattern finds, and what stands for it.
_NOISE = [
    (re.compile(r"~~[^~\n]*~~|```\w*"), ""),
    (re.compile(r"\\(?:begin|end|(?:text)?color)\s?\{\w+\*?\}(?:\{[lcr|]*\})?"), " "),
    (re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:eos|end_of_turn|eot)>"), ""),
    (re.compile(r"<sup>[\[\](\d,\s)]*</sup>"), ""),
    (re.compile(r"</?(?:(?:final_)?answer|b|i|em|strong|u|mark|code|span|p|div|su[bp]|font|small|a)(?:\s[^<>]{0,99})?>"), ""),
    (re.compile(rf"""["']?\b(?:{_KEY}|month|year|date)["']\s*:""", re.IGNORECASE), ""),
    (re.compile(r"<br ?/?>"), " "),
    (re.compile(r"(?<=[^\s,;:([])\s?(?:\[\d{1,3}(?:,\s?\d{1,3})*\]|\u3010[^\u3011]*\u3011|:contentReference\[[^\]]*\]\{[^}]*\})"), ""),
    (re.compile(r"\\\\"), ", "),
    (re.compile(r"\\(?:q?quad|[ ,;:!\n]|[\[\]()])|~"), " "),
    (re.compile(r"\\(?:[fhm]?box(?:ed)?|boxed|emph|left|right|underline|bm|large|Large|(?:text|math)?(?:rm|bf|it|tt|sf|normal)|text|math)(?![a-z])"), ""),
    (re.compile(r"\*\*|[\\{}$*`]|(?<![^\W_])_+|_+(?![^\W_])"), ""),
]  # fmt: skip
_CLEAN = re.compile(r"[A-Za-z0-9 .,:()'/&-]*")
_JSON_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_JSON_KEY = re.compile(
    r"""^[\s{]*["'][a-z_ ]{2,40}["']\s*:\s*(?=["'])""", re.IGNORECASE
)
_SYMBOLS = ("So", "Cf", "Co", "Cs", "Cn", "Mn")  # ticks, emoji, marks without width
_OUTER = " \t\r\n.!,;:\"'[]<>|#=-\u2020\u2021"


def clean(text: str) -> str:
    """Return one line of text without markup, tags, citations, symbols and doubled blanks.

    Compatibility characters (NFKC) and typographic ones become plain ones.
    """
    if not _CLEAN.fullmatch(text):
        text = _JSON_ESCAPE.sub(r"&#x\1;", text) if "\\u" in text else text
        text = html.unescape(text) if "&" in text else text
        text = unicodedata.normalize("NFKC", text.translate(_TYPOGRAPHIC))
        for pattern, replacement in _NOISE:
            text = pattern.sub(replacement, text)
        text = "".join(c for c in text if unicodedata.category(c) not in _SYMBOLS)
    return " ".join(text.split())


def bare(text: str) -> str:
    """Return `text` without outer punctuation."""
    return text.strip(_OUTER)


_WRONG = r"(?:wrong|incorrect|mistaken|a\smistake|false|not\s(?:right|correct|true))"
_COMMENT_STARTS = r"(?:[.;:!?(\[]|\s-)[\s.-]{0,5}"
_NAMES = r"[A-Z][\w'-]*(?:\ (?:of|the|de|and|&)|\ [A-Z][\w'.-]*)*"
_MONTH_OR_START = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|The|He|She|It|As|In|This)\b"
)
# What is no comment on a value: it takes it back or puts another beside it.
_TAKEN_BACK = re.compile(
    rf"""
    # "X (no, wait: Y)", "X. Sorry, I meant Y", "X (wrong!)", "X (it could be Y)"
    (?:,\s|{_COMMENT_STARTS})
        (?:(?:but|oh|well|hmm|ah|and|or|so|no|i|it|that|this|is|was|think|believe)\b\W*){{0,4}}
        (?:wait|hold\ on|hang\ on|mistake|correct(?:ed|ion)|correct(?=:)|sorry|apologies|oops|actually
           |i\ mean|meant|nope|no(?=\s*[,:.!-])|(?:make|scratch|strike|take)\ (?:that|it)
           |on\ (?:second\ thought|reflection)|rather(?=[,:])|(?:which\ (?:is|was)\ )?{_WRONG}
           |(?:may|might|could)\ (?:\w+\ )?be|not\ [^,.;]{{1,60}}\ but(?-i:(?=\ [A-Z]))
           |should\ (?:be|read|have\ been)(?!\ (?:noted|right|correct|clear|mentioned)))\b
    |(?:[,;]\ |[(\[])but\ (?:really|probably|maybe|perhaps|possibly|more\ likely
        |(?:i\ (?:think|believe)|it|that|this)(?!\ (?:is|was)(?:\ not|n't)))\b
    # "X (or Y)", "X; alternatively, Y", "X until 1990 and Y"
    |{_COMMENT_STARTS}(?:or(?!\ (?:simply|just|also|more\ \w+ly)\b)|and/or|maybe|perhaps|possibly
        |probably|else|vs|alternative(?:ly)?)\b
    |[(\[](?-i:[A-Z])[^)\]]*\ if\b|\bmy\ bad\b|\bgive\ or\ take\b
    |[(\[]and\b(?!\ (?:not?|so)\b)
    |^[^.,;:(\[]*[0-9]{{4}}(?:\ (?:and|then)|[,;](?:\ (?:and|then|but))?)\ (?-i:(?!{_MONTH_OR_START})[A-Z])
    |^[^.,;:(\[]*\b(?:is|was)\ {_WRONG}\b
    |;\ (?-i:{_NAMES})(?:\ \(|[;.]|$|\ since$)
    |(?:,\ (?:but\ )?|[(\[]|\s-\s)also\ (?-i:[A-Z])|\bas\ well\ as\ (?-i:[A-Z])
    # "X, although it could be Y"
    |\b(?:al)?though\b[^.;]*\b(?:could|may|might|perhaps|possibl[ey]|maybe|more\ likely)\b
    # "X, unless …, in which case Y", "X if …, otherwise Y"
    |\b(?:alternatively|depending\ on|in\ which\ case|unless)\b
    |(?:also|equally|another)\ (?:\w+\ )?(?:possib\w+|plausible|right|correct|valid)\b
    |[.,;]\ (?:otherwise|else)\b|\botherwise$|;\ (?:but\ )?if\b|\bif\b[^.,;]*[.,;].*\bif\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


# "**Cardiff City** took over from them in 1990"
_BOLD_FIRST = re.compile(
    r"\s*\*\*(?P<value>[^*\na-z][^*\n]*)\*\*\s(?:is|was|were|has|had|took|held|became|began|went|came"
    r"|won|ran|led|did|[a-z]+ed)\b[^\n]*"
)
# Words that lead to a value: "it was …", "the answer is …".
_LEAD = re.compile(
    r"(?:(?:so|thus|therefore|hence|that|which),? )?"
    r"(?:(?:(?:the )?(?:correct |final |resulting )?(?:answer|option|choice|label|date|month|time"
    r"|relation(?:ship)?)s?|it|this|that)"
    r"(?: (?:is|are|was|would be|must be|should be)[: ]+| ?[:=] ?))?",
    re.IGNORECASE,
)


def read_bare(text: str) -> str:
    """Return an answer without noise, outer punctuation and words that lead to it."""
    if bold := _BOLD_FIRST.fullmatch(text):
        text = bold["value"]
    text = bare(_JSON_KEY.sub("", clean(text)))
    return text[_LEAD.match(text).end() :].lstrip(_OUTER)


# --------------------------------------------------------------------- the verdict


# The published and the flexible answer, what the latter was read as, and the reference.
Readings = tuple[Answer | None, Answer | None, object, object]
_NONE = Answer(None, None)


def _verdict(
    response: str,
    readings: Readings,
    exact: bool,
    score_flexible: float,
    f1: float | None = None,
) -> Verdict:
    """Return the verdict on a response: its scores, and the word for their reason."""
    published, flexible, value, reference = readings
    scores = {"exact_match": float(exact)}
    if f1 is not None:
        scores["f1"] = f1
    scores["score"] = score = float(exact) if f1 is None else f1  # as in the paper
    scores["score_flexible"] = float(score_flexible)
    scores["extracted"] = 1.0 if published else 0.0
    reason = _reason(response, readings, score, score_flexible)
    first, second = published or _NONE, flexible or _NONE
    shown = first.text, first.span, second.text, second.span
    return Verdict(scores, reason, *shown, value, reference)


def _reason(
    response: str, readings: Readings, score: float, score_flexible: float
) -> str:
    """Return the word of REASONS for two scores and what they come from."""
    published, flexible, value, _ = readings
    if score_flexible == 1:
        return "right" if score == 1 else "flexible_only"
    if (
        score == 1
        and flexible
        and (value is not None or not _overlap(published, flexible))
    ):
        return "superseded"
    if flexible is None and _is_cut_off(response):
        return "cut_off"
    if flexible is published is None:
        return "no_answer"
    if value is None:
        return "unreadable"
    return "partly_right" if score_flexible else "other_value"


def _overlap(one: Answer, other: Answer) -> bool:
    return one.span[0] < other.span[1] and other.span[0] < one.span[1]


def _is_cut_off(response: str) -> bool:
    """Tell whether a response without an answer ends within a reasoning block or a box."""
    box = response.rfind("\\boxed{")
    in_box = box >= 0 and response.find("}", box) < 0
    return in_box or mask_reasoning(response + ".").endswith("\n")


def _f1(shared: int, answered: int, wanted: int) -> float:
    return 2 * shared / (answered + wanted) if shared else 0.0


# ---------------------------------------------------------------------------- QA

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
# What is cut off an answer, each only where no gold has one: a comment.
_QA_COMMENTS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\s*[(\[][^()\[\]]*[)\]]?",
        r",?\s(?:because|since|as (?:the|he|she|it|they|of|per|stated|mentioned|indicated|shown)"
        r"|given that|based on|according to|although|though|while|whereas|rather than"
        r"|instead of)\b.*",
        r",\s(?:not|as|so|but|which|whom?|of which|for|before|after|during|having|despite)\s.*",
        rf"[.!](?<=\w\w.){_NOT_ABBREVIATED}\s+(?-i:(?=[A-Z])).*",
        r"\s-{1,2}\s.*",
        r"[;:]\s.*",
        r",?\s(?:from|between|in|during|until|since|as of|by|around)\s(?:\w+,?\s){0,3}\d{4}\b.*",
        r",?\s\d{4}\s?-\s?(?:\d{2,4}|present)$",
    )
]
# Capitalised words of which none denies, doubts or stands between two names.
_NAME = re.compile(
    r"(?!.*\b(?:Or|Not?|N(?:one|ever|othing|owhere|either)|Can(?:not)?|Could|Un\w+|I[mn]\w+|Either"
    r"|Except|Maybe|Perhaps|Possibly|Vs|Versus|Far|Anything|Hardly|Torn|Gives|Is|Was|Lacks?|Left"
    r"|Leaves|Without|Missing|Silent|Absent|Unless|Depending|Also|Another|Otherwise)\b)"
    r"[A-Z]\w*(?: [A-Z0-9]\w*)*"
)
# "The head coach in May 2021 was", "He played for"
_SUBJECT = re.compile(
    r"(?:(?:based on|according to|given) the (?:context|text|passage|article), )?"
    r"(?:(?:he|she|they) (?:was|is|were)"
    r"|(?:he|she|they|(?-i:(?:[A-Z][\w.'-]+ |y |de ){1,5}))"
    r" ?(?:(?:play|work)(?:ed|s) (?:for|at)|studied at|attended|joined|belong(?:ed|s) to|was educated at)"
    r"|(?!.*\b(?:not?|never|\w*correct|wrong|other|previous|next|former)\b)"
    r"(?:the|his|her|their) [^,.;:()]{1,100}? (?:was|is|were))\s(?=(?:the |an? )?(?-i:[A-Z]))",
    re.IGNORECASE,
)
_INFORMATION = (
    r"(?:information|info|answer|mention|evidence|data|context|details?|record|indication"
    r"|reference|hint|clue|text|passage|article|paragraph)"
)
_UNANSWERABLE = re.compile(
    rf"""
    un-?(?:answerable|determinable)
    |^(?:(?:it|this|there|the\ answer)(?:'s|\ is|\ remains)\ )?
      (?:none|not\ applicable|indeterminate|un(?:known|clear|specified|stated|determined|disclosed))
      (?=$|\s?[^\w\s]|\s(?:from|in|by|based|given|mentioned|for|because|since|as)\b)
    # "could not be determined", "no school is named", "not stated or implied"
    |\b(?:(?:could|can|would)\s)?
      (?:not|cannot|can't|(?:does|do|is|was|did|are|could)n't|never|nowhere
        |no(?!\ (?:other|one|longer|doubt)))\s(?:[\w']+\s){{0,3}}?
      (?:(?:answer|determin|infer|mention|specif|provid|conclud|indicat|contain|includ|ascertain
        |establish|deduc|identif|verif|confirm|list|cover|disclos|discern|decid|record|report
        |address|reveal|document|discuss)\w*
       |stated?|given?|known|tell|told|say|said|found|find|available|named|enough\ information)\b
      (?:\s(?:or|nor|and)\s(?-i:[a-z]+(?:ed|able))\b)?
    |\b(?:impossible|unable|no\ way)\ to\b|\bnothing\b(?!\ (?-i:[A-Z]))
    |\b(?:cannot|can't|could\ not|couldn't)\ be\ \w*(?:ed|wn|en|nd|id|ld)\b
    |\bnot\ in\ the\ {_INFORMATION}\b|\b(?:left|leaves?)\ (?:\w+\ )?open\b
    # "no information", "the context lacks details", "the text is silent", "it offers no hint"
    |\b(?:no|insufficient|not\ enough|not\ sufficient|without|lacks?(?:\ of)?)\s
      (?:\w+\s){{0,2}}?{_INFORMATION}\b
    |\b{_INFORMATION}\s(?:(?!sa(?:ys?|id)|state|that|tell|show|so)\w+\s){{0,3}}?
      (?:no|not|never|\w+n't|missing|insufficient|lacking|absent|silent|incomplete|unavailable)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What leads from "unanswerable" to a value.
_BESIDE = re.compile(
    r"[,.;:]\s*(?:so|but|yet|still|however|thus|therefore|hence|now|instead)\b"
    r"|\b(?:or|rather(?! than)|but|gives)\b|=>",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"[:(]|[.;]\s(?!(?i:but|however|so|still|yet)\b)|\s-\s|\b(?:because|since|as|given)\b"
)
# A name before it or behind a colon, and a condition under which it holds.
_NOT_SAID = re.compile(
    rf"^(?!\w+ly,|Sorry|No\b){_NAME.pattern}, |: {_NAME.pattern}$"
    r"|un-?answerable\W+(?:if|unless|when)\b"
)
_HEDGE = re.compile(
    r"\b(?:or|not|never|either|neither|except|maybe|perhaps|possibly|versus|vs|no longer|far from"
    rf"|anything but|hardly|cannot|torn|undecided|gives|(?:is|was) {_WRONG})\b"
    r"|n't\b|->|[?/|]|\s\+\s|[\"'],\s?[\"']",
    re.IGNORECASE,
)


def normalise(text: str) -> list[str]:
    """Return the words of a text as SQuAD compares them: no case, punctuation, articles."""
    text = text.lower()
    if not text.replace(" ", "").isalnum():
        text = text.translate(_WITHOUT_PUNCTUATION)
    if text.isascii() and text.isprintable():  # then a word is what blanks part
        return [word for word in text.split() if word not in ("a", "an", "the")]
    return _ARTICLE.sub(" ", text).split()


def token_f1(words: list[str], golds: Iterable[list[str]]) -> float:
    """Return the F1 of normalised words with the best of several golds (SQuAD)."""
    if words in golds:
        return 1.0
    best = 0.0
    for gold in golds:
        shared = sum(min(words.count(word), gold.count(word)) for word in set(gold))
        best = max(best, _f1(shared, len(words), len(gold)))
    return best


@lru_cache(maxsize=4096)
def _read_golds(golds: tuple[str, ...]) -> tuple[list, list, list]:
    """Return the golds' words, their texts without noise, and the words of these."""
    texts = [clean(gold) for gold in golds]
    words = [normalise(gold) for gold in golds]
    return words, texts, words if texts == [*golds] else [*map(normalise, texts)]


def read_span(text: str, golds: Sequence[str] = ()) -> str | None:
    """Return the name or phrase that an answer gives, "unanswerable", or None.

    A comment (brackets, a reason, a time range, another sentence) is cut off where none
    of the golds has one of its kind. What hedges ("X or Y") or takes back is None.
    """
    if text in golds or clean(text) in golds:
        return clean(text)
    said = read_bare(text)
    if _NAME.fullmatch(said):
        return said
    said = re.sub(r"\s?/\s?", "/", said)
    if (subject := _SUBJECT.match(said)) and not any(map(_SUBJECT.match, golds)):
        said = said[subject.end() :]
    if _TAKEN_BACK.search(said) and not any(map(_TAKEN_BACK.search, golds)):
        return None
    span = _without_comments(said, golds)
    if _UNANSWERABLE.search(span):
        return "unanswerable" if _is_unanswerable(said) else None
    hedges = set(_HEDGE.findall(span.casefold()))
    named = hedges and {*_HEDGE.findall("\n".join(golds).casefold())}
    return span if span and hedges <= named else None


def _without_comments(said: str, golds: Sequence[str]) -> str:
    """Return an answer without the kinds of comments that none of the golds has."""
    for comment in _QA_COMMENTS:
        if comment.search(said) and not any(map(comment.search, golds)):
            said = bare(comment.sub("", said)) or said
    return said


def _is_unanswerable(said: str) -> bool:
    """Tell whether what has words for it commits to "unanswerable", and to no value."""
    says = _UNANSWERABLE.search(said)
    if not says or _NOT_SAID.search(said):
        return False
    before = said[: says.start()]
    if not commits(before) or re.search(r"\b(?:or|rather|but)\b", before):
        return False
    after = _REASON.split(said[says.end() :])[0]
    beside = _BESIDE.search(after)
    return not beside or bool(_UNANSWERABLE.search(after[beside.end() :].strip()))


_NOT_ANSWERED = ["unanswerable"]


def explain_qa(doc: dict, response: str) -> Verdict:
    """Return the verdict on an answer to an extractive question: its best gold counts.

    Flexible: as published, but a question without an answer is answered or not, without
    an overlap of words.
    """
    published, flexible = extract(response)
    golds, texts, flexible_golds = _read_golds(tuple(doc["golds"]))
    words = normalise(published.text) if published else []
    value = flexible and read_span(flexible.text, texts)
    same = published and value == published.text
    value_words = words if same else normalise(value or "")
    if value_words not in flexible_golds:  # a question is answered or not
        flexible_golds = [gold for gold in flexible_golds if gold != _NOT_ANSWERED]
        value_words = [] if value_words == _NOT_ANSWERED else value_words
    overlap = token_f1(value_words, flexible_golds)
    readings = published, flexible, value, doc["golds"]
    f1 = token_f1(words, golds)
    return _verdict(response, readings, words in golds, overlap, f1)


# ------------------------------------------------------------------------- dates

MONTHS = (
    "january february march april may june july august september october november"
    " december"
).split()
# Every name of a month that is whole or cut to three letters or more.
_MONTH_NUMBERS = {
    name[:length]: number
    for number, name in enumerate(MONTHS, 1)
    for length in range(3, len(name) + 1)
}
# "Aug, 1987", "August 1987": dateutil surely reads these so, and takes 20 times as long.
_PLAIN_MONTHS = {
    f"{name}{mark} ": number
    for number, month in enumerate(map(str.title, MONTHS), 1)
    for name in (month, month[:3])
    for mark in ("", ",")
}
MAX_DATE_LENGTH = 100


class _YearsAsWritten(dateutil_parser.parserinfo):
    """Takes a year of two digits as it is, where dateutil would ask the clock."""

    def convertyear(self, year: int, century_specified: bool = False) -> int:
        return year


_PARSER = dateutil_parser.parser(_YearsAsWritten())


def read_plain_month(text: str) -> tuple[int, int] | None:
    """Return year and month of a text in the form of golds, None for others."""
    month, year = _PLAIN_MONTHS.get(text[:-4]), text[-4:]
    is_plain = month and year.isascii() and year.isdigit() and year[0] != "0"
    return (int(year), month) if is_plain else None


def parse_month(text: str) -> tuple[int, int] | datetime | None:
    """Return the year and month that dateutil reads in a text, or None (card).

    A day does not count. With a clock or a zone it is a datetime, which equals no month.
    """
    if plain := read_plain_month(text):
        return plain
    return _parse_month(text) if len(text) <= MAX_DATE_LENGTH else None


@lru_cache(maxsize=1024)
def _parse_month(text: str) -> tuple[int, int] | datetime | None:
    """Return what dateutil reads where the text alone says month and year, or None.

    What it does not say is filled in from a default, so that with two defaults it shows.
    A zone is not asked of the machine.
    """

    def zone(name: str | None, offset: int | None) -> timezone | None:
        return None if name is offset is None else timezone.utc

    try:
        first, second = (
            _PARSER.parse(text, default=default, tzinfos=zone).replace(day=1)
            for default in (datetime(2000, 1, 1), datetime(2001, 2, 1))
        )
    except Exception:  # of hostile text, dateutil raises far more than ParserError
        return None
    if first != second:
        return None
    is_month = first == datetime(first.year, first.month, 1)
    return (first.year, first.month) if is_month else first


_DATE = re.compile(
    r"""
    \s*(?:(?:in|the|on|around|exactly|month(?:\sof)?|year|a\.?d\.?|anno\sdomini)\s)*
    (?:
        # August 1987, Aug., 1987, 1 August of 1987, August 1st, 1987, March of the year 1055
        (?:[0-9]{1,2}(?:st|nd|rd|th)?[\s-](?:of\s)?(?:the\s)?)?
        (?P<name>[a-z]{3,9})\.?
        (?:\s\(?[0-9]{1,2}(?:st|nd|rd|th)?(?=[),\s]))?
        (?:[\s,/."()-]|of\s|(?:in\s)?(?:the\s)?year\s|a\.?d\b|anno\sdomini\b)+
        (?P<year_last>[0-9]{3,4})\)?
        # 08/1987; 15/08/1987 or 08/15/1987, of which one number can be the month
        |(?P<one>[0-9]{1,2})\s?[-/.]\s?(?:(?P<other>[0-9]{1,2})\s?[-/.]\s?)?(?P<year>[0-9]{4})
        # 1987-08, 1987-08-01, 1987, August
        |(?P<year_first>[0-9]{4})
        (?:\s?[-/.]\s?(?P<month>[0-9]{1,2})(?:[-/.][0-9]{1,2})?|[\s,-]+(?:month\s)?(?P<name_last>[a-z]{3,9})(?:\s[0-9]{1,2})?)
    )
    (?![\w'])(?:\s?(?:a\.?d|c\.?e)\b\.?)?
    (?:\s[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)?(?:\s(?:gmt|utc)\b)?
    """,
    re.VERBOSE,
)
# "The time 4 years before Oct, 1748 is Jun, 1744": what leads to the value.
_DATE_LEAD = re.compile(
    r"(?:\b(?:is|was|be|gives|yields|equals|on|get)|=|:)\s+(?=[a-z0-9])"
)
_DATE_ALONE = re.compile(
    rf"(?:[\s,;.:=(\[\"'-]|i\.e|that is|or)*(?:{_DATE.pattern})(?=\W*$|[),;.]|\s(?:if|when)\b)",
    re.VERBOSE,
)
_BRACKETS = re.compile(r"^\s*[(\[][^()\[\]]*[)\]]")
# What may follow a date without touching it: the end, punctuation, a reason.
_COMMENT = re.compile(
    r"\s*(?:$|[.;:,!(\[|\"'=-]|(?:because|since|as|given|for|due|based|according|which|where"
    r"|while|whereas|although|though|but|rather|instead|not|so|meaning|considering"
    r"|after|when|if|only|is|are|fits?)\b)"
)
_NO_COMMENT = re.compile(
    rf"[\W_]*(?:or|and|then|to|until|through|vs|either|maybe|perhaps|possibly|probably)\b"
    rf"|\s(?:not|(?:is|was) {_WRONG})\b|-(?:3[2-9]|[4-9]\d)\b|\s?-\s?\d{{3,4}}\b"
)


def read_month(text: str) -> tuple[int, int] | None:
    """Return year and month of an answer that says these, and a day at the most.

    They stand at its beginning, behind the last "=", or after "is" and the like. A
    comment may follow, but no other month, and no era before Christ.
    """
    if plain := read_plain_month(text):
        return plain
    text = read_bare(text).casefold()[: 2 * MAX_DATE_LENGTH].lstrip("(")
    result = text.partition("(")[0].rfind("=") + 1
    first = result if _DATE_ALONE.match(text, result) else 0
    for start in (first, 0, *(lead.end() for lead in _DATE_LEAD.finditer(text))):
        date = _DATE.match(text, start)
        rest = text[date.end() :] if date else ""
        if date and _only_comments(rest):
            others = (
                _DATE_ALONE.match(rest),
                _DATE_ALONE.match(_BRACKETS.sub("", rest)),
            )
            month, *named = map(_month_of, (date, *filter(None, others)))
            same = {month, None}.issuperset(named)
            return month if same and commits(text[:start]) else None
    return None


def _only_comments(rest: str) -> bool:
    """Tell whether what follows a date is a comment on it, and no hedge."""
    after = _BRACKETS.sub("", rest, count=1)
    hedges = _NO_COMMENT.match(after) or _TAKEN_BACK.search(rest)
    return bool(_COMMENT.match(after)) and not hedges


def _month_of(date: re.Match) -> tuple[int, int] | None:
    """Return the year and the month, where it can only be this one, of a date."""
    year = int(date["year_first"] or date["year_last"] or date["year"])
    if name := date["name"] or date["name_last"]:
        months = {_MONTH_NUMBERS.get(name)} - {None}
    else:
        one, other = int(date["month"] or date["one"]), int(date["other"] or 0)
        pairs = ((one, other), (other, one))
        months = {month for month, day in pairs if 1 <= month <= 12 and day <= 31}
    return (year, months.pop()) if len(months) == 1 else None


def explain_date(doc: dict, response: str) -> Verdict:
    """Return the verdict on the month and year of an answer."""
    published, flexible = extract(response, alone=True)
    months = list(map(parse_month, doc["golds"]))
    moment = published and parse_month(published.text)
    value = flexible and read_month(flexible.text)
    readings = published, flexible, value, months
    return _verdict(response, readings, moment in months, value in months)


# ----------------------------------------------------------------------- options

_PUBLISHED_LETTER = re.compile(r"\b([A-D])(?:\.|,|\s|&|$)")
_PLAIN_LETTERS = re.compile(r"[A-D](?:, ?[A-D])*")
_LOWER_LETTERS = re.compile(r"[a-d](?:(?:[\s,;&]+|\band\b)+[a-d])*")
_BULLET = re.compile(r"\s*(?:(?:[-*+>\u2022\u25cf]|[0-9]{1,2}[.)])\s+)?")
_ITEM = re.compile(r"\s*(?:[-*+>\u2022\u25cf|]\s|[0-9]{1,2}[.)]\s|\W*[A-D]\b)")
_OPTION_TOKEN = re.compile(r"\d+\.\d+|\w+(?:'\w+)*|[^\w\s\"]")

# In this order, before other noise goes: verdicts by marks, and what is no option.
_MARKED = [
    (re.compile("\\[ \\]|[\u00ac\u2610\u274c\u274e\u2716-\u2718]"), " false "),
    (re.compile("\\[[xX]\\]|[\u2611\u2705\u2713\u2714]"), " true "),
    (re.compile(r"<(del|s|strike|sup)>[^<]*</\1>|\[\^\d+\]"), " "),
    (re.compile(r"</?(?:option|letter|label|li|ul|ol)>|\\item\b"), " "),
    (re.compile(r"\\(?:land|wedge)\b"), " and "),
    (re.compile("[\u3010\u3011]"), " | "),
    (re.compile("[-=]+>"), " gives "),
]
# What follows the word for a label: "contradicts the hypothesis".
_OF_TWO = (
    r"(?:\s(?:the|to|towards?|with|of|each|other|premise|hypothesis|it"
    r"|by(?= (?:the )?(?:premise|hypothesis)))\b)*"
)
# Phrases, and the one word that says the same.
_PHRASES = [
    (re.compile(pattern, re.IGNORECASE), word)
    for pattern, word in (
        (r"(?<=\d)\s?([ap])\.\s?m\b\.?", r" \1m"),
        (r"(?<=\d)\s?\(?\b(a)\.\s?(d)\b\.?\)?|(?<=\d)\s?\(?\b(b)\.\s?(c)\b\.?\)?", r" \1\2\3\4"),
        (r"\b(?-i:([a-d])\.([a-d])\.)", r"\1\2"),
        (r"(?<![^\s])\d[.)]\s(?=[A-D]\b)", ""),
        (r"\bnon-?\s?(?=entail|neutral|contradict)", "not "),
        (rf"\bentail\w*{_OF_TWO}", "entailment"),
        (rf"\bneutral\w*{_OF_TWO}", "neutral"),
        (rf"\bcontradict\w*{_OF_TWO}", "contradiction"),
        (r"\b(?:as well(?: as)?|(?:along|together) with)\b", "and"),
        (r"\b(?:rather than|instead of|as opposed to|(?:other|apart|aside) (?:than|from)|unlike"
         r"|except(?:ing)?(?: for)?|excluding|with the exception of)\b", "not"),
        (r"\bnot (?:only|just|merely)\b(?=.*\bbut\b)", "both"),
        (r"\b(?:no (?:doubt|question)|without (?:a )?doubt)(?: about (?:it|that))?\b", "surely"),
        (r"\bi\.\s?e\b\.?|\bas follows\b", "namely"),
        (r"\bnot (?:(?:quite|entirely|so|too) )?(?:sure|certain)\b", "unsure"),
        (r"\bopt\b(?! for)\.?", "option"),
        (r"\b(?:go(?:ing)? with|settled? (?:on|for)|opt(?:ed)? for|decided? on)\b", "choose"),
        (r"\b(?:(?:up)?on (?:closer|second|further|deeper) \w+|on reflection|in (?:fact|the end|reality)"
         r"|on the contrary|i mean|(?:scratch|strike|forget|disregard) (?:that|this))\b", "actually"),
        (r"\b(?:has|have|ought) to be\b", "is"),
        (r"\b(?:would|could|might|should) have\b", "had"),
    )
]  # fmt: skip

# A line is read as a code, one character for each word or mark: M for an option by its
# letter (and text), T for one by its text alone, a mark for itself, and for other words
# these. So "B, D (A and C are too long)" is "M,M(M&Mvxw)", and "B. two hours" is "M".
_WORDS = {
    "&": "and +",
    # Idle: beside options they say nothing.
    "i": "plus also more both only alone just indeed really clearly definitely certainly surely"
    " obviously directly logically strictly explicitly namely far much way simply well already",
    # Of these none follows the text of an option: it would be another text.
    "j": "a an the of in on e my our your one ones two three four following option options choice"
    " choices letter letters answer answers label labels set selection pick picks final i i'd i'll"
    " i'm we we'd say choose select conclude get have take think believe go going case relation"
    " relationship premise hypothesis statement statements sentence sentences between above most"
    " overall each list durations values candidates",
    "q": "it they this that these those them it's that's he she",
    # Verbs, words of approval, verdicts by a mark, and words of fault.
    "v": "is am are was were be been being can could would may might must will should seem seems sound"
    " sounds look looks make makes do does did has",
    "p": "correct plausible right possible valid likely reasonable acceptable best better good"
    " suitable appropriate sense realistic typical fit fits fitting work works apply applies match"
    " matches hold holds remain remains remaining stay stays survive survives keep kept accepted"
    " chosen enough usual common normal natural sensible logical consistent",
    "y": "true yes 1",
    "x": "0 wrong incorrect false mistaken ruled exclude excluded eliminate eliminated reject rejected"
    " dismiss dismissed discard discarded drop dropped fail fails out off bad other others rest"
    " distractor distractors trap traps tempting naive misleading",
    "o": "too impossible implausible improbable unlikely unreasonable unrealistic unsuitable"
    " inappropriate invalid",
    "z": "no",
    "n": "not neither never less least none nobody nothing without cannot",  # and all in "n't"
    "h": "or nor either maybe perhaps possibly probably alternatively else otherwise wait unsure"
    " guess ?",
    "f": "if unless had assuming provided suppose supposing",
    # They begin what contrasts, what follows from a reason, and a reason.
    "k": "but however yet actually instead correction corrected changed revised sorry oops meant",
    "s": "so thus hence therefore consequently gives leaves leaving",
    "r": "as because since given for while whereas although though where which due based with"
    " considering despite by per",
    "u": "all everything anything every",
    ".": "!",
}
_CODES = {word: code for code, words in _WORDS.items() for word in words.split()}
_MARKS = ".,;&:-/|()[]'="
_MENTION = re.compile(
    r"""
    # "B", "B. two hours", "B (two hours", but no article: "A few minutes"
    (?P<letter> A(?![wj]|p\w) | (?<=[&h])A | [B-D] ) (?: [-.):\]'(\[]* (?P<own>[a-d]) )?
    # "two hours", "two hours (B"
    |(?P<text> [a-d] ) [(\[']* (?P<after> [A-D](?=[)\]']|$) )?
    """,
    re.VERBOSE,
)
# "A, B and also C", "A or B"
_GROUP = re.compile("M(?:[',&/|hi]*M)*|T(?:[',&/|hi]*T)*")
# "B and C. Two hours would be too long", where the text is not that of C
_NEW_SENTENCE = re.compile(r"([A-D][,&]+[A-D])\.(?=[a-d][(&noqvwx])")
_RANGE = re.compile(r"[A-D][.)\]']*-[(\[']*[A-D](?![a-z:=(\[]|[-.)\]']+[a-d])")
# What is said of the options before it, up to another clause.
_PREDICATE = re.compile(
    r"(?P<mark>[-,:()\[\]|='/]*s?[-,:()\[\]|='/]*)(?P<said>[hijnopquvwxyz]*)(?P<next>.?)"
)
_DENIES = re.compile(
    r"""
    [iquv]*
    (?: vn                          # "is not"
    |   z                           # "no"
    |   [nz][ijqv]*w?[py][iq]*      # "not a good fit"
    |   o[ow]?w?                    # "too long", "impossible"
    |   x[ijqv]*(?:[ox].*)?         # "wrong", "ruled out as too long"
    )
    """,
    re.VERBOSE,
)
_APPROVES = re.compile("[ijqv]*(?:[py][^fhnoxz]*)?")
_CLOSED = "ijqvpyu"  # all that may lead to options which an answer commits to
_OPENING = re.compile(
    rf"""
    (?:.*[sk]|r.*[,:-])?            # "Six days pass, so": a reason, what follows from it
    [{_CLOSED}\W]*                  # "the best options are"
    (?:[norxz][^,.;]*)?             # "neither of"
    """,
    re.VERBOSE,
)
_WITHDRAWN = re.compile(
    r"""
    [])'(,-]*[ijpqvwy]*k,?          # "B fits, but"
    (?: [ijpqvwy]*(?:[nz][iv]*w|h)  # "I am not sure", "maybe"
    |   [iqv]*x                     # "it is wrong"
    )
    """,
    re.VERBOSE,
)
_COMMENTING = re.compile(
    r"""
    \([^)]*[MT]                                 # options in brackets
    |[.;ks][^.;knrswxz]*[nrwxz][^.;ks]*[MT]     # in a sentence, behind other words
    |r.*T                                       # the text of one, within a reason
    """,
    re.VERBOSE,
)
# "but B", "; no, B", "So B"
_RETRACTS = re.compile(rf"(?:k|[.;,]z,|^\W*s)[{_CLOSED},:.-]*$")
_VERDICT = re.compile(rf"{_DENIES.pattern}|[iv]*[py][ip]*", re.VERBOSE)
_ALL = re.compile(rf"[{_CLOSED}]*u[{_CLOSED}]*")
_ALL_BUT = re.compile(rf"u[{_CLOSED}]*[nk][ij]*$")


def read_published_letters(text: str) -> set[str]:
    """Return the letters that the card's pattern finds in an answer or a reference."""
    return set(_PUBLISHED_LETTER.findall(text))


def _clean_option(line: str) -> str:
    """Return a line without noise, with one word for marks and phrases that say it."""
    if not _CLEAN.fullmatch(line):
        for pattern, replacement in _MARKED:
            line = pattern.sub(replacement, line)
    line = clean(_BULLET.sub("", line, count=1))
    for pattern, word in _PHRASES:
        line = pattern.sub(word, line)
    return line


@lru_cache(maxsize=1024)
def _letters_of_texts(options: tuple[str, ...]) -> dict[tuple[str, ...], set[str]]:
    """Return words -> letters of the options that consist of these, longest first."""
    letters: dict[tuple[str, ...], set[str]] = {}
    for option, letter in zip(options, LETTERS):
        tokens = _OPTION_TOKEN.findall(_clean_option(option).casefold())
        if words := tuple(token for token in tokens if token[0].isalnum()):
            letters.setdefault(words, set()).add(letter)
    return dict(sorted(letters.items(), key=lambda item: -len(item[0])))


def _encode(line: str, texts: Iterable[tuple[str, ...]]) -> str:
    """Return the code of a line: A-D for letters, a-d for texts of options.

    These are told apart from words by a mark before them.
    """
    line = bare(line)
    if _LOWER_LETTERS.fullmatch(line):
        line = re.sub(r"\b[a-d]\b", lambda letter: letter[0].upper(), line)
    elif re.fullmatch("[A-D]{2,4}", line):
        line = " ".join(line)
    tokens = _OPTION_TOKEN.findall(line)
    code, position = "", 0
    first_words = {words[0] for words in texts}
    while position < len(tokens):
        end = None
        if tokens[position].casefold() in first_words:
            ends = [_end_of(words, tokens, position, first_words) for words in texts]
            end = next(filter(None, ends), None)
        if end:
            code, position = code + "abcd"[ends.index(end)], end
        else:
            code += _code(*tokens[position : position + 2])
            position += 1
    return re.sub(r"[(\[']([A-Da-d])[)\]']", r"\1", code.lstrip(_MARKS))


def _code(token: str, following: str = "") -> str:
    """Return the character for a word or mark; small letters need a bracket or stop."""
    if token in [*LETTERS] or (token in [*"abcd"] and following in (")", ".")):
        return token.upper()
    if token == "." and following.islower():
        return ":"  # within a sentence
    if token[0].isalnum():
        other = "n" if token.endswith("n't") else "w"
        return _CODES.get(token.casefold(), other)
    return token if token in _MARKS else _CODES.get(token, "=")


def _end_of(
    words: tuple[str, ...], tokens: list[str], position: int, first_words: set[str]
) -> int | None:
    """Return where these words end that start at `position`, whatever marks are between.

    None where the text goes on, unless with the first word of another option.
    """
    for number, word in enumerate(words):
        while number and position < len(tokens) and not tokens[position][0].isalnum():
            position += 1
        if position == len(tokens) or tokens[position].casefold() != word:
            return None
        position += 1
    following = tokens[position] if position < len(tokens) else "."
    # A verb ("fits", "holds") may follow, and anything a label.
    other = "wjq" if following.endswith("s") else "wjpq"
    ends = following.casefold() in first_words or words[0].capitalize() in THREE_WAY
    return position if ends or _code(following) not in other else None


def _mention(part: re.Match, texts: list[set[str]]) -> tuple[str | None, set[str]]:
    """Return the letter of an option that is named, and the letters for its text."""
    letter, own = part["letter"] or part["after"], part["own"] or part["text"]
    named = texts["abcd".index(own)] if own else set()
    if own and part[0] == "A" + own and "A" not in named:
        letter = None  # "A contradiction" has an article
    return letter, named


def _mentions(line: str, options: tuple[str, ...]) -> tuple[str, list[set[str]] | None]:
    """Return the code of a clean line, with M and T, and the options that these name.

    None for the options where there is a range, or a letter with the text of another
    option, unless it stands between letters and their texts ("A, C: two hours, a week").
    """
    texts = _letters_of_texts(options)
    code = _NEW_SENTENCE.sub(r"\1;", _encode(line, texts))
    parts = [_mention(part, [*texts.values()]) for part in _MENTION.finditer(code)]
    by_letter = {letter for letter, _ in parts if letter}
    by_text = set().union(*(named for _, named in parts))
    beside = [letter in named for letter, named in parts if letter and named]
    clashes = False in beside and not (len(beside) == 1 and by_letter == by_text)
    known = by_letter <= set(LETTERS[: len(options)])
    if clashes or not known or _RANGE.search(code):
        return code, None
    kinds = iter("M" if letter else "T" for letter, _ in parts)
    code = _MENTION.sub(lambda _: next(kinds), code).replace("A", "j")  # an article
    return code, [{letter} if letter else named for letter, named in parts]


class _Group(NamedTuple):
    """Options that stand together, the code of their line there, before and after it."""

    letters: set[str]
    code: str
    before: str
    after: str


def _groups(code: str, found: list[set[str]], every: set[str]) -> list[_Group]:
    """Return the groups of options in the code of a line, of every one those found."""
    places = [group.span() for group in _GROUP.finditer(code)]
    gaps = [code[end:start] for (_, end), (start, _) in zip(places, places[1:])]
    first = code[: places[0][0]]
    verdict_first = bool(set(_lead(first)) & set("noxzpy"))
    shares = [_shares(gap, verdict_first) for gap in gaps]
    befores = [first, *(before for _, before in shares)]
    afters = [*(after for after, _ in shares), code[places[-1][1] :]]
    groups, mentions = [], iter(found)
    for (start, end), before, after in zip(places, befores, afters):
        letters = set().union(
            *islice(mentions, len(re.findall("[MT]", code[start:end])))
        )
        bracket = code.rfind("(", places[0][1], start) > code.rfind(")", 0, start)
        before = "(" + before if bracket else before
        if _ALL_BUT.search(before):
            letters, before = every - letters, ""
        groups.append(_Group(letters, code[start:end], before, after))
    return groups


def _shares(gap: str, verdict_first: bool) -> tuple[str, str]:
    """Return what of the code between two groups may be of the first and of the second.

    "A false B true" and "A: no B: yes" have verdicts behind, "true A false B" before.
    """
    said = _PREDICATE.match(gap)
    denies_next = said["said"][:1] == "n"
    rest = gap[said.end("said") :].strip(":=(")
    if rest or not (denies_next or _VERDICT.fullmatch(said["said"])):
        return gap, gap
    before = verdict_first or denies_next or "," in said["mark"]
    return ("", gap) if before else (gap, "")


def _lead(before: str) -> str:
    """Return what leads to a group: the code before it since another clause began."""
    return re.split(r"[-.,;&/|)\]ks]", before)[-1]


def _stance(group: _Group, named: set[str]) -> str:
    """Tell whether a group is "asserted", "denied", "hedged" or spoken of ("aside").

    What is said of it counts first where it denies, then what leads to it.
    """
    said, led = _stance_said(group.after), _stance_led(group, bool(named))
    return said if "denied" == said or led == "asserted" else led


def _stance_led(group: _Group, named: bool) -> str:
    """Return the stance that what leads to a group gives it, after others or first."""
    before, lead = group.before, _lead(group.before)
    if set(lead) & set("rf"):
        return "hedged" if "h" in lead else "aside"
    if set(lead) & set("noxz"):
        return "denied"
    if "h" in (before if named else lead) + group.code:
        comments = named and set(before) - set(_MARKS + "hijknz")
        return "aside" if comments else "hedged"
    if "w" in lead:
        return "hedged" if named and "k" in before else "aside"
    comments = named and _COMMENTING.search(before + group.code)
    return "aside" if comments else "asserted"


def _stance_said(after: str) -> str:
    """Return the stance that what is said of a group gives it."""
    mark, said, following = _PREDICATE.match(after).groups()
    mark = mark.strip(")]'")
    direct = mark in ("", ",")
    if _DENIES.fullmatch(said):
        return "denied"
    if "h" in said and (direct or not said.strip("hijq")) or _WITHDRAWN.match(after):
        return "hedged"
    if (direct and following == "f") or not (mark or _APPROVES.fullmatch(said)):
        return "aside"
    return "asserted"


def _read_line(line: str, options: tuple[str, ...]) -> tuple[set[str] | None, bool]:
    """Return the options that a clean line commits to, and whether it says nothing else.

    Options stand in groups; what leads to one and what is said of it give its stance, and
    a later one supersedes what it contrasts with. None where there is a hedge, a letter
    with another's text, prose before the first option, or nothing asserted or denied.
    """
    code, found = _mentions(line, options)
    every = set(LETTERS[: len(options)])
    if not found:
        return (every if found == [] and _ALL.fullmatch(code) else None), False
    groups = _groups(code, found, every)
    prose = not _OPENING.fullmatch(groups[0].before)
    named: set[str] = set()
    stances = set()
    for group in groups:
        stance = _stance(group, named)
        stances.add(stance)
        if stance == "denied":
            named = named - group.letters
        elif stance == "asserted":
            retracts = _RETRACTS.search(group.before)
            prose = prose and not retracts
            named = group.letters if retracts else named | group.letters
    if prose or "hedged" in stances or not {"asserted", "denied"} & stances:
        return None, False
    return named, not set(code) - set("MTijnoxyz" + _MARKS)


def read_letters(text: str, options: list[str]) -> tuple[set[str] | None, int]:
    """Return the letters of the options that an answer names, and where it ends.

    "A few minutes" is the option with this text or none, "B. A few minutes" is B, and a
    letter with the text of another option is none.
    """
    if _PLAIN_LETTERS.fullmatch(said := bare(clean(text))):
        named = set(said) - set(", ")
        return named if named <= set(LETTERS[: len(options)]) else None, len(text)
    first = clean(text.partition("\n")[0])
    below = (
        not bare(first) or first.endswith(":") or "\\boxed" in text or text[:1] == "|"
    )
    if not below:  # only what stands together with the first line
        text = re.split(r"\n[\s*_]*\n", text, maxsplit=1)[0]
    return _read_lines(text, tuple(options), below)


def _read_lines(
    text: str, options: tuple[str, ...], below: bool
) -> tuple[set[str] | None, int]:
    """Return the letters of the options that lines name, and where the last one ends.

    Below a cue they may have comments, and crossed out ones stand between them; where the
    first stands beside the cue, a line below counts if it is but an option.
    """
    named: set[str] = set()
    end = len(text)
    for line in re.finditer(r"^.*\S.*$", text, re.MULTILINE):
        said = _clean_option(line[0])
        if not bare(said):
            continue
        letters, pure = _read_line(said, options)
        if letters is None and not named and said.endswith(":"):  # "These fit:"
            continue
        if letters is None or (named and not (pure or below and _ITEM.match(line[0]))):
            break
        named, end = named | letters, line.end()
    return named or None, end


def explain_options(doc: dict, response: str) -> Verdict:
    """Return the verdict on the set of options that an answer names (set F1)."""
    published, flexible = extract(response, several=True, alone=True)
    gold = set(doc["letters"])
    given = read_published_letters(published.text) if published else set()
    value = None
    if flexible:
        value, flexible = _read_options(flexible, doc["options"])
    f1 = _f1(len(given & gold), len(given), len(gold))
    flexible_f1 = _f1(len(value & gold), len(value), len(gold)) if value else 0.0
    readings = published, flexible, value and sorted(value), doc["letters"]
    return _verdict(response, readings, given == gold, flexible_f1, f1)


def _read_options(answer: Answer, options: list[str]) -> tuple[set[str] | None, Answer]:
    """Return the letters of the options that an answer names, and it without the rest."""
    value, length = read_letters(answer.text, options)
    start = answer.span[0]
    return value, Answer(answer.text[:length], (start, start + length))


# -------------------------------------------------------------------- NLI labels

_PLAIN_LABEL = re.compile(r"(?:([A-C])\. )?(Entailment|Neutral|Contradiction)")
_LABEL_WORD = re.compile(r"\b(?:entailment|neutral|contradiction)\b", re.IGNORECASE)


def read_published_label(text: str, options: list[str]) -> str | None:
    """Return the label that an answer names, by word or else by letter (card)."""
    named = {label.capitalize() for label in _LABEL_WORD.findall(text)}
    named &= set(options)
    if not named:
        letters = map(LETTERS.index, re.findall(r"\b[A-C]\b", text))
        return next((options[i] for i in letters if i < len(options)), None)
    return named.pop() if len(named) == 1 else None


def read_label(answer: Answer, options: list[str]) -> tuple[str | None, Answer]:
    """Return the one label that an answer names by word, letter or both, or None.

    Words may be inflected ("contradicts"), and a comment may follow. Where letter and
    word differ, or another label stands beside it, there is none. Second, the answer
    without the lines that are not read.
    """
    if plain := _PLAIN_LABEL.fullmatch(bare(answer.text)):
        letter, label = plain.groups()
        place = LETTERS.index(letter) if letter else 0
        same = label in (options[place : place + 1] if letter else options)
        return label if same else None, answer
    labels = [*options, *(name for name in THREE_WAY if name not in options)]
    named, answer = _read_options(answer, labels)
    label = labels[LETTERS.index(*named)] if named and len(named) == 1 else None
    return label if label in options else None, answer


def explain_nli(doc: dict, response: str) -> Verdict:
    """Return the verdict on the label of an answer."""
    published, flexible = extract(response, several=True, alone=True)
    options, label = doc["options"], doc["label"]
    value = None
    if flexible:
        value, flexible = read_label(flexible, options)
    exact = published and read_published_label(published.text, options) == label
    readings = published, flexible, value, label
    return _verdict(response, readings, bool(exact), value == label)


# -------------------------------------------------------------------- generation


def keyword_share(text: str, keywords: list[str], positions: list[int]) -> float:
    """Return the share of keywords that stand in the sentence they belong to.

    Abbreviations make it unsure where the first of two sentences ends, and either may
    come first: the split and order with the greatest share counts.
    """
    folded = text.casefold()
    words = [rf"(?<!\w){re.escape(word.casefold())}(?!\w)" for word in keywords]
    # Where each keyword stands; a sentence holds one that starts and ends within it.
    spans = [[found.span() for found in re.finditer(word, folded)] for word in words]
    ends = [end.end() for end in re.finditer(r"[.!?]\s+", folded)][:50]
    best = 0
    for end in [*ends, len(folded)]:
        in_first = [any(stop <= end for _, stop in found) for found in spans]
        in_second = [any(start >= end for start, _ in found) for found in spans]
        for order in ((in_first, in_second), (in_second, in_first)):
            best = max(best, sum(order[p][k] for k, p in enumerate(positions)))
    return best / len(keywords)


def explain_generation(doc: dict, response: str) -> Verdict:
    """Return the verdict on two sentences: BLEU-4, ROUGE-L (F1) and the keywords."""
    # Imported here, since they take long to load and one task in eighteen needs them.
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_bleu

    published, flexible = extract(response, several=True)
    lines = flexible.text.split("\n") if flexible else []
    text = " ".join(map(clean, lines)).strip("\"' ")
    bleu = sentence_bleu(text, [doc["statement"]]).score / 100
    rouge = RougeScorer(["rougeL"]).score(doc["statement"], text)["rougeL"]
    share = keyword_share(text, doc["keywords"], doc["keywords_pos"])
    scores = {
        "bleu": min(max(bleu, 0.0), 1.0),  # floating point may leave 1.0 by a hair
        "rouge_l": float(rouge.fmeasure),
        "keywords": share,
        "extracted": float(published is not None),
    }
    readings = published, flexible, text or None, doc["statement"]
    return _verdict(response, readings, False, share)._replace(scores=scores)


# ---------------------------------------------------------- scores, for the YAML files

# `exact_match`, `f1` (QA and options), `score` (the headline of these), `score_flexible`,
# and `extracted`, whether the card's rule found an answer.


def _response(results: list[str]) -> str:
    """Return the one response to score; ValueError where there is another number."""
    if len(results) == 1 and isinstance(results[0], str):
        return results[0]
    raise ValueError(
        f"got {len(results)} responses, the first of type {type(results[0]).__name__},"
        " where one string is scored; let the last filter of the task be `take_first`"
    )


def process_results_qa(doc: dict, results: list[str]) -> dict[str, float]:
    """Score a response to a question on a text."""
    return explain_qa(doc, _response(results)).scores


def process_results_date(doc: dict, results: list[str]) -> dict[str, float]:
    """Score a response that gives a month and a year."""
    return explain_date(doc, _response(results)).scores


def process_results_options(doc: dict, results: list[str]) -> dict[str, float]:
    """Score a response that names one option or several."""
    return explain_options(doc, _response(results)).scores


def process_results_nli(doc: dict, results: list[str]) -> dict[str, float]:
    """Score a response that gives a label."""
    return explain_nli(doc, _response(results)).scores


def process_results_generation(doc: dict, results: list[str]) -> dict[str, float]:
    """Score two generated sentences: `bleu`, `rouge_l`, `keywords` and `extracted`."""
    return explain_generation(doc, _response(results)).scores


# ------------------------------------------------------------------------ documents

# The files of the benchmark: rows, and the fingerprint of their documents.
FILES = {
    "durationqa_f2": (687, "1f7cdc9da1dc14db"),
    "mctaco_f2": (851, "711bff0feb82fb38"),
    "menatqa_counterfactual": (200, "a76408a622df0c52"),
    "menatqa_order": (200, "1b92e87a3cdb051b"),
    "menatqa_scope": (500, "b88dfbad9d224c4b"),
    "situatedgen": (115, "a6a592c739551b70"),
    "tempreason_l1": (500, "8b8afe59c0289d3b"),
    "tempreason_l2": (500, "2bd033eb74a3f713"),
    "tempreason_l3": (500, "7cb1b7ebb8f2bf07"),
    "timedial_f2": (500, "4a0730cde76b858b"),
    "timeqa_easy": (500, "3ecf3002d17d4f99"),
    "timeqa_hard": (500, "058e45b6004b5caf"),
    "timexnli_cs1": (500, "134ea2dd43a9cc46"),
    "timexnli_cs2": (500, "21bb4721a73f338b"),
    "timexnli_cs3": (500, "bf0ac1c072dc729c"),
    "tracie": (500, "1cb0aef5df7beaf8"),
}
# Columns that some files have, for prompts, breakdowns and logs.
EXTRA_COLUMNS = (
    *("qid", "idx", "question", "question_type", "type", "fact_context", "level"),
)
# Columns that are never empty where a file has them, and pairs of equal length.
FILLED_COLUMNS = ("question", "fact_context", "meta")
PAIRED_COLUMNS = (("options", "labels"), ("keywords", "keywords_pos"))

# Readers of cells return what a document holds, or raise ValueError with what is wrong.


def _require(condition: object, wrong: str) -> None:
    if not condition:
        raise ValueError(wrong)


def _text(value: object) -> str:
    _require(isinstance(value, str), "is not a string")
    _require(value.strip(), "is empty")
    return value


def _texts(value: object) -> list[str]:
    wrong = "is not a list of strings that are not empty, with at least one"
    _require(isinstance(value, list) and value, wrong)
    _require(all(isinstance(text, str) and text.strip() for text in value), wrong)
    return value


def _context(value: object) -> str:
    parts = value if isinstance(value, list) else [value]
    strings = all(isinstance(part, str) for part in parts)
    _require(strings, "is not a string or a list of strings")
    return _text("\n".join(parts))


def _golds(value: object) -> list[str]:
    texts = [_text(value)] if isinstance(value, str) else _texts(value)
    golds = [gold.strip() for gold in texts]
    words, _, clean_words = _read_golds(tuple(golds))
    _require(all(words) and all(clean_words), "has an answer without a word")
    return golds


def _months(value: object) -> list[str]:
    golds = _golds(value)
    wrong = 'has an answer that is not a month and a year ("Aug, 1987")'
    _require(all(isinstance(parse_month(gold), tuple) for gold in golds), wrong)
    return golds


def _letters(value: object) -> list[str]:
    labels = _texts(value)
    wrong = 'is not a list of "yes" and "no" with at least one "yes"'
    _require({"yes"} <= set(labels) <= {"yes", "no"}, wrong)
    return [letter for letter, label in zip(LETTERS, labels) if label == "yes"]


def _options(value: object) -> list[str]:
    options = [option.strip() for option in _texts(value)]
    _require(2 <= len(options) <= len(LETTERS), "is not a list of two to four options")
    return options


def _one_of(labels: list[str], value: object) -> str:
    _require(value in labels, f"is not one of {', '.join(labels)}")
    return value


def _positions(value: object) -> list[int]:
    integers = isinstance(value, list) and {type(v) for v in value} <= {int}
    _require(integers and set(value) <= {0, 1}, "is not a list of the integers 0 and 1")
    return value


# What documents hold: field, column, reader of its cells.
_QUESTION = ("question", "question", _text)
_QA = (_QUESTION, ("context", "context", _context), ("golds", "answer", _golds))
_FACTS = ("fact_context", "fact_context", _text)
_OPTIONS = (
    ("context", "context", _text),
    ("options", "options", _options),
    ("letters", "labels", _letters),
)
_GENERATION = (
    ("keywords", "keywords", _texts),
    ("keywords_pos", "keywords_pos", _positions),
    ("statement", "statements", lambda cell: " ".join(_texts(cell))),
)


def _nli(labels: list[str]) -> tuple:
    return (
        ("premise", "Premise", _text),
        ("hypothesis", "Hypothesis", _text),
        ("label", "Label", partial(_one_of, labels)),
        ("options", "Label", lambda cell: labels),
    )


def process_docs_qa(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with a question, a text and its golds."""
    files = "menatqa_scope menatqa_order menatqa_counterfactual timeqa_easy timeqa_hard"
    return _documents(dataset, "qa", f"{files} tempreason_l2 tempreason_l3", _QA)


def process_docs_facts_qa(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with a question, facts and its golds."""
    files = "tempreason_l2 tempreason_l3"
    return _documents(dataset, "facts_qa", files, (*_QA, _FACTS))


def process_docs_date(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents that ask for a month and a year."""
    fields = (_QUESTION, ("golds", "answer", _months))
    return _documents(dataset, "date", "tempreason_l1", fields)


def process_docs_options(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with a question and options."""
    files = "mctaco_f2 durationqa_f2"
    return _documents(dataset, "options", files, (_QUESTION, *_OPTIONS))


def process_docs_dialogue_options(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with a dialogue that has a gap, and options for it."""
    return _documents(dataset, "dialogue_options", "timedial_f2", _OPTIONS)


def process_docs_nli_two_way(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with a premise and a hypothesis, which may contradict each other."""
    return _documents(dataset, "nli_two_way", "timexnli_cs2 tracie", _nli(TWO_WAY))


def process_docs_nli_three_way(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with a premise and a hypothesis, which may be neutral as well."""
    files = "timexnli_cs1 timexnli_cs3"
    return _documents(dataset, "nli_three_way", files, _nli(THREE_WAY))


def process_docs_generation(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with keywords for two sentences."""
    return _documents(dataset, "generation", "situatedgen", _GENERATION)


_made: WeakKeyDictionary = WeakKeyDictionary()  # dataset -> its documents


def _documents(
    dataset: datasets.Dataset, kind: str, files: str, fields: tuple
) -> datasets.Dataset:
    """Return the documents of the rows of a file; made once, the harness asks often.

    Raises ValueError, naming file, row and column, where a column is missing, a cell
    cannot be scored, or there is no row. Logs row count and fingerprint, as a warning
    where they are not those of one of `files`.
    """
    made = _made.setdefault(dataset, {})
    if kind in made:
        return made[kind]
    # `sources.load` and packs name the file; other loaders say "default-…".
    name = (dataset.info.config_name or "default").removesuffix("_timebench")
    name = kind if name.startswith("default") else name
    source, found = f"TimeBench ({name})", dataset.column_names
    for _, column, _ in fields:
        wrong = f"column '{column}' is missing; found {found}. Give rows in the schema"
        _require(column in found, f"{source}: {wrong} of TimeBench-subset-7553")
    _require(len(dataset), f"{source}: there are no rows; give a split with some")
    documents = [
        _document(cells, fields, f"{source}, row {row}")
        for row, cells in enumerate(dataset)
    ]
    candidates = (name,) if name in FILES else tuple(files.split())
    found_digest = fingerprint(map(digest, documents))
    if "level" in found:  # rows made from a seed say so
        candidates = ()
    _report(name, candidates, len(documents), found_digest)
    made[kind] = type(dataset).from_list(documents)
    return made[kind]


def _document(cells: dict, fields: tuple, place: str) -> dict:
    """Return the document of one row; ValueError says what is wrong at `place`."""
    document = {name: cells[name] for name in EXTRA_COLUMNS if name in cells}
    try:
        for column in FILLED_COLUMNS:
            _require(cells.get(column, True), "is empty")
        for field, column, read in fields:
            document[field] = read(cells[column])
        for one, column in PAIRED_COLUMNS:
            wrong = f"does not have as many items as '{one}'"
            _require(len(cells.get(one, "")) == len(cells.get(column, "")), wrong)
    except ValueError as error:
        cell = f"{cells[column]!r:.80}"
        message = f"{place}, column '{column}': {cell} {error}; fix the row"
        raise ValueError(message) from None
    return document


def digest(doc: dict) -> bytes:
    """Return a digest of what prompt and scores of a document depend on."""
    names = {"qid", "idx", "question_type", "type", "level"}
    cells = sorted((k, v) for k, v in doc.items() if k not in names)
    return hashlib.sha256(json.dumps(cells).encode()).digest()


def fingerprint(digests: Iterable[bytes]) -> str:
    """Return one digest of the digests of documents, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]


@lru_cache(maxsize=256)
def _report(name: str, candidates: tuple[str, ...], rows: int, digest: str) -> None:
    """Log rows and fingerprint of a file, once a run; warn where they are not known.

    No candidates stand for rows that are not a file's.
    """
    known = [file for file in candidates if FILES[file] == (rows, digest)]
    found = (
        f"TimeBench ({known[0] if known else name}): {rows} rows, fingerprint {digest}"
    )
    if not candidates:
        eval_logger.info("%s: fresh", found)
        return
    if known:
        eval_logger.info("%s: the benchmark's", found)
        return
    expected = [
        f"{FILES[file][0]} rows, {FILES[file][1]} ({file})" for file in candidates
    ]
    message = "%s; the benchmark has %s: scores may not be comparable"
    eval_logger.warning(message, found, " or ".join(expected))
