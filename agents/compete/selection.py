"""Who is chosen: votes that count, evidence before votes, a stable id last. Pure.

Source of the rules: seed `compete-cron-builder`, Three-Way Challenge and Runtime Rules.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from .policy import UNIONS, Plan

ORDER = {"pass": 2, "": 1, "fail": 0}  # what a verifier or an oracle says, better ones higher


class Evidence(NamedTuple):
    """What is known of a candidate: `failure` says at which stage and why, empty where nothing failed."""

    candidate: str
    failure: str = ""
    verdict: str = ""  # the verifier's: pass, fail, or nothing
    oracle: str = ""  # the same, by its exit code
    score: float | None = None  # the oracle's worst

    @property
    def is_valid(self) -> bool:
        """Whether it can be chosen at all."""
        return not self.failure


class Ballot(NamedTuple):
    """One vote, and why it is void, if it is."""

    voter: str
    choice: str
    void: str = ""


class Selection(NamedTuple):
    """The outcome: those chosen, best first; all others, each with the reason; the ballots."""

    chosen: tuple[str, ...]
    rejected: tuple[tuple[str, str], ...]
    ballots: tuple[Ballot, ...]
    votes: tuple[tuple[str, int], ...]


def count_votes(votes: Mapping[str, str], evidence: Mapping[str, Evidence]) -> tuple[Ballot, ...]:
    """Judge votes (voter to choice): one for oneself, by or for a failed candidate, or for nobody is void."""
    return tuple(Ballot(voter, votes[voter], _void(voter, votes[voter], evidence)) for voter in sorted(votes))


def _void(voter: str, choice: str, evidence: Mapping[str, Evidence]) -> str:
    if not evidence[voter].is_valid:
        return f"{voter} failed"
    if not choice:
        return "no `selected_candidate_id:` line names a candidate"
    if choice == voter:
        return "a vote for oneself"
    return "" if evidence[choice].is_valid else f"{choice} failed"


def select(plan: Plan, evidence: Mapping[str, Evidence], votes: Mapping[str, str]) -> Selection:
    """Choose, by the verifier's verdict, the oracle's verdict and score, the votes and the id, in this order.

    A union takes all that are valid and that neither verifier nor oracle failed; where that leaves none, all valid.
    """
    ballots = count_votes(votes, evidence)
    counted = Counter(ballot.choice for ballot in ballots if not ballot.void)
    valid = [one for one in evidence.values() if one.is_valid]

    def key(one: Evidence) -> tuple[int, int, float, int, str]:
        score = one.score if one.score is not None else float("-inf")
        return -ORDER[one.verdict], -ORDER[one.oracle], -score, -counted[one.candidate], one.candidate

    ranked = sorted(valid, key=key)
    if plan.selection_mode in UNIONS:
        sound = [one for one in ranked if "fail" not in (one.verdict, one.oracle)] or ranked
        chosen = sorted(one.candidate for one in sound)
        chosen = chosen[: plan.choose_count] if plan.choose_count else chosen
    else:
        chosen = [one.candidate for one in ranked[: plan.choose_count or len(ranked)]]
    return Selection(
        chosen=tuple(chosen),
        rejected=tuple(
            (one.candidate, _why_not(one)) for one in evidence.values() if one.candidate not in chosen
        ),
        ballots=ballots,
        votes=tuple((one, counted[one]) for one in sorted(evidence)),
    )


def _why_not(one: Evidence) -> str:
    if one.failure:
        return one.failure
    if "fail" in (one.verdict, one.oracle):
        return f"the {'verifier' if one.verdict == 'fail' else 'oracle'} says fail"
    return "others rank before it"
