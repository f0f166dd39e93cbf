"""The rows of the index as values."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Mail(NamedTuple):
    """A block on its way to an agent, with its receipts (empty where not yet); `held` says why it is kept back."""

    agent: str
    id: str
    session: str = ""
    read_at: str = ""
    acknowledged_at: str = ""
    notified_at: str = ""
    held: str = ""


class BlockRow(NamedTuple):
    """Where a block stands in the ledger; `author` is set for one by hand."""

    id: str
    start: int
    size: int
    author: str = ""


class Ring(NamedTuple):
    """One ring of a doorbell, or why there was none, or that the human was told; `block` is the newest unread then.

    `outcome` is rung, taken, failed or human.
    """

    agent: str
    at: str
    kind: str
    outcome: str
    why: str = ""
    block: str = ""


class Presence(NamedTuple):
    """What was seen last of an agent: what it does (wait, run, work, rest, end), by which process (0: unknown)."""

    agent: str
    doing: str = ""
    pid: int = 0
    seen_at: str = ""
    read_at: str = ""


class Spent(NamedTuple):
    """What an agent's program has cost in a session, and the conversation that it can be resumed by."""

    session: str
    agent: str
    program: str = ""
    conversation: str = ""
    turns: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


class SessionRow(NamedTuple):
    """A session: its number in the order of opening, whether it is open, its data as JSON values."""

    id: str
    n: int
    open: bool
    data: Mapping[str, Any]


class Saved(NamedTuple):
    """What was saved last: its version (0 where nothing was), the cursor, the open sessions."""

    version: int
    cursor: Mapping[str, Any]
    sessions: Sequence[SessionRow]
