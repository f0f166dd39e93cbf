"""How git keeps the workspace: on a branch of its own, by plumbing alone.

A commit is built from objects (blobs, trees, the commit itself) and one move of one ref: there is no index,
no work tree and no HEAD in it that a user's own git command could meet. If the branch is checked out in some
work tree it moves all the same, and that work tree shows the difference as changes of its own.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..parsers.errors import StoreError, UsageError
from .files import is_git_name, is_temporary, read_regular, store_error, write_new
from .repository import Repository

_TIMEOUT_S = 60.0

# How often a commit is made anew because somebody else moved the branch meanwhile.
_ATTEMPTS = 12
_PAUSE_S = 0.02

# Locks and receipts are this machine's; inboxes are copies, and hold private messages that no history should.
KEPT_OUT = (".state", "inbox")

_PLAIN_FILE = "100644"

# Everything else called GIT_* (a hook sets GIT_DIR and GIT_INDEX_FILE) would lead git to another place.
_KEPT_VARIABLES = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"}

_OUR_VARIABLES = {
    "GIT_AUTHOR_NAME": "moot",
    "GIT_AUTHOR_EMAIL": "moot@localhost",
    "GIT_COMMITTER_NAME": "moot",
    "GIT_COMMITTER_EMAIL": "moot@localhost",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

# The user's settings that would run something, ask for a key, or give up on a lock too soon.
_OUR_SETTINGS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.filesRefLockTimeout=1000"),
    *("-c", "commit.gpgSign=false"),
    *("-c", "i18n.commitEncoding=UTF-8"),
)


class _Tip(NamedTuple):
    ref: str
    commit: str
    time_s: int


class _Entry(NamedTuple):
    mode: str
    object_id: str


def commit_workspace(
    repository: Repository,
    workspace: Path,
    message: str,
    *,
    branch: str = "moot",
    skip: tuple[str, ...] = KEPT_OUT,
) -> str | None:
    """Commit all plain files of `workspace` to `branch`; give the commit's id, None when nothing is new.

    The commit holds the workspace alone, at its path in the repository and byte for byte, less what `skip`
    names at its top, unfinished files, links, pipes and sockets. Where there is no such branch yet it goes on
    from the remote's, and starts with no parent if there is none either.

    Raises UsageError when the workspace is not a folder below the repository's top; StoreError when git is
    missing or fails, a file cannot be read, or the branch holds something else than a workspace.
    """
    home = Path(os.path.realpath(workspace))
    prefix = _prefix(repository, home)
    attempt = 0
    while True:
        tip = _tip(repository, branch)
        stored = _stored(repository, tip)
        _refuse_foreign(stored, prefix, branch)
        # Read anew each time: an older reading on top of somebody's newer one would take lines away.
        files = {
            path: _Entry(_PLAIN_FILE, _blob(repository, data, stored.get(path)))
            for path, data in _contents(home, prefix, skip)
        }
        if not files or files == stored:
            return None
        try:
            return _commit(repository, tip, files, message, branch)
        except StoreError:
            attempt += 1
            if attempt == _ATTEMPTS or _tip(repository, branch) == tip:
                raise
        # Of unequal length, so that those who met do not meet again.
        time.sleep(attempt * _PAUSE_S * os.urandom(1)[0] / 255)


def branch_holds_workspace(repository: Repository, *, branch: str = "moot") -> str | None:
    """Give the folder, relative to the top, of the workspace that `branch` holds; None when it holds none.

    A workspace is a folder with `comms.md` and `moot.toml`. The local branch counts, else that of a remote,
    `origin` first.

    Raises StoreError when git is missing or fails.
    """
    return _workspace_in(_stored(repository, _tip(repository, branch)))


def restore_workspace(
    repository: Repository,
    target: Path,
    *,
    branch: str = "moot",
    skip: tuple[str, ...] = KEPT_OUT,
) -> int:
    """Write the files of the workspace that `branch` holds into `target`; give how many were written.

    What stands there already is left as it is. All paths are checked before the first file is written, and
    `moot.toml`, by which a workspace is known, is the last: a restore that was cut short is no workspace yet.

    Raises StoreError when git is missing or fails, the branch holds an unsafe path or a link, a link stands
    where a folder should, or the disk refuses.
    """
    stored = _stored(repository, _tip(repository, branch))
    prefix = _workspace_in(stored)
    if prefix is None:
        return 0
    target = Path(os.path.abspath(target))
    left_out = {name.casefold() for name in skip}
    missing: dict[Path, str] = {}
    for path, entry in stored.items():
        if not path.startswith(f"{prefix}/"):
            continue
        names = path.removeprefix(f"{prefix}/").split("/")
        if names[0].casefold() in left_out:
            continue
        if not _is_safe(names) or not entry.mode.startswith("100"):
            then = f"look at it with `git ls-tree -r {branch}`; nothing was written"
            raise StoreError(f"the branch {branch} holds an unsafe path", where=ascii(path), then=then)
        place = target.joinpath(*names)
        if not os.path.lexists(place):
            missing[place] = entry.object_id
    places = sorted(missing, key=lambda place: place == target / "moot.toml")
    contents = _read_blobs(repository, [missing[place] for place in places])
    # The way to the target is somebody else's too: a clone can bring a link that leads out.
    top = repository.root if target.is_relative_to(repository.root) else target
    for folder in sorted({place.parent for place in places}):
        _make_folders(top, folder)
    return sum(write_new(place, data) for place, data in zip(places, contents, strict=True))


def adopt_branch(repository: Repository, *, branch: str = "moot") -> None:
    """Give a clone that has the branch only from a remote one of its own, so that `git log moot` works there."""
    tip = _tip(repository, branch)
    if tip is not None and not tip.ref.startswith("refs/heads/"):
        _git(repository, "update-ref", f"refs/heads/{branch}", tip.commit, "")


def last_commit(repository: Repository, *, branch: str = "moot") -> tuple[str, int] | None:
    """Give the id and the time (seconds since 1970) of the branch's last commit, None without the branch.

    Raises StoreError when git is missing or fails.
    """
    tip = _tip(repository, branch)
    return (tip.commit, tip.time_s) if tip else None


def _prefix(repository: Repository, home: Path) -> str:
    """Give the workspace's path in the repository, in git's form."""
    top = os.path.realpath(repository.root)
    names = os.path.relpath(home, top).split("/")
    if names[0] == "." or not _is_safe(names):
        raise UsageError(
            "the workspace is not a folder inside the repository",
            where=f"{home}, {top}",
            then='move it there, or set track = "off" under [git] in moot.toml',
        )
    return "/".join(names)


def _is_safe(names: list[str]) -> bool:
    return not any(name in {"", ".", ".."} or is_git_name(name) for name in names)


def _tip(repository: Repository, branch: str) -> _Tip | None:
    """Give the local branch's last commit, else that of a remote's, `origin` first."""
    local = f"refs/heads/{branch}"
    fields = "--format=%(refname) %(objectname) %(committerdate:unix)"
    lines = _git(repository, "for-each-ref", fields, local, f"refs/remotes/*/{branch}").splitlines()
    rows = [os.fsdecode(line).split() for line in lines]
    tips = [_Tip(ref, commit, int(time_s)) for ref, commit, time_s in rows]
    # A plain name matches the branches below it too.
    tips = [tip for tip in tips if tip.ref == local or tip.ref.startswith("refs/remotes/")]
    return min(tips, key=lambda tip: (tip.ref != local, "/origin/" not in tip.ref, tip.ref), default=None)


def _stored(repository: Repository, tip: _Tip | None) -> dict[str, _Entry]:
    """Give all files that a commit holds, by path."""
    if tip is None:
        return {}
    stored = {}
    for line in _git(repository, "ls-tree", "-r", "-z", "--full-tree", tip.commit).split(b"\0")[:-1]:
        fields, _, path = line.partition(b"\t")
        mode, _, object_id = fields.decode().split()
        stored[os.fsdecode(path)] = _Entry(mode, object_id)
    return stored


def _workspace_in(stored: dict[str, _Entry]) -> str | None:
    folders = [path.removesuffix("/comms.md") for path in stored if path.endswith("/comms.md")]
    whole = [folder for folder in folders if f"{folder}/moot.toml" in stored and _is_safe(folder.split("/"))]
    return min(whole, key=lambda folder: (folder.count("/"), folder), default=None)


def _refuse_foreign(stored: dict[str, _Entry], prefix: str, branch: str) -> None:
    """Keep off a branch that somebody else has given the same name: a commit of ours would empty it."""
    # The second is a workspace that has moved since.
    for folder in (prefix, _workspace_in(stored)):
        if folder and all(path.startswith(f"{folder}/") for path in stored):
            return
    raise StoreError(
        f"the branch {branch} holds other things than a workspace",
        where=ascii(min(path for path in stored if not path.startswith(f"{prefix}/"))),
        then='rename that branch, or set track = "off" under [git] in moot.toml',
    )


def _contents(home: Path, prefix: str, skip: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Give path in the repository and bytes of each file to commit."""
    try:
        for folder, folders, _, folder_fd in os.fwalk(home, onerror=_pass_if_gone):
            left_out = skip if Path(folder) == home else ()
            folders[:] = sorted(name for name in folders if name not in left_out and not is_git_name(name))
            with os.scandir(folder_fd) as entries:
                plain = sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
            for name in plain:
                if name in left_out or is_git_name(name) or is_temporary(name):
                    continue
                path = Path(folder, name)
                data = read_regular(path, folder_fd=folder_fd)
                if data is not None:
                    yield f"{prefix}/{path.relative_to(home)}", data
    except OSError as error:
        raise store_error(error, home, "read") from error


