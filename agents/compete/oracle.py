"""The oracle: a command that says whether a result is right, and how good; of several runs the worst counts."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ...parsers.votes import score_of
from ..runners import CommandRunner
from .workers import filled

TIMES = 2  # a result that is right only sometimes is not right
OUTPUT_BYTES = 64 * 1024


def ask_oracle(
    template: str, values: Mapping[str, str], folder: Path, timeout_s: float, watch: Callable[[str], None]
) -> tuple[str, float | None]:
    """Give `pass` or `fail`, and the worst score; it passes where every run exits 0 with a `SCORE: number` line."""
    scores: list[float] = []
    for _ in range(TIMES):
        runner = CommandRunner(
            ("/bin/sh", "-c", filled(template, values)),
            cwd=folder, env=dict(os.environ), timeout_s=timeout_s, max_output_bytes=OUTPUT_BYTES, cuts=True,
            watch=watch,
        )  # fmt: skip
        answer = runner.run("")
        score = score_of(answer.text)
        if answer.error or score is None:
            return "fail", min(scores, default=None)
        scores.append(score)
    return "pass", min(scores)
