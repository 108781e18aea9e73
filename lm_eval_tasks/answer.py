r"""Where a response states its answer: what the flexible rules of all families share.

A family calls `mask`, which hides the reasoning, and `statements`, which finds what the
response commits to. Of a statement it takes the `plain` text, and tries its `readings` by
the grammar of the kind of value that is asked for. ANSWER.md says the rule in words.

Patterns are verbose: white space in them means nothing, and a blank is written `[ ]`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Pattern:
    """A regular expression of the rule, with what it means and examples of it.

    meaning: what the pattern finds, in words.
    reads: text -> what is found in it first, its named part if it has just one; of a pattern
        with a replacement, the text that is left.
    refuses: texts in which it finds nothing.
    replacement: what takes the place of all that is found, or None.
    """

    def __init__(
        self,
        meaning: str,
        text: str,
        reads: dict[str, str],
        refuses: Iterable[str] = (),
        replacement: str | None = None,
        flags: int = 0,
    ):
        """Compile a verbose pattern."""
        self.meaning, self.reads, self.refuses = meaning, reads, refuses
        self.replacement = replacement
        self.regex = re.compile(text, re.VERBOSE | flags)

    def remove_from(self, text: str) -> str:
        """Return a text with the replacement in place of all that is found."""
        return self.regex.sub(self.replacement or "", text)


# ------------------------------------------------------------- 1. reasoning is no answer
_TAG_NAME = r"(?i: think | thinking | reasoning) [>\]\u25b7]"
_CLOSING_TAG = rf"[<\[\u25c1] / {_TAG_NAME}"
CLOSING_TAG = Pattern(
    "The end of a block of reasoning",
    _CLOSING_TAG,
    reads={"B.</think> C": "</think>", "[/THINK]": "[/THINK]"},
    refuses=["<think>", "</b>", "/think"],
)
REASONING = Pattern(
    "A block of reasoning: from its opening tag to its closing one, or else to the end",
    rf"""
    [<\[\u25c1] (?: {_TAG_NAME} | (?<=<) \| (?i:channel) \|> )
    (?: [^<\[\u25c1]+ | [<\[\u25c1] )*?
    (?: {_CLOSING_TAG} | \Z )
    """,
    reads={
        "<think>A or B?</think> B": "<think>A or B?</think>",
        "So [THINK]A": "[THINK]A",
        "\u25c1think\u25b7A\u25c1/think\u25b7 B": "\u25c1think\u25b7A\u25c1/think\u25b7",
        "<Thinking>A <b> C</Thinking>D": "<Thinking>A <b> C</Thinking>",
        "<|channel|>analysis<|message|>A": "<|channel|>analysis<|message|>A",
    },
    refuses=["A</think>B", "<thought>A</thought>", "think: A"],
)
FINAL_CHANNEL = Pattern(
    "The start of the channel in which gpt-oss answers",
    r"(?: <\|channel\|> | assistant ) final (?: <\|message\|> )?",
    reads={
        "A<|channel|>final<|message|>B": "<|channel|>final<|message|>",
        "A.assistantfinalB": "assistantfinal",
    },
    refuses=["the final answer", "assistant final"],
)


def mask(response: str) -> str:
    """Return a response with newlines in place of its reasoning: positions stay."""
    text = response
    if "final" in text:  # which is found much faster
        text = FINAL_CHANNEL.regex.split(text)[-1]
    if "<" in text or "[" in text or "\u25c1" in text:
        text = REASONING.regex.sub(lambda block: "\n" * len(block[0]), text)
        text = CLOSING_TAG.regex.split(text)[-1]  # all before a lone one is reasoning
    return text.rjust(len(response), "\n")


def is_cut_off(response: str) -> bool:
    """Tell whether a response ends within its reasoning."""
    return mask(f"{response}.").endswith("\n")


# --------------------------------------------------------------- 3. and 4. the statement
LONGEST = 2_000  # characters of a statement; what is longer is not read
# The text of a cue in words: the rest of its line or, where that has no word, the next
# line that has one, without its bullets.
_REST = rf"""
    (?=
        (?: (?: [^\w\n]{{0,200}} \n )+ \s* (?: [-#>\u2022]+ [ ]+ )* | \s* )
        (?P<cue> [^\n]{{0,{2 * LONGEST}}} )
    )
"""


def _braces_within(depth: int) -> str:
    """Return a pattern of a text in which braces are balanced, so many deep at most."""
    if depth == 0:
        return r"[^{}]*"
    return rf"[^{{}}]* (?: \{{ {_braces_within(depth - 1)} \}} [^{{}}]* ){{0,99}}"


# The names of the groups are the kinds of statements. Cues are found in small letters.
THE_ANSWER_IS = Pattern(
    'The text behind "the (final) answer is" and its like, in small letters',
    rf"""
    the [ ]+ (?: (?: final | correct ) [ ]+ )?
    (?: answer | option | label ) (?: s | \(s\) )? [ ]+
    (?: is/are | is | are ) \b [ ]* :?
    {_REST}
    """,
    reads={
        "so the answer is 5 may.": "5 may.",
        "the final answer is:\n\n- b": "b",
        "the correct options are a, c": "a, c",
        "the correct option(s) is/are: d": "d",
    },
    refuses=["the answer isn't b", "the right answer is b", "the answer: b"],
)
ANSWER_COLON = Pattern(
    'The text behind "answer" with a colon, an arrow, or nothing else on its line',
    rf"answers? [ ]* (?: : | -> | \u2192 | (?= \n | \Z ) ) {_REST}",
    reads={
        "answer: b": "b",
        "final answer -> 5": "5",
        "### answer\nb": "b",
        "answers:\n\n1. b": "1. b",
    },
    refuses=["answer b", "answered: b", "the answer is b"],
)
CORRECT_OPTIONS = Pattern(
    'The text behind "correct option:" or "correct options:"',
    rf"correct [ ]+ options? [ ]* : {_REST}",
    reads={"correct option: b": "b", "the correct options:\na, c": "a, c"},
    refuses=["correct option b", "correct answer is b", "option: b"],
)
ANSWER_TAG = Pattern(
    "The text behind the tag <answer>, to the next tag or line",
    r"<answer> \s* (?P<tag> [^<\n]* )",
    reads={"<answer> b </answer>": "b ", "<answer>\nb\nc": "b"},
    refuses=["</answer>b", "<answers>b"],
)
ANSWER_KEY = Pattern(
    'The string or list behind "answer": as in JSON',
    r"""
    "answer" \s{0,20} : \s{0,20}
    ["\[] (?P<json> (?<=") [^"]* | [^\]]* )
    """,
    reads={'{"answer": "b"}': "b", '"answer": ["a", "c"]': '"a", "c"'},
    refuses=['"answer": 5', "'answer': 'b'", '"final answer": "b"'],
)
_IN_BOX = _braces_within(3)
BOX = Pattern(
    "What a LaTeX box holds, up to its brace; boxes that are joined on a line are one",
    rf"""
    boxed \s* \{{
    (?P<box> {_IN_BOX}
        (?: \}} (?: [^\w\n] | and | or | text | quad ){{0,20}} boxed \s* \{{ {_IN_BOX} ){{0,20}}
    ) \}}
    """,
    reads={
        r"\boxed{5}": "5",
        r"boxed {\text{5 may}}": r"\text{5 may}",
        r"\boxed{a} and \boxed{c}": r"a} and \boxed{c",
        "\\boxed{a}\n\\boxed{c}": "a",
    },
    refuses=[r"\boxed 5", r"\boxed{5", r"\fbox{5}"],
)
# What stands in each cue, as it is much faster to find; and the cue. The name of its group
# is the kind of the statement that it leads to.
_CUES = {
    "the ": THE_ANSWER_IS.regex,
    "answer": ANSWER_COLON.regex,
    "correct": CORRECT_OPTIONS.regex,
    "<answer>": ANSWER_TAG.regex,
    '"answer"': ANSWER_KEY.regex,
    "boxed": BOX.regex,
}
BEFORE_ANSWER_COLON = Pattern(
    'What may stand before "answer:": the start of a line or sentence, "final" and marks',
    r"(?: \A | \n | [.!?]\s ) [^\w\n]* (?: final [ ]+ )? $",
    reads={"so b\n## ": "\n## ", "i see. final ": ". final ", "**": "**"},
    refuses=["my ", "the final ", "i see, "],
)
REJECTED = Pattern(
    "The start of a sentence with an if, or of a clause with a denial, up to the cue in it",
    r"""
    \b (?: (?: if | whether ) \b [^.!?;:\n]*
         | (?: not | cannot | \w+n't | would | might | doubt | thought ) \b [^.!?,;:\n]*
       ) $
    """,
    reads={
        "if it rains, ": "if it rains, ",
        "i do not think ": "not think ",
        "it isn't clear that ": "isn't clear that ",
        "at first i thought ": "thought ",
    },
    refuses=["it is not a, so ", "if it rains, a. ", "therefore "],
)
DOUBTED = Pattern(
    "A word of doubt or denial right before a box or an object",
    r"\b (?: not | maybe | perhaps | possibly | probably ) [^\w\n]* $",
    reads={"It is not $": "not $", "Perhaps: ": "Perhaps: "},
    refuses=["It is not in doubt: ", "So "],
    flags=re.IGNORECASE,
)
TAKEN_BACK = Pattern(
    "Words that take a statement back, most of them at a start, in small letters",
    r"""
    [.!?\u2026>})\]\n] [^\w\n]{0,20}            # at the start of a sentence or line
    (?: wait | actually | sorry | correction | that (?: 's | [ ]is ) [ ] wrong
      | (?<! \?[ ] ) no (?=,)                   # unless it answers a question
    ) \b
    | \b (?: answer [ ] should [ ] be | i [ ] now [ ] get ) \b
    """,
    reads={
        "b. wait, c": ". wait",
        "b\n\n**correction:** c": "\n**correction",
        "b! that's wrong": "! that's wrong",
        "b. no, c": ". no",
        "b, so the answer should be c": "answer should be",
    },
    refuses=["b; actually c", "is it c? no, b", "b. nobody knows", "wait, b"],
)
# One of these stands in all that TAKEN_BACK finds, and is much faster to find.
_TAKING_BACK = (
    *("wait", "actually", "sorry", "correction", "wrong"),
    *("no,", "answer should be", "i now get"),
)
MORE_LINES = Pattern(
    "Further lines, up to an empty one",
    r"(?: \n [ \t]* \S [^\n]* )*",
    reads={"\nb\nc\n\nd": "\nb\nc", "\n\nb": ""},
)
_PLAIN_MARKS = str.maketrans(
    "‘’‚‛“”„‟«»‐‑‒–—―−。：", "'" * 4 + '"' * 6 + "-" * 7 + ".:"
)
# Cues are found without Markdown; "İ" would be two characters in small letters.
_QUIET = _PLAIN_MARKS | str.maketrans("\u0130*_`", "I   ")


class Statement(NamedTuple):
    """Where a response says its answer."""

    kind: str  # "box", "cue" (words), "tag", "json", "line" (a response of one line)
    span: tuple[int, int]  # of its text in the response
    superseded: bool = False  # taken back, or contradicted, by what stands behind it


def statements(text: str, prompt: Pattern, several: bool = False) -> list[Statement]:
    """Return the statements of a masked response, in their order.

    What `prompt` finds behind the first cue begins a prompt that the model made up: it
    and all behind it is ignored. With `several`, the text of a cue in words goes on over
    more lines, up to an empty one.
    """
    quiet_text = quiet(text)
    cues = _find_cues(quiet_text)
    made_up_prompt = prompt.regex.search(text, cues[0].start() if cues else 0)
    text_end = made_up_prompt.start() if made_up_prompt else len(text)
    found = []
    for cue in cues:
        kind = str(cue.lastgroup)  # a cue is one of several named groups
        cue_start, cue_end = cue.span(kind)
        if cue_start > text_end or _is_rejected(quiet_text, cue):
            continue
        if several and kind == "cue":
            limit = cue_end + LONGEST + 100
            if more_lines := MORE_LINES.regex.match(quiet_text, cue_end, limit):
                cue_end = more_lines.end()
        if span := _words_within(text, cue_start, min(cue_end, text_end)):
            found.append(Statement(kind, span))
    if not cues and "\\boxed" not in quiet_text and (span := _only_line(text)):
        found.append(Statement("line", span))
    if not found:
        return []
    retracted_at = _last_retraction(quiet_text, found[0].span[1], text_end)
    return [
        Statement(kind, span, superseded=span[1] <= retracted_at)
        for kind, span, _ in found
    ]


def quiet(text: str) -> str:
    """Return a text of the same length without Markdown's marks, in small letters."""
    return text.translate(_QUIET).lower()


def _find_cues(quiet_text: str) -> list[re.Match]:
    cues: list[re.Match] = []
    for needed_text, regex in _CUES.items():
        if needed_text in quiet_text:
            cues += regex.finditer(quiet_text)
    return sorted(cues, key=re.Match.start)


def _is_rejected(quiet_text: str, cue: re.Match) -> bool:
    """Tell whether what stands before a cue keeps it from pointing to an answer."""
    text_before = quiet_text[max(0, cue.start() - 200) : cue.start()]
    if cue[0].startswith("answer"):
        return not BEFORE_ANSWER_COLON.regex.search(text_before)
    if cue[0].endswith(":"):  # "the answer is:" is no part of a clause before it
        return False
    doubt = DOUBTED if cue.lastgroup == "box" else REJECTED
    return bool(doubt.regex.search(text_before))


def _last_retraction(quiet_text: str, start: int, end: int) -> int:
    """Return where the last words that take something back begin, or -1."""
    retracted_at = -1
    if all(quiet_text.find(words, start, end) < 0 for words in _TAKING_BACK):
        return retracted_at
    for retraction in TAKEN_BACK.regex.finditer(quiet_text, start, end):
        retracted_at = retraction.start()
    return retracted_at


_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def _words_within(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span of a part of a text without blanks around it; None without a word."""
    part = text[start:end]
    if not _LETTER_OR_DIGIT.search(part):
        return None
    start += len(part) - len(part.lstrip())
    return start, start + len(part.strip())


def _only_line(text: str) -> tuple[int, int] | None:
    """Return the span of the one line that has a word; None of a long one: it is prose."""
    first_word = re.search(r"\w", text)
    if not first_word:
        return None
    line_start = text.rfind("\n", 0, first_word.start()) + 1
    line_end = text.find("\n", line_start)
    if line_end < 0:
        line_end = len(text)
    if line_end - line_start > 100 or re.search(r"\w", text[line_end:]):
        return None
    return _words_within(text, line_start, line_end)


# ------------------------------------------------------------------------ 5. its reading
_TAGS = (
    "b | i | u | em | strong | br | p | div | span | code | sub | sup | center | answer"
)
MARKUP = (  # in the order in which it is removed
    Pattern(
        "Emoji, and characters that are not shown",
        r"[\u200b-\u200d\u2060\ufe0f\ufeff\u2600-\u2790\U0001f000-\U0001faff]",
        replacement="",
        reads={"\U0001f600 5\u200b": " 5", "\u2705B": "B"},
        refuses=["5\u20ac", "\u2192"],
    ),
    Pattern(
        "LaTeX: a colon",
        r"\\colon \b \s*",
        replacement=":",
        reads={r"16\colon 30": "16:30"},
        refuses=[r"\colony"],
    ),
    Pattern(
        "LaTeX: spaces and line breaks",
        r"\\[,;:!\ ] | \\q?quad \b | \\\\ (?![a-z]) | (?<=\S) ~ (?=\S)",
        replacement=" ",
        reads={r"5\,May": "5 May", r"5~May\ 2012": "5 May 2012", r"A\\B": "A B"},
        refuses=["5 ~ 6", r"\\text"],
    ),
    Pattern(
        "LaTeX: commands for boxes and fonts",
        r"\\+ (?: boxed | [fhm]box | underline | emph | bf | rm | large | displaystyle ) \b",
        replacement="",
        reads={r"\boxed{5}": "{5}", r"\Large 5": " 5"},
        refuses=[r"\boxes", "boxed{5}"],
        flags=re.IGNORECASE,
    ),
    Pattern(
        "LaTeX: colours, commands for text and mathematics, brackets, braces, dollars",
        r"""
        \\+ (?: (?:text)? color \s* \{\w*\}
              | (?: text | math ) [a-z]*
              | [()\[\]]
              | (?= [&$%_] )           # a backslash that makes a sign a character
              )
        | [{}$]
        """,
        replacement="",
        reads={
            r"\text{5 May}": "5 May",
            r"$\mathrm{A} \& \mathbf{C}$": "A & C",
            r"\(5\)": "5",
            r"\color{red}{5}": "5",
        },
        refuses=["(5)", "text", r"\frac"],
    ),
    Pattern(
        "HTML tags, and tokens that end a turn",
        rf"</? (?: {_TAGS} ) /?> | </s> | <(?: end_of_turn | eos )> | <\|[^<>|]{{0,40}}\|>",
        replacement="",
        reads={"<b>5</b><br/>": "5", "5<|im_end|>": "5", "5</s>": "5"},
        refuses=["<5 May>", "5 < 6", "<table>"],
        flags=re.IGNORECASE,
    ),
    Pattern(
        "Angle brackets around a text of one line",
        r"< ( [^<>\n]{1,80} ) >",
        replacement=r"\1",
        reads={"<5 May>": "5 May"},
        refuses=["5 < 6", "A -> B"],
    ),
    Pattern(
        "Markdown: backticks, and two stars or more but between digits",
        r"`+ | (?<!\d) \*\*+ | \*\*+ (?!\d)",
        replacement="",
        reads={"**5**": "5", "`5`": "5"},
        refuses=["2**3", "* 5"],
    ),
    Pattern(
        "White space within a line",
        r"[^\S\n]+",
        replacement=" ",
        reads={"5\t \xa0May": "5 May", "5\n  6": "5\n 6"},
        refuses=["5\n6"],
    ),
)
UNMARKED = Pattern(
    "A text without any markup, which most statements are",
    r"\A [A-Za-z0-9.,:;()/-]+ (?: [ ] [A-Za-z0-9.,:;()/-]+ )* \Z",
    reads={"5 May, 2012": "5 May, 2012", "A (two days)": "A (two days)"},
    refuses=["**5**", "$5$", "5  May", "\u20105", "it's"],
)
_ENDS = " \n\t*_`\"',;:!\\"  # what may stand around a value and says nothing


def plain(text: str, keeps_ends: bool = False) -> str:
    """Return a text without markup, "" for one that is too long.

    Marks at its ends, such as quotation marks, go as well unless `keeps_ends`.
    """
    if len(text) > LONGEST:
        return ""
    text = text.translate(_PLAIN_MARKS)
    if not UNMARKED.regex.search(text):
        for pattern in MARKUP:
            text = pattern.remove_from(text)
        text = unicodedata.normalize("NFKC", text)
    if keeps_ends:
        return text.strip()
    return text.lstrip(_ENDS).rstrip(_ENDS + ".")


LEAD = Pattern(
    'The lead of a value: "it is" and its like, or "in" before a digit',
    r"""
    \A (?: (?: it | this | that | s?he | they ) [ ] (?: is | was | were | are ) \b
        | in [ ] (?= \d )
        ) [ ]? :? \s*
    """,
    replacement="",
    reads={"It is 5 May": "5 May", "They were: A": "A", "in 2012": "2012"},
    refuses=["In May", "the day is 5", "It 5"],
    flags=re.IGNORECASE,
)
# Behind these words stands a reason, or what the answer is not. Anything may follow.
REASON_WORDS = (
    r"because | since | given | based[ ]on | not | instead[ ]of | rather[ ]than"
)
BECAUSE = rf"\b (?i: {REASON_WORDS} | as (?! [ ]well\b ) ) \b"
COMMENT = Pattern(
    "The start of a comment: a bracket, a colon, a dash, a full stop, or a word of reason",
    rf"""
    [(\[]
    | : \s
    | [ ]-+[ ]
    | (?: (?<= [A-Za-z]{{3}} ) | (?<= \d ) ) \. \s+ (?= [A-Z] )   # a new sentence
    | {BECAUSE}
    """,
    reads={
        "5 May (a Monday)": "(",
        "B: two hours": ": ",
        "5 - from 3 to 8": " - ",
        "5 May. It is late": ". ",
        "5, as 2 + 3 = 5": "as",
        "B, not C": "not",
    },
    refuses=["16:00", "5-7", "A, B as well", "Q.I. Lund", "5. it"],
)
WORKING = Pattern(
    "What anything may follow in a comment: a reason, a denial, or a working in brackets",
    rf"""
    {BECAUSE}
    | [(\[] \d+ [ ] [a-z]+ [ ] (?: before | after | from ) \b   # "(9 months before June)"
      (?! [^()\n]* (?: = | \b is \b ) )
    """,
    reads={
        ", because June is next": "because",
        "(not June)": "not",
        "(9 months before June)": "(9 months before",
        "(9 months from June)": "(9 months from",
    },
    refuses=["(June)", "(9 months before June = May)", "B as well"],
    flags=re.IGNORECASE,
)
HEDGE = Pattern(
    "A word of doubt or choice, or a question mark",
    r"""
    \b (?: or | either | maybe | perhaps | possibly | probably | might | could | unless
          | otherwise | alternatively | wait | actually | sorry | wrong
        ) \b
    | \?
    """,
    reads={"A or B": "or", "Probably A": "Probably", "A?": "?"},
    refuses=["A and B", "order", "I think A"],
    flags=re.IGNORECASE,
)


def readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the readings of a plain text, each with the comment behind it.

    They are the text as it is, without its lead, and without its comment as well. What
    hedges or is taken back is no reading. Of a comment, a working is left out.
    """
    leadless = LEAD.remove_from(text)
    value, comment = leadless, ""
    # A comment stands behind a value, of a character at least.
    if start := COMMENT.regex.search(leadless, 1):
        value = leadless[: start.start()].rstrip(_ENDS + ".")
        comment = leadless[start.start() :]
    for reading, its_comment in ((text, ""), (leadless, ""), (value, comment)):
        if not is_hedged(reading) and not is_doubtful(its_comment):
            yield reading, before_working(its_comment)


def before_working(comment: str) -> str:
    """Return what a comment says before anything may follow."""
    return WORKING.regex.split(comment, maxsplit=1)[0]


def is_hedged(text: str) -> bool:
    """Tell whether a text that should be a value hedges, or begins with "not"."""
    return text.lower().startswith("not ") or bool(HEDGE.regex.search(text))


def is_doubtful(comment: str) -> bool:
    """Tell whether a comment begins with a hedge, or takes the value back."""
    begins_with_hedge = HEDGE.regex.match(comment.lstrip(_ENDS + "([.-"))
    return bool(begins_with_hedge or takes_back(comment))


def takes_back(text: str) -> bool:
    """Tell whether a text behind a value takes it back."""
    return bool(TAKEN_BACK.regex.search(text.lower()))


# ----------------------------------------------------------------------- numbers and days
MONTHS = [
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
]
# "mar", "marc" and "march" are "3".
MONTH_NUMBERS = {
    name[:length].lower(): str(number)
    for number, name in enumerate(MONTHS, 1)
    for length in range(3, 10)
}
CUT_MONTHS = "|".join(name[:3] for name in MONTHS)
DAY_OF_HOURS = Pattern(
    "A day as a number of hours, which is no other value",
    r"\b 24 [ -]? h (?:ou)? rs? \b",
    replacement="",
    reads={"in 24hr time": "in  time", "24-hour clock": " clock"},
    refuses=["24:00", "124 hours", "24 days"],
)
NUMBER = Pattern(
    "A number, or a month by name",
    rf"(?<![A-Za-z\d]) \d+ (?: ,\d{{3}} )* (?: \.\d+ )? | \b (?: {CUT_MONTHS} )",
    reads={"of 1,024.5 days": "1,024.5", "in Augustus": "Aug", "-7": "7", "1,2": "1"},
    refuses=["E17", "two", "may", "dismay"],
)
IDLE = Pattern(
    "What says nothing beside a date, in small letters",
    r"""
    (?<=\d) (?: st | nd | rd | th | t ) \b
    | \b (?: at | in | on | of | the | month | year | hrs | gmt | utc | a\.?d | ce
          | (?: mon | tues? | wed(?:nes)? | thu(?:rs?)? | fri | sat(?:ur)? | sun ) (?:day)?
          ) \b
    """,
    replacement=" ",
    reads={
        "the 5th of may": "  5    may",
        "mon, 5 may 2012 ad": " , 5 may 2012  ",
        "2012-05-05t16": "2012-05-05t16",
    },
    refuses=["5 may bc", "est", "noon"],
)
DATE_FIELD = Pattern(
    "A number, a word, a minus at the start, or a sign that is not usual in dates",
    r"[0-9]+ | [a-z]+ | ^- | [^ ,./()-]",
    reads={"2012-05-05": "2012", ", may 5": "may", "-5 may": "-", "+5": "+"},
    refuses=[" ,./()-"],
)


def numbers(text: str) -> set[str]:
    """Return the numbers of a text, and those of its months by name."""
    found = set()
    for number in NUMBER.regex.findall(DAY_OF_HOURS.remove_from(text)):
        digits = number.replace(",", "").lstrip("0")
        found.add(MONTH_NUMBERS.get(digits.lower(), digits))
    return found


def date_fields(text: str) -> list[str]:
    """Return the numbers and words of a date in small letters, but for idle ones."""
    return DATE_FIELD.regex.findall(IDLE.remove_from(text))


def read_day(fields: list[str]) -> date | None:
    """Return the date of a year, a month and a day, or None where there is none such.

    Beside a month by name, year and day may stand in any order: the year is the longer.
    """
    if len(fields) != 3:
        return None
    year, month, day = fields
    if named_months := [field for field in fields if field in MONTH_NUMBERS]:
        month = MONTH_NUMBERS[named_months[0]]
        others = [field for field in fields if field not in MONTH_NUMBERS]
        if len(others) != 2:
            return None
        day, year = sorted(others, key=len)
    if len(year) != 4 or len(day) > 2:
        return None
    with suppress(ValueError, OverflowError):  # no number, or no such day
        return date(int(year), int(month), int(day))
    return None


# -------------------------------------------------------------- from verdicts to a run
def reason_without_value(
    response: str, text: str, span: tuple[int, int] | None, is_open: bool
) -> str:
    """Return why no value was read: "unreadable", "cut_off" or "no_answer".

    response: as it is; text: without reasoning (`mask`); span: of what a rule extracted,
    if anything; is_open: whether a box or an object that was begun does not end.
    """
    if span and text[span[0]] == response[span[0]]:  # not within the reasoning
        return "unreadable"
    return "cut_off" if is_open or is_cut_off(response) else "no_answer"


def mean_scores(explain: Callable, doc: dict, results: list[str]) -> dict[str, float]:
    """Return metric -> mean of the scores of responses; ValueError for one that is not text."""
    if not all(isinstance(response, str) for response in results):
        raise ValueError("a response is not a string; use the filter take_first")
    rows = [explain(doc, response).scores for response in results]
    return {metric: sum(row[metric] for row in rows) / len(rows) for metric in rows[0]}


def fingerprint(digests: Iterable[bytes]) -> str:
    """Return one digest of the digests of documents, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]
