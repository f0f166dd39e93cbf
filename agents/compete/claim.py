"""A run's claim on its folder, and what it was asked for, kept there: all that `--resume` needs."""

import json
import math
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from ...bus.locks import Lock
from ...bus.messages import HUMAN
from ...parsers.errors import MootError, NotFound
from ...parsers.lease import ResourceLease, read_lease
from ...parsers.policy_change import PolicyChange, read_policy_change
from ...workspace.files import make_folder, write_whole
from ...workspace.folder import find_workspace
from ...workspace.options import known_agent
from ...workspace.settings import read_settings
from ...workspace.worktrees import Source, source_at
from .frozen import read_kept
from .policy import Plan

FILE, LOCK = "settings.json", ".lock"


class Settings(NamedTuple):
    """All that a run was asked for, and what it found when it began."""

    task: str
    plan: Plan
    competition_id: str
    runner: str
    command: str
    verifier: str
    oracle: str
    max_output_mb: float
    timeout_s: float
    handoff: str
    source_item_id: str = ""
    source_loop_id: str = ""
    worktrees: bool = False
    lease: ResourceLease | None = None
    players: tuple[str, ...] = ()
    policy_change: PolicyChange | None = None
    started_at: float = 0.0  # seconds since 1970: a lease's clock is not set back by a kill
    source: Source | None = None  # what the worktrees are of


def claim(
    output: Path, min_free_gb: float, settings: Settings, *, pinned: str | None = None, by: str = HUMAN
) -> tuple[Settings, Lock]:
    """Take a new folder for a run; give what it goes by, and the lock of the folder.

    NotFound (not available) for a folder in use, where there is no space, and for whoever is not in the roster;
    all that can be refused is refused before a file is made.
    """
    _check_teller(settings.runner, pinned, by)
    source = source_at(Path.cwd()) if settings.worktrees else None
    _check_empty(output)
    _check_space(output, min_free_gb)
    settings = settings._replace(started_at=time.time(), source=source)
    make_folder(output)
    lock = _locked(output)
    try:
        _check_empty(output)  # whoever had the lock before may have begun
        write_whole(output / FILE, (json.dumps(_plain(settings), indent=2) + "\n").encode())
    except BaseException:
        lock.close()
        raise
    return settings, lock


def take_up(output: Path, settings: Settings) -> Lock:
    """Take the folder of a run that was begun; give its lock.

    NotFound where another process is at it, and where its lease is over.
    """
    lease = settings.lease
    ends_at = settings.started_at + lease.ttl_minutes * 60 if lease and lease.ttl_minutes else math.inf
    if lease and settings.started_at and time.time() > ends_at:
        what = f"the lease {lease.lease_id} was for {lease.ttl_minutes:g} minutes, and they are over"
        raise NotFound(what, where=str(output), then="begin a run under another one")
    return _locked(output)


def saved_settings(output: Path) -> Settings:
    """Give the settings of a run that was begun; NotFound where there are none that can be read."""
    data = read_kept(output, FILE)
    if data is None:
        raise NotFound("there is no run to resume", where=str(output), then="begin one without --resume")
    try:
        return _read(json.loads(data), str(output / FILE))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MootError) as error:
        why = f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)
        raise NotFound(
            f"its settings cannot be read: {why}", where=str(output / FILE), then="begin a new run"
        ) from None


def _read(values: dict[str, Any], where: str) -> Settings:
    plan = Plan(**values["plan"])
    plan = plan._replace(
        candidate_ids=tuple(plan.candidate_ids), reasons=tuple((field, why) for field, why in plan.reasons)
    )
    lease, change, source = values["lease"], values["policy_change"], values.get("source")
    settings = Settings(
        **{
            **values,
            "plan": plan,
            "players": tuple(values["players"]),
            "lease": read_lease(json.dumps(lease).encode(), where) if lease else None,
            "policy_change": read_policy_change(json.dumps(change).encode(), where) if change else None,
            "source": Source(Path(source["root"]), Path(source["git_dir"]), source["commit"])
            if source
            else None,
        }
    )
    for value in (settings, plan):
        for field, kind in get_type_hints(type(value)).items():
            kinds = (int, float) if kind is float else kind
            if kind in (str, int, float, bool) and not isinstance(getattr(value, field), kinds):
                raise TypeError(f"`{field}` is {getattr(value, field)!r}")
    return settings


def _plain(settings: Settings) -> dict[str, Any]:
    """Give settings as JSON has them."""
    values = settings._asdict()
    for field in ("plan", "lease", "policy_change", "source"):
        values[field] = values[field] and {
            key: str(value) if isinstance(value, Path) else value
            for key, value in values[field]._asdict().items()
        }
    return values


def _check_teller(runner: str, pinned: str | None, by: str) -> None:
    """Refuse who may not tell the story of the run. Without a workspace there is none."""
    try:
        workspace = find_workspace(Path.cwd(), pinned=pinned)
    except NotFound:
        if pinned or runner == "agents":
            raise
        return
    known_agent(by, read_settings(workspace.folder).names, also=(HUMAN,))


def _check_empty(output: Path) -> None:
    if output.exists() and (not output.is_dir() or any(one.name != LOCK for one in output.iterdir())):
        then = "name another folder, or go on with that run by --resume"
        raise NotFound("the output folder holds something", where=str(output), then=then)


def _check_space(output: Path, min_free_gb: float) -> None:
    there = next(folder for folder in (output, *output.absolute().parents) if folder.exists())
    free_gb = shutil.disk_usage(there).free / 1e9
    if free_gb < min_free_gb:
        then = "free some space, or give a lower --min-free-gb"
        raise NotFound(f"{free_gb:.1f} GB are free, less than {min_free_gb:g}", where=str(output), then=then)


def _locked(output: Path) -> Lock:
    lock = Lock(output / LOCK)
    if not lock.try_take():
        raise NotFound("a run is going on in that folder", where=str(output), then="wait for its end")
    return lock
