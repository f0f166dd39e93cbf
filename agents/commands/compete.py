"""The command `compete`: a bounded proposal competition in a folder of its own."""

import json
import secrets
import sys
import time
from pathlib import Path

import click

from ...bus.messages import HUMAN
from ...parsers.errors import NotFound, Refused, TimeIsUp, UsageError
from ...parsers.lease import ResourceLease, read_lease, refusal
from ...parsers.policy_change import PolicyChange, read_policy_change
from ...parsers.screen import visible
from ...workspace.files import read_regular
from ...workspace.options import Seconds, here, in_workspace, known_agent
from ...workspace.settings import read_settings
from ..compete.engine import Settings, carry_out, claim, saved_settings
from ..compete.policy import ALL_VALID, AUTO, LAYOUTS, Plan, Wishes, plan_for

_HANDOFFS = ("standalone", "execution_embed", "looper_attempt")
_EXAMPLE = 'moot compete --task "Find risks in this API" --budget-workers 4 --question-type audit'


def _count(text: str) -> int | str | None:
    if text == AUTO:
        return None
    if text in (ALL_VALID, "all-valid"):
        return ALL_VALID
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{text!r} is no count", then="give a whole number, auto or all-valid") from None


def _lease(handoff: str, file: str | None) -> ResourceLease | None:
    """Read the lease of a looper's attempt. Without one, or under one that is not active, none may run."""
    if handoff != "looper_attempt":
        if file:
            raise UsageError("a lease is for a looper's attempt", then="add --handoff-mode looper_attempt")
        return None
    if not file:
        raise NotFound("a looper's attempt needs a lease", then="give --lease FILE")
    data = read_regular(Path(file))
    if data is None:
        raise NotFound("there is no such lease", where=file, then="correct --lease")
    lease = read_lease(data, file)
    if why := refusal(lease):
        raise NotFound(why, where=file, then="ask the looper for another one")
    return lease


def _policy_change(file: str | None) -> PolicyChange | None:
    """Read a change of policy. One that lacks a reference is refused: nobody reviewed it."""
    if not file:
        return None
    data = read_regular(Path(file))
    if data is None:
        raise NotFound("there is no such file", where=file, then="correct --policy-change")
    change = read_policy_change(data, file)
    if change.missing:
        raise Refused(
            f"the policy change has no {', '.join(change.missing)}", where=file, then="have it reviewed first"
        )
    return change


def _players(runner: str, words: str, verifier: str, plan: Plan, pinned: str | None) -> tuple[str, ...]:
    """Read who does the candidates' errands; each must be in the roster, as the verifier."""
    names = tuple(word.strip() for word in words.split(",") if word.strip())
    if runner != "agents":
        if names:
            raise UsageError("--agents is for --runner agents", then="add it")
        return ()
    if len(names) != len(plan.candidate_ids):
        count = len(plan.candidate_ids)
        raise UsageError(f"--agents names {len(names)} for {count} candidates", then="name one for each")
    roster = read_settings(here(pinned).folder).names
    for name in (*names, verifier):
        known_agent(name, roster)
    return names


