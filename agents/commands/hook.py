"""The help page of `moot hook`, which itself comes in by a door of its own: see `agents/hooks.py`."""

import click

from ..programs import EVENTS, NAMES


@click.command(
    epilog="Example: moot hook claude stop --as CC --wait 60        (`moot install claude` writes it)"
)
@click.argument("program", type=click.Choice(NAMES))
@click.argument("event", type=click.Choice(EVENTS))
@click.option("--as", "name", metavar="NAME", help="Whose hook it is, where MOOT_AGENT does not say it.")
@click.option(
    "--wait", "wait_s", type=click.IntRange(0, 3600), metavar="SECONDS", help="At a stop, wait for mail."
)
@click.option("--workspace", "pinned", metavar="FOLDER", help="The workspace's folder (or MOOT_WORKSPACE).")
def hook(program: str, event: str, name: str | None, wait_s: int | None, pinned: str | None) -> None:
    """Give unread mail back to an agent program that calls this as its hook, in that program's own form.

    Reads the program's JSON on standard input. Mail is marked as read once it is printed. With none, and
    whenever anything is wrong, it prints nothing and exits 0; `moot doctor` tells what was wrong. With --wait, a
    stop of an agent that plays in an open session waits for its next mail. MOOT_HOOKS=off silences it.
    """
    from ..hooks import run

    words = [program, event]
    for option, value in (("--as", name), ("--wait", wait_s), ("--workspace", pinned)):
        words += [option, str(value)] if value is not None else []
    run(words)
