"""Which repository a folder lies in: found by looking at the disk, without running git."""

import os
from pathlib import Path
from typing import NamedTuple


class Repository(NamedTuple):
    """A git repository: the top of its main work tree, and the git folder that all its work trees share."""

    root: Path
    git_dir: Path


def find_repository(start: Path) -> Repository | None:
    """Give the repository that `start` lies in, or None; git itself is not run.

    From a linked work tree it is the main one's top, also where that is a folder that points to a bare
    repository inside it. A submodule, and a work tree of a bare repository, is its own top.
    """
    here = Path(os.path.realpath(start))
    for folder in (here, *here.parents):
        dot_git = folder / ".git"
        if _is_git_dir(dot_git):
            return Repository(folder, dot_git)
        if os.path.isfile(dot_git):
            # As git does: a broken pointer ends the search, and does not lead to some repository further up.
            return _follow(folder)
    return None


def _is_git_dir(folder: Path) -> bool:
    return os.path.isdir(folder / "objects") and os.path.lexists(folder / "HEAD")


def _follow(folder: Path) -> Repository | None:
    """Give the repository that the file `.git` in `folder` leads to."""
    own = _pointed(folder / ".git", b"gitdir: ")
    if own is None:
        return None
    # Only a linked work tree has a `commondir`; a submodule's git folder is all its own.
    common = _pointed(own / "commondir", b"") or own
    if not _is_git_dir(common):
        return None
    main = common.parent
    leads_here = main / ".git" == common or _pointed(main / ".git", b"gitdir: ") == common
    return Repository(main if leads_here else folder, common)


def _pointed(file: Path, label: bytes) -> Path | None:
    """Give the path that a one-line file holds after `label`, relative to the file's folder."""
    try:
        with open(file, "rb") as pointer:
            line = pointer.read(8192).rstrip(b"\r\n")
    except OSError:
        return None
    path = line.removeprefix(label)
    if not line.startswith(label) or not path or b"\0" in path:
        return None
    return Path(os.path.realpath(file.parent / os.fsdecode(path)))
