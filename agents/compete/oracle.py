"""The oracle: a command that says whether a result is right, and how good; of several runs the worst counts."""

from typing import NamedTuple

from ...parsers.votes import score_of
from .workers import Errand, Shell

TIMES = 2  # a result that is right only sometimes is not right
OUTPUT_BYTES = 64 * 1024


class Opinion(NamedTuple):
    """What the oracle says of a result: `pass` or `fail`, the worst score, and why it failed it."""

    says: str
    score: float | None
    why: str = ""
    timed_out: bool = False


def ask_oracle(template: str, errand: Errand, shell: Shell) -> Opinion:
    """Run the oracle; it passes a result where every run exits 0 with a `SCORE: number` line."""
    scores: list[float] = []
    for _ in range(TIMES):
        answer = shell.run(template, errand, OUTPUT_BYTES)
        score = score_of(answer.text)
        if answer.error or score is None:
            why = answer.error or "no SCORE line"
            return Opinion("fail", min(scores, default=None), why, answer.timed_out)
        scores.append(score)
    return Opinion("pass", min(scores))
