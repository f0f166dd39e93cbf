"""Where a workspace is, and what lies in it."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ..parsers.errors import NotFound
from .repository import Repository, find_repository
from .settings import FILE

DEFAULT = "comms"
LEDGER = "comms.md"


class Workspace(NamedTuple):
    """One workspace: its folder, the folder that output paths start from, and the repository if there is one."""

    folder: Path
    root: Path
    repository: Repository | None

    @property
    def ledger(self) -> Path:
        """The ledger."""
        return self.folder / LEDGER

    @property
    def inbox(self) -> Path:
        """The folder of inboxes."""
        return self.folder / "inbox"

    @property
    def runs(self) -> Path:
        """The folder of what sessions made."""
        return self.folder / "runs"

    @property
    def state(self) -> Path:
        """The folder of locks, cursors, index and receipts."""
        return self.folder / ".state"


def find_workspace(
    start: Path, *, pinned: str | None = None, environ: Mapping[str, str] = os.environ
) -> Workspace:
    """Find the one workspace for a folder: pinned by an option or `MOOT_WORKSPACE`, or else by walking up.

    From a linked worktree it is the main worktree's, since two copies of one ledger lose mail silently.
    Raises NotFound with the folder that was looked in and what to do.
    """
    pinned = pinned or environ.get("MOOT_WORKSPACE")
    if pinned:
        return _pinned(Path(pinned))
    start = start.resolve()
    repository = find_repository(start)
    root = repository.root if repository is not None else None
    top = next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), root)
    first = start if root is None or top == root else root
    for folder in (first, *first.parents):
        found = _in_folder(folder)
        if found is not None:
            return Workspace(found, root or found.parent, repository)
        if folder == root:
            break
    raise _nothing(start, repository)


def open_folder(folder: Path) -> Workspace:
    """Give the workspace in a folder that is known to be one."""
    folder = folder.resolve()
    repository = find_repository(folder.parent)
    return Workspace(folder, repository.root if repository else folder.parent, repository)


def _pinned(path: Path) -> Workspace:
    for folder in (path, path / DEFAULT):
        if (folder / FILE).is_file():
            return open_folder(folder)
    raise NotFound(
        "there is no workspace in the folder that was named",
        where=str(path),
        then="correct --workspace or MOOT_WORKSPACE, or make one there with `moot init DIR`",
    )


def _in_folder(folder: Path) -> Path | None:
    """Give the workspace that is this folder or stands in it; name a second one in a warning."""
    if (folder / FILE).is_file() and (folder / LEDGER).exists():
        return folder
    default = folder / DEFAULT
    try:
        others = sorted(
            entry.name
            for entry in os.scandir(folder)
            if entry.is_dir(follow_symlinks=False) and os.path.isfile(os.path.join(entry.path, FILE))
        )
    except OSError:
        others = []  # a folder that we may not list; the default place can still be looked at
    if (default / FILE).is_file():
        others = [name for name in others if name != DEFAULT]
        found: Path | None = default.resolve()
    else:
        found = folder / others.pop(0) if others else None
    if others and found is not None:
        print(
            f"moot: warning: {folder} also holds the workspace {', '.join(others)}; using {found.name}"
            " (pin one with --workspace or MOOT_WORKSPACE)",
            file=sys.stderr,
        )
    return found


def _nothing(start: Path, repository: Repository | None) -> NotFound:
    then = "run `moot init` in your repository"
    if repository is not None and _branch_holds_one(repository):
        then = "the branch `moot` holds one: run `moot init` to get it back"
    return NotFound("no workspace here or in any folder above", where=str(start), then=then)


def _branch_holds_one(repository: Repository) -> bool:
    from .git import branch_holds_workspace

    return branch_holds_workspace(repository) is not None
