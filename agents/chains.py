"""The loop budget: how long agents may answer each other before a human, or the referee, has said a word. Pure.

A message between agents outside any session is one deeper than the deepest mail that has reached its sender. At
the limit it is kept back: it stands in the ledger, and reaches nobody until a human says something. Turns of a
session are not counted, since its rules end it. A message to the human always passes, and so does one that
begins with BLOCKED.
"""

import re
from typing import Any, NamedTuple

from ..bus.messages import HUMAN, Message
from ..parsers.ids import stamped_ms

COOL_MS = 3_600_000  # who answers after an hour was not driven to it by what came before
_BLOCKED = re.compile(r"\s*(?:[*_#>`\[-]+\s*)*(?:I am |I'm )?blocked\b", re.IGNORECASE)


class Chain(NamedTuple):
    """How deep the mail of each agent is, when a message was last counted, and how many are kept back.

    `told` is whether the human was told since the last word of one; `first` the first message kept back.
    """

    depths: tuple[tuple[str, int], ...] = ()
    at_ms: int = 0
    first: str = ""
    kept: int = 0
    told: bool = False


def extended(chain: Chain, message: Message, names: tuple[str, ...], limit: int) -> tuple[Chain, int]:
    """Give the chain after a message to these agents, and the message's depth; over the limit it is kept back."""
    at_ms = stamped_ms(message.at) or chain.at_ms
    if at_ms - chain.at_ms > COOL_MS and not chain.kept:
        chain = Chain()
    depths = dict(chain.depths)
    depth = depths.get(message.sender, 0) + 1
    if depth > limit and not passes(message):
        first = chain.first or message.id
        return chain._replace(at_ms=at_ms, first=first, kept=chain.kept + 1), depth
    for name in names:
        depths[name] = max(depths.get(name, 0), min(depth, limit))
    return chain._replace(depths=tuple(sorted(depths.items())), at_ms=at_ms), depth


def passes(message: Message) -> bool:
    """Tell whether a message gets through at any depth: to the human alone, or a cry for help."""
    return message.to == (HUMAN,) or bool(_BLOCKED.match(message.body))


def eased(chain: Chain, names: tuple[str, ...]) -> Chain:
    """Give the chain after the referee's word to these agents: what they say next answers nobody's chatter."""
    return chain._replace(depths=tuple((name, depth) for name, depth in chain.depths if name not in names))


def sentence(chain: Chain, limit: int) -> str:
    """Give the one line that the human is told."""
    return (
        f"agents have answered each other {limit} deep with no word of yours: {chain.first} and what follows is"
        " kept back; any word of yours lets it go on (`moot send --as HUMAN --to ALL`)"
    )


def load_chain(data: Any) -> Chain:
    """Take a chain back from JSON values."""
    if not data:
        return Chain()
    chain = Chain(*data)
    return chain._replace(depths=tuple((name, depth) for name, depth in chain.depths))
