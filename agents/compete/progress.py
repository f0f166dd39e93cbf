"""What a run has behind it, a JSON line each: errands that came to their end, notes, candidates that are out. Pure.

Lines that are none of these are passed over: the last line of a run that was killed may be half a line.
"""

import json
from collections.abc import Collection
from typing import Any, NamedTuple

from ..protocols.compete import STAGES

FILE = "progress.jsonl"


class Done(NamedTuple):
    """One errand that came to its end: `error` is empty where it went well."""

    candidate: str
    stage: str
    sha256: str
    exit_code: int | None
    error: str
    elapsed_s: float
    bytes: int
    cut: bool
    patch: str = ""  # the hash of what its worktree differs by from the commit that was lent
    late: bool = False  # whether the time of the lease ended it


class Noted(NamedTuple):
    """What the summary is to say."""

    note: str


class Struck(NamedTuple):
    """A candidate that is out for what it did at a stage, not for its answer."""

    struck: str
    at: str
    why: str


Line = Done | Noted | Struck
_SAMPLES: tuple[Line, ...] = (Done("", "", "", 0, "", 0.0, 0, False), Noted(""), Struck("", "", ""))


def write_line(line: Line) -> str:
    """Give a line's text."""
    return json.dumps(line._asdict()) + "\n"


def read_lines(data: bytes, candidates: Collection[str]) -> list[Line]:
    """Give the lines that are whole and about these candidates."""
    lines = (_line(text) for text in data.decode("utf-8", "replace").split("\n"))
    return [line for line in lines if line is not None and _is_ours(line, candidates)]


def _line(text: str) -> Line | None:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for sample in _SAMPLES if isinstance(values, dict) else ():
        fields = sample._asdict()
        needed = set(fields) - set(sample._field_defaults)
        if needed <= set(values) <= set(fields) and all(_fits(values[key], fields[key]) for key in values):
            return type(sample)(**values)
    return None


def _fits(value: Any, sample: Any) -> bool:
    if isinstance(sample, bool) or not isinstance(sample, int | float):
        return isinstance(value, type(sample))
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _is_ours(line: Line, candidates: Collection[str]) -> bool:
    match line:
        case Done():
            return line.candidate in candidates and line.stage in STAGES
        case Struck():
            return line.struck in candidates
        case _:
            return True
