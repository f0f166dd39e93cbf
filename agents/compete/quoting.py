"""A command's template filled in for the shell, so that a value stays one word of text wherever it stands. Pure.

A value of plain characters is put in as it is. Any other one is in the command's environment (`MOOT_…`), and a
reference to that is put in, with the quotes that its place needs: the shell never reads the value as shell text.
"""

import re
from collections.abc import Mapping

VARIABLES = (
    "agent_id", "run_id", "candidate_id", "stage", "prompt_file", "output_file", "competition_id",
    "question_type", "selection_mode",
)  # fmt: skip
_VARIABLE = re.compile(rf"\{{({'|'.join(VARIABLES)})\}}")
_PLAIN = re.compile(r"[A-Za-z0-9_@%+:,./-]+")


def exported(values: Mapping[str, str]) -> dict[str, str]:
    """Give the environment that a filled template needs."""
    return {f"MOOT_{key.upper()}": value for key, value in values.items()}


def filled(template: str, values: Mapping[str, str]) -> str:
    """Put values into a template; braces that name no variable are left alone."""
    parts = []
    within = [""]  # what the place is in, innermost last: `"`, `'`, a backtick, or `)` for what ends by one
    at = 0
    while at < len(template):
        found = _VARIABLE.match(template, at)
        if found:
            parts.append(_put(found[1], values[found[1]], within[-1]))
            at = found.end()
            continue
        step = _step(template, at, within)
        parts.append(template[at : at + step])
        at += step
    return "".join(parts)


def _put(name: str, value: str, within: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    reference = f"${{MOOT_{name.upper()}}}"
    quoted = reference if within == '"' else f'"{reference}"'
    return f"'{quoted}'" if within == "'" else quoted


def _step(template: str, at: int, within: list[str]) -> int:
    """Take the next piece of shell text into account; give its length."""
    character, inner = template[at], within[-1]
    if inner == "'":
        if character == "'":
            within.pop()
    elif character == "\\":
        return 2
    elif character == inner:
        within.pop()
    elif template.startswith("$(", at):
        within.append(")")
        return 2
    elif character in '"`' or (character == "'" and inner != '"'):
        within.append(character)
    elif character == "(" and inner == ")":
        within.append(")")
    elif character == "#" and inner != '"' and (at == 0 or template[at - 1] in " \t\n;&|("):
        return max(1, len(template[at:].split("\n", 1)[0]))
    return 1
