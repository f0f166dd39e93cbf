"""Commands that agents talk with: send, done, ack, inbox, wait."""

import json
import sys
from typing import Any

import click

from ...parsers.errors import Refused, StoreError, TimeIsUp, UsageError
from ...parsers.screen import visible
from ...workspace.options import Seconds, as_agent, as_json, here, in_session, in_workspace, known_agent
from ..posting import acknowledge, body_from, say_done, send_message, take_turn
from ..referee import Outcome, Referee
from ..views import block_lines, copy_lines, delivery_json, message_json, next_lines

_BODY_HELP = "The text: an argument, --file, or `-` for standard input."


def body_options(command: Any) -> Any:
    """Give a command its text: an argument, `--file`, or standard input."""
    command = click.option("--file", "file", metavar="PATH", help="Read the text from a file.")(command)
    return click.argument("text", required=False, metavar="[TEXT|-]")(command)


@click.command(
    epilog="Example: moot send --as CC - < turn.md        (a message: moot send --as CC --to CX 'ready?')"
)
@body_options
@as_agent
@click.option("--to", "to", metavar="NAMES", default="", help="A message to these agents (or ALL, HUMAN).")
@in_session
@click.option(
    "--tag", "tag", metavar="TAG", default="", help="What the block is, as in CHALLENGE (default your role)."
)
@click.option("--private", is_flag=True, help="With --to: the ledger gets a hash, one inbox gets the text.")
@in_workspace
@as_json
def send(
    text: str | None, file: str | None, name: str | None, to: str, session: str | None, tag: str, private: bool,
    pinned: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Take your turn in a session, or with --to send a message.

    The text comes from an argument, --file, or standard input (`-`). `[DONE]` alone on a line proposes or
    confirms the end. The rules are asked first: a turn out of order is refused, and nothing is written.
    """
    referee = Referee(here(pinned))
    sender = known_agent(name, referee.settings.names, also=("HUMAN",))
    body = body_from(text, file)
    if to and not session:
        names = [one.strip() for one in to.split(",") if one.strip()]
        outcome = send_message(referee, sender, names, body, private=private)
    elif private:
        raise UsageError("a private text is a message, never a move", then="give --to NAME")
    else:
        outcome = take_turn(referee, sender, body, session, tag=tag)
    report(referee, outcome, as_json)


@click.command(epilog="Example: moot done --as CX 'Agreed, complete.'")
@body_options
@as_agent
@in_session
@in_workspace
@as_json
def done(
    text: str | None,
    file: str | None,
    name: str | None,
    session: str | None,
    pinned: str | None,
    as_json: bool,
) -> None:
    """Take your turn with [DONE]: propose the end of the session, or confirm it."""
    referee = Referee(here(pinned))
    sender = known_agent(name, referee.settings.names)
    body = body_from(text, file) if text is not None or file is not None else ""
    report(referee, say_done(referee, sender, body, session), as_json)


@click.command(epilog="Example: moot ack --as CX 01JDK4T7Q2M9XK3A5B")
@click.argument("block_id", metavar="ID")
@as_agent
@in_workspace
def ack(block_id: str, name: str | None, pinned: str | None) -> None:
    """Acknowledge a block that was sent to you; its sender is not woken."""
    referee = Referee(here(pinned))
    sender = known_agent(name, referee.settings.names, also=("HUMAN",))
    outcome = acknowledge(referee, sender, block_id)
    click.echo(f"{block_id} acknowledged" if outcome else f"{block_id} was acknowledged already")


@click.command(epilog="Example: moot inbox --as CX")
@as_agent
@click.option("--all", "everything", is_flag=True, help="Show what was read before, too.")
@click.option("--peek", is_flag=True, help="Do not mark anything as read.")
@in_workspace
@as_json
def inbox(name: str | None, everything: bool, peek: bool, pinned: str | None, as_json: bool) -> None:
    """Show your unread mail, and mark it as read once it is printed."""
    from ..waiting import mark_read

    referee = Referee(here(pinned))
    agent = known_agent(name, referee.settings.names, also=("HUMAN",))
    referee.rule()
    mail = referee.index.mail(agent) if everything else referee.index.unread(agent)
    shown_ids = []
    for one in mail:
        message = referee.message(one.id)
        if message is None:
            continue
        message = referee.unsealed(message)._replace(session=message.session or one.session)
        state = "acknowledged" if one.acknowledged_at else "read" if one.read_at else "notified"
        if as_json:
            click.echo(json.dumps({**message_json(message), "state": state}))
        else:
            click.echo("\n".join([*block_lines(message, state), ""]))
        shown_ids.append(one.id)
    if not shown_ids and not as_json:
        click.echo(f"nothing unread for {agent}")
    sys.stdout.flush()
    if not peek:
        mark_read(referee, agent, *shown_ids)


@click.command(epilog="Example: moot wait --as CX --timeout 600")
@as_agent
@click.option("--timeout", "timeout_s", type=Seconds(0), metavar="SECONDS", help="Then exit 6.")
@in_workspace
@as_json
def wait(name: str | None, timeout_s: float | None, pinned: str | None, as_json: bool) -> None:
    """Wait until there is something for you: a message, your turn, the end of your session.

    Prints the oldest unread thing and what the rules let you do next, so that an agent needs to know no more
    than this: wait, do one of the commands that are printed, wait again.
    """
    from ..waiting import mark_read, wait_for

    referee = Referee(here(pinned))
    agent = known_agent(name, referee.settings.names, also=("HUMAN",))
    delivery = wait_for(referee, agent, timeout_s)
    if delivery is None:
        raise TimeIsUp(f"nothing for {agent} in {timeout_s:g} s", then="wait again, or see `moot status`")
    if as_json:
        click.echo(json.dumps(delivery_json(delivery, agent)))
    else:
        lines = (
            block_lines(delivery.message, "read before" if delivery.again else "") if delivery.message else []
        )
        click.echo("\n".join([*lines, *copy_lines(delivery), *next_lines(delivery, agent)]))
    sys.stdout.flush()
    if delivery.message is not None:
        mark_read(referee, agent, delivery.message.id)


def report(referee: Referee, outcome: Outcome, as_json: bool) -> None:
    """Say what became of a block, in one line."""
    try:
        _print_outcome(referee, outcome, as_json)
    except OSError as error:
        what = f"the ledger holds the block {outcome.id}, but its id could not be printed ({error.strerror})"
        raise StoreError(what, then="do not send it again") from error
    if outcome.ruling is not None and outcome.ruling.verdict == "refused":
        raise Refused(outcome.ruling.why)


def _print_outcome(referee: Referee, outcome: Outcome, as_json: bool) -> None:
    ruling = outcome.ruling
    if as_json:
        verdict = {"verdict": ruling.verdict, "code": ruling.code, "why": ruling.why} if ruling else None
        click.echo(json.dumps({"id": outcome.id, "ruling": verdict, "notes": referee.notes}))
    else:
        click.echo(f"{outcome.id} {ruling.why if ruling else 'sent'}")
        last = referee.rulings[-1] if referee.rulings else None
        if ruling and last and last.verdict == "revealed" and last.session == ruling.session:
            click.echo(last.why)  # what this block brought about
        for note in referee.notes:
            click.echo(f"moot: note: {visible(note)}", err=True)
    sys.stdout.flush()
