"""The opening of a session: what is pinned when it begins, as the fields of a ruling's body."""

from collections.abc import Mapping
from typing import NamedTuple

from ...parsers.fields import read_fields, write_fields
from ...parsers.seats import Seat

_OWN = ("PROTOCOL", "RULES", "ROSTER", "MAX_TURNS", "TURN_TIMEOUT_S", "OUTPUT", "WORK", "TASK")


class Opening(NamedTuple):
    """What a session pins, and nothing may change later; `options` are the protocol's own fields."""

    session: str
    protocol: str
    task: str
    roster: tuple[Seat, ...]
    max_turns: int
    turn_timeout_s: int
    rules: int = 1
    output: str = ""
    work: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def seat(self, name: str) -> Seat | None:
        """Give the seat of an agent, or None where it takes no part."""
        return next((seat for seat in self.roster if seat.name == name), None)

    def option(self, key: str) -> str:
        """Give one of the protocol's own fields, or the empty string."""
        return next((value for name, value in self.options if name == key), "")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all who take part, in the order of the roster."""
        return tuple(seat.name for seat in self.roster)


def write_opening(opening: Opening) -> str:
    """Write an opening as fields, the task last, since it may have several lines."""
    roster = ", ".join(
        f"{seat.name} ({seat.role}: {seat.lens})" if seat.lens else f"{seat.name} ({seat.role})"
        for seat in opening.roster
    )
    pairs = [
        ("PROTOCOL", opening.protocol),
        ("RULES", str(opening.rules)),
        ("ROSTER", roster),
        ("MAX_TURNS", str(opening.max_turns)),
        ("TURN_TIMEOUT_S", str(opening.turn_timeout_s)),
        ("OUTPUT", opening.output),
        ("WORK", opening.work),
        *opening.options,
        ("TASK", opening.task),
    ]
    return write_fields((key, value) for key, value in pairs if value)


def read_opening(session: str, text: str) -> Opening | None:
    """Read the fields of an opening; None where one is missing or makes no sense."""
    fields = read_fields(text, last="TASK")
    numbers = [fields.get(key, "") for key in ("RULES", "MAX_TURNS", "TURN_TIMEOUT_S")]
    roster = _roster(fields)
    if not all(number.isascii() and number.isdecimal() for number in numbers) or not roster:
        return None
    return Opening(
        session=session,
        protocol=fields.get("PROTOCOL", ""),
        task=fields.get("TASK", ""),
        roster=roster,
        max_turns=int(numbers[1]),
        turn_timeout_s=int(numbers[2]),
        rules=int(numbers[0]),
        output=fields.get("OUTPUT", ""),
        work=fields.get("WORK", ""),
        options=tuple((key, value) for key, value in fields.items() if key not in _OWN),
    )


def _roster(fields: Mapping[str, str]) -> tuple[Seat, ...]:
    seats = []
    for part in fields.get("ROSTER", "").split(", "):
        name, _, role = part.partition(" (")
        role, _, lens = role.removesuffix(")").partition(": ")
        if name and role:
            seats.append(Seat(name, role, lens))
    return tuple(seats)
