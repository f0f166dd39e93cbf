"""What a prompt can ask for: seats, criteria, files and limits, as values."""

from typing import NamedTuple

PROTOCOLS = ("peer-collaboration", "competition", "compete", "debate")


class Seat(NamedTuple):
    """One agent's place in a session."""

    name: str
    role: str  # PEER_A, PEER_B, COMPETITOR, JUDGE; "" where the prompt did not say
    lens: str = ""  # what a judge looks at, e.g. technical


class Criterion(NamedTuple):
    """What entries are judged by; `weight` in percent, None where the prompt gives no weights."""

    name: str
    weight: float | None


class Prompt(NamedTuple):
    """What a prompt asks for; limits count turns, paths stand as written."""

    protocol: str  # one of PROTOCOLS
    task: str  # "" where the prompt only names a work file
    seats: tuple[Seat, ...]
    criteria: tuple[Criterion, ...] = ()
    output: str = ""
    work: str = ""
    deadline_turns: int | None = None
    max_turns: int | None = None
    options: tuple[tuple[str, str], ...] = ()  # (min_score, 60%): what only some protocols know
