"""Commands of the workspace: init, trust, sync."""

from pathlib import Path

import click

from ..parsers.errors import UsageError
from ..parsers.screen import visible
from .folder import Workspace
from .options import here, in_workspace
from .settings import read_settings


@click.command(epilog="Example: moot init --agents CC,CX")
@click.argument("folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--agents", "names", metavar="CC,CX", default="", help="The roster (default CC,CX,GM,AG).")
def init(folder: Path | None, names: str) -> None:
    """Make the workspace: by default `comms/` at the top of the repository.

    The folder ignores itself, so that no git command of yours touches it. A second time nothing changes.
    Where the branch `moot` holds a workspace (in a fresh clone, say), that one is brought back.
    """
    from .init import init_workspace

    made = init_workspace(Path.cwd(), folder, split_names(names))
    workspace = made.workspace
    roster = ", ".join(read_settings(workspace.folder).names) or "nobody"
    if not made.new:
        click.echo(f"{workspace.folder} is a workspace already (agents: {roster}); nothing was changed")
        known = read_settings(workspace.folder).names
        if strangers := [name for name in split_names(names) if name not in known]:
            click.echo(f"next: moot agents add {' '.join(strangers)}")
        return
    if made.restored:
        click.echo(f"brought back {made.restored} files from the branch moot")
    click.echo(f"made {workspace.folder} (agents: {roster})")
    if workspace.repository is None:
        click.echo("not in a git repository: the ledger is kept, and not committed")
    click.echo('next: moot start "Build a todo API spec. Use peer-collaboration. CC + CX."')


@click.command(epilog="Example: moot trust --show")
@click.option("--show", is_flag=True, help="Only show them.")
@in_workspace
def trust(show: bool, pinned: str | None) -> None:
    """Show what `moot.toml` would run or send, and allow it; a change of any of it has to be allowed anew."""
    from .trust import trust as note

    workspace = here(pinned)
    settings = read_settings(workspace.folder)
    for key, value in settings.risks:
        click.echo(visible(f"{key} = {value}"))
    if not settings.risks:
        click.echo("the settings run nothing and send nothing: there is nothing to trust")
    elif not show:
        note(workspace.folder, settings)
        click.echo(f"trusted for {workspace.folder}, until it changes")


@click.command(epilog="Example: moot sync && git log moot")
@in_workspace
def sync(pinned: str | None) -> None:
    """Commit the ledger, and what sessions made, to the branch `moot`."""
    workspace = here(pinned)
    commit = _commit(workspace)
    click.echo(f"committed {commit[:12]} to the branch moot" if commit else "the branch moot is up to date")


def _commit(workspace: Workspace) -> str | None:
    from .git import commit_workspace

    if workspace.repository is None:
        raise UsageError("not in a git repository", where=str(workspace.folder), then="run `git init` first")
    if read_settings(workspace.folder).track == "off":
        raise UsageError(
            "git does not keep this ledger", where="moot.toml", then='set `git.track = "branch"`'
        )
    return commit_workspace(workspace.repository, workspace.folder, "sync")


def split_names(names: str) -> tuple[str, ...]:
    """Give the names of a list with commas."""
    return tuple(name.strip() for name in names.split(",") if name.strip())
