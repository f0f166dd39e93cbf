"""Gemini CLI, as found with 0.61.0: `gemini`. Pure.

Hooks and the MCP entry stand in `.gemini/settings.json`; it warns about hooks of a project, and runs them. Its file
tools respect `.gitignore`, so the ledger is closed to them: it has to use the command.
"""

import json
from collections.abc import Sequence

from . import (
    File,
    Keys,
    Said,
    Screen,
    Wiring,
    at,
    hook_adds,
    mcp_entry,
    number,
    prompt_of,
    shows_dialog,
    words,
)

TITLE, TRIED, BINARY = "Gemini CLI", "0.61.0", "gemini"
HOOKS = {"stop": "AfterAgent", "prompt": "BeforeAgent", "tool": "AfterTool"}
KEYS = Keys(pause_s=1.0)  # Enter within a second of a paste is a line break
_MARGIN_S = 30


def headless(extra: Sequence[str], conversation: str) -> tuple[str, ...]:
    """Give the argument vector of one turn, whose prompt comes by standard input."""
    again = ("-r", conversation) if conversation else ()
    return (BINARY, "-o", "json", *again, *extra)


def read_answer(output: str) -> Said:
    """Read the object that `-o json` prints; it tells no cost."""
    start = output.find("{")  # warnings may stand before it
    try:
        said = json.loads(output[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        return Said("", error="the output is not the JSON of -o json")
    models = at(said, "stats", "models")
    tokens = [at(one, "tokens") for one in models.values()] if isinstance(models, dict) else []
    failure = at(said, "error")
    return Said(
        text=words(said.get("response")),
        conversation=words(said.get("session_id")),
        input_tokens=sum(number(at(one, "prompt")) for one in tokens),
        output_tokens=sum(number(at(one, key)) for one in tokens for key in ("candidates", "thoughts")),
        error=(words(at(failure, "message")) or "it says that it failed") if failure else "",
    )


def reply(event: str, text: str) -> str:
    """Give what a hook prints: the end is denied for the reason, other events get context."""
    if event == "stop":
        return json.dumps({"decision": "deny", "reason": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": HOOKS[event], "additionalContext": text}})


def look(screen: Screen) -> str:
    """Say what the screen shows; its title says so too."""
    if shows_dialog(screen) or screen.title.startswith("✋"):
        return "dialog"
    found = prompt_of(screen, ">")
    if found is None or screen.cursor[1] != found[0]:
        return "busy" if screen.title.startswith("✦") else "unknown"
    if screen.title.startswith("✦") or any("esc to cancel" in line for line in screen.lines):
        return "busy"
    return "idle" if found[2] else "typed"


def files(wiring: Wiring) -> tuple[File, ...]:
    """Give the guide in its file of instructions, the hooks and the MCP entry."""
    timeout_ms = (wiring.wait_s + _MARGIN_S) * 1000
    return (
        File("GEMINI.md", "block", text=wiring.guide),
        File(
            ".gemini/settings.json",
            "json",
            adds=(
                *hook_adds(wiring, "gemini", HOOKS, timeout_ms),
                (("mcpServers", "moot"), mcp_entry(wiring)),
            ),
        ),
    )