@click.command(epilog=f"Example: {_EXAMPLE}")
@click.option("--task", "task", metavar="TEXT", help="The question or the work.")
@click.option(
    "--output",
    "output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Default: competition-runs/DATE-TIME-xxxx.",
)
@click.option("--budget-workers", "budget_workers", type=int, default=3, show_default=True, metavar="N")
@click.option("--proposal-count", "proposal_count", default=AUTO, show_default=True, metavar="M")
@click.option("--choose-count", "choose_count", default=AUTO, show_default=True, metavar="K|all-valid")
@click.option("--question-type", "question_type", default=AUTO, show_default=True, metavar="TYPE")
@click.option("--competition-shape", "shape", default=AUTO, show_default=True, metavar="SHAPE")
@click.option("--selection-mode", "mode", default=AUTO, show_default=True, metavar="MODE")
@click.option("--artifact-layout", "layout", default=LAYOUTS[0], show_default=True, metavar="LAYOUT")
@click.option(
    "--runner", "runner", type=click.Choice(("mock", "command", "agents")), default="mock", show_default=True
)
@click.option(
    "--command",
    "command",
    metavar="TEMPLATE",
    help="For --runner command: {prompt_file}, {stage}, … are filled in.",
)
@click.option(
    "--agents",
    "players",
    metavar="CC,CX",
    default="",
    help="For --runner agents: one of the roster for each candidate.",
)
@click.option("--verifier-agent", "verifier", default="verifier", show_default=True, metavar="NAME")
@click.option(
    "--oracle-command",
    "oracle",
    metavar="TEMPLATE",
    help="Exit 0 and a line `SCORE: number`; the worst of two counts.",
)
@click.option(
    "--max-output-mb",
    "max_output_mb",
    type=click.FloatRange(0.01, 100_000),
    default=20,
    show_default=True,
    metavar="MB",
)
@click.option(
    "--min-free-gb",
    "min_free_gb",
    type=click.FloatRange(0, 1_000_000),
    default=30,
    show_default=True,
    metavar="GB",
)
@click.option(
    "--timeout-s",
    "timeout_s",
    type=Seconds(0.1),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="For each candidate and stage.",
)
@click.option(
    "--jobs", "jobs", type=click.IntRange(1, 256), metavar="N", help="How many run at once (default: all)."
)
@click.option(
    "--handoff-mode", "handoff", type=click.Choice(_HANDOFFS), default=_HANDOFFS[0], show_default=True
)
@click.option("--source-item-id", "source_item_id", default="", metavar="ID")
@click.option("--source-loop-id", "source_loop_id", default="", metavar="ID")
@click.option(
    "--policy-change", "change_file", metavar="FILE", help="A PolicyChange, as JSON, with all its references."
)
@click.option(
    "--lease", "lease_file", metavar="FILE", help="The ResourceLease, as JSON, of a looper's attempt."
)
@click.option(
    "--worktrees",
    "worktrees",
    is_flag=True,
    help="Give each candidate a git worktree; its patch is the result.",
)
@click.option("--resume", "resume", is_flag=True, help="Go on with the run in --output that was killed.")
@click.option("--as", "by", metavar="NAME", default=HUMAN, help="Who runs it (default the human).")
@in_workspace
@click.option("--json", "as_json", is_flag=True, help="Print the manifest.")
def compete(
    task: str | None, output: Path | None, budget_workers: int, proposal_count: str, choose_count: str,
    question_type: str, shape: str, mode: str, layout: str, runner: str, command: str | None, players: str,
    verifier: str,
    oracle: str | None, max_output_mb: float, min_free_gb: float, timeout_s: float, jobs: int | None,
    handoff: str, source_item_id: str, source_loop_id: str, lease_file: str | None, change_file: str | None,
    worktrees: bool,
    resume: bool, by: str, pinned: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Let n workers make m proposals, review and revise each other's, and choose k, or unite all that is valid.

    Candidates run side by side, each in a folder of its own; one that fails at a stage is out, alone. Exit 3 where
    none is valid.
    """
    if resume:
        if output is None:
            raise UsageError("which run?", then="give its folder with --output")
        settings = saved_settings(output)
    else:
        if not (task or "").strip():
            raise UsageError("there is no task", then='give --task "what to do"')
        if runner == "command" and not (command or "").strip():
            raise UsageError("--runner command needs a command", then="give --command TEMPLATE")
        wishes = Wishes(
            budget_workers, _count(proposal_count), _count(choose_count), question_type, shape, mode, layout
        )
        plan = plan_for(task or "", wishes)
        lease = _lease(handoff, lease_file)
        change = _policy_change(change_file)
        named = _players(runner, players, verifier, plan, pinned)
        output = (
            output or Path("competition-runs") / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        )
        settings = Settings(
            task or "", plan, output.resolve().name, runner, command or "", verifier, oracle or "", max_output_mb,
            timeout_s, handoff, source_item_id, source_loop_id, worktrees, lease, named, change,
        )  # fmt: skip
        claim(output, min_free_gb, settings)
    quiet = as_json or not sys.stderr.isatty()

    def tell(line: str) -> None:
        if not quiet:
            click.echo(visible(line), err=True)

    manifest, selection = carry_out(output.resolve(), settings, jobs, tell, pinned=pinned, by=by)
    where = output / "summary.md"
    if as_json:
        click.echo(json.dumps(manifest))
    elif selection.chosen:
        click.echo(f"{', '.join(selection.chosen)} chosen by {settings.plan.selection_mode}: see {where}")
    if not selection.chosen and any("wall-clock" in why for _, why in selection.rejected):
        raise TimeIsUp(
            "the lease's wall-clock time is over", where=str(where), then="see there how far it came"
        )
    if not selection.chosen:
        raise Refused("no valid candidate", where=str(where), then="see there why each failed")
