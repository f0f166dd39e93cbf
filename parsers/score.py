"""Scores: for each entry a mark per criterion, the total, the notes (seed: competition, Judging Format)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from .sections import as_text, sections

KEYS = ("ENTRY", "TOTAL", "NOTES", "REASON")
OUT_OF = 10


class Mark(NamedTuple):
    """One criterion's line: its name and what stands behind the colon, as written."""

    name: str
    value: str


class Score(NamedTuple):
    """What a judge gives one entry; `reason` says why a score is another one than before."""

    entry: str
    marks: tuple[Mark, ...] = ()
    total: str = ""
    notes: str = ""
    reason: str = ""


def scores_of(body: str) -> tuple[Score, ...]:
    """Read the parts of a scores' body, one for each `ENTRY:` line."""
    scores: list[Score] = []
    for key, text in sections(body, KEYS):
        if key == "ENTRY":
            entry, *lines = text.split("\n")
            scores.append(Score(entry.strip().strip(" *`."), tuple(_marks(lines))))
        elif key and scores:
            scores[-1] = _with(scores[-1], key, text.strip())
    return tuple(scores)


def _with(score: Score, key: str, text: str) -> Score:
    if key == "TOTAL":
        return score._replace(total=text)
    return score._replace(notes=text) if key == "NOTES" else score._replace(reason=text)


def _marks(lines: Iterable[str]) -> Iterable[Mark]:
    for line in lines:
        left, colon, value = line.partition(":")
        name = re.split(r"\A\s*(?:[-*+•]|[0-9]{1,3}[.)])(?![0-9])", left)[-1].strip().strip("*").strip()
        if colon and 0 < len(name) <= 200:
            yield Mark(name, value.lstrip("*").strip())


def points_of(value: str) -> int | None:
    """Read `8`, `8.5/10` or `8/10 - why` in hundredths of a point; None where it is no number out of 10.

    Numbers above 10 are given as they are, since a rule and not the grammar says that they are too high.
    """
    of = r"\s*(?:(?:/|out of|of)\s*([0-9]{1,4}))?"
    number = re.match(rf"\**(-?[0-9]{{1,4}})(?:\.([0-9]{{1,2}}))?{of}(?![.,]?[0-9]|[%/])\**(?=\W|$)", value)
    if not number or (number[3] and int(number[3]) != OUT_OF):
        return None
    hundredths = abs(int(number[1])) * 100 + int((number[2] or "").ljust(2, "0"))
    return -hundredths if number[1].startswith("-") else hundredths


def total_of(value: str) -> int | None:
    """Read `24/30` or `24`, in hundredths of a point; None where it is no number."""
    number = re.match(r"\**([0-9]{1,6})(?:\.([0-9]{1,2}))?(?![.,]?[0-9])", value)
    return int(number[1]) * 100 + int((number[2] or "").ljust(2, "0")) if number else None


def write_score(entry: str, marks: Iterable[tuple[str, str]], notes: str, reason: str = "") -> str:
    """Write one part of a scores' body; the total is the sum of those marks that are numbers."""
    pairs = list(marks)
    points = [points_of(value) for _, value in pairs]
    lines = [
        f"{name}: {value}" if shown is None or "/" in value else f"{name}: {value}/{OUT_OF}"
        for (name, value), shown in zip(pairs, points, strict=True)
    ]
    total = plain(sum(one for one in points if one is not None))
    body = [f"ENTRY: {entry}", *lines, f"TOTAL: {total}/{OUT_OF * len(pairs)}"]
    body.append(f"NOTES: {as_text(notes, KEYS)}")
    return "\n".join([*body, *([f"REASON: {as_text(reason, KEYS)}"] if reason else [])])


def plain(hundredths: float) -> str:
    """Write hundredths of a point: `24`, `8.7`, `8.67`."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")
