"""The records that a run leaves for whoever reviews its choices: EstimatorPolicy, RouteDecision, looper_log. Pure.

Source of the fields: seed `compete-cron-builder`, Shared b3ehive Contract.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...parsers.lease import ResourceLease
from ...parsers.policy_change import PolicyChange
from .policy import Plan
from .selection import Evidence

Record = dict[str, Any]


def estimator(plan: Plan, task_ref: str, source_size_kib: int, has_oracle: bool) -> Record:
    """Give the record of how many propose and how many are chosen."""
    return {
        "record": "EstimatorPolicy",
        "schema_version": 1,
        "estimate_id": f"estimate-{task_ref}",
        "task_ref": task_ref,
        "skill": "compete",
        "input_signals": {
            "question_type": plan.question_type,
            "validator_strength": "executable" if has_oracle else "reviewer",
            "risk_class": "high" if plan.question_type == "audit" else "normal",
            "source_size_kib": source_size_kib,
            "budget_workers": plan.budget_workers,
        },
        "estimated_parameters": {
            "proposal_count": plan.proposal_count,
            "choose_count": plan.chosen,
            "route_class": plan.competition_shape,
        },
        "hard_caps": {"max_tokens": None, "max_diff_kib": None, "worker_can_write_x": False},
        "rationale": [f"{field}: {why}" for field, why in plan.reasons],
        "fallback": {"on_validator_failure": "votes decide", "on_no_reward": "stop with a failure summary"},
    }


def route(plan: Plan, task_ref: str, runner: str) -> Record:
    """Give the record of the way that was taken."""
    return {
        "record": "RouteDecision",
        "schema_version": 1,
        "route_id": f"route-{task_ref}",
        "parent_ref": task_ref,
        "selected_skill_path": ["compete", plan.competition_shape],
        "route_class": plan.competition_shape,
        "model_class": "worker",
        "runner": runner,
        "validator_strength": "reviewer",
        "context_strategy": "each candidate in a folder of its own",
        "side_effect_class": "files below the output folder",
        "why_not_cheaper": ["one proposal has no peer to review it"],
        "why_not_more_expensive": [f"{plan.budget_workers} workers are the budget"],
        "fallback_route": ["parallel_proposals"],
    }


def looper_logs(
    task_ref: str, evidence: Mapping[str, Evidence], texts: Mapping[str, str]
) -> Sequence[Record]:
    """Give a record for each signal about the instrument: no verdicts, candidates alike, failures of the scaffold."""
    logs = []
    if not any(one.verdict or one.oracle for one in evidence.values()):
        logs.append(
            _log(
                "skill", task_ref, "validator", "no verdict on any candidate", "name a verifier or an oracle"
            )
        )
    wrote = [" ".join(text.split()) for text in texts.values() if text.strip()]
    if len(set(wrote)) < len(wrote):
        logs.append(
            _log(
                "composition",
                task_ref,
                "competition shape",
                "candidates gave the same result",
                "fewer proposals",
            )
        )
    failed = [f"{one.candidate}: {one.failure}" for one in evidence.values() if one.failure]
    if failed:
        logs.append(
            _log("scaffold", task_ref, "runner", "; ".join(failed), "mend the command, or give it more time")
        )
    return [log | {"log_id": f"log-{task_ref}-{number}"} for number, log in enumerate(logs, 1)]


def _log(grain: str, task_ref: str, instrument: str, observed: str, suggestion: str) -> Record:
    return {
        "record": "looper_log",
        "schema_version": 1,
        "log_id": "",
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


def lease_records(lease: ResourceLease, task_ref: str) -> Sequence[Record]:
    """Give the lease that a looper's attempt ran under, and how the run hangs on it."""
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
        },
    ]


def policy_record(change: PolicyChange) -> Record:
    """Give the change of policy that the run was made under."""
    return {"record": "PolicyChange", "schema_version": 1, **change._asdict()}
