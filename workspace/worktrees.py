"""A repository lent out: worktrees of its own for whoever works on it at the same time, and what they changed."""

import hashlib
import subprocess
from pathlib import Path

from ..parsers.errors import StoreError

_TIMEOUT_S = 120.0  # a checkout of a large repository takes its time


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
