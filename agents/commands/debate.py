"""The command `debate`: everybody is asked at once, and answers the others, round by round."""

import json
import sys
from typing import Any

import click

from ...bus.locks import Lock
from ...bus.messages import HUMAN
from ...parsers.errors import NotFound, Refused, UsageError
from ...parsers.screen import visible
from ...workspace.options import Seconds, as_json, here, in_workspace, known_agent
from ..debate.engine import read_debate
from ..debate.opening import Wishes, convening, open_debate
from ..debate.report import report_json, report_of
from ..debate.screen import Screen
from ..driving import current
from ..interrupts import interruptible
from ..posting import body_from
from ..protocols.debate import MAX_ROUNDS
from ..reader import Reader
from ..referee import Referee
from ..session import Session

_EXAMPLE = 'moot debate "One file or many?" --agent ann=mock --agent bob=mock --agent cleo=mock'


@click.command(epilog=f"Example: {_EXAMPLE}")
@click.argument("topic", required=False, metavar="[TOPIC|-]")
@click.option("--file", "file", metavar="PATH", help="Read the topic from a file.")
@click.option(
    "--agent", "specs", multiple=True, metavar="NAME=HOW", help="`ann=mock`, or `bob=cmd:PROGRAM ARGUMENTS`."
)
@click.option("--config", "config", metavar="FILE", help="A chatroom.json: participants and max_rounds.")
@click.option("--presets", "presets", metavar="FILE", help="A presets.json: how each preset is asked.")
@click.option(
    "--rounds", "rounds", type=click.IntRange(1, MAX_ROUNDS), metavar="N", help="At most (default 3)."
)
@click.option(
    "--moderator",
    "moderator",
    metavar="NAME",
    help="Who writes the syntheses: a participant, HUMAN, or `none`.",
)
@click.option(
    "--anonymous", "anonymous", is_flag=True, help="Participants see Position 1, 2, 3 and no names."
)
@click.option(
    "--timeout", "timeout_s", type=Seconds(0.1), metavar="SECONDS", help="For each participant and round."
)
@click.option(
    "--resume",
    "resume",
    is_flag=False,
    flag_value="latest",
    metavar="[SESSION]",
    help="Go on with one that was stopped.",
)
@click.option("--report", "report", metavar="SESSION", help="Print the report of a debate from the ledger.")
@click.option("--as", "by", metavar="NAME", default=HUMAN, help="Who convenes it (default the human).")
@in_workspace
@as_json
def debate(
    topic: str | None, file: str | None, specs: tuple[str, ...], config: str | None, presets: str | None,
    rounds: int | None, moderator: str | None, anonymous: bool, timeout_s: float | None, resume: str | None,
    report: str | None, by: str, pinned: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Ask everybody the same question at once, let them answer each other, and say what they agree on.

    Participants come from --agent, from [debate] in moot.toml, or from the files --config and --presets (by
    default ~/.vcp/dev-buddy-chatroom.json and ~/.vcp/ai-presets.json). Round 1 is sealed until all are in. Exit 0
    with or without consensus, 3 where a round had no answer beside the moderator's.
    """
    if (resume or report) and (topic or file or specs or config or presets):
        raise UsageError("--resume and --report are about a debate that is there", then="leave the rest out")
    if report:
        reader = Reader(here(pinned))
        _print(reader, _debate_session(reader, report), as_json)
        return
    referee = Referee(here(pinned))
    by = known_agent(by, referee.settings.names, also=(HUMAN,))
    screen = Screen(live=sys.stderr.isatty() and not as_json, quiet=as_json)
    if resume:
        name = _to_resume(referee, resume)
    else:
        if topic is None and file is None:
            raise UsageError("there is no topic", then='give it: moot debate "One file or many?"')
        wishes = Wishes(specs, config, presets, rounds, moderator, anonymous, timeout_s)
        opened = open_debate(referee, body_from(topic, file), wishes, by)
        name = opened.session
        for warning in opened.warnings:
            click.echo(f"moot: note: {visible(warning)}", err=True)
        if not as_json:
            click.echo(f"{name} open, {len(opened.names)} debate: {', '.join(opened.names)}", err=True)
    session = _hold(referee, name, screen)
    _print(referee, session, as_json)
    if session.closed != "done":
        why = dict(session.result).get("REASON", f"{name} ended {session.closed.upper()}")
        raise Refused(why, where=name, then="see `moot log`")


def _hold(referee: Referee, name: str, screen: Screen) -> Session:
    """Hold a debate to its end, alone; a stop leaves it to be gone on with."""
    lock = Lock(referee.workspace.state / f"{name}.lock")
    if not lock.try_take():
        raise NotFound(f"{name} is held by another process", then="wait for its end, or see `moot status`")
    try:
        with convening(referee, name, screen) as convener, interruptible(convener.stop):
            return convener.hold()
    except KeyboardInterrupt:
        screen.end()
        click.echo(f"moot: stopped; it goes on with `moot debate --resume {name}`", err=True)
        raise click.exceptions.Exit(130) from None
    finally:
        screen.end()
        lock.close()


def _to_resume(referee: Referee, name: str) -> str:
    """Give the debate that is meant: the one named, or the last that is open."""
    if name != "latest":
        session = _debate_session(referee, name)
        if session.closed:
            raise Refused(f"{name} is closed", then=f"see `moot debate --report {name}`")
        return name
    referee.refresh()
    open_ones = [
        one for one in referee.book.sessions.values() if one.opening.protocol == "debate" and not one.closed
    ]
    if not open_ones:
        raise NotFound("no debate is open", then='begin one with `moot debate "TOPIC"`')
    return open_ones[-1].name


def _debate_session(reader: Reader, name: str) -> Session:
    session = current(reader, name)
    if session.opening.protocol != "debate":
        raise NotFound(f"{name} is no debate", then="see `moot status`")
    return session


def _print(reader: Reader, session: Session, as_json: bool) -> None:
    found: Any = read_debate(reader, session)
    if as_json:
        click.echo(json.dumps(report_json(found)))
    elif session.closed == "done":
        click.echo(visible(report_of(found)), nl=False)
