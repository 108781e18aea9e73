"""What a page shows of a response and of its prompt: pieces of bounded texts.

They are cut where a file is judged, so that nobody opens it again.
"""

from __future__ import annotations

import json
from itertools import chain, pairwise

from ..core.task_scorers import prompt
from .read_answers import Answer, messages_of


LONGEST_PROMPT, LONGEST_RESPONSE = 4_000, 2_400  # characters; longer ones lose some

# A text: [which rules' answer it belongs to, text], or how many characters are left out.
Pieces = list[list | int]


def shown_response(answer: Answer, row: dict) -> Pieces:
    """Return the pieces of a response; bit 0 is the published rule's answer, bit 1 the other's."""
    rule_spans = [row["published_span"], row["flexible_span"]]
    return cut(answer.response, rule_spans, LONGEST_RESPONSE)


def shown_prompt(answer: Answer, doc: dict) -> Pieces:
    """Return the pieces of a prompt as it was sent, or as the task renders the document."""
    prompt_text = answer.prompt
    if prompt_text is None:
        try:
            prompt_text = prompt(answer.task, doc)
        except Exception:  # what a submission's document may raise
            prompt_text = json.dumps(doc, indent=2, ensure_ascii=False)
    elif messages := messages_of(prompt_text):
        prompt_text = "\n\n".join(
            f"[{message.get('role')}]\n{message.get('content')}" for message in messages
        )
    return cut(prompt_text, [], LONGEST_PROMPT)


def cut(text: str, spans: list[tuple[int, int] | None], longest: int) -> Pieces:
    """Return a text as pieces, the n-th span marked by the bit n.

    A text longer than `longest` keeps its start, its end, and what is around ends of spans.
    """
    edges = [0, len(text), *(edge for span in spans if span for edge in span)]
    reach = longest // (2 * len(edges) - 2) if len(text) > longest else len(text)
    kept_ranges = [(edge - reach, edge + reach) for edge in edges]
    boundaries = {min(max(0, end), len(text)) for end in chain(edges, *kept_ranges)}
    pieces: Pieces = []
    for piece_start, piece_end in pairwise(sorted(boundaries)):
        if any(start <= piece_start and piece_end <= end for start, end in kept_ranges):
            span_bits = [
                1 << span_number
                for span_number, span in enumerate(spans)
                if span and span[0] <= piece_start and piece_end <= span[1]
            ]
            pieces.append([sum(span_bits), text[piece_start:piece_end]])
        elif pieces and isinstance(pieces[-1], int):
            pieces[-1] += piece_end - piece_start
        else:
            pieces.append(piece_end - piece_start)
    return pieces
