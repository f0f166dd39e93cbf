"""The records that a run leaves for whoever reviews its choices: EstimatorPolicy, RouteDecision, looper_log. Pure.

Source of the fields: seed `compete-cron-builder`, Shared b3ehive Contract.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, Protocol

from ...parsers.lease import ResourceLease
from ...parsers.policy_change import PolicyChange
from .policy import Plan
from .selection import Evidence

Record = dict[str, Any]


ALIKE = 0.9  # the share of their words that two results have in common, from which on they are the same work


class Spent(Protocol):
    """What one errand took."""

    @property
    def elapsed_s(self) -> float:
        """Seconds."""

    @property
    def bytes(self) -> int:
        """How much it gave."""

    @property
    def cut(self) -> bool:
        """Whether it gave more than was kept."""


class Cost(NamedTuple):
    """What a run cost: the first two measured, the others as its candidates report them."""

    wall_clock_minutes: float = 0
    output_kib: float = 0
    tokens: float = 0
    human_review_minutes: float = 0


class Facts(NamedTuple):
    """What the records tell of a run besides its plan and what came of it."""

    task_ref: str
    runner: str
    source_size_kib: int
    has_oracle: bool
    lease: ResourceLease | None = None
    policy_change: PolicyChange | None = None
    cost: Cost = Cost()


def records_of(
    plan: Plan,
    facts: Facts,
    evidence: Mapping[str, Evidence],
    texts: Mapping[str, str],
    spent: Iterable[Spent],
) -> list[Record]:
    """Give all records of a run: its choices, each signal about its instruments, what it ran under."""
    logs = looper_logs(plan, facts, evidence, texts, list(spent))
    lease = lease_records(facts.lease, facts.task_ref, facts.cost) if facts.lease else ()
    change = [policy_record(facts.policy_change)] if facts.policy_change else []
    return [estimator(plan, facts), route(plan, facts), *logs, *lease, *change]


def _strength(facts: Facts) -> str:
    return "executable" if facts.has_oracle else "reviewer"


def estimator(plan: Plan, facts: Facts) -> Record:
    """Give the record of how many propose and how many are chosen."""
    lease = facts.lease
    return {
        "record": "EstimatorPolicy",
        "schema_version": 1,
        "estimate_id": f"estimate-{facts.task_ref}",
        "task_ref": facts.task_ref,
        "skill": "compete",
        "input_signals": {
            "question_type": plan.question_type,
            "validator_strength": _strength(facts),
            "risk_class": "high" if plan.question_type == "audit" else "normal",
            "source_size_kib": facts.source_size_kib,
            "budget_workers": plan.budget_workers,
        },
        "estimated_parameters": {
            "proposal_count": plan.proposal_count,
            "choose_count": plan.chosen,
            "route_class": plan.competition_shape,
        },
        "hard_caps": {
            "max_tokens": (lease.max_tokens or None) if lease else None,
            "max_diff_kib": (lease.max_diff_kib or None) if lease else None,
            "worker_can_write_x": False,
        },
        "rationale": [f"{field}: {why}" for field, why in plan.reasons],
        "fallback": {"on_validator_failure": "votes decide", "on_no_reward": "stop with a failure summary"},
    }


def route(plan: Plan, facts: Facts) -> Record:
    """Give the record of the way that was taken."""
    return {
        "record": "RouteDecision",
        "schema_version": 1,
        "route_id": f"route-{facts.task_ref}",
        "parent_ref": facts.task_ref,
        "selected_skill_path": ["compete", plan.competition_shape],
        "route_class": plan.competition_shape,
        "model_class": "worker",
        "runner": facts.runner,
        "validator_strength": _strength(facts),
        "context_strategy": "each candidate in a folder of its own",
        "side_effect_class": "files below the output folder",
        "why_not_cheaper": ["one proposal has no peer to review it"],
        "why_not_more_expensive": [f"{plan.budget_workers} workers are the budget"],
        "fallback_route": ["parallel_proposals"],
    }


def looper_logs(
    plan: Plan,
    facts: Facts,
    evidence: Mapping[str, Evidence],
    texts: Mapping[str, str],
    spent: Sequence[Spent],
) -> list[Record]:
    """Give a record for what the route cost, and for each signal that an instrument does not fit its task."""
    signals = (_cost(spent), *_misfits(plan, evidence), *_overlaps(texts), *_frictions(evidence, spent))
    ref = facts.task_ref
    return [_log(f"log-{ref}-{number}", ref, *signal) for number, signal in enumerate(signals, 1)]


Signal = tuple[str, str, str, str]  # the grain, the instrument, what was observed, what might be better


def _cost(spent: Sequence[Spent]) -> Signal:
    seconds, kib = sum(one.elapsed_s for one in spent), sum(one.bytes for one in spent) / 1024
    observed = f"the route cost {len(spent)} errands, {seconds:.1f} s of work and {kib:.1f} KiB of output"
    return "task", "route", observed, "weigh the cost against the reward"


def _misfits(plan: Plan, evidence: Mapping[str, Evidence]) -> Iterator[Signal]:
    """Tell of a missing validator, and of an m or k of the wrong size."""
    if not any(one.verdict or one.oracle for one in evidence.values()):
        yield "skill", "validator", "no verdict on any candidate", "name a verifier or an oracle"
    if plan.misfit:
        yield "composition", "m of the m/k policy", plan.misfit, "as many proposals as workers"
    sound = sum(one.is_valid and one.is_sound for one in evidence.values())
    if plan.choose_count > sound:
        observed = f"{plan.choose_count} were to be chosen of {sound} that nobody failed"
        yield "composition", "k of the m/k policy", observed, "choose fewer, or more proposals"


def _overlaps(texts: Mapping[str, str]) -> Iterator[Signal]:
    """Tell which candidates did the same work."""
    words = {name: set(text.casefold().split()) for name, text in texts.items() if text.strip()}
    pairs = [
        f"{one} and {other}"
        for one, other in combinations(sorted(words), 2)
        if len(words[one] & words[other]) >= ALIKE * len(words[one] | words[other])
    ]
    if pairs:
        observed = f"the results of {', '.join(pairs)} overlap"
        yield "composition", "competition shape", observed, "fewer proposals, or prompts that differ"


def _frictions(evidence: Mapping[str, Evidence], spent: Sequence[Spent]) -> Iterator[Signal]:
    """Tell how the scaffold and the tools got in the way."""
    failed = [f"{one.candidate}: {one.failure}" for one in evidence.values() if one.failure]
    if failed:
        yield "scaffold", "runner", "; ".join(failed), "mend the command, or give it more time"
    if cut := sum(one.cut for one in spent):
        yield "scaffold", "output limit", f"the output of {cut} errands was cut", "a higher --max-output-mb"
    unread = [f"{one.candidate}: {one.no_verdict}" for one in evidence.values() if one.no_verdict]
    if unread:
        yield "tool", "verifier", "; ".join(unread), "have it end with `VERDICT: pass` or `VERDICT: fail`"
    refused = [f"{one.candidate}: {one.oracle_failure}" for one in evidence.values() if one.oracle_failure]
    if refused:
        yield "tool", "oracle", "; ".join(refused), "see whether the oracle or the results are at fault"


def _log(log_id: str, task_ref: str, grain: str, instrument: str, observed: str, suggestion: str) -> Record:
    return {
        "record": "looper_log",
        "schema_version": 1,
        "log_id": log_id,
        "grain": grain,
        "task_ref": task_ref,
        "target_object": {
            "kind": "task", "ref": task_ref, "desired_movement": "a selected result", "evidence_policy": ["hashes"],
        },
        "instrument_object": {
            "kind": instrument, "ref": "compete", "intended_role": "tell candidates apart",
            "observed_effect": observed, "change_authority": "master",
        },
        "route_refs": [f"route-{task_ref}"],
        "estimator_refs": [f"estimate-{task_ref}"],
        "evidence_refs": ["compete_manifest.json"],
        "outcome": {"master_state": "[_]", "reward_class": "unknown"},
        "target_feedback": "",
        "instrument_feedback": observed,
        "improvement_suggestions": [suggestion],
        "suggested_owner": "master",
        "future_backlog_state": "[ ]",
    }  # fmt: skip


def lease_records(lease: ResourceLease, task_ref: str, cost: Cost) -> Sequence[Record]:
    """Give the lease that a looper's attempt ran under, and what the run, one nested run, spent of it."""
    budget = {
        "max_usd": lease.max_usd,
        "max_tokens": lease.max_tokens,
        "max_wall_clock_minutes": lease.max_wall_clock_minutes,
        "max_diff_kib": lease.max_diff_kib,
    }
    return [
        {
            "record": "ResourceLease",
            "schema_version": 1,
            "lease_id": lease.lease_id,
            "loop_id": lease.loop_id,
            "attempt_id": lease.attempt_id,
            "ttl_minutes": lease.ttl_minutes,
            **budget,
            "workspace": lease.workspace,
            "status": lease.status,
        },
        {
            "record": "ParentLeaseRef",
            "schema_version": 1,
            "parent_loop_id": lease.loop_id,
            "parent_attempt_id": lease.attempt_id,
            "parent_lease_id": lease.lease_id,
            "nested_run_id": task_ref,
            "budget": budget,
            "depth": lease.depth + 1,
            "nested_runs": lease.nested_runs + 1,
            "spent": cost._asdict(),
        },
    ]


def policy_record(change: PolicyChange) -> Record:
    """Give the change of policy that the run was made under."""
    return {"record": "PolicyChange", "schema_version": 1, **change._asdict()}
