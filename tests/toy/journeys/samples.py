"""Few-shot examples of journeys."""


def journeys() -> list[dict]:
    """Return documents with their worked answers."""
    return [
        {"story": f"Ann walks {n} km, 12 minutes each.", "worked_answer": f"= {12 * n}"}
        for n in (1, 2, 3)
    ]
