"""The artifact that a turn holds: under `Artifact:` or `Updated:`, or in a fence named `artifact`.

From `Artifact:` or `Updated:` it runs to the body's end, less the lines that are tokens. The last one
in a body counts (seed: peer-collaboration, Turn Format and Example Session).
"""

import re
from functools import cache

from .headers import TOKENS, read_header
from .tokens import Fence, Outline, outline

LABELS = ("Artifact", "Updated")


@cache
def _label() -> re.Pattern[str]:
    return re.compile(
        r"^ {0,3}(?:#{1,6}[ \t]+)?(?P<bold>\*\*|__|)(?:Artifact|Updated)(?:(?P=bold):|:(?P=bold))[ \t]*",
        re.IGNORECASE | re.MULTILINE,
    )


def artifact_of(body: str) -> str | None:
    """Give the artifact in a body, ended by a newline, or None where it holds none."""
    body = body.removeprefix("\ufeff")
    labels = list(_label().finditer(body))
    if not labels and "artifact" not in body:
        return None
    read = outline(body)
    fence = next((one for one in reversed(read.fences) if one.info.split()[:1] == ["artifact"]), None)
    label = _last_at_top(labels, body, read)
    if fence is not None and (label is None or fence.opens > label[0]):
        return _fenced(fence, read)
    return _labelled(*label, read) if label is not None else None


def _last_at_top(labels: list[re.Match[str]], body: str, read: Outline) -> tuple[int, str] | None:
    """Give the line of the last label that stands at top level, and what follows it on that line."""
    found = None
    line = at = 0
    for label in labels:
        line, at = line + body.count("\n", at, label.start()), label.start()
        if line not in read.hidden:
            found = (line, read.lines[line][label.end() - at :])
    return found


def _fenced(fence: Fence, read: Outline) -> str | None:
    opening = read.lines[fence.opens]
    margin = len(opening) - len(opening.lstrip(" "))
    lines = [read.lines[number] for number in fence.lines]
    return _ended("\n".join(line[min(margin, len(line) - len(line.lstrip(" "))) :] for line in lines))


def _labelled(label: int, rest: str, read: Outline) -> str | None:
    tokens = {number for number, line in read.candidates() if read_header(line, TOKENS)}
    below = [line for number, line in enumerate(read.lines) if number > label and number not in tokens]
    return _ended("\n".join([rest, *below]).strip("\r\n"))


def _ended(text: str) -> str | None:
    return text + "\n" if text.strip() else None
