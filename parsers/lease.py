"""A resource lease, as a looper gives one to an attempt: what the attempt may take. Pure.

Source of the fields: seed `compete-cron-builder`, Looper Handoff.
"""

import json
from typing import NamedTuple

from .errors import UsageError
from .names import did_you_mean

MAX_DEPTH, MAX_NESTED = 3, 8
MOST = 1e12  # of anything: what is more, or no number that JSON has, is a mistake


class ResourceLease(NamedTuple):
    """What a lease allows; limits are 0 where it sets none."""

    lease_id: str
    loop_id: str
    attempt_id: str
    status: str
    ttl_minutes: float = 0
    max_usd: float = 0
    max_tokens: float = 0
    max_wall_clock_minutes: float = 0
    max_diff_kib: float = 0
    workspace: str = ""
    depth: float = 0
    nested_runs: float = 0


def read_lease(data: bytes, where: str) -> ResourceLease:
    """Read a lease; UsageError where it is none, with the field that is wrong."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the lease is no JSON: {error}", where=where, then="correct the file") from None
    if not isinstance(values, dict):
        raise UsageError("the lease is no object", where=where, then='write `{"lease_id": …}`')
    for key in values:
        if key not in ResourceLease._fields:
            raise UsageError(
                f"unknown field `{key}`", where=where, then=did_you_mean(key, ResourceLease._fields)
            )
    for key in ("lease_id", "loop_id", "attempt_id", "status"):
        if not isinstance(values.get(key), str) or not values[key]:
            raise UsageError(f"the lease has no `{key}`", where=where, then="add it")
    for key, default in ResourceLease._field_defaults.items():
        value = values.get(key, default)
        if isinstance(default, str) and not isinstance(value, str):
            raise UsageError(f"`{key}` is {value!r}", where=where, then="give text")
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST
        if not isinstance(default, str) and not is_number:
            raise UsageError(f"`{key}` is {value!r}", where=where, then="give a number, 0 for no limit")
    return ResourceLease(**values)


def refusal(lease: ResourceLease) -> str:
    """Say why no run may begin under a lease; empty where one may."""
    if lease.status != "active":
        return f"the lease {lease.lease_id} is {lease.status}, not active"
    if lease.depth >= MAX_DEPTH:
        return f"the lease {lease.lease_id} is nested {lease.depth:g} deep, and {MAX_DEPTH} is the most"
    if lease.nested_runs >= MAX_NESTED:
        return f"the lease {lease.lease_id} has had {lease.nested_runs:g} nested runs, and {MAX_NESTED} are the most"
    return ""
