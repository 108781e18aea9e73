"""Ways past a problem, by task and name: what they score shows what levels are worth.

A shortcut takes the rows of a task and a level, and returns a response to each, or None
where it knows no way.
"""

from collections.abc import Callable

from . import nli_dates_roles as roles, planning_arithmetic as planning


def _each(answer: Callable) -> Callable:
    return lambda rows: [answer(row) for row in rows]


SHORTCUTS = {
    task: {name: _each(answer) for name, answer in found.items()}
    for task, found in (planning.OF_A_ROW | roles.OF_A_ROW).items()
}
SHORTCUTS["fresh_timexnli"] |= roles.OF_ALL_ROWS
