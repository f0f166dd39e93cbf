"""A run from its claim on a folder to its files: shared by the first start and `--resume`."""

import math
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from ...bus.locks import Lock
from ...bus.messages import HUMAN
from ...parsers.errors import MootError
from ...workspace.folder import find_workspace
from ...workspace.worktrees import changes_between, snapshot, top_of
from ..interrupts import interruptible
from ..protocols.compete import STAGES
from ..reaper import Reaper
from . import claim
from .bus_worker import BusWorker
from .claim import Settings
from .frozen import remove
from .outputs import HANDOFF_ACTIONS, write_outputs
from .records import Facts, records_of
from .run import Limits, Run
from .selection import Selection
from .story import FILE as SESSION
from .story import tell_story
from .workers import CommandWorker, Shell, Worker, mock_command

SILENCE_S = 900  # a stage takes its time-out and a little; a run that is silent for longer was killed
SHARE_AT_LEAST = 1000  # bytes of one errand's output: less says nothing
COPIES = 3  # of all that is handed in, while the run goes on
NAMED_AT_MOST = 10  # changed paths, in a note


def carry_out(
    output: Path,
    settings: Settings,
    lock: Lock,
    jobs: int | None,
    tell: Callable[[str], None],
    *,
    pinned: str | None = None,
    by: str = HUMAN,
) -> tuple[dict[str, Any], Selection]:
    """Take a run to its end, in the folder whose lock is given; SIGTERM ends it as an interrupt does."""
    plan, lease = settings.plan, settings.lease
    share = max(
        SHARE_AT_LEAST, int(settings.max_output_mb * 1e6 / (len(plan.candidate_ids) * len(STAGES) * COPIES))
    )
    limits = Limits(
        jobs or len(plan.candidate_ids),
        settings.verifier,
        settings.competition_id,
        share,
        total_bytes=int(settings.max_output_mb * 1e6),
        source=settings.source,
        deadline=_deadline(settings),
        diff_bytes=math.ceil(lease.max_diff_kib * 1024) if lease else 0,
    )
    with closing(Reaper()) as reaper, closing(lock):
        shell = Shell(reaper, timeout_s=settings.timeout_s, deadline=limits.deadline)
        worker: Worker
        if settings.runner == "agents":
            worker = BusWorker(
                find_workspace(Path.cwd(), pinned=pinned), by,
                dict(zip(plan.candidate_ids, settings.players, strict=True)),
                timeout_s=settings.timeout_s, deadline=limits.deadline, max_output_bytes=share,
            )  # fmt: skip
        else:
            command = settings.command if settings.runner == "command" else mock_command()
            worker = CommandWorker(command, shell, share)
        run = Run(plan, settings.task, output, worker, limits, tell)
        with interruptible(run.stop):
            try:
                return _through(run, settings, lock, shell, pinned, by)
            finally:
                worker.stop()
                run.folders.take_back(plan.candidate_ids)


def _through(
    run: Run, settings: Settings, lock: Lock, shell: Shell, pinned: str | None, by: str
) -> tuple[dict[str, Any], Selection]:
    """Take a run through its stages, its oracle and its selection."""
    plan, ref = run.plan, settings.competition_id
    top, before = _before(run.folder, settings)
    story = tell_story(run, Path.cwd(), pinned, by, max(int(settings.timeout_s) + 60, SILENCE_S))
    run.keeper.keep(claim.FILE)
    run.keeper.keep(SESSION)

    def after(stage: str, names: list[str]) -> None:
        if not lock.is_in_place():  # somebody took its file away: what we hold is no lock any more
            remove(run.folder / claim.LOCK)
            lock.try_take()
        if story:
            story.stage(run, stage, names)

    run.stages(after)
    opinions = run.ask(settings.oracle, shell) if settings.oracle else {}
    run.keeper.compare()
    if top and (changed := _changed(top, before, run.folder)):
        run.notes.append(f"{top} changed during the run: {changed}; then ran {', '.join(plan.candidate_ids)}")
    evidence, selection = run.selection(opinions)
    facts = Facts(
        ref, settings.runner, len(settings.task) // 1024, bool(settings.oracle), settings.lease,
        settings.policy_change, run.cost(settings.started_at or time.time()),
    )  # fmt: skip
    texts = {name: run.text(name, "proposal") for name in plan.candidate_ids}
    records = records_of(plan, facts, evidence, texts, run.done.values())
    manifest = write_outputs(run, evidence, selection, _manifest(settings, run), records)
    if story:
        story.selection(run, selection)
        run.tell(f"the ledger tells it: moot log --in {story.session}")
    run.clear()  # last: a folder without `.frozen` is that of a run that has ended
    return manifest, selection


def _deadline(settings: Settings) -> float:
    """Give when the lease's wall-clock time is over, counted from the first start, on the monotonic clock."""
    if not settings.lease or not settings.lease.max_wall_clock_minutes:
        return math.inf
    spent_s = time.time() - settings.started_at if settings.started_at else 0.0
    return time.monotonic() + settings.lease.max_wall_clock_minutes * 60 - spent_s


def _before(output: Path, settings: Settings) -> tuple[Path | None, dict[str, str]]:
    """Give the repository that candidates are to leave alone, and how it stands; without git there is none."""
    try:
        top = settings.source.root if settings.source else top_of(output)
        return top, snapshot(top, without=output) if top else {}
    except MootError:
        return None, {}


def _changed(top: Path, before: dict[str, str], output: Path) -> str:
    """Name what is not in a repository as it was, in a line; empty where all is."""
    try:
        changed = changes_between(before, snapshot(top, without=output))
    except MootError as error:
        return str(error)
    more = f" and {len(changed) - NAMED_AT_MOST} more" if len(changed) > NAMED_AT_MOST else ""
    return ", ".join(changed[:NAMED_AT_MOST]) + more


def _manifest(settings: Settings, run: Run) -> dict[str, Any]:
    plan, limits = settings.plan, run.limits
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
        "time_is_up": run.is_late,
        "handoff": {
            "mode": settings.handoff,
            "may_mark_x": False,
            "actions": list(HANDOFF_ACTIONS),
            "source_item_id": settings.source_item_id,
            "source_loop_id": settings.source_loop_id,
        },
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(settings.started_at or None)),
        "ended_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
