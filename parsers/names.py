"""What an agent may be called, and which known name a mistyped one was meant to be.

A name stands in headers, paths and commands, so it is checked before it reaches any of them.
"""

import re
from collections.abc import Iterable

from .errors import UsageError

RESERVED = frozenset({"REFEREE", "HUMAN", "ALL"})
"""Names that the bus itself speaks and is spoken to by."""

TAGS = frozenset(
    {
        "PEER_A", "PEER_B", "DONE", "INCOMPLETE", "ACK", "CHALLENGE", "ENTRY", "SCORE", "WINNER",
        "COMPETITOR", "JUDGE", "MASTER", "CANDIDATE", "STAGE", "SELECTION",
        "DEBATER", "CONVENER", "POSITION", "REBUTTAL", "ABSENT", "RECAP", "SYNTHESIS", "REPORT",
    }
)  # fmt: skip
"""Words that a header uses for what a block is, or for the part that its author plays."""

_DEVICES = frozenset(
    {"CON", "PRN", "AUX", "NUL", *(f"COM{n}" for n in range(1, 10)), *(f"LPT{n}" for n in range(1, 10))}
)

_SHOWN = 40  # characters of somebody's text that an error repeats
_LISTED = 12  # known names that an error lists


def check_name(name: str) -> str:
    """Give `name` back, or raise UsageError that says in one line why no agent can be called that.

    Legal are 1 to 64 ASCII letters, digits, `.`, `_` and `-`, a letter or digit first and no dot last, less
    the RESERVED names, the protocols' TAGS and Windows device names, each in any case. The device names are
    out because an inbox is a file of that name.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name) or name.endswith("."):
        raise UsageError(
            f"{shown(name)} is no agent's name",
            then="use 1 to 64 letters, digits and . _ -, a letter or digit first and no dot last",
        )
    upper = name.upper()
    for taken, whose in ((RESERVED, "reserved"), (TAGS, "a protocol's tag")):
        if upper in taken:
            raise UsageError(f"{shown(name)} is {whose}", then="choose another name")
    if upper.partition(".")[0] in _DEVICES:
        raise UsageError(f"{shown(name)} is a device on Windows", then="choose another name")
    return name


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known word that `word` was most likely meant to be, case aside; None where nothing is near."""
    spelled = {one.casefold(): one for one in sorted(known, reverse=True)}
    folded = word.casefold()
    if folded in spelled:
        return spelled[folded]
    begun = [one for one in spelled if folded and one.startswith(folded)]
    if len(begun) == 1:
        return spelled[begun[0]]
    from difflib import get_close_matches

    near = get_close_matches(folded, list(spelled), n=1)
    return spelled[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Give the half sentence that helps after an unknown `word`.

    `did you mean CX?`, or `known: CC, CX` in order where nothing is near, or `none are known yet`.
    """
    names = sorted(set(known))
    if not names:
        return "none are known yet"
    near = nearest(word, names)
    if near is not None:
        return f"did you mean {near}?"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"known: {', '.join(names[:_LISTED])}{more}"


def shown(text: str) -> str:
    """Quote somebody's text for an error: escaped, on one line, cut to about 40 characters."""
    quoted = repr(text[: _SHOWN + 1])
    return quoted if len(quoted) <= _SHOWN + 2 else f"{quoted[:_SHOWN]}…{quoted[0]}"
