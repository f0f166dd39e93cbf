"""A run from its claim on a folder to its files: shared by the first start and `--resume`."""

import json
import math
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ...bus.locks import Lock
from ...bus.messages import HUMAN
from ...parsers.errors import NotFound
from ...parsers.lease import ResourceLease
from ...parsers.policy_change import PolicyChange
from ...workspace.files import make_folder, read_regular, write_whole
from ...workspace.folder import find_workspace
from ...workspace.repository import find_repository
from ...workspace.worktrees import fingerprint
from ..protocols.compete import STAGES
from .bus_worker import BusWorker
from .oracle import ask_oracle
from .outputs import HANDOFF_ACTIONS, write_outputs
from .policy import Plan
from .records import Facts, records_of
from .run import Limits, Run
from .selection import Selection
from .story import tell_story
from .workers import CommandWorker, Reaper, Worker, mock_command

SILENCE_S = 900  # a stage takes its time-out and a little; a run that is silent for longer was killed
SHARE_AT_LEAST = 1000  # bytes of one errand's output: less says nothing


class Settings(NamedTuple):
    """All that a run was asked for; kept in its folder, so that `--resume` needs nothing else."""

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


def saved_settings(output: Path) -> Settings:
    """Give the settings of a run that was begun; NotFound where there is none."""
    data = read_regular(output / "settings.json")
    if data is None:
        raise NotFound("there is no run to resume", where=str(output), then="begin one without --resume")
    values = json.loads(data)
    plan = Plan(**values["plan"])
    reasons = tuple((field, why) for field, why in plan.reasons)
    plan = plan._replace(candidate_ids=tuple(plan.candidate_ids), reasons=reasons)
    lease = ResourceLease(**values["lease"]) if values["lease"] else None
    change = PolicyChange(**values["policy_change"]) if values["policy_change"] else None
    read = {"plan": plan, "lease": lease, "players": tuple(values["players"]), "policy_change": change}
    return Settings(**{**values, **read})


def claim(output: Path, min_free_gb: float, settings: Settings) -> None:
    """Take a new folder for a run; NotFound (not available) for one in use, or where there is no space."""
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        then = "name another folder, or go on with that run by --resume"
        raise NotFound("the output folder holds something", where=str(output), then=then)
    make_folder(output)
    free_gb = shutil.disk_usage(output).free / 1e9
    if free_gb < min_free_gb:
        then = "free some space, or give a lower --min-free-gb"
        raise NotFound(f"{free_gb:.1f} GB are free, less than {min_free_gb:g}", where=str(output), then=then)
    values = {**settings._asdict(), "plan": settings.plan._asdict()}
    values["lease"] = settings.lease._asdict() if settings.lease else None
    values["policy_change"] = settings.policy_change._asdict() if settings.policy_change else None
    write_whole(output / "settings.json", (json.dumps(values, indent=2) + "\n").encode())


def carry_out(
    output: Path,
    settings: Settings,
    jobs: int | None,
    tell: Callable[[str], None],
    *,
    pinned: str | None = None,
    by: str = HUMAN,
) -> tuple[dict[str, Any], Selection]:
    """Take a run to its end; give its manifest and the selection. NotFound where another process is at it."""
    lock = Lock(output / ".lock")
    if not lock.try_take():
        raise NotFound("a run is going on in that folder", where=str(output), then="wait for its end")
    plan, began = settings.plan, time.time()
    files = len(plan.candidate_ids) * (len(STAGES) + 2)  # the proposal and the revision are kept twice
    share = max(SHARE_AT_LEAST, int(settings.max_output_mb * 1e6 / files))
    lease = settings.lease
    minutes = lease.max_wall_clock_minutes if lease else 0
    deadline = time.monotonic() + minutes * 60 if minutes else math.inf
    sources = _sources(output) if settings.worktrees else None
    before_all = fingerprint(sources) if sources else ""
    reaper = Reaper()
    worker: Worker
    if settings.runner == "agents":
        players = dict(zip(plan.candidate_ids, settings.players, strict=True))
        workspace = find_workspace(Path.cwd(), pinned=pinned)
        worker = BusWorker(workspace, by, players, timeout_s=settings.timeout_s, max_output_bytes=share)
    else:
        worker = CommandWorker(
            settings.command if settings.runner == "command" else mock_command(),
            timeout_s=settings.timeout_s,
            max_output_bytes=share,
            watch=reaper.watch,
            deadline=deadline,
        )

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    limits = Limits(
        jobs or len(plan.candidate_ids), settings.verifier, settings.competition_id, share, sources, deadline,
        int(lease.max_diff_kib * 1024) if lease else 0,
    )  # fmt: skip
    try:
        run = Run(plan, settings.task, output, worker, limits, tell)
        timeout_s = max(int(settings.timeout_s) + 60, SILENCE_S)
        story = tell_story(run, Path.cwd(), pinned, by, timeout_s)
        run.stages(lambda stage, names: story.stage(run, stage, names) if story else None)
        verdicts = {}
        for name in run.alive if settings.oracle else ():
            tell(f"oracle: {name}")
            values = run.values(name, "oracle")
            verdicts[name] = ask_oracle(
                settings.oracle, values, output / name, settings.timeout_s, reaper.watch
            )
        if sources and fingerprint(sources) != before_all:
            run.notes.append(f"{sources} changed during the run; then ran {', '.join(plan.candidate_ids)}")
        evidence, selection = run.selection(verdicts)
        facts = Facts(
            limits.competition_id, settings.runner, len(settings.task) // 1024, bool(settings.oracle), lease,
            settings.policy_change,
        )  # fmt: skip
        texts = {name: run.text(name, "proposal") for name in plan.candidate_ids}
        records = records_of(plan, facts, evidence, texts, run.done.values())
        manifest = write_outputs(run, evidence, selection, _manifest(settings, limits, began), records)
        if story:
            story.selection(run, selection)
            tell(f"the ledger tells it: moot log --in {story.session}")
        run.clear()  # last: a folder without `.frozen` is that of a run that has ended
    finally:
        signal.signal(signal.SIGTERM, before)
        worker.stop()
        reaper.close()
        lock.close()
    return manifest, selection


def _sources(output: Path) -> Path:
    """Give the repository that the output folder is in; NotFound where there is none."""
    repository = find_repository(output)
    if repository is None:
        raise NotFound(
            "not in a git repository", where=str(output), then="leave --worktrees out, or run `git init`"
        )
    return repository.root


def _manifest(settings: Settings, limits: Limits, began: float) -> dict[str, Any]:
    plan = settings.plan
    return {
        "schema_version": 1,
        "competition_id": limits.competition_id,
        "task": settings.task,
        "question_type": plan.question_type,
        "competition_shape": plan.competition_shape,
        "selection_mode": plan.selection_mode,
        "artifact_layout": plan.artifact_layout,
        "budget": {
            "budget_workers": plan.budget_workers,
            "proposal_count": plan.proposal_count,
            "choose_count": plan.chosen,
            "max_output_mb": settings.max_output_mb,
            "timeout_s": settings.timeout_s,
            "jobs": limits.jobs,
        },
        "candidate_ids": list(plan.candidate_ids),
        "stages": list(STAGES),
        "runner": settings.runner,
        "failure_policy": "all_settled",
        "handoff": {
            "mode": settings.handoff,
            "may_mark_x": False,
            "actions": list(HANDOFF_ACTIONS),
            "source_item_id": settings.source_item_id,
            "source_loop_id": settings.source_loop_id,
        },
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "ended_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
