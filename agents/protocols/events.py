"""What a protocol sees and what it asks for: events in the past tense, effects in the imperative.

A protocol is a pure function from a state and an event to a new state and effects. It sees no text, no
path and no clock: time is in the events, a body is the facts that the parsers found in it.
"""

import re
from typing import Any, NamedTuple

from ...parsers.names import shown


class Posted(NamedTuple):
    """A participant wrote a block.

    `artifact` is the hash of the one it holds, or nothing; `says` the value of its tag's grammar, or its text;
    `sealed` the hash that stands for its text, or nothing; `names_author` whether its text does so.
    """

    block: str
    author: str
    tag: str
    role: str
    tokens: tuple[str, ...]
    reason: str
    artifact: str
    empty: bool
    at_ms: int
    says: Any = None
    sealed: str = ""
    names_author: bool = False


class Ticked(NamedTuple):
    """Time went by."""

    at_ms: int


class Unsealed(NamedTuple):
    """A seal was opened, and its hash fits: `posted` is what stood in it, its `block` where that stands now."""

    sealed: str
    posted: Posted


class Lost(NamedTuple):
    """The text of a seal is gone."""

    sealed: str
    at_ms: int


Event = Posted | Ticked | Unsealed | Lost


class Rule(NamedTuple):
    """Answer the event: what was decided, by which rule, why, and who moves next."""

    verdict: str
    code: str
    why: str
    next: tuple[str, ...] = ()


class Notify(NamedTuple):
    """Bring the `block` that was ruled on, or else the ruling itself, to these agents."""

    names: tuple[str, ...]
    block: bool = False


class Close(NamedTuple):
    """End the session; the ruling carries the final status."""

    state: str
    reason: str = ""


Effect = Rule | Notify | Close


class Move(NamedTuple):
    """Something that the rules let an agent do now: the command, and what it means."""

    command: str
    meaning: str


class Seal(NamedTuple):
    """A text that a session holds as a hash: who sealed it, in which block, under which tag."""

    sealed: str
    block: str
    author: str
    tag: str


class Copy(NamedTuple):
    """A text that somebody is shown under a label, without its author's name: an entry, to a judge."""

    label: str
    block: str
    sealed: str


class IllFormed(Exception):
    """A prompt that a protocol cannot open a session from: what is missing and what to add."""

    def __init__(self, what: str, then: str) -> None:
        """Name what is missing, and what to add to the prompt."""
        super().__init__(what)
        self.what = what
        self.then = then


def quoted(word: str) -> str:
    """Give somebody's word as a sentence may repeat it: plain ones as they are, others escaped and cut."""
    return word if re.fullmatch(r"[\w.-]{1,64}", word, re.ASCII) else shown(word)
