"""Votes, verdicts and scores: what the last line that counts says, behind its key, in a text's own lines.

    selected_candidate_id: run_a
    VERDICT: pass
    SCORE: 0.75

In any capitals, in a heading, a list or bold; what follows the word behind a blank or a mark is a remark:
`VERDICT: fail.`, `VERDICT: pass, with reservations`. Whole words count, so `passable` and `pass or fail` are none.
"""

import math
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from .sections import fences

VERDICTS = ("pass", "fail")
SHOWN = 200  # characters of a line that a notice repeats

LEAD = r" {0,3}(?:#{1,6}[ \t]+)?(?:[-*+•][ \t]+|[0-9]{1,3}[.)][ \t]+)?(?:#{1,6}[ \t]+)?[*_`]*+"
_MARKS = r"[*_`\"' \t]*+"
_WORD = r"[^\W_](?:\w*[^\W_])?"
_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_REMARK = r"(?:$|[.,;:!](?=[\s*_`\"')]|$)|[(\u2013\u2014]|(?<=[ \t])-+[ \t])"


class Vote(NamedTuple):
    """A line that votes: the candidate it names, or nothing where it names none; and the line itself."""

    choice: str
    line: str


def votes_in(text: str, ids: Collection[str]) -> tuple[Vote, ...]:
    """Give every `selected_candidate_id: ID` of a text, in its order."""
    known = {one.casefold(): one for one in ids}
    said = _said(text, "selected_candidate_id", _WORD)
    return tuple(Vote(known.get(word.casefold(), ""), line) for word, line in said)


def verdict_of(text: str) -> str:
    """Give a verifier's `VERDICT: pass` or `fail`, the last one that is either; empty where it gives none."""
    words = [word.casefold() for word, _ in _said(text, "VERDICT", _WORD)]
    return next((word for word in reversed(words) if word in VERDICTS), "")


def score_of(text: str) -> float | None:
    """Give the number of an oracle's last `SCORE:` line; None where there is none, or that one is no number."""
    said = _said(text, "SCORE", _NUMBER)
    score = float(said[-1][0] or "nan") if said else math.nan
    return score if math.isfinite(score) else None


def costs_in(text: str) -> tuple[float, float]:
    """Give the tokens and the minutes of a human's review that a text reports; 0 for what it does not.

    Lines `TOKENS: 1200` and `HUMAN_REVIEW_MINUTES: 5`, the last of each.
    """
    said = (_said(text, key, _NUMBER) for key in ("TOKENS", "HUMAN_REVIEW_MINUTES"))
    tokens, minutes = (float(found[-1][0] or 0) if found else 0.0 for found in said)
    return (tokens if 0 <= tokens < math.inf else 0.0), (minutes if 0 <= minutes < math.inf else 0.0)


def _said(text: str, key: str, value: str) -> list[tuple[str, str]]:
    """Give the value behind a key on each of a text's own lines that has it, empty for another one; and the line."""
    found = []
    for _, line in own_lines(text):
        keyed = re.match(rf"(?i:{LEAD}{key}){_MARKS}:{_MARKS}(.*)", line)
        if keyed:
            read = re.match(rf"({value}){_MARKS}{_REMARK}", keyed[1])
            found.append((read[1] if read else "", line.strip()[:SHOWN]))
    return found


def own_lines(text: str) -> Iterator[tuple[int, str]]:
    """Give the lines that are a text's own, each with its number from 1: neither fenced nor quoted."""
    lines = text.replace("\r\n", "\n").split("\n")
    fenced, until = fences(lines), -1
    for number, line in enumerate(lines):
        if number > until:
            until = max(until, fenced.get(number, -1))
        if number > until and not line.lstrip().startswith(">"):
            yield number + 1, line
