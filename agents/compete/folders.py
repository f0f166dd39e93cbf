"""The folders that candidates work in: made, lent as worktrees, measured, and taken back."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from ...parsers.errors import MootError
from ...workspace.worktrees import Patch, Source, lend, patch_of, take_back
from .frozen import bytes_in, make_real_folder
from .layout import WORK


class Folders:
    """`ID/implementation/` of each candidate, plain or a worktree of the source."""

    def __init__(self, folder: Path, source: Source | None, max_bytes: int) -> None:
        """Name the run's folder, and how much a candidate may make before nobody looks for its patch."""
        self._folder, self._source, self._max_bytes = folder, source, max_bytes
        self._lent_bytes: dict[str, int] = {}
        self._lending = Lock()  # git makes one worktree at a time

    def of(self, name: str) -> Path:
        """Give a candidate's folder."""
        return self._folder / name / WORK

    def prepare(self, name: str, stood: Callable[[], bytes]) -> None:
        """Make a candidate's folder, unless it stands; a worktree begins with the patch that `stood` gives.

        Raises StoreError where it cannot be.
        """
        path, work = f"{name}/{WORK}", self.of(name)
        if self._source is None:
            make_real_folder(self._folder, path)
            return
        with self._lending:
            if name in self._lent_bytes and work.is_dir() and not work.is_symlink():
                return
            take_back(self._source, work)
            lend(self._source, make_real_folder(self._folder, path), stood())
            self._lent_bytes[name] = bytes_in(work)

    def patch(self, name: str) -> Patch:
        """Give what a candidate changed in its worktree; nothing where it has none, or made too much to look at."""
        if self._source is None or self.made_bytes(name) > self._max_bytes:
            return Patch(b"", ())
        return patch_of(self._source, self.of(name))

    def made_bytes(self, name: str) -> int:
        """Give how much stands in a candidate's folder that was not lent."""
        prompts = self._folder / name / "prompts"
        return bytes_in(self._folder / name) - bytes_in(prompts) - self._lent_bytes.get(name, 0)

    def take_back(self, names: Iterable[str]) -> None:
        """Remove worktrees, those of an earlier process too; a run that goes on makes them anew."""
        for name in names if self._source else ():
            with suppress(MootError):
                take_back(self._source, self.of(name))  # type: ignore[arg-type]
