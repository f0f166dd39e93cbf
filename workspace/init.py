"""Make a workspace, or get it back from the branch `moot`."""

import secrets
import time
from pathlib import Path
from typing import NamedTuple

from ..parsers.errors import UsageError
from ..parsers.frames import render
from ..parsers.ids import mint
from .files import make_folder, write_new
from .folder import DEFAULT, LEDGER, Workspace, open_folder
from .repository import find_repository
from .settings import FILE, Agent, agent_table, check_new_name, first_settings, read_settings

DEFAULT_AGENTS = ("CC", "CX", "GM", "AG")

_FIRST_BLOCK = """\
### [REFEREE] this ledger is open

Agents write here with `moot send`, hands with a block that begins `[ROLE - NAME]` on a line of its own. \
The lines that look like comments are the tool's: leave them as they are."""


class Made(NamedTuple):
    """What `init` did: `new` is False where nothing was changed, `restored` counts files from the branch."""

    workspace: Workspace
    new: bool
    restored: int = 0


def init_workspace(start: Path, folder: Path | None, names: tuple[str, ...]) -> Made:
    """Make the workspace of a repository; a second time it changes nothing.

    `folder` is the workspace itself, by default `comms/` at the top of the repository; the top of a
    repository, or a folder with other things in it, gets a `comms/` inside. Raises UsageError for an
    illegal name or a `comms/` that holds something else.
    """
    roster: dict[str, Agent] = {}
    for name in names:
        roster[check_new_name(name, roster)] = Agent()
    target = _target(start.resolve(), folder)
    if (target / FILE).is_file() and (target / LEDGER).exists():
        return Made(open_folder(target), new=False)
    from .git import adopt_branch, branch_holds_workspace, restore_workspace

    repository = find_repository(target.parent)
    restored = 0
    if repository is not None and not target.exists():
        held = branch_holds_workspace(repository)
        if held is not None and (folder is None or (repository.root / held).resolve() == target):
            target = repository.root / held
            restored = restore_workspace(repository, target)
            adopt_branch(repository)
    return _make(target, tuple(roster) or DEFAULT_AGENTS, restored)


def _make(target: Path, names: tuple[str, ...], restored: int) -> Made:
    for folder in ("inbox", "runs"):
        make_folder(target / folder)
    make_folder(target / ".state", mode=0o700)
    write_new(target / ".gitignore", b"*\n")
    write_new(target / LEDGER, _first_frame())
    write_new(target / FILE, first_settings(names).encode())  # last: with it, the workspace is found
    return Made(open_folder(target), new=True, restored=restored)


def _target(start: Path, folder: Path | None) -> Path:
    if folder is None:
        repository = find_repository(start)
        folder = (repository.root if repository is not None else start) / DEFAULT
    elif folder.is_dir() and not (folder / FILE).is_file() and any(folder.iterdir()):
        folder = folder / DEFAULT
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise UsageError(
            "there is a file where the workspace would be", where=str(folder), then="name another"
        )
    others = folder.is_dir() and not (folder / FILE).is_file() and not (folder / LEDGER).exists()
    if others and any(entry.name != ".state" for entry in folder.iterdir()):
        raise UsageError(
            "the folder holds other things", where=str(folder), then="name another one: `moot init FOLDER`"
        )
    return folder


def _first_frame() -> bytes:
    ms = time.time_ns() // 1_000_000
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03}Z"
    facts = {"id": mint(ms, secrets.randbits(40)), "at": at, "from": "REFEREE"}
    return render(facts, _FIRST_BLOCK.encode()) + b"\n"


def add_agents(workspace: Workspace, names: tuple[str, ...]) -> tuple[str, ...]:
    """Put agents into the roster, and give those that are new; one that is there already is left as it is.

    Only lines at the end of `moot.toml` are added. Raises UsageError for an illegal name.
    """
    from .files import read_regular, write_whole

    roster = dict(read_settings(workspace.folder).agents)
    new = []
    for name in names:
        if name not in roster:
            roster[check_new_name(name, roster)] = Agent()
            new.append(name)
    if new:
        path = workspace.folder / FILE
        text = read_regular(path) or b""
        write_whole(path, text + "".join(agent_table(name) for name in new).encode())
    return tuple(new)
