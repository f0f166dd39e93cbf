"""Commands that keep things going: up, run, demo."""

import json
import os
import sys

import click

from ...parsers.errors import Refused, UsageError
from ...parsers.screen import one_line, visible
from ...workspace.options import Seconds, as_json, here, in_workspace
from ..book import Ruling
from ..posting import body_from
from ..referee import Referee
from ..views import moves_next, result_lines, session_json


@click.command(epilog="Example: moot up        (or, for one look: moot up --once)")
@click.option("--once", is_flag=True, help="Rule until nothing is new, and out.")
@in_workspace
def up(once: bool, pinned: str | None) -> None:
    """Watch the ledger, rule on what is written, deliver it, until Ctrl-C."""
    from ..daemon import run_once, run_until_stopped

    referee = Referee(here(pinned))
    try:
        if once:
            run_once(referee, _tell)
        else:
            watching = f"watching {referee.workspace.ledger} (Ctrl-C ends it)"
            run_until_stopped(referee, _tell, _complain, lambda: _print_or_go_on(watching))
    finally:
        referee.close()


def _tell(ruling: Ruling) -> None:
    session = f"{ruling.session}  " if ruling.session else ""
    _print_or_go_on(f"{session}[{ruling.label}] {ruling.why}" if ruling.label else f"{session}{ruling.why}")


def _print_or_go_on(line: str) -> None:
    """Print a line; a referee goes on where nobody reads what it prints."""
    try:
        click.echo(visible(line))
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _complain(f"cannot print any more ({error.strerror}); the referee goes on")


def _complain(line: str) -> None:
    click.echo(f"moot: {one_line(line, 600)}", err=True)


_EXAMPLE = (
    'moot run "Write a haiku on queues. Use peer-collaboration. CC + CX." --agent CC=mock --agent CX=mock'
)


@click.command(epilog=f"Example: {_EXAMPLE}")
@click.argument("prompt", required=False, metavar="[PROMPT|-]")
@click.option("--file", "file", metavar="PATH", help="Read the prompt from a file.")
@click.option("--in", "session_name", metavar="SESSION", help="Go on with a session that is open.")
@click.option(
    "--agent", "specs", multiple=True, metavar="NAME=HOW", help="`CC=mock`, or `CX=cmd:PROGRAM ARGUMENTS`."
)
@click.option(
    "--timeout", "timeout_s", type=Seconds(0.1), default=600.0, show_default=True, metavar="SECONDS",
    help="The longest that one turn of a command may take.",
)  # fmt: skip
@in_workspace
@as_json
def run(
    prompt: str | None, file: str | None, session_name: str | None, specs: tuple[str, ...], timeout_s: float,
    pinned: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Open a session and drive its agents to the end: prompt on their standard input, answer from the output.

    An agent that no --agent names takes its turns itself, with `moot wait` and `moot send`. A command that
    fails twice leaves the session open. Exit 3 where the session ends INCOMPLETE.
    """
    from ..driving import agents_from, current, drive
    from ..starting import start_session

    referee = Referee(here(pinned))
    runners = agents_from(referee, specs, timeout_s)
    if not runners:
        raise UsageError(
            "nobody to drive", then="give --agent NAME=mock or --agent 'NAME=cmd:PROGRAM ARGUMENTS'"
        )

    def tell(line: str) -> None:
        if not as_json:
            click.echo(visible(line))

    if session_name:
        if prompt or file:
            raise UsageError("a prompt opens a session, and --in goes on with one", then="give one of them")
        session = current(referee, session_name)
        name = session.opening.session
        if session.closed:
            raise Refused(f"{name} is closed", then="begin another with `moot run PROMPT`")
        for agent in runners:
            if session.opening.seat(agent) is None:
                raise UsageError(f"--agent {agent}: {agent} takes no part in {name}", then="correct the name")
    else:
        started = start_session(referee, body_from(prompt, file), driven=runners)
        name = started.opening.session
        tell(f"{name} open, {moves_next(started.waiting_for)}")
    try:
        session = drive(referee, name, runners, tell)
    except KeyboardInterrupt:
        _complain(f"stopped; {name} is open, and goes on with `moot run --in {name}`")
        raise
    if as_json:
        click.echo(json.dumps(session_json(session)))
    else:
        click.echo("\n".join(["", *result_lines(dict(session.result))]))
    for note in referee.notes:
        _complain(f"note: {note}")
    if session.closed != "done":
        raise Refused(f"{name} ended {session.closed.upper()}", then="see `moot log`")


@click.command(epilog="Example: moot demo")
@click.argument("protocol", required=False, default="peer-collaboration")
def demo(protocol: str) -> None:
    """Watch two scripted agents finish a piece of work in a new repository; no key, no network, no model."""
    from ..demo import show

    show(protocol)
