"""What the rules of a protocol say that seals nothing and pins nothing beside the opening's own fields."""

from typing import Any

from ...parsers.seats import Prompt
from .events import Copy, Posted, Seal
from .opening import Opening


def options(prompt: Prompt) -> tuple[tuple[str, str], ...]:  # noqa: ARG001
    """Give the protocol's own fields of an opening; IllFormed where the prompt asks for what cannot be."""
    return ()


def seeds(prompt: Prompt) -> tuple[str, ...]:  # noqa: ARG001
    """Give the opening's fields that each pin a secret seed by its hash."""
    return ()


def seals(opening: Opening, state: Any) -> tuple[Seal, ...]:  # noqa: ARG001
    """Give the seals that the session still needs, in the order in which they open."""
    return ()


def opens(state: Any) -> bool:  # noqa: ARG001
    """Tell whether the seals open now."""
    return False


def open_part(state: Any, event: Posted) -> str | None:  # noqa: ARG001
    """Give the lines of a block that stay open, where its text is to be sealed; None where it is not."""
    return None


def copies(opening: Opening, state: Any, name: str, seed: str) -> tuple[Copy, ...]:  # noqa: ARG001
    """Give the labelled texts that somebody is shown with its turn."""
    return ()


def keeps_apart(opening: Opening, one: str, other: str) -> bool:  # noqa: ARG001
    """Tell whether these two may not write to each other in private while the session is open."""
    return False
