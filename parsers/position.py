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

from .sections import own_lines, sections, unfenced
from .verdict import Verdict, verdict_in

OPENING_FORM = (
    ("POSITION", "your recommendation in two or three sentences; be specific"),
    ("ARGUMENTS", "three to five, one a line, each with its evidence"),
    ("ANTICIPATED OBJECTIONS", "two or three that you expect, and your answer to each"),
    ("BOTTOM LINE", "one sentence: why this way wins"),
)
REBUTTAL_FORM = (
    ("CRITIQUES", "the weakest claim on the other side, one a line: `- NAME | their claim | why it fails`"),
    ("DEFENSE", "what is said against you: why it does not hold; or a line `CONCEDED: NAME | the point`"),
    ("UPDATED POSITION", "what you hold now, and what changed; or `unchanged`, and why nobody has moved you"),
)
OPENING_PARTS = tuple(key for key, _ in OPENING_FORM)
REBUTTAL_PARTS = (*(key for key, _ in REBUTTAL_FORM), "VERDICT")
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
    parts = _parts(text)
    position = parts.get("POSITION", "") or (_paragraph(text) if not parts else "")
    return Position(
        position=position or parts.get("BOTTOM LINE", "") or _paragraph(text),
        arguments=_items(parts.get("ARGUMENTS", "")),
        bottom_line=parts.get("BOTTOM LINE", ""),
    )


def rebuttal_of(text: str) -> Position:
    """Read a rebuttal; its `position` is empty where it keeps the one it had."""
    parts = _parts(text)
    position = parts.get("UPDATED POSITION", "") or parts.get("POSITION", "")
    unchanged = re.match(r"(?i)[*_ ]*(?:un|not? )chang", position) is not None
    return Position(
        position="" if unchanged else position,
        arguments=_items(parts.get("DEFENSE", "")),
        critiques=tuple(_critiques(parts.get("CRITIQUES", ""))),
        conceded=tuple(_conceded(text)),
        verdict=verdict_in(text),
    )


def _parts(text: str) -> dict[str, str]:
    """Give the parts by their keys; of several the last that is filled in: some programs print their prompt."""
    found = sections(unfenced(text), _PARTS, loosely=True)
    forms = {words_of(form) for _, form in (*OPENING_FORM, *REBUTTAL_FORM)}
    parts = {}
    for key, said in found[1:]:
        lines = [line for line in said.split("\n") if words_of(line) not in forms]
        if filled := "\n".join(lines).strip():
            parts[key] = filled
    return parts


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
    """Read `CONCEDED: CX | the point`, on any line of one's own."""
    line = re.compile(
        r" {0,3}(?:[-+*][ \t]+)?[*_`]*CONCEDED[*_]*:[*_]*[ \t]*([^|]{1,80}?)[ \t]*\|[ \t]*(.+?)[ \t`]*"
    )
    found = (line.fullmatch(one) for one in own_lines(unfenced(text)))
    return [(one[1].strip("*_` "), one[2]) for one in found if one]
