"""A repository lent out: worktrees of its own for whoever works on it at the same time, and what they changed."""

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ..parsers.errors import StoreError

_TIMEOUT_S = 120.0  # a checkout of a large repository takes its time
HEAD = ".git/HEAD"  # the key of the commit in a snapshot: no file of a repository can have this path


def lend(root: Path, folder: Path) -> None:
    """Give a folder the files of HEAD, as a detached worktree; one that is a worktree already stays as it is.

    Raises StoreError where git refuses, as in a repository without a commit.
    """
    if not (folder / ".git").exists():
        _git(root, "worktree", "add", "--detach", "--force", str(folder), "HEAD")


def patch_of(folder: Path) -> str:
    """Give what was changed in a worktree since HEAD, new files too, as a patch that `git apply` takes."""
    _git(folder, "add", "--all", "--intent-to-add")
    return _git(folder, "diff", "--binary", "HEAD").decode("utf-8", "replace")


def take_back(root: Path, folder: Path) -> None:
    """Remove a worktree, whatever is in it."""
    if (folder / ".git").exists():
        _git(root, "worktree", "remove", "--force", "--force", str(folder))


def fingerprint(root: Path) -> str:
    """Name the state of a repository's own files: HEAD, what is changed, what is new."""
    parts = (
        _git(root, "rev-parse", "--verify", "--quiet", "HEAD", check=False),
        _git(root, "status", "--porcelain=v1", "-z"),
        _git(root, "diff", "--binary", "HEAD", check=False),
    )
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def snapshot(root: Path, *, without: Path | None = None) -> dict[str, str]:
    """Give what stands in a repository besides what its HEAD has: path to hash, and HEAD's own commit.

    Changed, deleted ("") and untracked files are in it, not ignored ones, nor what lies in `without`.
    Raises StoreError where `root` is no repository's top.
    """
    status = [
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=none",
    ]
    if without is not None and without.is_relative_to(root):
        status += ["--", ".", f":(top,exclude,literal){without.relative_to(root)}"]
    found = {HEAD: _git(root, "rev-parse", "--verify", "--quiet", "HEAD", check=False).decode().strip()}
    for entry in _git(root, *status).split(b"\0"):
        path = os.fsdecode(entry[3:]).rstrip("/")
        if path and (root / path).is_dir() and not (root / path).is_symlink():  # a repository inside
            found |= {file: _hash(root / file) for file in _files_in(root, path)}
        elif path:
            found[path] = _hash(root / path)
    return found


def changes_between(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Name the paths that are not the same in two snapshots, in their order; HEAD as `.git/HEAD`."""
    return tuple(sorted(path for path in {*before, *after} if before.get(path) != after.get(path)))


def _files_in(root: Path, folder: str) -> list[str]:
    """Give the files in a folder, less git's own, relative to the root."""
    found = []
    for here, folders, names in os.walk(root / folder):
        folders[:] = [name for name in folders if name != ".git"]
        found += [os.path.relpath(os.path.join(here, name), root) for name in names if name != ".git"]
    return found


def _hash(path: Path) -> str:
    """Give the hash of a file's content, or of a link's target; empty where there is none."""
    try:
        if path.is_symlink():
            return hashlib.sha256(os.fsencode(os.readlink(path))).hexdigest()
        if not path.is_file():  # a pipe would hold us for ever
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _git(folder: Path, *arguments: str, check: bool = True) -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StoreError(
            "git cannot be run", where=str(folder), then="install it, or leave --worktrees out"
        ) from error
    if check and done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise StoreError(
            f"git {arguments[0]} failed: {why}", where=str(folder), then="see `git status` there"
        )
    return done.stdout
