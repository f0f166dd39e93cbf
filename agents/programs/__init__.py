"""What is known of the agent programs: one file each, with its flags, its hooks, its files, its screen. Pure.

`program_for` loads the one that is asked for; `generic` stands for all others.
"""

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from ...parsers.errors import UsageError
from ...parsers.names import did_you_mean

NAMES = ("claude", "codex", "gemini", "generic")
EVENTS = ("stop", "prompt", "tool")  # of a hook, in our words


class Said(NamedTuple):
    """What a program's output says of one headless turn; it went well where `error` is empty."""

    text: str
    conversation: str = ""  # the id by which it is resumed
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    error: str = ""


class Hooked(NamedTuple):
    """What a program's hook input says: that this stop was itself brought about by a hook's answer."""

    stop_hook_active: bool = False


class Keys(NamedTuple):
    """How a line that was typed into the program is submitted: tmux's names of keys, after a pause."""

    submit: tuple[str, ...] = ("Enter",)
    pause_s: float = 0.3


class File(NamedTuple):
    """One file that `moot install` keeps in a repository: its path, and what of it is ours.

    `kind` says how ours stands beside what is there: whole (all of the file), block (between two marker lines),
    json (members added at the paths that `adds` names) or toml (a block between two comment lines).
    """

    path: str
    kind: str
    text: str = ""
    adds: tuple[tuple[tuple[str, ...], Any], ...] = ()


class Program(Protocol):
    """What every program's file has: constants, and pure functions over text."""

    NAME: str
    TITLE: str
    TRIED: str
    HOOKS: Mapping[str, str]
    KEYS: Keys

    def headless(self, extra: Sequence[str], conversation: str) -> tuple[str, ...]:
        """Give the argument vector of one turn, whose prompt comes by standard input."""

    def read_answer(self, output: str) -> Said:
        """Read what a headless turn printed."""

    def reply(self, event: str, text: str) -> str:
        """Give what a hook prints so that `text` reaches the model: `event` is stop, prompt or tool."""

    def look(self, screen: str) -> str:
        """Say what a screen shows: idle (an empty prompt), typed, busy, dialog, or unknown."""

    def files(self, name: str, command: Sequence[str], guide: str) -> tuple[File, ...]:
        """Give the files that wire an agent of that name to moot, which `command` runs."""


def program_for(name: str) -> Program:
    """Load a program's file; UsageError for a name that none has."""
    if name not in NAMES:
        raise UsageError(f"no agent program {name!r} is known", then=did_you_mean(name, NAMES))
    return cast("Program", import_module(f".{name}", __package__))


def members(text: str) -> Mapping[str, Any]:
    """Read a JSON object; what is none is an empty one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def at(value: Any, *keys: str) -> Any:
    """Give what stands in objects at a path of keys, None where nothing does."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def words(value: Any) -> str:
    """Give a text; "" for what is none."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> int:
    """Give a count; 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def read_hook_input(text: str) -> Hooked:
    """Read what a program gives its hook; all three name that field alike."""
    return Hooked(stop_hook_active=members(text).get("stop_hook_active") is True)


def hook_group(command: str, **more: Any) -> dict[str, Any]:
    """Give one entry of an event's list, in the shape that all three programs share."""
    return {"hooks": [{"type": "command", "command": command, **more}]}
