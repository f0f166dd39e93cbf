"""What the body of a block says, read by the grammar of its tag; a grammar is loaded when it is first needed."""

from importlib import import_module
from typing import Any

# tag -> (module of this room, its function)
GRAMMARS = {
    "CHALLENGE": ("challenge", "challenge_of"),
    "ENTRY": ("entry", "entry_of"),
    "SCORE": ("score", "scores_of"),
    "WINNER": ("winner", "winner_of"),
    "STAGE": ("stage", "stage_of"),
    "SELECTION": ("stage", "selection_of"),
    "POSITION": ("position", "position_of"),
    "REBUTTAL": ("position", "rebuttal_of"),
    "ABSENT": ("absent", "absent_of"),
}


def read_body(tag: str, body: str) -> Any:
    """Give what a body says as the value of its tag's grammar; the text itself where the tag has none."""
    if tag not in GRAMMARS:
        return body.strip()
    module, function = GRAMMARS[tag]
    return getattr(import_module(f".{module}", __package__), function)(body)
