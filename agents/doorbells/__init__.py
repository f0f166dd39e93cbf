"""Doorbells: how an agent that does not look by itself is woken."""

from typing import NamedTuple


class Rung(NamedTuple):
    """How a ring went: taken, or failed with the reason in one line."""

    outcome: str
    why: str
