"""What was handed in stays what it was: put back where somebody changed it, and read from where nobody reaches.

Candidates can write anywhere in the run's folder, `../../` and all. So each file that counts is kept three times:
where it belongs; in `.frozen/`, for a run that goes on after a kill; and in a file without a name, for this one.
What is read is held against its hash, and nothing here follows a link or stops at what stands in the way.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ...parsers.errors import StoreError
from ...workspace.files import read_regular, store_error, write_whole

ASIDE = ".frozen"
_OWNER = 0o700  # what we need of a folder: who takes it away from it gets it back


class _Place(NamedTuple):
    offset: int
    size_bytes: int
    sha256: str


class Frozen:
    """The files of a run that count, by their paths relative to its folder."""

    def __init__(self, folder: Path) -> None:
        """Begin with none."""
        self._folder = folder
        self._unnamed = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - as long as the run
        self._places: dict[str, _Place] = {}

    def take(self, path: str, data: bytes) -> str:
        """Keep a file as it is to be from now on, and write it; give its hash.

        One that cannot be written while somebody is in the way is written when changes are put back.
        """
        offset = os.fstat(self._unnamed.fileno()).st_size
        left = memoryview(data)
        while left:
            left = left[os.pwrite(self._unnamed.fileno(), left, offset + len(data) - len(left)) :]
        self._places[path] = _Place(offset, len(data), hashlib.sha256(data).hexdigest())
        for where in (f"{ASIDE}/{path}", path):
            try:
                put(self._folder, where, data)
            except StoreError:
                continue
        return self._places[path].sha256

    def recover(self, path: str, sha256: str, size_bytes: int | None = None) -> bool:
        """Take up a file of an earlier process, from wherever its bytes still are; tell whether they are."""
        for where in (path, f"{ASIDE}/{path}"):
            if stands(self._folder, where, sha256, size_bytes):
                self.take(path, read_regular(self._folder / where) or b"")
                return True
        return False

    def read(self, path: str) -> bytes:
        """Give a file's bytes as they were taken; nothing where none were. StoreError where the disk lost them."""
        place = self._places.get(path)
        if place is None:
            return b""
        data = os.pread(self._unnamed.fileno(), place.size_bytes, place.offset)
        if hashlib.sha256(data).hexdigest() != place.sha256:
            raise StoreError("a frozen file is not what it was", where=path, then="check the disk")
        return data

    def put_back(self, *, patient: bool) -> list[str]:
        """Put back what is not as it was taken; name it, and all copies by one name.

        A `patient` one leaves what cannot be put back for the next time.
        """
        changed = set()
        for path, place in sorted(self._places.items()):
            for where in (path, f"{ASIDE}/{path}"):
                if stands(self._folder, where, place.sha256, place.size_bytes):
                    continue
                changed.add(path if where == path else ASIDE)
                with suppress(*([StoreError] if patient else [])):
                    put(self._folder, where, self.read(path))
        return sorted(changed)

    def drop(self, path: str) -> None:
        """Keep a file no longer, and remove it."""
        if self._places.pop(path, None):
            remove(self._folder / path)
            remove(self._folder / ASIDE / path)

    def size_bytes(self, name: str) -> int:
        """Give how much of a candidate's folder is ours."""
        return sum(place.size_bytes for path, place in self._places.items() if path.startswith(f"{name}/"))

    def close(self) -> None:
        """Keep nothing any longer; `.frozen` goes too."""
        self._unnamed.close()
        remove(self._folder / ASIDE)


def read_kept(folder: Path, path: str) -> bytes | None:
    """Give a file of a run, or its copy where that cannot be read; None where there is neither."""
    for where in (path, f"{ASIDE}/{path}"):
        with suppress(StoreError):
            if (data := read_regular(folder / where)) is not None:
                return data
    return None


def put(root: Path, path: str, data: bytes) -> None:
    """Write a file whole below a folder, whatever stands in the way. StoreError for a fault of the disk."""
    file = make_way(root, path)
    if not _is(file, stat.S_ISREG):
        remove(file)
    write_whole(file, data)


def make_way(root: Path, path: str) -> Path:
    """Make all folders above a path, the root too, real ones that we may write in; give the whole path."""
    here = root
    try:
        for part in Path(path).parts:
            if not _is(here, stat.S_ISDIR):
                remove(here)
                here.mkdir(parents=True)
            elif here.stat().st_mode & _OWNER != _OWNER:
                here.chmod(_OWNER)
            here /= part
    except OSError as error:
        raise store_error(error, here, "make the folder") from error
    return here


def make_real_folder(root: Path, path: str) -> Path:
    """Make a folder below another one, whatever stands in the way; give it."""
    return make_way(root, f"{path}/any").parent


def remove(path: Path) -> None:
    """Remove whatever stands at a path; never what a link leads to. StoreError where it stays."""
    try:
        if _is(path, stat.S_ISDIR):
            shutil.rmtree(path, onerror=_open_and_try_again)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise store_error(error, path, "remove") from error


def _open_and_try_again(_: Callable[[str], None], path: str, __: object) -> None:
    """Remove what stands in a folder that its owner closed."""
    for folder in (os.path.dirname(path), path):
        if os.path.isdir(folder) and not os.path.islink(folder):
            os.chmod(folder, _OWNER)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def read_ends(root: Path, path: str, cap_bytes: int) -> tuple[bytes, int]:
    """Give a plain file's bytes, head and tail where it is over the cap, and its size; nothing where none is."""
    if not _is_straight(root, path):
        return b"", 0
    try:
        fd = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b"", 0
    with open(fd, "rb") as stream:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return b"", 0
        if found.st_size <= cap_bytes:
            return stream.read(cap_bytes), found.st_size
        half = cap_bytes // 2
        head = stream.read(half)
        stream.seek(-half, os.SEEK_END)
        mark = f"\n[... {found.st_size - 2 * half} bytes were cut here ...]\n".encode()
        return head + mark + stream.read(half), found.st_size


def bytes_in(folder: Path) -> int:
    """Give how much all files in a folder hold."""
    total = 0
    for here, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(here, name)).st_size
    return total


def stands(root: Path, path: str, sha256: str, size_bytes: int | None = None) -> bool:
    """Tell whether a plain file of that content is at a path below a folder, with no link on the way."""
    try:
        if not _is_straight(root, path):
            return False
        if size_bytes is not None and (root / path).stat().st_size != size_bytes:
            return False  # without a look at what may have no end
        with (root / path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False


def _is_straight(root: Path, path: str) -> bool:
    folders = (root, *(root / one for one in reversed(Path(path).parents[:-1])))
    return all(_is(folder, stat.S_ISDIR) for folder in folders) and _is(root / path, stat.S_ISREG)


def _is(path: Path, kind: Callable[[int], bool]) -> bool:
    try:
        return kind(os.lstat(path).st_mode)
    except OSError:
        return False