def _pass_if_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _blob(repository: Repository, data: bytes, stored: _Entry | None) -> str:
    """Give the object id of `data`; git is asked to store it only where the branch does not hold it."""
    import hashlib

    if stored is not None:
        kind = "sha1" if len(stored.object_id) == 40 else "sha256"
        known = hashlib.new(kind, b"blob %d\0" % len(data), usedforsecurity=False)
        known.update(data)
        if known.hexdigest() == stored.object_id:
            return stored.object_id
    # From bytes, not by path: what was checked is what is stored, and no filter of the user's sees it.
    return _git(repository, "hash-object", "-w", "--no-filters", "--stdin", stdin=data).decode().strip()


def _write_trees(repository: Repository, files: dict[str, _Entry]) -> str:
    """Store the folders of `files`, the deepest first; give the object id of the top one."""
    listings: dict[str, list[str]] = {}
    for path, (mode, object_id) in files.items():
        folder, name = os.path.split(path)
        listings.setdefault(folder and f"{folder}/", []).append(f"{mode} blob {object_id}\t{name}\0")
    object_ids = []
    for depth in range(max(folder.count("/") for folder in listings), -1, -1):
        level = [folder for folder in listings if folder.count("/") == depth]
        text = "\0".join("".join(listings[folder]) for folder in level)
        object_ids = _git(repository, "mktree", "-z", "--batch", stdin=os.fsencode(text)).decode().split()
        for folder, object_id in zip(level, object_ids, strict=True):
            if folder:
                above, name = os.path.split(folder.removesuffix("/"))
                listings.setdefault(above and f"{above}/", []).append(f"040000 tree {object_id}\t{name}\0")
    return object_ids[0]


