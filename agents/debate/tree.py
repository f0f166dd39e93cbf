"""What the repository is like while a debate runs: a state that is kept on disk, and what is other since then."""

import json
from collections.abc import Mapping
from pathlib import Path

from ...workspace.files import make_folder, read_regular, write_whole
from ...workspace.folder import Workspace
from ...workspace.worktrees import HEAD, changes_between, committed_between, snapshot
from .record import Change

MOST_FILES = 100  # that are named of those that were changed


class Tree:
    """The repository of a workspace; outside of one nothing changes.

    The state and those who have run since are in `runs/SESSION/tree.json`, so that a debate that was killed
    misses nothing.
    """

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        """Name the workspace, and the debate's folder."""
        self._root = workspace.repository.root if workspace.repository is not None else None
        self._folder, self._file = folder, folder / "tree.json"

    def begin(self) -> None:
        """Keep the state as it is now; nobody has run since."""
        self._save(snapshot(self._root) if self._root is not None else {}, ())

    def runs(self, names: tuple[str, ...]) -> None:
        """Note who runs from now on."""
        if (known := self._known()) is None:
            self.begin()
        before, running = known or self._known() or ({}, ())
        self._save(before, tuple(dict.fromkeys((*running, *names))))

    def changes(self) -> tuple[Change, ...]:
        """Give what is other than when the state was kept, with all who have run since; or nothing."""
        known = self._known()
        if known is None or self._root is None:
            return ()
        before, running = known
        after = snapshot(self._root)
        files = set(changes_between(before, after))
        if before.get(HEAD) != after.get(HEAD):
            files |= set(committed_between(self._root, before.get(HEAD, ""), after.get(HEAD, "")))
        if not files:
            return ()
        named = tuple(sorted(files)[:MOST_FILES])
        more = (f"and {len(files) - MOST_FILES} more",) if len(files) > MOST_FILES else ()
        return (Change((*named, *more), running),)

    def end(self) -> None:
        """Forget the state: the debate is over."""
        self._file.unlink(missing_ok=True)

    def _known(self) -> tuple[Mapping[str, str], tuple[str, ...]] | None:
        try:
            values = json.loads(read_regular(self._file) or b"null")
        except ValueError:
            return None
        return (values["before"], tuple(values["running"])) if isinstance(values, dict) else None

    def _save(self, before: Mapping[str, str], running: tuple[str, ...]) -> None:
        make_folder(self._folder)
        write_whole(self._file, json.dumps({"before": dict(before), "running": running}).encode())
