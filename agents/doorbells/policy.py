"""The ring policy: at most four rings for what an agent has not read, with growing gaps, then the human. Pure.

Mail that comes in meanwhile brings no ring of its own: who does not hear four, does not hear a thousand. Once the
agent has read anything, all begins anew.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ...bus.rows import Ring
from ...parsers.ids import stamped_ms

RINGS = 4
GROWTH = 4  # each gap is four times the one before: with a minute, the fourth ring comes after 21 minutes


class Due(NamedTuple):
    """What is due next for an agent with unread mail, and when: `ring`, `human` or nothing."""

    what: str = ""
    at_ms: int = 0


def due(rings: Sequence[Ring], gap_s: float) -> Due:
    """Say what is due after these rings, all since the agent last read anything, oldest first."""
    if any(ring.outcome == "human" for ring in rings):
        return Due()
    if not rings:
        return Due("ring")
    last_ms = stamped_ms(rings[-1].at) or 0
    gaps = min(len(rings), RINGS - 1)
    at_ms = last_ms + int(gap_s * 1000) * GROWTH ** (gaps - 1)
    return Due("ring" if len(rings) < RINGS else "human", at_ms)


def sentence(name: str, unread: int, rings: Sequence[Ring]) -> str:
    """Give the one line that the human is told when nobody opens."""
    last = rings[-1]
    why = f", the last one: {last.why}" if last.why else ""
    messages = f"{unread} unread message{'s' * (unread != 1)}"
    return (
        f"{name} has {messages}, and {len(rings)} rings ({last.kind}) did not wake it{why}; see `moot agents`"
    )
