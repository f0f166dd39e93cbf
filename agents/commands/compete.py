"""The command `compete`: a bounded proposal competition in a folder of its own."""

import json
import secrets
import shlex
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import click

from ...bus.messages import HUMAN
from ...parsers.errors import NotFound, Refused, TimeIsUp, UsageError
from ...parsers.lease import ResourceLease, read_lease, refusal
from ...parsers.policy_change import PolicyChange, read_policy_change
from ...parsers.screen import visible
from ...workspace.files import read_regular
from ...workspace.options import Seconds, here, in_workspace, known_agent
from ...workspace.settings import read_settings
from ..compete.claim import Settings, claim, saved_settings, take_up
from ..compete.doubts import doubts
from ..compete.engine import carry_out
from ..compete.outputs import NO_REAL_WORK, finished, flat
from ..compete.policy import ALL_VALID, AUTO, LAYOUTS, Plan, Wishes, plan_for

_RUNNERS = ("mock", "command", "agents")
_HANDOFFS = ("standalone", "execution_embed", "looper_attempt")
_EXAMPLES = """\
Example: moot compete --task "Find risks in this API" --budget-workers 4 --question-type audit

With agents of your own: moot compete --task "Mend it" --command "$PWD/agent.sh {stage} {prompt_file}"
"""


class _Size(click.FloatRange):
    """A size that a disk can have: `nan`, which no range keeps out, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it."""
        size = float(super().convert(value, param, ctx))
        if size != size:
            self.fail("nan is no size", param, ctx)
        return size


def _option(flag: str, metavar: str = "", said: str = "", **more: Any) -> click.Option:
    """Give an option, by its flag and its name where that is another; a default is shown where there is one."""
    shown = more.get("default") not in (None, "", HUMAN)
    return click.Option(flag.split(), metavar=metavar or None, help=said or None, show_default=shown, **more)


_FOLDER = click.Path(path_type=Path)
_GROUPS = {
    "What to do": (
        _option("--task", "TEXT", "The question or the work."),
        _option("--output", "FOLDER", "Default: competition-runs/DATE-TIME-xxxx.", type=_FOLDER),
        _option("--resume", said="Go on with the run in --output that was killed.", is_flag=True),
        _option("--as by", "NAME", "Who runs it (default the human).", default=HUMAN),
    ),
    "How many, and by which rule": (
        _option("--budget-workers", "N", type=int, default=3),
        _option("--proposal-count", "M", default=AUTO),
        _option("--choose-count", "K|all-valid", default=AUTO),
        _option("--question-type", "TYPE", default=AUTO),
        _option("--competition-shape", "SHAPE", default=AUTO),
        _option("--selection-mode", "MODE", default=AUTO),
        _option("--artifact-layout", "LAYOUT", default=LAYOUTS[0]),
    ),
    "Who does the work, and who judges it": (
        _option(
            "--runner", said="Default: mock, or what --command or --agents say.", type=click.Choice(_RUNNERS)
        ),
        _option("--command", "TEMPLATE", "{prompt_file}, {stage}, … are filled in."),
        _option("--agents", "CC,CX", "One of the roster for each candidate."),
        _option("--verifier-agent", "NAME", default="verifier"),
        _option("--oracle-command", "TEMPLATE", "Exit 0 and a line `SCORE: number`; the worst of two counts."),
        _option("--worktrees", said="Give each candidate a git worktree; its patch is the result.", is_flag=True),
    ),
    "Limits": (
        _option("--timeout-s", "SECONDS", "For each candidate and stage.", type=Seconds(0.1), default=600.0),
        _option("--jobs", "N", "How many run at once (default: all).", type=click.IntRange(1, 256)),
        _option("--max-output-mb", "MB", type=_Size(0.01, 100_000), default=20),
        _option("--min-free-gb", "GB", type=_Size(0, 1_000_000), default=30),
    ),
    "Whose run it is part of": (
        _option("--handoff-mode", type=click.Choice(_HANDOFFS), default=_HANDOFFS[0]),
        _option("--source-item-id", "ID", default=""),
        _option("--source-loop-id", "ID", default=""),
        _option("--lease", "FILE", "The ResourceLease, as JSON, of a looper's attempt."),
        _option("--policy-change", "FILE", "A PolicyChange, as JSON, with all its references."),
    ),
}  # fmt: skip
_RESUMED = {"resume", "output", "jobs", "pinned", "as_json"}  # what may be said anew of a run that goes on


class _Grouped(click.Command):
    """A command whose help page lists its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group, and one for the options that every command has."""
        grouped = [option for options in _GROUPS.values() for option in options]
        rest = [param for param in self.get_params(ctx) if param not in grouped]
        for title, options in (*_GROUPS.items(), ("Options", rest)):
            with formatter.section(title):
                rows = (option.get_help_record(ctx) for option in options)
                formatter.write_dl([row for row in rows if row is not None])


class Asked(NamedTuple):
    """What was asked for on the command line: a field for each option of the groups."""

    task: str | None
    output: Path | None
    resume: bool
    by: str
    budget_workers: int
    proposal_count: str
    choose_count: str
    question_type: str
    competition_shape: str
    selection_mode: str
    artifact_layout: str
    runner: str | None
    command: str | None
    agents: str | None
    verifier_agent: str
    oracle_command: str | None
    worktrees: bool
    timeout_s: float
    jobs: int | None
    max_output_mb: float
    min_free_gb: float
    handoff_mode: str
    source_item_id: str
    source_loop_id: str
    lease: str | None
    policy_change: str | None


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


