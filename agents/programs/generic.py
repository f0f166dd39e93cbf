"""Any other agent program: its own argument vector, plain text in and out, no hooks that are known. Pure."""

from collections.abc import Mapping, Sequence

from . import File, Keys, Said, Screen, Wiring, prompt_of, shows_dialog

TITLE, TRIED, BINARY = "any other agent program", "", ""
HOOKS: Mapping[str, str] = {}
KEYS = Keys()
_GLYPHS = ("❯", "›", ">", ">>>")
_BUSY = ("esc to interrupt", "esc to cancel", "ctrl+c to stop", "working", "thinking")


def headless(extra: Sequence[str], _conversation: str) -> tuple[str, ...]:
    """Give the argument vector back: there is no other."""
    return tuple(extra)


def read_answer(output: str) -> Said:
    """Take the output as the answer."""
    return Said(output)


def reply(_event: str, text: str) -> str:
    """Give the text as it is."""
    return f"{text}\n"


def look(screen: Screen) -> str:
    """Say what the screen shows: idle where the cursor stands behind a prompt in the last line."""
    if shows_dialog(screen):
        return "dialog"
    found = [one for glyph in _GLYPHS if (one := prompt_of(screen, glyph)) and one[0] == screen.cursor[1]]
    below = [line for line in screen.lines[screen.cursor[1] + 1 :] if line.strip()]
    if not found or (below and len(below) > 3):
        last = next((line.lower() for line in reversed(screen.lines) if line.strip()), "")
        return "busy" if any(word in last for word in _BUSY) else "unknown"
    return "idle" if found[0][2] else "typed"


def files(wiring: Wiring) -> tuple[File, ...]:
    """Give the guide in the file of instructions that most programs read."""
    return (File("AGENTS.md", "block", text=wiring.guide),)
