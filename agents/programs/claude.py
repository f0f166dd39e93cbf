"""Claude Code, as found with 2.1.197: `claude`. Pure.

Hooks stand in `.claude/settings.json`, the MCP entry in `.mcp.json`, the skill in `.claude/skills/moot/`. After
eight stops in a row that a hook blocked it ends all the same. It asks before it runs a command that
`permissions.allow` does not name.
"""

import json
import re
from collections.abc import Sequence

from . import (
    COMMANDS,
    File,
    Keys,
    Said,
    Screen,
    Wiring,
    amount,
    at,
    hook_adds,
    mcp_entry,
    number,
    prompt_of,
    shows_dialog,
    skill,
    words,
)

TITLE, TRIED, BINARY = "Claude Code", "2.1.197", "claude"
HOOKS = {"stop": "Stop", "prompt": "UserPromptSubmit", "tool": "PostToolUse"}
KEYS = Keys()
_SPINNER = re.compile(r"[⠀-⣿]")
_MARGIN_S = 30  # that a hook may take beside what it was told to wait


def headless(extra: Sequence[str], conversation: str) -> tuple[str, ...]:
    """Give the argument vector of one turn, whose prompt comes by standard input."""
    again = ("--resume", conversation) if conversation else ()
    return (BINARY, "-p", "--output-format", "json", *again, *extra)


def read_answer(output: str) -> Said:
    """Read the one object that `--output-format json` prints."""
    try:
        said = json.loads(output)
    except (ValueError, RecursionError):
        return Said("", error="the output is not the JSON of --output-format json")
    text, usage = words(at(said, "result")), at(said, "usage")
    read = sum(
        number(at(usage, key))
        for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    failed = bool(at(said, "is_error")) or at(said, "type") != "result"
    return Said(
        text=text,
        conversation=words(at(said, "session_id")),
        cost_usd=amount(at(said, "total_cost_usd")),
        input_tokens=read,
        output_tokens=number(at(usage, "output_tokens")),
        error=(text or words(at(said, "subtype")) or "it says that it failed") if failed else "",
    )


def reply(event: str, text: str) -> str:
    """Give what a hook prints: a stop is blocked for the reason, other events get context."""
    if event == "stop":
        return json.dumps({"decision": "block", "reason": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": HOOKS[event], "additionalContext": text}})


def look(screen: Screen) -> str:
    """Say what the screen shows; the prompt stands between two rules, and is gone while a dialog is open."""
    found = prompt_of(screen, "❯")
    row = found[0] if found else 0
    framed = 0 < row < len(screen.lines) - 1 and all(
        screen.lines[near].strip("─ ") == "" and "─" in screen.lines[near] for near in (row - 1, row + 1)
    )
    if found is None or not framed:
        return "dialog" if shows_dialog(screen) else "unknown"
    if _SPINNER.match(screen.title) or any("esc to interrupt" in line for line in screen.lines[row:]):
        return "busy"
    return "idle" if found[2] else "typed"


def files(wiring: Wiring) -> tuple[File, ...]:
    """Give the skill, the hooks with leave to run moot's commands for agents, and the MCP entry."""
    moot = wiring.moot[0]
    allowed = [f"Bash({moot} {command}:*)" for command in COMMANDS]
    return (
        File(".claude/skills/moot/SKILL.md", "whole", text=skill(wiring)),
        File(
            ".claude/settings.json",
            "json",
            adds=(
                *hook_adds(wiring, "claude", HOOKS, wiring.wait_s + _MARGIN_S),
                (("permissions", "allow"), [*allowed, "mcp__moot"]),
                (("enabledMcpjsonServers",), ["moot"]),
            ),
        ),
        File(".mcp.json", "json", adds=((("mcpServers", "moot"), mcp_entry(wiring)),)),
    )