def _runner(asked: Asked) -> str:
    """Give the runner: the one that is named, or the one whose option is given."""
    given = [name for name in _RUNNERS[1:] if getattr(asked, name) is not None]
    runner = asked.runner or (given or ["mock"])[0]
    for name in given:
        if name != runner:
            raise UsageError(
                f"--{name} is for --runner {name}, not {runner}", then="leave one of the two out"
            )
    if runner == "command" and not (asked.command or "").strip():
        raise UsageError("--runner command needs a command", then="give --command TEMPLATE")
    return runner


def _players(asked: Asked, runner: str, plan: Plan, pinned: str | None) -> tuple[str, ...]:
    """Read who does the candidates' errands; each must be in the roster, as the verifier."""
    if runner != "agents":
        return ()
    names = tuple(word.strip() for word in (asked.agents or "").split(",") if word.strip())
    if len(names) != len(plan.candidate_ids):
        count = len(plan.candidate_ids)
        raise UsageError(f"--agents names {len(names)} for {count} candidates", then="name one for each")
    roster = read_settings(here(pinned).folder).names
    for name in (*names, asked.verifier_agent):
        known_agent(name, roster)
    return names


def _settings(asked: Asked, pinned: str | None) -> tuple[Path, Settings]:
    """Settle what a new run is, and where."""
    if not (asked.task or "").strip():
        raise UsageError("there is no task", then='give --task "what to do"')
    runner = _runner(asked)
    wishes = Wishes(
        asked.budget_workers, _count(asked.proposal_count), _count(asked.choose_count), asked.question_type,
        asked.competition_shape, asked.selection_mode, asked.artifact_layout,
    )  # fmt: skip
    plan = plan_for(asked.task or "", wishes)
    named = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
    output = asked.output or Path("competition-runs") / named
    return output, Settings(
        task=asked.task or "", plan=plan, competition_id=output.resolve().name, runner=runner,
        command=asked.command or "", verifier=asked.verifier_agent, oracle=asked.oracle_command or "",
        max_output_mb=asked.max_output_mb, timeout_s=asked.timeout_s, handoff=asked.handoff_mode,
        source_item_id=asked.source_item_id, source_loop_id=asked.source_loop_id, worktrees=asked.worktrees,
        lease=_lease(asked.handoff_mode, asked.lease), players=_players(asked, runner, plan, pinned),
        policy_change=_policy_change(asked.policy_change),
    )  # fmt: skip


@click.command(
    cls=_Grouped, epilog=_EXAMPLES, params=[one for options in _GROUPS.values() for one in options]
)
@in_workspace
@click.option("--json", "as_json", is_flag=True, help="Print the manifest.")
@click.pass_context
def compete(ctx: click.Context, /, pinned: str | None, as_json: bool, **options: Any) -> None:
    """Let n workers make m proposals, review and revise each other's, and choose k, or unite all that is valid.

    Candidates run side by side, each in a folder of its own; one that fails at a stage is out, alone. Exit 3 where
    none is valid.
    """
    asked = Asked(**options)

    def note(line: str) -> None:
        click.echo(f"moot: note: {line}", err=True)

    def tell(line: str) -> None:
        if sys.stderr.isatty() and not as_json:
            click.echo(visible(line), err=True)

    if asked.resume:
        output, settings = _resumed(ctx, asked)
        if done := finished(output):
            note(f"the run in {flat(str(output))} was done already")
            _say(done, output, as_json=as_json)
            return
        lock = take_up(output, settings)
    else:
        output, settings = _settings(asked, pinned)
        for line in doubts(settings, output):
            note(line)
        settings, lock = claim(output, asked.min_free_gb, settings, pinned=pinned, by=asked.by)
    try:
        manifest, _ = carry_out(
            output.resolve(), settings, lock, asked.jobs, tell, pinned=pinned, by=asked.by
        )
    except KeyboardInterrupt:
        again = f"moot compete --resume --output {shlex.quote(str(output))}"
        click.echo(f"moot: interrupted: go on with `{again}`", err=True)
        raise click.exceptions.Exit(130) from None
    _say(manifest, output, as_json=as_json)


def _resumed(ctx: click.Context, asked: Asked) -> tuple[Path, Settings]:
    """Give the run that goes on; it takes no options but how it is done and told."""
    given = (param for param in ctx.command.params if param.name not in _RESUMED)
    line = click.core.ParameterSource.COMMANDLINE
    more = [param.opts[0] for param in given if ctx.get_parameter_source(param.name or "") is line]
    if more:
        what = f"--resume goes on with the run as it was begun: no {', '.join(more)}"
        raise UsageError(what, then="leave it out")
    if asked.output is None:
        raise UsageError("which run?", then="give its folder with --output")
    return asked.output, saved_settings(asked.output)


def _say(manifest: dict[str, Any], output: Path, *, as_json: bool) -> None:
    """Print the end of a run; raise where nobody was chosen."""
    chosen, doubt = manifest["selection"]["selected_ids"], manifest["selection"]["doubt"]
    where = output / "summary.md"
    if as_json:
        click.echo(json.dumps(manifest))
    elif chosen:
        how = " ".join(part for part in (manifest["selection_mode"], doubt) if part)
        mock = f" ({NO_REAL_WORK})" if manifest["runner"] == "mock" else ""
        click.echo(f"{', '.join(chosen)} chosen by {how}{mock}: see {flat(str(where))}")
    if chosen:
        return
    if manifest["time_is_up"]:
        raise TimeIsUp(
            "the lease's wall-clock time is over", where=str(where), then="see there how far it came"
        )
    raise Refused("no valid candidate", where=str(where), then="see there why each failed")
