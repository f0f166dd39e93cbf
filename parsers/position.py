"""What a debater says: its opening position, and in later rounds its rebuttal.

    POSITION: what to do, in two or three sentences      CRITIQUES: - CX | their claim | why it fails
    ARGUMENTS: - one a line                              DEFENSE: what is said against me, and why it does not hold
    ANTICIPATED OBJECTIONS: - one a line                 - CONCEDED: CX | the point that is theirs
    BOTTOM LINE: one sentence                            UPDATED POSITION: what I hold now
                                                         VERDICT: AGREE

Models write such headings in many ways, so they are read loosely. A text without any is a position all the same.
"""

import re
from typing import NamedTuple

from .sections import first, sections, unfenced
from .verdict import Verdict, verdict_in

OPENING_PARTS = ("POSITION", "ARGUMENTS", "ANTICIPATED OBJECTIONS", "BOTTOM LINE")
REBUTTAL_PARTS = ("CRITIQUES", "DEFENSE", "UPDATED POSITION", "VERDICT")
_PARTS = (*OPENING_PARTS, *REBUTTAL_PARTS)  # some give more than they were asked for
SHOWN = 1200  # characters of a position that others are shown: two or three sentences are 400


class Critique(NamedTuple):
    """One claim of somebody's that is contested, and why."""

    of: str
    claim: str
    why: str = ""


class Position(NamedTuple):
    """What somebody holds. In an opening `critiques`, `conceded` and `verdict` are empty."""

    position: str
    arguments: tuple[str, ...] = ()
    bottom_line: str = ""
    critiques: tuple[Critique, ...] = ()
    conceded: tuple[tuple[str, str], ...] = ()  # (to whom, which point)
    verdict: Verdict = Verdict("")


def position_of(text: str) -> Position:
    """Read an opening position."""
    found = sections(unfenced(text), _PARTS, loosely=True)
    position = first(found, "POSITION") or (_paragraph(text) if len(found) == 1 else "")
    return Position(
        position=position or first(found, "BOTTOM LINE") or _paragraph(text),
        arguments=_items(first(found, "ARGUMENTS")),
        bottom_line=first(found, "BOTTOM LINE"),
    )


def rebuttal_of(text: str) -> Position:
    """Read a rebuttal; its `position` is empty where it keeps the one it had."""
    found = sections(unfenced(text), _PARTS, loosely=True)
    position = first(found, "UPDATED POSITION") or first(found, "POSITION")
    unchanged = re.match(r"(?i)[*_ ]*(?:un|not? )chang", position) is not None
    return Position(
        position="" if unchanged else position,
        arguments=_items(first(found, "DEFENSE")),
        critiques=tuple(_critiques(first(found, "CRITIQUES"))),
        conceded=tuple(_conceded(text)),
        verdict=verdict_in(text),
    )


def words_of(text: str) -> frozenset[str]:
    """Give the words of a text, case and markup aside: what positions are compared by."""
    return frozenset(re.findall(r"\w+", text.casefold()))


def _paragraph(text: str) -> str:
    paragraphs = re.split(r"\n[ \t]*\n", unfenced(text).strip())
    return next((part.strip() for part in paragraphs if not re.fullmatch(r"#{1,6} .*", part)), text.strip())


def _items(text: str) -> tuple[str, ...]:
    """Give the points of a list, each on one line; a text that is no list is one point."""
    points: list[str] = []
    for line in text.split("\n"):
        item = re.match(r" {0,3}(?:[-+*•]|[0-9]{1,2}[.)])[ \t]+(.*)", line)
        if item:
            points.append(item[1].strip())
        elif points and line.strip():
            points[-1] = f"{points[-1]} {line.strip()}"
        elif line.strip():
            points.append(line.strip())
    return tuple(point for point in points if not re.match(r"[*_]*CONCEDED\b", point))


def _critiques(text: str) -> list[Critique]:
    """Read `- CX | claim | why`, or `- **CX**: claim — why`."""
    found = []
    for item in _items(text):
        parts = [part.strip(" *_`") for part in item.split("|", 2)]
        if len(parts) == 1:
            named = re.match(r"[*_`]*([^:*`]{1,80}?)[*_`]*:[*_`]*[ \t]+(.+)", item)
            parts = [named[1], *re.split(r"[ \t][\u2014\u2013][ \t]", named[2], maxsplit=1)] if named else []
        if len(parts) > 1 and parts[1]:
            found.append(Critique(parts[0], parts[1], parts[2] if len(parts) > 2 else ""))
    return found


def _conceded(text: str) -> list[tuple[str, str]]:
    """Read `CONCEDED: CX | the point`, wherever it stands."""
    line = (
        r"(?m)^ {0,3}(?:[-+*][ \t]+)?[*_]*CONCEDED[*_]*:[*_]*[ \t]*([^|\n]{1,80}?)[ \t]*\|[ \t]*(.+?)[ \t]*$"
    )
    return [(found[1].strip("*_` "), found[2]) for found in re.finditer(line, text)]
