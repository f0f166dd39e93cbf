"""Codex, as found with 0.171.0: `codex`. Pure.

Hooks stand in `.codex/hooks.json`, and run once they were reviewed with `/hooks` (or with
`--dangerously-bypass-hook-trust`); the MCP entry in `.codex/config.toml` counts in a folder that Codex trusts; the
skill in `.agents/skills/moot/`. Its workspace-write sandbox makes `.git` read-only.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

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
    skill,
    words,
)

TITLE, TRIED, BINARY = "Codex", "0.171.0", "codex"
HOOKS = {"stop": "Stop", "prompt": "UserPromptSubmit", "tool": "PostToolUse"}
KEYS = Keys(("Escape", "Enter"))  # Escape closes the list that a typed word may have opened
_SPINNER = re.compile(r"[⠀-⣿] ")
_MARGIN_S = 30


def headless(extra: Sequence[str], conversation: str) -> tuple[str, ...]:
    """Give the argument vector of one turn, whose prompt comes by standard input."""
    if conversation:
        return (BINARY, "exec", *extra, "--json", "resume", conversation, "-")
    return (BINARY, "exec", *extra, "--json", "-")


def read_answer(output: str) -> Said:
    """Read the lines that `--json` prints; the last message is the answer, usage adds up over the conversation."""
    said, errors = Said("", is_total=True), ""
    ended = False
    for event in _events(output):
        kind = event.get("type")
        if kind == "thread.started":
            said = said._replace(conversation=words(event.get("thread_id")))
        elif kind == "item.completed" and at(event, "item", "type") == "agent_message":
            said = said._replace(text=words(at(event, "item", "text")))
        elif kind == "turn.completed":
            ended = True
            usage = at(event, "usage")
            read, written = number(at(usage, "input_tokens")), number(at(usage, "output_tokens"))
            said = said._replace(input_tokens=read, output_tokens=written)
        elif kind in ("turn.failed", "error"):
            errors = words(at(event, "error", "message")) or words(event.get("message")) or "the turn failed"
    if ended:
        return said
    return said._replace(error=errors or "the output does not say that the turn was completed")


def _events(output: str) -> Iterator[dict[str, Any]]:
    for line in output.split("\n"):
        try:
            event = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def reply(event: str, text: str) -> str:
    """Give what a hook prints: a stop is blocked for the reason, other events get context."""
    if event == "stop":
        return json.dumps({"decision": "block", "reason": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": HOOKS[event], "additionalContext": text}})


def look(screen: Screen) -> str:
    """Say what the screen shows."""
    if shows_dialog(screen):
        return "dialog"
    found = prompt_of(screen, "›")
    if found is None or screen.cursor[1] != found[0]:
        return "unknown"
    near = screen.lines[max(0, found[0] - 6) :]
    if _SPINNER.match(screen.title) or any("esc to interrupt" in line for line in near):
        return "busy"
    return "idle" if found[2] else "typed"


def files(wiring: Wiring) -> tuple[File, ...]:
    """Give the skill, the hooks and the MCP entry."""
    entry = mcp_entry(wiring)
    table = (
        "[mcp_servers.moot]\n"
        f"command = {json.dumps(entry['command'])}\n"
        f"args = {json.dumps(entry['args'])}\n"
        "tool_timeout_sec = 120\n"
    )
    return (
        File(".agents/skills/moot/SKILL.md", "whole", text=skill(wiring)),
        File(".codex/hooks.json", "json", adds=hook_adds(wiring, "codex", HOOKS, wiring.wait_s + _MARGIN_S)),
        File(".codex/config.toml", "toml", text=table),
    )
