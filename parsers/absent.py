"""Who gave nothing in a round of a debate, a line each with the reason: `- CX: time-out after 300 s`."""

import re


def absent_of(body: str) -> tuple[tuple[str, str], ...]:
    """Read the lines: (name, reason)."""
    found = (re.fullmatch(r"- ([\w.-]{1,64}): (.+)", line.rstrip()) for line in body.split("\n"))
    return tuple((line[1], line[2]) for line in found if line)


def write_absent(absent: tuple[tuple[str, str], ...]) -> str:
    """Write the lines; a reason is one line of at most 300 characters."""
    return "\n".join(f"- {name}: {' '.join(why.split())[:300] or 'no answer'}" for name, why in absent)
