"""The judges' decision: who was selected, why, and the best of all entries (seed: competition, Winner Format)."""

from typing import NamedTuple

from .sections import as_text, first, sections

KEYS = ("SELECTED", "REASON", "SYNTHESIS")


class Winner(NamedTuple):
    """What a judge decides."""

    selected: str
    reason: str = ""
    synthesis: str = ""


def winner_of(body: str) -> Winner:
    """Read a decision."""
    found = sections(body, KEYS)
    selected = first(found, "SELECTED").split("\n", 1)[0].strip().strip(" *`.@")
    return Winner(selected, first(found, "REASON"), first(found, "SYNTHESIS"))


def write_winner(selected: str, reason: str, synthesis: str = "") -> str:
    """Write a decision's body."""
    body = f"SELECTED: {selected}\nREASON: {as_text(reason, KEYS)}"
    return f"{body}\n\nSYNTHESIS: {as_text(synthesis, KEYS)}" if synthesis else body
