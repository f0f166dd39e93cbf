"""Files that are written whole, and paths that are checked before they are trusted.

A file written here is the old one or the new one at every instant, never a half: it is filled under
another name beside its own, synced, and renamed. Nothing here follows a link, and every fault of the disk
comes out as one sentence.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from ..parsers.errors import StoreError, UsageError

_AGAIN = "then run the command again"

# What an errno means to the person who reads it, and what they do about it.
_SENTENCES = {
    errno.ENOSPC: ("the disk is full", f"free some space, {_AGAIN}"),
    errno.EDQUOT: ("the disk quota is used up", f"free some space, {_AGAIN}"),
    errno.EACCES: ("permission denied", f"give yourself access to it, {_AGAIN}"),
    errno.EPERM: ("it is not permitted", f"look at its owner and its flags, {_AGAIN}"),
    errno.EROFS: ("the file system is read-only", f"mount it writable, {_AGAIN}"),
    errno.ENOENT: ("no such file or folder", f"make it or correct the path, {_AGAIN}"),
    errno.EEXIST: ("something else stands there", f"move it away, {_AGAIN}"),
    errno.ENOTDIR: ("a part of the path is not a folder", f"correct the path, {_AGAIN}"),
    errno.EISDIR: ("it is a folder", f"move the folder away, {_AGAIN}"),
    errno.ELOOP: ("it is a link, and links are not followed", f"put the thing itself there, {_AGAIN}"),
    errno.ENAMETOOLONG: ("the name is too long", f"choose a shorter one, {_AGAIN}"),
    errno.EFBIG: ("the file would be too large", f"raise the limit (ulimit -f), {_AGAIN}"),
    errno.EMFILE: ("too many files are open", f"raise the limit (ulimit -n), {_AGAIN}"),
    errno.ENFILE: ("too many files are open", f"close some programs, {_AGAIN}"),
    errno.EIO: ("the disk reports a fault", "check the disk and your copies before anything else"),
}

_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFREG: "a file",
}

# What a build service runs as soon as it is pushed; compared without case.
# fmt: off
_CI_NAMES = frozenset({
    ".github", ".gitlab", ".gitea", ".forgejo", ".circleci", ".buildkite", ".ci", ".woodpecker",
    ".gitlab-ci.yml", "jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml", ".travis.yml",
    "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml", ".woodpecker.yaml", ".cirrus.yml",
    "appveyor.yml", ".appveyor.yml",
})
# fmt: on

_NAME_MAX_BYTES = 255

# How a filled file gets its name: (temporary name, name, descriptor of their folder) -> whether it did.
_Place = Callable[[str, str, int], bool]


def store_error(error: OSError, path: Path, doing: str) -> StoreError:
    """Give the one sentence for what the disk said while `doing` something ("append to") with `path`."""
    why, then = _SENTENCES.get(error.errno or 0, (error.strerror or str(error), f"see to that, {_AGAIN}"))
    return StoreError(f"cannot {doing} {_shown(path.name)}: {why}", where=_shown(path), then=then)


def write_whole(path: Path, data: bytes, *, mode: int | None = None, sync: bool = True) -> None:
    """Make `data` the whole content of `path`; durable when this returns, unless `sync` is off.

    A given `mode` is set exactly. Without one a standing file keeps its own, and a new file gets 0644 less
    the umask. Whatever fails, a whole file stands, the old or the new one, and no other is left beside it.

    Raises StoreError where `path` is a link, a pipe, a device or a folder, and for any fault of the disk.
    """
    _write_beside(path, data, mode, sync, _place_over)


def write_new(path: Path, data: bytes, *, mode: int | None = None, sync: bool = True) -> bool:
    """Write `path` whole, like `write_whole`, but only where nothing stands; tell whether it was written.

    Of two processes that do so at once, one gets True, and its file is never touched by the other.

    Raises StoreError for any fault of the disk.
    """
    return not os.path.lexists(path) and _write_beside(path, data, mode, sync, _place_new)


def make_folder(path: Path, *, mode: int = 0o777) -> None:
    """Make a folder, and those above it, where they are not there yet; StoreError where that cannot be."""
    try:
        path.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise store_error(error, path, "make the folder") from error


def is_temporary(name: str) -> bool:
    """Tell whether a file of this name is one of ours that is not finished, or was left by a crash."""
    return name.startswith(".moot-") and name.endswith(".tmp")


def read_regular(path: Path, *, folder_fd: int | None = None) -> bytes | None:
    """Give the bytes of a plain file, or None when there is none.

    With `folder_fd`, an open descriptor of the folder that holds `path`, the file is opened from there, so
    that no folder above can be swapped for a link meanwhile.

    Raises StoreError where something else stands (a link, a pipe), and for any fault of the disk.
    """
    # Without O_NONBLOCK, opening a pipe waits for a writer for ever.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path if folder_fd is None else path.name, flags, dir_fd=folder_fd)
        try:
            found = os.fstat(fd).st_mode
            if not stat.S_ISREG(found):
                raise _wrong_kind(path, found, "read")
            with open(fd, "rb", closefd=False) as file:
                return file.read()
        finally:
            os.close(fd)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise store_error(error, path, "read") from error


def digest_of(path: Path) -> str:
    """Give the sha256 of a plain file's bytes in hex, "" when there is no file.

    Raises StoreError as `read_regular` does: a link is not the same as nothing.
    """
    import hashlib

    data = read_regular(path)
    return "" if data is None else hashlib.sha256(data).hexdigest()


def is_git_name(name: str) -> bool:
    """Tell whether git, on any file system, takes a path's component for its own folder (`.GIT`, `git~1`)."""
    # HFS+ drops invisible characters; NTFS drops final dots and spaces, and ends a name at `:`.
    visible = "".join(character for character in name if character.isprintable())
    stem = visible.replace("\\", ":").partition(":")[0].rstrip(" .")
    return stem.casefold() in {".git", "git~1"}


