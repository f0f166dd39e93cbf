"""Who is chosen: votes that count, evidence before votes, a stable id last. Pure.

What a verifier or an oracle fails ranks last, and is chosen only where nothing else is left or more were asked for
than passed; the selection then says so (`doubt`). Only a candidate that failed at a stage cannot be chosen at all.

Source of the rules: seed `compete-cron-builder`, Three-Way Challenge and Runtime Rules.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...parsers.votes import Vote
from .policy import Plan

ORDER = {"pass": 2, "": 1, "fail": 0}  # what a verifier or an oracle says, better ones higher


class Evidence(NamedTuple):
    """What is known of a candidate: `failure` says at which stage and why, empty where nothing failed."""

    candidate: str
    failure: str = ""
    verdict: str = ""  # the verifier's: pass, fail, or nothing
    oracle: str = ""  # the same, by its exit code
    score: float | None = None  # the oracle's worst
    no_verdict: str = ""  # why the verifier said nothing
    oracle_failure: str = ""  # why the oracle failed it

    @property
    def is_valid(self) -> bool:
        """Whether it can be chosen at all."""
        return not self.failure

    @property
    def is_sound(self) -> bool:
        """Whether neither verifier nor oracle failed it."""
        return "fail" not in (self.verdict, self.oracle)

    def told(self, votes: int) -> str:
        """Say it in one line: `verifier pass, oracle 7, 2 votes`."""
        if self.failure:
            return f"failed at {self.failure}"
        verdict = self.verdict or (f"none ({self.no_verdict})" if self.no_verdict else "none")
        said = [f"verifier {verdict}"]
        if self.oracle == "fail":
            said.append(f"oracle fail ({self.oracle_failure})" if self.oracle_failure else "oracle fail")
        elif self.oracle:
            said.append(f"oracle {self.oracle if self.score is None else number(self.score)}")
        return ", ".join([*said, f"{votes} vote{'s' * (votes != 1)}"])


class Ballot(NamedTuple):
    """One vote, the line that gave it, and why it is void, if it is."""

    voter: str
    choice: str
    void: str = ""
    line: str = ""


class Selection(NamedTuple):
    """The outcome: those chosen, best first; all others, each with the reason; the ballots.

    `facts` tell what is known of every candidate, in the order of their rank; `doubt` says what speaks against those
    chosen: `though the oracle passed none`.
    """

    chosen: tuple[str, ...]
    rejected: tuple[tuple[str, str], ...]
    ballots: tuple[Ballot, ...]
    votes: tuple[tuple[str, int], ...]
    facts: tuple[tuple[str, str], ...] = ()
    doubt: str = ""


def count_votes(votes: Mapping[str, Sequence[Vote]], evidence: Mapping[str, Evidence]) -> tuple[Ballot, ...]:
    """Judge what each voter wrote: its last vote that is not void counts; where all are, the last one is told.

    A vote for oneself, by or for a failed candidate, or for nobody is void. Who is left alone has nobody to vote for.
    """
    valid = {name for name, one in evidence.items() if one.is_valid}
    return tuple(_ballot(voter, votes[voter], valid) for voter in sorted(votes) if valid - {voter})


def _ballot(voter: str, votes: Sequence[Vote], valid: set[str]) -> Ballot:
    ballots = [Ballot(voter, choice, _void(voter, choice, valid), line) for choice, line in votes]
    ballots = ballots or [Ballot(voter, "", _void(voter, "", valid))]
    return next((one for one in reversed(ballots) if not one.void), ballots[-1])


def _void(voter: str, choice: str, valid: set[str]) -> str:
    if voter not in valid:
        return f"{voter} failed"
    if not choice:
        return "no `selected_candidate_id:` line names a candidate"
    if choice == voter:
        return "a vote for oneself"
    return "" if choice in valid else f"{choice} failed"


def select(plan: Plan, evidence: Mapping[str, Evidence], votes: Mapping[str, Sequence[Vote]]) -> Selection:
    """Choose, by the verifier's verdict, the oracle's verdict and score, the votes and the id, in this order.

    Those that neither verifier nor oracle failed are chosen first; the others only where there is nobody else, or
    where a number was asked for that the sound ones do not make up.
    """
    ballots = count_votes(votes, evidence)
    counted = Counter(ballot.choice for ballot in ballots if not ballot.void)

    def key(one: Evidence) -> tuple[bool, bool, int, int, float, int, str]:
        score = one.score if one.score is not None else float("-inf")
        evident = (-ORDER[one.verdict], -ORDER[one.oracle], -score)
        return not one.is_valid, not one.is_sound, *evident, -counted[one.candidate], one.candidate

    ranked = sorted(evidence.values(), key=key)
    valid = [one for one in ranked if one.is_valid]
    sound = [one for one in valid if one.is_sound]
    wanted = plan.choose_count or len(sound)
    pool = valid if not sound or (plan.is_count_asked and wanted > len(sound)) else sound
    chosen = pool[: plan.choose_count or len(pool)]
    facts = [(one.candidate, one.told(counted[one.candidate])) for one in ranked]
    return Selection(
        chosen=tuple(one.candidate for one in chosen),
        rejected=tuple(
            (one.candidate, _why_not(one, fact))
            for one, (_, fact) in zip(ranked, facts, strict=True)
            if one not in chosen
        ),
        ballots=ballots,
        votes=tuple((one, counted[one]) for one in sorted(evidence)),
        facts=tuple(facts),
        doubt=_doubt(chosen, valid),
    )


def _why_not(one: Evidence, fact: str) -> str:
    if one.failure:
        return one.failure
    if one.is_sound:
        return f"others rank before it: {fact}"
    return f"the {'verifier' if one.verdict == 'fail' else 'oracle'} says fail: {fact}"


def _doubt(chosen: Sequence[Evidence], valid: Sequence[Evidence]) -> str:
    """Say which judge failed which of those chosen; empty where none did."""
    said = []
    for judge, by_verifier in (("verifier", True), ("oracle", False)):
        failed = [one for one in valid if (one.verdict if by_verifier else one.oracle) == "fail"]
        names = [one.candidate for one in chosen if one in failed]
        if names:
            said.append(
                f"the {judge} " + ("passed none" if failed == valid else f"failed {', '.join(names)}")
            )
    return f"though {' and '.join(said)}" if said else ""


def number(score: float) -> str:
    """Write a score with all its digits: two that differ never look the same."""
    return str(score).removesuffix(".0")
