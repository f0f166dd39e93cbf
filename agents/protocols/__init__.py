"""One protocol, one file. `rules_for` loads the one that is asked for."""

from importlib import import_module
from typing import Any, Protocol, cast

from ...parsers.seats import Prompt, Seat
from .events import Effect, Event, Move
from .opening import Opening

FILES = {"peer-collaboration": "peer_collaboration"}


class Rules(Protocol):
    """What every protocol file has: constants, and pure functions over its own State."""

    NAME: str
    SHORT: str
    RULES: int
    ROLES: tuple[str, ...]
    TAGS: tuple[str, ...]
    MAX_TURNS: int
    State: Any

    def seats(self, prompt: Prompt) -> tuple[Seat, ...]:
        """Give everybody's role; IllFormed where the prompt does not name enough."""

    def begin(self, opening: Opening, at_ms: int) -> Any:
        """Give the first state; IllFormed where the roster is not one that `seats` gives."""

    def step(self, opening: Opening, state: Any, event: Event) -> tuple[Any, tuple[Effect, ...]]:
        """Answer an event with a new state and effects, a Rule first; no effect at all for an idle tick."""

    def due_ms(self, opening: Opening, state: Any) -> int:
        """Give the time at which a tick would be ruled on."""

    def waiting_for(self, state: Any) -> tuple[str, ...]:
        """Give the names of those whose move it is."""

    def moves(self, opening: Opening, state: Any, name: str) -> tuple[Move, ...]:
        """Give what an agent may do now."""

    def final_status(self, opening: Opening, state: Any, output: str) -> tuple[tuple[str, str], ...]:
        """Give the lines of the final status."""


def rules_for(protocol: str) -> Rules | None:
    """Load the rules of a protocol by its name; None where there are none of that name."""
    file = FILES.get(protocol)
    return cast("Rules", import_module(f".{file}", __name__)) if file else None
