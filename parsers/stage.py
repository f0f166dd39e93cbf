"""A stage of a compete run as its block tells it, and the selection at its end: hashes and paths, no payloads."""

import re
from typing import NamedTuple

from .sections import first, sections


class StageLine(NamedTuple):
    """What became of one candidate: `sha256` and `path` of what it gave, or the `failure`."""

    candidate: str
    sha256: str = ""
    path: str = ""
    failure: str = ""


class Stage(NamedTuple):
    """One stage, and a line for each candidate that took part."""

    name: str
    lines: tuple[StageLine, ...]


class Selection(NamedTuple):
    """Those chosen, best first, by which rule; nobody where every candidate failed."""

    selected: tuple[str, ...]
    mode: str
    reason: str = ""


def stage_of(body: str) -> Stage:
    """Read a stage's block."""
    found = sections(body, ("STAGE",))
    name, *lines = first(found, "STAGE").split("\n")
    read = (
        re.fullmatch(r"- ([\w.-]+): (?:([0-9a-f]{64}) (.+)|failed, (.+))", line.rstrip()) for line in lines
    )
    return Stage(name.strip(), tuple(StageLine(*line.groups(default="")) for line in read if line))


def write_stage(stage: Stage) -> str:
    """Write a stage's body."""
    lines = [
        f"- {one.candidate}: failed, {_one_line(one.failure)}"
        if one.failure
        else f"- {one.candidate}: {one.sha256} {one.path}"
        for one in stage.lines
    ]
    return "\n".join([f"STAGE: {stage.name}", *lines])


def selection_of(body: str) -> Selection:
    """Read the selection's block."""
    found = sections(body, ("SELECTED", "MODE", "REASON"))
    names = (name.strip() for name in first(found, "SELECTED").split(","))
    return Selection(
        tuple(name for name in names if name and name != "none"), first(found, "MODE"), first(found, "REASON")
    )


def write_selection(selection: Selection) -> str:
    """Write the selection's body."""
    names = ", ".join(selection.selected) or "none"
    return f"SELECTED: {names}\nMODE: {selection.mode}\nREASON: {_one_line(selection.reason)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
