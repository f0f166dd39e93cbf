"""The opening of a session: what is pinned when it begins, as the fields of a ruling's body."""

import re
from typing import NamedTuple

from ...parsers.fields import read_fields, write_fields
from ...parsers.seats import Seat

_OWN = ("PROTOCOL", "RULES", "ROSTER", "MAX_TURNS", "TURN_TIMEOUT_S", "OUTPUT", "WORK", "TASK")
_SEAT = r"([^\s(),]+) \(([^\s():]+)(?:: ((?:[^)\\]|\\.)*))?\)"


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
    """Write an opening as fields, the task last, since it may have several lines.

    The other values are one line each: line ends in them become blanks, and so cannot begin a field.
    """
    pairs = [
        ("PROTOCOL", opening.protocol),
        ("RULES", str(opening.rules)),
        ("ROSTER", ", ".join(_write_seat(seat) for seat in opening.roster)),
        ("MAX_TURNS", str(opening.max_turns)),
        ("TURN_TIMEOUT_S", str(opening.turn_timeout_s)),
        ("OUTPUT", opening.output),
        ("WORK", opening.work),
        *opening.options,
    ]
    lines = [(key, value.replace("\r", " ").replace("\n", " ").strip()) for key, value in pairs]
    return write_fields((key, value) for key, value in (*lines, ("TASK", opening.task)) if value)


def read_opening(session: str, text: str) -> Opening | None:
    """Read the fields of an opening; None where one is missing or makes no sense."""
    fields = read_fields(text, last="TASK")
    numbers = [_whole_number(fields.get(key, "")) for key in ("RULES", "MAX_TURNS", "TURN_TIMEOUT_S")]
    roster = _read_roster(fields.get("ROSTER", ""))
    if not all(numbers) or not roster:
        return None
    return Opening(
        session=session,
        protocol=fields.get("PROTOCOL", ""),
        task=fields.get("TASK", ""),
        roster=roster,
        max_turns=numbers[1],
        turn_timeout_s=numbers[2],
        rules=numbers[0],
        output=fields.get("OUTPUT", ""),
        work=fields.get("WORK", ""),
        options=tuple((key, value) for key, value in fields.items() if key not in _OWN),
    )


def _whole_number(digits: str) -> int:
    """Read a number of up to nine digits; 0 where it is none."""
    return int(digits) if re.fullmatch(r"[0-9]{1,9}", digits) else 0


def _write_seat(seat: Seat) -> str:
    """Write `CC (JUDGE: clear, and short)`; a bracket that closes within the lens gets a backslash."""
    lens = seat.lens.replace("\\", "\\\\").replace(")", "\\)")
    return f"{seat.name} ({seat.role}: {lens})" if lens else f"{seat.name} ({seat.role})"


def _read_roster(text: str) -> tuple[Seat, ...]:
    """Read what `_write_seat` wrote, one seat after the other; nothing where any part of it is no seat."""
    seats = []
    at = 0
    while seat := re.compile(_SEAT).match(text, at):
        name, role, lens = seat.groups(default="")
        seats.append(Seat(name, role, re.sub(r"\\(.)", r"\1", lens)))
        at = seat.end()
        if at == len(text):
            return tuple(seats)
        at += len(", ") if text.startswith(", ", at) else len(text)
    return ()
