"""The artifact that a turn holds: under `Artifact:` or `Updated:`, or in a fence named `artifact`.

From `Artifact:` or `Updated:` it runs to the body's end, less the lines that are tokens. The last one
in a body counts (seed: peer-collaboration, Turn Format and Example Session).
"""

import re
from functools import cache

from .headers import LETTERS, Vocabulary, read_header
from .tokens import top_lines

_NO_NAMES = Vocabulary(LETTERS, ())


@cache
def _label() -> re.Pattern[str]:
    return re.compile(
        r"(?:#{1,6}[ \t]+)?(\*\*|__|)(?:Artifact|Updated)(?:\1:|:\1)[ \t]*(?P<rest>.*)", re.IGNORECASE
    )


@cache
def _fence() -> re.Pattern[str]:
    return re.compile(
        r"^(?P<mark>`{3,}|~{3,})[ \t]*artifact[ \t\r]*\n(?P<text>.*?)^(?P=mark)[`~]*[ \t\r]*$",
        re.MULTILINE | re.DOTALL,
    )


def artifact_of(body: str) -> str | None:
    """Give the artifact in a body, ended by a newline, or None where it holds none."""
    fences = list(_fence().finditer(body)) if "artifact" in body else []
    label = _last_label(body)
    if fences and (label is None or fences[-1].start() >= label[0]):
        return fences[-1].group("text") or None
    if label is None:
        return None
    return _without_tokens(body[label[1] :])


def _last_label(body: str) -> tuple[int, int] | None:
    """Give where the last label's line begins and where the text behind it does."""
    found = None
    at = 0
    inside = ""
    for line in body.split("\n"):
        mark = line.lstrip(" ")[:3]
        if mark in ("```", "~~~") and not inside:
            inside = mark
        elif inside and mark == inside and not line.strip(f" \r{inside[0]}"):
            inside = ""
        match = None if inside else _label().match(line.rstrip("\r"))
        if match is not None:
            found = (at, at + match.start("rest"))
        at += len(line) + 1
    return found


def _without_tokens(text: str) -> str | None:
    tokens = {number for number, line in top_lines(text) if read_header(line, _NO_NAMES)}
    lines = [line for number, line in enumerate(text.split("\n")) if number not in tokens]
    kept = "\n".join(lines).strip("\n")
    return kept + "\n" if kept.strip() else None
