"""A change of policy that looper logs suggest: it counts only with every reference that stands for its review. Pure.

Source of the rule: seed `compete-cron-builder`, Shared b3ehive Contract.
"""

import json
from typing import NamedTuple

from .errors import UsageError
from .names import did_you_mean

REFERENCES = ("evidence_lint_ref", "roi_ref", "pareto_gate_ref", "rollback_ref", "master_x_ref")


class PolicyChange(NamedTuple):
    """What is to change, and the references that allow it: evidence, return, trade-off, way back, acceptance."""

    change: str
    evidence_lint_ref: str = ""
    roi_ref: str = ""
    pareto_gate_ref: str = ""
    rollback_ref: str = ""
    master_x_ref: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The references without which it is refused."""
        return tuple(name for name in REFERENCES if not getattr(self, name).strip())


def read_policy_change(data: bytes, where: str) -> PolicyChange:
    """Read a change; UsageError where it is none, with the field that is wrong."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"the policy change is no JSON: {error}", where=where, then="correct the file"
        ) from None
    if not isinstance(values, dict):
        raise UsageError("the policy change is no object", where=where, then='write `{"change": …}`')
    for key, value in values.items():
        if key not in PolicyChange._fields:
            raise UsageError(
                f"unknown field `{key}`", where=where, then=did_you_mean(key, PolicyChange._fields)
            )
        if not isinstance(value, str):
            raise UsageError(f"`{key}` is {value!r}", where=where, then="give text")
    if not values.get("change", "").strip():
        raise UsageError("the policy change changes nothing", where=where, then="add `change`")
    return PolicyChange(**values)
