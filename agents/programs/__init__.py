"""What is known of the agent programs: one file each, with its flags, its hooks, its files, its screen. Pure.

`program_for` loads the one that is asked for; `generic` stands for all others.
"""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from ...parsers.errors import UsageError
from ...parsers.names import did_you_mean

NAMES = ("claude", "codex", "gemini", "generic")
EVENTS = ("stop", "prompt", "tool")  # of a hook, in our words

# What an agent needs to take part, and no more: `moot run`, `trust` and the like are a person's.
COMMANDS = ("wait", "inbox", "send", "done", "entry", "score", "winner", "ack", "status", "log")


class Said(NamedTuple):
    """What a program's output says of one headless turn; it went well where `error` is empty.

    `is_total` where its tokens are those of the whole conversation up to now.
    """

    text: str
    conversation: str = ""  # the id by which it is resumed
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    is_total: bool = False
    error: str = ""


class Screen(NamedTuple):
    """What a terminal shows: its lines without their right ends' blanks, where the cursor is, the title."""

    lines: tuple[str, ...]
    cursor: tuple[int, int] = (0, 0)  # column, row; both from 0
    title: str = ""


class Keys(NamedTuple):
    """How a line that was typed into the program is submitted: tmux's names of keys, after a pause."""

    submit: tuple[str, ...] = ("Enter",)
    pause_s: float = 0.3


class File(NamedTuple):
    """One file that `moot install` keeps in a repository: its path, and what of it is ours.

    `kind` says how ours stands beside what is there: `whole` (all of the file), `block` (lines between two
    markers), `toml` (the same, in comments), or `json`: `adds` names the path of a member, and the value that is
    put there, or, where the value is a list, the items that are appended to the list there.
    """

    path: str
    kind: str
    text: str = ""
    adds: tuple[tuple[tuple[str, ...], Any], ...] = ()


class Wiring(NamedTuple):
    """What an installation writes: how moot is started, for whom, how long a stop waits for mail, the guide."""

    moot: tuple[str, ...]  # the argument vector that runs moot
    name: str  # "" where the roster or MOOT_AGENT says it
    wait_s: int
    guide: str


class Program(Protocol):
    """What every program's file has: constants, and pure functions over text."""

    TITLE: str
    TRIED: str
    BINARY: str
    HOOKS: Mapping[str, str]
    KEYS: Keys

    def headless(self, extra: Sequence[str], conversation: str) -> tuple[str, ...]:
        """Give the argument vector of one turn, whose prompt comes by standard input."""

    def read_answer(self, output: str) -> Said:
        """Read what a headless turn printed."""

    def reply(self, event: str, text: str) -> str:
        """Give what a hook prints so that `text` reaches the model: `event` is stop, prompt or tool."""

    def look(self, screen: Screen) -> str:
        """Say what a screen shows: idle (an empty prompt), typed, busy, dialog, or unknown."""

    def files(self, wiring: Wiring) -> tuple[File, ...]:
        """Give the files that wire an agent to moot."""


def program_for(name: str) -> Program:
    """Load a program's file; UsageError for a name that none has."""
    if name not in NAMES:
        raise UsageError(f"no agent program {name!r} is known", then=did_you_mean(name, NAMES))
    return cast("Program", import_module(f".{name}", __package__))


# -- what the files share -------------------------------------------------------------------------

_CHOICE = re.compile(r"^[\s│┃|]*[❯›●>▶]\s*\d+[.)]\s")
_QUESTION = re.compile(r"[(\[]\s*y(?:es)?\s*/\s*n(?:o)?\s*[)\]]\s*:?\s*$", re.IGNORECASE)
_SHELLS = ("bash", "sh", "zsh", "fish", "dash", "ksh", "tcsh", "-bash", "-zsh")


def shows_dialog(screen: Screen) -> bool:
    """Tell whether a list to choose from, or a question for yes or no, stands at the end of a screen."""
    shown = [line for line in screen.lines if line.strip()][-15:]
    return any(_CHOICE.match(line) for line in shown) or any(_QUESTION.search(line) for line in shown[-3:])


def prompt_of(screen: Screen, glyph: str) -> tuple[int, str, bool] | None:
    """Find the last line that begins with the prompt's glyph: its row, the text behind, and whether that is empty.

    A text that the cursor stands before was not typed: it is the program's own suggestion.
    """
    for row in range(len(screen.lines) - 1, -1, -1):
        found = re.match(rf"(\s*[│|]?\s*{re.escape(glyph)})(?:[\s\xa0]+|$)(.*)", screen.lines[row])
        if found:
            text = found[2].strip(" \xa0│|")
            home = screen.cursor[1] == row and screen.cursor[0] <= found.end(1) + 1
            return row, text, not text or home
    return None


def shows(screen: Screen, line: str) -> bool:
    """Tell whether a line stands at the end of a screen, wrapped or not."""
    squeezed = "".join("".join(screen.lines[-12:]).split())
    rows = "".join("".join(screen.lines[max(0, screen.cursor[1] - 4) : screen.cursor[1] + 1]).split())
    return "".join(line.split()) in rows or "".join(line.split()) in squeezed


def is_shell(command: str) -> bool:
    """Tell whether what runs in a pane is a shell: then the program in it has ended."""
    return command in _SHELLS


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


def amount(value: Any) -> float:
    """Give a sum of money; 0 for what is none."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if real and 0 < value < 1e9 else 0.0


def hook_command(wiring: Wiring, program: str, event: str) -> str:
    """Give the line that a program runs at an event."""
    import shlex

    argv = [*wiring.moot, "hook", program, event]
    argv += ["--as", wiring.name] if wiring.name else []
    argv += ["--wait", str(wiring.wait_s)] if wiring.wait_s and event == "stop" else []
    return shlex.join(argv)


def hook_adds(
    wiring: Wiring, program: str, hooks: Mapping[str, str], timeout: int
) -> tuple[tuple[tuple[str, ...], Any], ...]:
    """Give what a settings file gets, in the shape that all three programs share; `timeout` in the program's unit."""
    adds = []
    for event, theirs in hooks.items():
        hook = {"type": "command", "command": hook_command(wiring, program, event), "timeout": timeout}
        adds.append((("hooks", theirs), [{"hooks": [hook]}]))
    return tuple(adds)


def mcp_entry(wiring: Wiring) -> dict[str, Any]:
    """Give what starts our MCP server, in the shape that all three programs share."""
    who = ("--as", wiring.name) if wiring.name else ()
    return {"command": wiring.moot[0], "args": [*wiring.moot[1:], "mcp", *who]}


def skill(wiring: Wiring) -> str:
    """Give a skill file, as Claude Code, Codex and Gemini CLI read it."""
    return (
        "---\nname: moot\ndescription: Talk and take turns with the other agents in this repository by `moot`."
        " Use it when you are told to read your mail, to wait, to send, or that it is your move.\n---\n\n"
        f"{wiring.guide}"
    )
