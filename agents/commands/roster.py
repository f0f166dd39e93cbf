"""Who takes part: the roster, how each agent is woken, and how it stands now."""

import json
import time

import click

from ...bus.index import Index
from ...parsers.errors import UsageError
from ...workspace.commands import split_names
from ...workspace.options import as_json, here, in_workspace
from ...workspace.settings import read_settings
from ..presence import standing


@click.group(invoke_without_command=True, epilog="Example: moot agents add GM")
@in_workspace
@as_json
@click.pass_context
def agents(ctx: click.Context, pinned: str | None, as_json: bool) -> None:
    """List the roster, how each is woken, and who is waiting, running, silent, gone or was never seen.

    `moot agents add NAME` puts somebody into it.
    """
    ctx.obj = pinned
    if ctx.invoked_subcommand is not None:
        return
    workspace = here(pinned)
    settings = read_settings(workspace.folder)
    index = Index(workspace.state / "index.db", read_only=True)
    presence, now_ms = index.presence(), time.time_ns() // 1_000_000
    listed = []
    for name, agent in settings.agents.items():
        stands, unread = standing(presence.get(name), now_ms), index.count_unread(name)
        facts = {
            "name": name, "wake": agent.wake, "program": agent.program or None, "state": stands.state,
            "seen_at": stands.seen_at or None, "pid": stands.pid or None, "unread": unread,
        }  # fmt: skip
        listed.append(facts)
        if as_json:
            continue
        seen = f", seen {stands.seen_at[:19].replace('T', ' ')}" if stands.seen_at else ""
        program = f" program={agent.program}" if agent.program else ""
        click.echo(f"{name}  {stands.state}{seen}  wake={agent.wake}{program}  unread={unread}")
    if as_json:
        click.echo(json.dumps(listed))
    elif not listed:
        click.echo("nobody is in the roster yet: `moot agents add CC`")


@agents.command(epilog="Example: moot agents add CC CX")
@click.argument("names", nargs=-1, required=True)
@click.pass_obj
def add(pinned: str | None, names: tuple[str, ...]) -> None:
    """Put agents into the roster."""
    from ...workspace.init import add_agents

    workspace = here(pinned)
    wanted = tuple(name for part in names for name in split_names(part))
    if not wanted:
        raise UsageError("nobody is named", then="give the names: `moot agents add CC CX`")
    new = add_agents(workspace, wanted)
    for name in wanted:
        click.echo(f"{name} is in the roster now" if name in new else f"{name} is in the roster already")
