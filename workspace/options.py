"""Options that many commands share, and how they find their workspace."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..parsers.errors import NotFound, UsageError
from ..parsers.names import did_you_mean, shown
from .folder import Workspace, find_workspace

Command = Callable[..., Any]

_pin = click.option(
    "--workspace", "pinned", metavar="FOLDER", help="The workspace's folder (or MOOT_WORKSPACE)."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
in_session = click.option("--in", "session", metavar="SESSION", help="The session, where several are open.")


class Seconds(click.FloatRange):
    """A length of time that a clock can measure."""

    def __init__(self, least: float) -> None:
        """Name the least that makes sense."""
        super().__init__(min=least, max=10_000_000)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it; what is no number is refused, and so is `nan`, which no range keeps out."""
        seconds = float(super().convert(value, param, ctx))
        if seconds != seconds:
            self.fail("nan is no length of time", param, ctx)
        return seconds


def in_workspace(command: Command) -> Command:
    """Give a command the option `--workspace`."""
    return _pin(command)


def as_agent(command: Command) -> Command:
    """Give a command the option `--as`, with MOOT_AGENT behind it."""
    return click.option(
        "--as", "name", metavar="NAME", envvar="MOOT_AGENT", help="Who you are (or MOOT_AGENT)."
    )(command)


def here(pinned: str | None) -> Workspace:
    """Find the workspace for the current folder; NotFound where there is none."""
    return find_workspace(Path.cwd(), pinned=pinned)


def known_agent(name: str | None, roster: tuple[str, ...], *, also: tuple[str, ...] = ()) -> str:
    """Give the name of an agent of the roster back; UsageError without one, NotFound for a stranger."""
    if not name:
        raise UsageError("who are you?", then="give --as NAME or set MOOT_AGENT")
    if name not in (*roster, *also):
        raise NotFound(f"no agent {shown(name)} in the roster", then=did_you_mean(name, roster))
    return name
