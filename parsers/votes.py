"""Votes and verdicts of candidates and their verifier: the last line of its own that counts."""

import re
from collections.abc import Collection

from .sections import fences

VERDICTS = ("pass", "fail")


def vote_of(text: str, ids: Collection[str]) -> str:
    """Give the candidate that a text votes for: the last `selected_candidate_id: ID` that names one of `ids`.

    A line in a code fence or a quotation is somebody else's vote.
    """
    named = (word for word in _lines(text, "selected_candidate_id") if word in ids)
    return next(named, "")


def verdict_of(text: str) -> str:
    """Give a verifier's `VERDICT: pass` or `fail`, the last one, in any case; empty where it gives none."""
    said = (word.casefold() for word in _lines(text, "VERDICT"))
    return next((word for word in said if word in VERDICTS), "")


def score_of(text: str) -> float | None:
    """Give the number of an oracle's last `SCORE: number` line; None where there is none, or it is no number."""
    for word in _lines(text, "SCORE"):
        if re.fullmatch(r"[-+]?[0-9]{1,15}(?:\.[0-9]{1,15})?", word):
            return float(word)
    return None


def _lines(text: str, key: str) -> list[str]:
    """Give the words behind a key on lines of its own, the last one first."""
    lines = text.replace("\r\n", "\n").split("\n")
    fenced = fences(lines)
    found, until = [], -1
    for number, line in enumerate(lines):
        if number > until:
            until = max(until, fenced.get(number, -1))
        read = re.match(rf"(?:\*\*)?{key}(?:\*\*)?:(?:\*\*)?[ \t]*`?([^\s`*]+)`?(?:\*\*)?[ \t]*$", line)
        if number > until and read:
            found.append(read[1])
    return found[::-1]
