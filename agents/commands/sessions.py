"""Commands about sessions: start, status."""

import json
import time

import click

from ...bus.messages import HUMAN
from ...parsers.ids import time_ms
from ...parsers.screen import one_line, visible
from ...workspace.options import as_json, here, in_workspace, known_agent
from ..posting import body_from
from ..protocols import compete as runs
from ..reader import Reader
from ..referee import Referee
from ..session import Session, load_session
from ..starting import start_session
from ..views import moves_next, session_json

CLOSED_SHOWN = 5  # a person looks for what is open; the rest is history


@click.command(epilog='Example: moot start "Build a todo API spec. Use peer-collaboration. CC + CX."')
@click.argument("prompt", required=False, metavar="[PROMPT|-]")
@click.option("--file", "file", metavar="PATH", help="Read the prompt from a file.")
@click.option("--as", "name", metavar="NAME", default=HUMAN, help="Who begins it (default the human).")
@click.option(
    "--turn-timeout", "turn_timeout_s", type=click.IntRange(1, 10_000_000), metavar="SECONDS",
    help="How long an agent may be silent before it is reminded.",
)  # fmt: skip
@in_workspace
@as_json
def start(
    prompt: str | None,
    file: str | None,
    name: str,
    turn_timeout_s: int | None,
    pinned: str | None,
    as_json: bool,
) -> None:
    """Open a session from plain words: the task, the protocol, who takes part, limits and files."""
    referee = Referee(here(pinned))
    by = known_agent(name, referee.settings.names, also=(HUMAN,))
    started = start_session(referee, body_from(prompt, file), by=by, turn_timeout_s=turn_timeout_s)
    session = referee.book.sessions.get(started.opening.session) or _saved(referee, started.opening.session)
    if as_json:
        click.echo(json.dumps(session_json(session)))
    else:
        click.echo(f"{started.opening.session} open, {moves_next(started.waiting_for)}")
    for note in (*started.notes, *referee.notes):
        click.echo(f"moot: note: {visible(note)}", err=True)


def _saved(referee: Referee, name: str) -> Session:
    row = referee.index.session(name)
    assert row is not None
    return load_session(row.data)


@click.command(epilog="Example: moot status --json")
@in_workspace
@as_json
def status(pinned: str | None, as_json: bool) -> None:
    """Show the sessions, who is to move in each and for how long, and whether a referee runs."""
    referee = Reader(here(pinned))
    referee.refresh()
    holder = referee.lease.holder()
    book = referee.book
    sessions = {row.id: load_session(row.data) for row in referee.index.sessions()} | book.sessions
    ordered = sorted(sessions.values(), key=lambda session: session.n)
    unruled = len(book.waiting) + len(book.unruled_hands())
    if as_json:
        blocks = referee.index.count_blocks() or len(book.messages)
        click.echo(
            json.dumps(
                {
                    "workspace": str(referee.workspace.folder),
                    "blocks": blocks,
                    "referee": {"running": bool(holder), "pid": int(holder) if holder.isdecimal() else None},
                    "unruled": unruled,
                    "sessions": [session_json(session) for session in ordered],
                }
            )
        )
        return
    click.echo(f"workspace {referee.workspace.folder}")
    click.echo(
        f"referee   {f'moot up, process {holder}' if holder else 'whoever writes or waits (no moot up runs)'}"
    )
    closed = [session for session in ordered if session.closed]
    if len(closed) > CLOSED_SHOWN:
        click.echo(f"{len(closed) - CLOSED_SHOWN} older sessions are closed (`moot status --json` has them)")
    for session in (*closed[-CLOSED_SHOWN:], *(session for session in ordered if not session.closed)):
        click.echo("\n".join(_session_lines(session)))
    if not ordered:
        click.echo('no session yet: moot start "Build X. Use peer-collaboration. CC + CX."')
    if unruled and not holder:
        click.echo(
            f"{unruled} blocks wait for a ruling: run `moot up --once`, or `moot up` to keep an eye on hands"
        )
    for name in (*referee.settings.names, HUMAN):
        if count := referee.index.count_unread(name):
            click.echo(f"unread    {name}: {count} (`moot inbox --as {name}`)")


def _session_lines(session: Session) -> list[str]:
    opening = session.opening
    roles = ((seat.name, f"{seat.role}: {seat.lens}" if seat.lens else seat.role) for seat in opening.roster)
    roster = visible(", ".join(f"{name} ({role})" for name, role in roles))
    head = f"{opening.session}  {opening.protocol}  {roster}"
    if session.closed:
        result = dict(session.result)
        said = [f"TURNS {result['TURNS']}", f"OUTPUT {result['OUTPUT']}", result.get("REASON", "")]
        return [head, visible(f"    {result['STATUS']}, {', '.join(word for word in said if word)}")]
    since_s = max(0, time.time_ns() // 1_000_000 - time_ms(session.last)) // 1000
    turn = f"turn {session.state.turns + 1} of {opening.max_turns}"
    lines = [
        head,
        f"    {moves_next(session.waiting_for)}, for {_span(since_s)} ({session.state.phase}, {turn})",
    ]
    return [*lines, f"    {one_line(runs.whose(opening), 600)}"] if opening.protocol == runs.NAME else lines


def _span(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
