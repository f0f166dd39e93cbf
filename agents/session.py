"""A session: one run of one protocol, what may open it, and how it is kept as JSON values."""

import re
from typing import Any, NamedTuple

from ..bus.messages import Message
from ..parsers.errors import UsageError
from ..parsers.fields import read_fields
from ..parsers.names import check_name
from ..parsers.seats import Seat
from .protocols import Rules, rules_for
from .protocols.events import IllFormed
from .protocols.opening import Opening, read_opening


class Session(NamedTuple):
    """One run of one protocol; `last` is the id of the latest ruling in it."""

    n: int
    opening: Opening
    state: Any
    opened_at: str
    last: str
    closed: str = ""
    result: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The session's id, as in `peer-7f3a`."""
        return self.opening.session

    @property
    def rules(self) -> Rules:
        """The protocol's rules."""
        rules = rules_for(self.opening.protocol)
        assert rules is not None
        return rules

    @property
    def waiting_for(self) -> tuple[str, ...]:
        """The names of those whose move it is."""
        return () if self.closed else self.rules.waiting_for(self.state)

    def status(self, state: Any, body: str) -> tuple[tuple[str, str], ...]:
        """Give the final status in a closing ruling's body: what the rules can say themselves is theirs."""
        said = read_fields(body)
        ours = self.rules.final_status(self.opening, state, said.get("OUTPUT", "none"))
        return (*ours, *((key, value) for key, value in said.items() if key not in dict(ours)))


def begin_session(ruling: Message, protocol: str, n: int, at_ms: int) -> Session | None:
    """Give the session that an opening begins; None where the rules would not have written such a one.

    A session's name reaches paths, and so do those of its roster, so they are checked whoever wrote them.
    """
    opening, rules = read_opening(ruling.session, ruling.body), rules_for(protocol)
    if opening is None or rules is None:
        return None
    if (opening.protocol, opening.rules) != (protocol, rules.RULES) or not _are_legal(opening.names):
        return None
    if not re.fullmatch(rf"{rules.SHORT}-[0-9a-f]{{4,16}}", opening.session):
        return None
    try:
        state = rules.begin(opening, at_ms)
    except IllFormed:
        return None
    return Session(n, opening, state, ruling.at, ruling.id)


def _are_legal(names: tuple[str, ...]) -> bool:
    try:
        return all(check_name(name) for name in names) and len(set(names)) == len(names)
    except UsageError:
        return False


def dump_session(session: Session) -> dict[str, Any]:
    """Give a session as JSON values."""
    opening = session.opening._asdict()
    opening["roster"] = [list(seat) for seat in session.opening.roster]
    return {**session._asdict(), "opening": opening, "state": list(session.state)}


def load_session(data: Any) -> Session:
    """Take a session back from JSON values."""
    values = dict(data["opening"])
    values["roster"] = tuple(Seat(*seat) for seat in values["roster"])
    values["options"] = tuple((key, value) for key, value in values["options"])
    opening = Opening(**values)
    rules = rules_for(opening.protocol)
    assert rules is not None
    result = tuple((key, value) for key, value in data["result"])
    return Session(
        **{**data, "opening": opening, "state": rules.state_of(_frozen(data["state"])), "result": result}
    )


def _frozen(value: Any) -> Any:
    """Give JSON's lists back as the tuples that they were."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
