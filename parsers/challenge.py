"""A challenge: the task, the criteria, the deadline (seed: competition, Challenge Format)."""

import re
from typing import NamedTuple

from .criteria import check_criteria, criterion_of
from .errors import UsageError
from .names import shown
from .seats import Criterion
from .sections import first, sections


class Challenge(NamedTuple):
    """What a challenge asks for; `deadline_turns` is 0 where it names none, `fault` says what is wrong with it."""

    task: str
    criteria: tuple[Criterion, ...]
    deadline_turns: int = 0
    fault: str = ""


def challenge_of(body: str) -> Challenge:
    """Read a challenge; a text without `TASK:` is the task as a whole."""
    found = sections(body, ("TASK", "CRITERIA", "DEADLINE"))
    task = first(found, "TASK") or first(found, "")
    deadline = first(found, "DEADLINE")
    turns = re.fullmatch(r"0*([1-9][0-9]{0,5})\.?(?:\s+turns?\b.*)?", deadline, re.DOTALL)
    fault = f"DEADLINE is {shown(deadline)}, no number of turns" if deadline and not turns else ""
    criteria: tuple[Criterion, ...] = ()
    try:
        criteria = _criteria(first(found, "CRITERIA"))
    except UsageError as error:
        fault = str(error)
    return Challenge(task, criteria, int(turns[1]) if turns else 0, fault)


def _criteria(text: str) -> tuple[Criterion, ...]:
    """Read criteria, one a line with or without a number or bullet; one line alone may list several."""
    lines = [re.sub(r"^\s*(?:[-*+•]|[0-9]{1,3}[.)])\s+", "", line).strip() for line in text.split("\n")]
    items = [line for line in lines if line]
    if len(items) == 1:
        items = [item.strip() for item in re.findall(r"(?:\([^()]*\)|[^,;])+", items[0]) if item.strip()]
    criteria = tuple(criterion_of(item.removesuffix("."))[0] for item in items)
    check_criteria(criteria)
    return criteria
