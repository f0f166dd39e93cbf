"""A repository lent out: worktrees of its own for whoever works on it at the same time, and what they changed."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..parsers.errors import NotFound, StoreError

_TIMEOUT_S = 120.0  # a checkout of a large repository takes its time

# Everything else called GIT_* (a hook sets GIT_DIR and GIT_INDEX_FILE) would lead git to another place.
_KEPT_VARIABLES = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"}

# The user's settings that would run something, or refuse a file for its line ends.
_OUR_SETTINGS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.safecrlf=false"),
)
HEAD = ".git/HEAD"  # the key of the commit in a snapshot: no file of a repository can have this path


class Source(NamedTuple):
    """What is lent out: a repository's top, the git folder that its worktrees share, and one commit."""

    root: Path
    git_dir: Path
    commit: str


class Patch(NamedTuple):
    """What was changed in a worktree, and the repositories inside it, whose files no patch can hold."""

    data: bytes
    left_out: tuple[str, ...]


def source_at(start: Path) -> Source:
    """Give the repository that a folder lies in, and the commit it is at.

    Raises NotFound outside of one, StoreError where it has no commit.
    """
    root = top_of(start)
    if root is None:
        raise NotFound(
            "not in a git repository", where=str(start), then="leave --worktrees out, or run `git init`"
        )
    commit = _text(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False)
    if not commit:
        raise StoreError(
            "the repository has no commit", where=str(root), then="make one, or leave --worktrees out"
        )
    return Source(root, Path(root, _text(root, "rev-parse", "--git-common-dir")), commit)


def top_of(start: Path) -> Path | None:
    """Give the top of the work tree that a folder lies in, or None; StoreError where git is missing."""
    top = _text(start, "rev-parse", "--show-toplevel", check=False)
    return Path(top) if top else None


def lend(source: Source, folder: Path, patch: bytes = b"") -> None:
    """Give an empty folder the files of the commit, as a detached worktree, with a patch applied.

    Raises StoreError where git refuses.
    """
    _git(source.root, "worktree", "add", "--detach", "--force", str(folder), source.commit)
    if patch:
        _git(folder, "apply", "--binary", "--whitespace=nowarn", "-", stdin=patch)


def patch_of(source: Source, folder: Path) -> Patch:
    """Give what was changed in a lent folder since the commit, new files too, as a patch that `git apply` takes.

    Nothing that stands in the folder leads git elsewhere: not its `.git`, its index or its commits. Raises
    StoreError where git cannot read a file.
    """
    inside = sorted(
        os.path.relpath(here, folder)
        for here, folders, names in os.walk(folder)
        if ".git" in {*folders, *names} and here != str(folder)
    )
    with TemporaryDirectory(prefix="moot-") as private:
        objects = Path(private, "objects")
        objects.mkdir()
        environment = {
            "GIT_INDEX_FILE": str(Path(private, "index")),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(source.git_dir / "objects"),
        }
        at = (f"--git-dir={source.git_dir}", f"--work-tree={folder}")
        _git(folder, *at, "read-tree", source.commit, env=environment)
        but = (f":(top,exclude,literal){path}" for path in inside)
        _git(folder, *at, "add", "--all", "--", ".", *but, env=environment)
        tree = _git(folder, *at, "write-tree", env=environment).decode().strip()
        # Plumbing knows nothing of the user's colours, prefixes and programs.
        options = ("-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv",
                   "--no-color", "--ignore-submodules=all")  # fmt: skip
        data = _git(folder, *at, "diff-tree", *options, source.commit, tree, env=environment)
    return Patch(data, tuple(inside))


def take_back(source: Source, folder: Path) -> None:
    """Remove a worktree, whatever is in it and whatever became of its `.git`."""
    shutil.rmtree(folder, ignore_errors=True)
    _git(source.root, "worktree", "remove", "--force", "--force", str(folder), check=False)


def _quoted(path: Path) -> str:
    """Quote a path for a list of object folders, in which `:` parts them."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


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


def _text(folder: Path, *arguments: str, check: bool = True) -> str:
    return os.fsdecode(_git(folder, *arguments, check=check)).rstrip("\n")


def committed_between(root: Path, before: str, after: str) -> tuple[str, ...]:
    """Name the files in which two commits differ; all of the second's where there was none before."""
    if not after:
        return ()
    differ = ["diff", "--name-only", "-z", "--no-renames", before, after]
    listed = ["ls-tree", "-r", "--name-only", "-z", after]
    names = _git(root, *(differ if before else listed), check=False).split(b"\0")
    return tuple(os.fsdecode(name) for name in names if name)


def _git(
    folder: Path,
    *arguments: str,
    check: bool = True,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> bytes:
    ours = {
        name: value for name, value in os.environ.items() if name[:4] != "GIT_" or name in _KEPT_VARIABLES
    }
    ours |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **(env or {})}
    try:
        done = subprocess.run(
            ["git", *_OUR_SETTINGS, *arguments], input=stdin, capture_output=True, cwd=folder, env=ours,
            timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StoreError(
            "git cannot be run", where=str(folder), then="install it, or leave --worktrees out"
        ) from error
    if check and done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        name = next(word for word in arguments if not word.startswith("-"))
        raise StoreError(f"git {name} failed: {why}", where=str(folder), then="see `git status` there")
    return done.stdout
