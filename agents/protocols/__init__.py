"""One protocol, one file. `rules_for` loads the one that is asked for."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from ...parsers.seats import Prompt, Seat
from .events import Copy, Effect, Event, Move, Posted, Seal
from .opening import Opening

FILES = {
    "peer-collaboration": "peer_collaboration",
    "competition": "competition",
    "compete": "compete",
    "debate": "debate",
}


class Rules(Protocol):
    """What every protocol file has: constants, and pure functions over its own State."""

    NAME: str
    SHORT: str
    RULES: int
    ROLES: tuple[str, ...]
    TAGS: tuple[str, ...]
    MAX_TURNS: int

    def seats(self, prompt: Prompt) -> tuple[Seat, ...]:
        """Give everybody's role; IllFormed where the prompt does not name enough."""

    def options(self, prompt: Prompt) -> tuple[tuple[str, str], ...]:
        """Give the protocol's own fields of an opening; IllFormed where the prompt asks for what cannot be."""

    def seeds(self, prompt: Prompt) -> tuple[str, ...]:
        """Give the opening's fields that each pin a secret seed by its hash."""

    def state_of(self, values: Sequence[Any]) -> Any:
        """Give a state back from its values, whose tuples are plain."""

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

    def seals(self, opening: Opening, state: Any) -> tuple[Seal, ...]:
        """Give the seals that the session still needs, in the order in which they open."""

    def opens(self, state: Any) -> bool:
        """Tell whether the seals open now."""

    def open_part(self, state: Any, event: Posted) -> str | None:
        """Give the lines of a block that stay open, where its text is to be sealed; None where it is not."""

    def copies(self, opening: Opening, state: Any, name: str, seed: str) -> tuple[Copy, ...]:
        """Give the labelled texts that somebody is shown with its turn."""

    def keeps_apart(self, opening: Opening, one: str, other: str) -> bool:
        """Tell whether these two may not write to each other in private while the session is open."""

    def tag_for(self, opening: Opening, state: Any, name: str) -> str:
        """Give the tag under which an agent's answer counts now."""

    def how_to_answer(self, opening: Opening, state: Any, name: str) -> str:
        """Say to an agent that runs headless what its answer has to be."""

    def artifacts(self, state: Any) -> tuple[str, ...]:
        """Give the ids of the blocks whose `artifact_in` together is what the session made."""

    def artifact_in(self, body: str) -> str | None:
        """Give the artifact in a body, by the grammar of this protocol."""

    def final_status(self, opening: Opening, state: Any, output: str) -> tuple[tuple[str, str], ...]:
        """Give the lines of the final status."""


def rules_for(protocol: str) -> Rules | None:
    """Load the rules of a protocol by its name; None where there are none of that name."""
    file = FILES.get(protocol)
    return cast("Rules", import_module(f".{file}", __name__)) if file else None