def check_output_path(repo_root: Path, workspace: Path, text: str) -> Path:
    """Give the absolute path of a session's output file, which `text` names relative to `repo_root`.

    Raises UsageError unless it names a file, there already or not, that stands inside the repository, outside
    `.git`, the workspace and what build services read, with no link on the way. Nothing is made or changed.
    """
    root = Path(os.path.abspath(repo_root))
    names = _names_below(root, text)
    home = _names_below(root, os.path.realpath(workspace))
    why = _unclear(text) or _forbidden(names, home) or _obstacle(root, names)
    if why:
        then = "name a plain file inside the repository, such as docs/result.md"
        raise UsageError(f"the output path {why}", where=_shown(text), then=then)
    return root.joinpath(*names)


def _names_below(root: Path, text: str) -> list[str]:
    """Give the components of `text` below `root`; none when it leads out, or is `root` itself."""
    for top in (str(root), os.path.realpath(root)):
        names = os.path.relpath(os.path.join(top, text), top).split("/")
        if names[0] not in {"..", "."}:
            return names
    return []


def _unclear(text: str) -> str:
    """Say what is wrong with the text itself, or ""."""
    if not text.strip():
        return "is empty"
    if not text.isprintable():
        return "holds control characters"
    return "names a folder" if text.endswith("/") else ""


def _forbidden(names: list[str], home: list[str]) -> str:
    """Say what the names alone forbid, where `home` are those of the workspace, or ""."""
    if not names:
        return "names no file inside the repository"
    if any(is_git_name(name) for name in names):
        return "lies in git's own folder"
    # Without case: on many disks `Comms/` and `comms/` are one folder.
    folded = [name.casefold() for name in names]
    if home and folded[: len(home)] == [name.casefold() for name in home]:
        return "lies in the workspace"
    if not _CI_NAMES.isdisjoint(folded):
        return "is one that a build service reads"
    if any(len(os.fsencode(name)) > _NAME_MAX_BYTES for name in names):
        return "holds a name that is too long"
    return ""


def _obstacle(root: Path, names: list[str]) -> str:
    """Say what stands on the way from `root` to the file and should not, or ""."""
    step = root
    for left, name in zip(range(len(names) - 1, -1, -1), names, strict=True):
        step /= name
        try:
            found = os.lstat(step).st_mode
        except FileNotFoundError:
            break
        except OSError as error:
            raise store_error(error, step, "look at") from error
        if not (stat.S_ISDIR(found) if left else stat.S_ISREG(found)):
            return f"meets {_kind(found)}: {_shown(step)}"
    return ""


def _write_beside(path: Path, data: bytes, mode: int | None, sync: bool, place: _Place) -> bool:
    """Fill a temporary file in the folder of `path`, then `place` it under its name."""
    temporary = f".moot-{os.urandom(8).hex()}.tmp"
    try:
        # One descriptor for all steps: they stay in one folder even when it is moved meanwhile.
        folder_fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise store_error(error, path, "write") from error
    try:
        # A link that appears after this look is replaced by the rename, not followed.
        exact = _standing_mode(path, folder_fd) if mode is None else mode
        _fill(temporary, folder_fd, data, exact, sync)
        placed = place(temporary, path.name, folder_fd)
        if sync:
            _sync_folder(folder_fd)
        return placed
    except OSError as error:
        raise store_error(error, path, "write") from error
    finally:
        # After a rename there is nothing of this name; after a link or a failure there is.
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder_fd)
        os.close(folder_fd)


def _place_over(temporary: str, name: str, folder_fd: int) -> bool:
    """Rename over what stands there."""
    os.replace(temporary, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    return True


def _place_new(temporary: str, name: str, folder_fd: int) -> bool:
    """Link under the name, which fails where anything stands: a rename would replace it."""
    try:
        os.link(temporary, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    except FileExistsError:
        return False
    except OSError as error:
        # exFAT and some network mounts have no hard links; there, looking first is the best there is.
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}:
            raise
        if name in os.listdir(folder_fd):
            return False
        return _place_over(temporary, name, folder_fd)
    return True


def _standing_mode(path: Path, folder_fd: int) -> int | None:
    """Give the mode of the file that stands at `path`, None when there is none; refuse all other kinds."""
    try:
        found = os.stat(path.name, dir_fd=folder_fd, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise _wrong_kind(path, found, "write")
    return found & 0o777


def _fill(name: str, folder_fd: int, data: bytes, mode: int | None, sync: bool) -> None:
    """Make a new file that holds `data`."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, 0o644 if mode is None else mode, dir_fd=folder_fd)
    try:
        if mode is not None:
            os.fchmod(fd, mode)
        left = memoryview(data)
        while left:
            left = left[os.write(fd, left) :]
        if sync:
            os.fsync(fd)
    finally:
        os.close(fd)


def _sync_folder(folder_fd: int) -> None:
    """Make the new name durable."""
    try:
        os.fsync(folder_fd)
    except OSError as error:
        # Some network mounts cannot sync a folder; the file itself is synced and in its place.
        if error.errno != errno.EINVAL:
            raise


def _wrong_kind(path: Path, mode: int, doing: str) -> StoreError:
    then = f"put a plain file there or move it away, {_AGAIN}"
    return StoreError(
        f"cannot {doing} {_shown(path.name)}: it is {_kind(mode)}", where=_shown(path), then=then
    )


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "no plain file")


def _shown(path: Path | str) -> str:
    """Give a path that stays on one line, whatever its name holds."""
    text = str(path)
    return text if text.isprintable() else ascii(text)
