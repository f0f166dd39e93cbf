"""What an errand is about, what it gives, and how much of that is kept."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...workspace.worktrees import Patch
from ..runners import Answer

VERIFIED = "initial_verification"
RESULTS = ("proposal", "revision_round_1")


class Given(NamedTuple):
    """What an errand gave: the answer's bytes as far as they are kept, the size of all, and the patch."""

    data: bytes
    size_bytes: int
    answer: Answer
    patch: Patch


def subjects(stage: str, name: str, others: Sequence[str], text: Callable[[str, str], str]) -> dict[str, str]:
    """Give what a candidate's errand is about, by title; `text` gives what a candidate wrote at a stage."""
    if stage == VERIFIED:
        return {f"The result of {name}": text(name, "proposal")}
    if stage == "peer_review_round_1":
        return {f"The result of {other}": text(other, "proposal") for other in others}
    if stage == "revision_round_1":
        said = {f"What {other} says": text(other, "peer_review_round_1") for other in others}
        return {"Your result": text(name, "proposal")} | said
    if stage == "peer_review_round_2":
        return {f"The revised result of {other}": text(other, "revision_round_1") for other in others}
    if stage == "repair_synthesis":
        said = {f"What {other} says": text(other, "peer_review_round_2") for other in others}
        return {"Your revised result": text(name, "revision_round_1")} | said
    return {}


def with_patch(data: bytes, patch: bytes) -> bytes:
    """Give a result with what its candidate changed in its worktree, in a fence that no line of that ends."""
    if not patch:
        return data
    fence = b"`" * max([3, *(len(run) + 1 for run in re.findall(b"`+", patch))])
    return b"%b\n\n%bdiff\n%b%b\n" % (data.rstrip(), fence, patch, fence)


def within(data: bytes, cap: int) -> bytes:
    """Cut what is over the cap: a patch, or bytes that were replaced since each takes three then."""
    if len(data) <= cap:
        return data
    half = cap // 2
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    return f"{head}\n[... {len(data) - 2 * half} bytes were cut here ...]\n{tail}".encode()