def _commit(
    repository: Repository, tip: _Tip | None, files: dict[str, _Entry], message: str, branch: str
) -> str:
    """Store a commit of `files` on top of `tip` and move the branch to it, if it is still where it was."""
    tree = _write_trees(repository, files)
    parents = ("-p", tip.commit) if tip else ()
    text = message.encode("utf-8", "backslashreplace")
    commit = _git(repository, "commit-tree", tree, *parents, stdin=text).decode().strip()
    ref = f"refs/heads/{branch}"
    expected = tip.commit if tip and tip.ref == ref else ""
    # --no-deref: a branch that is a link to another one must not move the other.
    _git(repository, "update-ref", "--no-deref", "-m", "moot", ref, commit, expected)
    return commit


def _read_blobs(repository: Repository, object_ids: list[str]) -> list[bytes]:
    """Give the bytes of stored files, in the order asked for."""
    stdin = "".join(f"{object_id}\n" for object_id in object_ids).encode()
    answer = _git(repository, "cat-file", "--batch", stdin=stdin)
    blobs = []
    start = 0
    for object_id in object_ids:
        end = answer.index(b"\n", start)
        header = answer[start:end].split()
        if header[1:2] != [b"blob"]:
            raise StoreError(
                "the repository lacks a file of the branch", where=object_id, then="run git fetch"
            )
        start = end + 1 + int(header[2]) + 1
        blobs.append(answer[end + 1 : start - 1])
    return blobs


def _make_folders(top: Path, folder: Path) -> None:
    """Make the folders from `top` down to `folder` that are not there."""
    steps = [folder, *folder.parents]
    for step in reversed(steps[: steps.index(top) + 1]):
        try:
            os.mkdir(step)
        except FileExistsError as error:
            if os.path.islink(step) or not os.path.isdir(step):
                raise store_error(error, step, "make the folder") from error
        except OSError as error:
            raise store_error(error, step, "make the folder") from error


def _git(repository: Repository, *arguments: str, stdin: bytes = b"", timeout_s: float = _TIMEOUT_S) -> bytes:
    """Run one git command on the repository and give what it prints."""
    import subprocess

    command = ["git", f"--git-dir={repository.git_dir}", *_OUR_SETTINGS, *arguments]
    env = {name: value for name, value in os.environ.items() if name[:4] != "GIT_" or name in _KEPT_VARIABLES}
    env.update(_OUR_VARIABLES)
    where, what, again = str(repository.git_dir), f"git {arguments[0]}", "then run the command again"
    try:
        # From its own folder: the caller's may be gone.
        done = subprocess.run(
            command, input=stdin, capture_output=True, check=False, cwd=where, env=env, timeout=timeout_s
        )
    except subprocess.TimeoutExpired as error:
        then = f"look what keeps git busy, {again}"
        raise StoreError(f"{what} took over {timeout_s:g} s", where=where, then=then) from error
    except OSError as error:
        if error.filename != "git":
            raise store_error(error, repository.git_dir, "run git in") from error
        then = f'install it, or set track = "off" under [git] in moot.toml, {again}'
        raise StoreError("git is not there to be run", then=then) from error
    if done.returncode:
        lines = [line for line in done.stderr.decode("utf-8", "backslashreplace").splitlines() if line]
        # The cause comes first; what follows is advice.
        causes = [line for line in lines if line.startswith(("error: ", "fatal: "))] or lines[-1:]
        why = causes[0] if causes else f"exit code {done.returncode}"
        raise StoreError(f"{what} failed: {why}", where=where, then=f"mend that, {again}")
    return done.stdout
