"""What appending to the ledger promises while others replace, truncate and write the same file."""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moot.bus.ledger import Ledger, Moved
from moot.bus.locks import Lock
from moot.parsers.errors import StoreError
from moot.parsers.frames import Frame, scan
from moot.tests.bus.chains import block, chain, id_of, text_of
from moot.tests.bus.processes import children

FIRST = b"first\n"
OURS = b"<ours>\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "comms.md"
    path.write_bytes(FIRST)
    return path


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    ledger = Ledger(path, Lock(path.parent / "lock"), lock_timeout_s=0.1)
    yield ledger
    ledger.close()


@pytest.fixture
def around_write(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give what makes others act right before, or right after, the next write."""

    def set_up(
        *, before: Callable[[], object] | None = None, after: Callable[[], object] | None = None
    ) -> None:
        write = os.write

        def write_among_others(fd: int, data: bytes) -> int:
            monkeypatch.setattr(os, "write", write)
            if before is not None:
                before()
            written = write(fd, data)
            if after is not None:
                after()
            return written

        monkeypatch.setattr(os, "write", write_among_others)

    return set_up


def by_hand(path: Path, text: bytes) -> None:
    with path.open("ab") as file:
        file.write(text)


def replace(path: Path, data: bytes) -> None:
    """Write a file as editors do: another one, renamed over it."""
    (path.parent / "new").write_bytes(data)
    (path.parent / "new").replace(path)


# Appending


def test_what_is_appended_stands_at_the_end_and_the_offset_is_given(path: Path, ledger: Ledger) -> None:
    assert ledger.append(OURS, 6) == 6
    assert ledger.append(b"again\n", 13) == 13
    ledger.sync()
    assert path.read_bytes() == FIRST + OURS + b"again\n"
    assert ledger.read(6, 13) == OURS


def test_a_ledger_is_read_from_any_offset_to_any_other(ledger: Ledger) -> None:
    assert (ledger.read(), ledger.read(2), ledger.read(1, 3)) == (FIRST, b"rst\n", b"ir")
    assert (ledger.read(6), ledger.read(99), ledger.read(4, 99)) == (b"", b"", b"t\n")


def test_the_stamp_tells_every_change(path: Path, ledger: Ledger) -> None:
    stamps = [ledger.stamp(), ledger.stamp()]
    assert stamps[0] == stamps[1]
    by_hand(path, b"more")
    stamps.append(ledger.stamp())
    replace(path, path.read_bytes())
    stamps.append(ledger.stamp())
    os.utime(path, ns=(1, 1))
    stamps.append(ledger.stamp())
    assert len(set(stamps)) == 4


def test_a_file_that_was_renamed_over_the_ledger_is_the_one_that_is_written(
    path: Path, ledger: Ledger
) -> None:
    ledger.append(OURS, 6)
    replace(path, b"other\n")
    assert ledger.append(OURS, 6) == 6
    assert path.read_bytes() == b"other\n" + OURS


def test_a_block_that_went_into_a_file_that_was_just_replaced_has_moved(
    path: Path, ledger: Ledger, around_write: Callable[..., None]
) -> None:
    around_write(after=lambda: replace(path, b"other\n"))
    with pytest.raises(Moved):
        ledger.append(OURS, 6)
    assert path.read_bytes() == b"other\n"
    assert ledger.append(OURS, 6) == 6


def test_a_block_that_the_one_who_replaced_the_file_has_copied_is_there_once(
    path: Path, ledger: Ledger, around_write: Callable[..., None]
) -> None:
    around_write(after=lambda: replace(path, b"the new top\n" + path.read_bytes()))
    start = ledger.append(OURS, 6)
    assert path.read_bytes() == b"the new top\n" + FIRST + OURS
    assert ledger.read(start) == OURS


def test_what_was_copied_into_a_new_file_is_made_durable_there(
    path: Path, ledger: Ledger, around_write: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", lambda fd: synced.append(os.fstat(fd).st_ino))
    around_write(after=lambda: replace(path, path.read_bytes()))
    ledger.append(OURS, 6)
    ledger.sync()
    assert synced == [path.stat().st_ino]


def test_a_file_that_was_truncated_before_the_write_holds_the_block_where_it_stands(
    path: Path, ledger: Ledger, around_write: Callable[..., None]
) -> None:
    around_write(before=lambda: os.truncate(path, 0))
    assert ledger.append(OURS, 6) == 0
    assert path.read_bytes() == OURS


def test_a_block_that_was_truncated_away_has_moved(
    path: Path, ledger: Ledger, around_write: Callable[..., None]
) -> None:
    around_write(after=lambda: os.truncate(path, 3))
    with pytest.raises(Moved):
        ledger.append(OURS, 6)


def test_a_block_that_was_written_over_has_moved(
    path: Path, ledger: Ledger, around_write: Callable[..., None]
) -> None:
    around_write(after=lambda: path.write_bytes(b"something else, and longer than it was"))
    with pytest.raises(Moved):
        ledger.append(OURS, 6)


@pytest.mark.parametrize("count", [1, 1000])
def test_a_hand_that_writes_at_the_same_time_moves_the_offset_and_breaks_nothing(
    path: Path, ledger: Ledger, around_write: Callable[..., None], count: int
) -> None:
    by = b"by hand\n" * count
    around_write(before=lambda: by_hand(path, by), after=lambda: by_hand(path, by))
    assert ledger.append(OURS, 6) == 6 + len(by)
    assert path.read_bytes() == FIRST + by + OURS + by


def test_a_hand_that_writes_right_behind_the_block_does_not_move_it(
    path: Path, ledger: Ledger, around_write: Callable[..., None]
) -> None:
    around_write(after=lambda: by_hand(path, b"by hand\n"))
    assert ledger.append(OURS, 6) == 6


def test_a_block_behind_another_writers_that_names_the_same_one_has_moved(
    path: Path, ledger: Ledger, around_write: Callable[..., None]
) -> None:
    frames = chain(2)
    theirs = block(7, frames[0])
    path.write_bytes(text_of(frames[:1]))
    size = path.stat().st_size
    around_write(before=lambda: by_hand(path, text_of([theirs])))
    with pytest.raises(Moved):
        ledger.append(text_of(frames[1:]), size)


@pytest.mark.parametrize("pasted", [chain(1)[0], chain(3)[2]], ids=["a known one", "a later one"])
def test_a_frame_that_a_hand_pastes_at_the_same_time_does_not_stand_in_the_way(
    path: Path, ledger: Ledger, around_write: Callable[..., None], pasted: bytes
) -> None:
    frames = chain(2)
    path.write_bytes(text_of(frames[:1]))
    size = path.stat().st_size
    around_write(before=lambda: by_hand(path, text_of([pasted])))
    assert ledger.append(text_of(frames[1:]), size) == size + len(text_of([pasted]))


# Something else stands there


def make_socket(path: Path) -> None:
    here = os.open(".", os.O_RDONLY)
    os.chdir(path.parent)  # a socket's path is short on every system
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.fchdir(here)
        os.close(here)


def make_link(path: Path) -> None:
    (path.parent / "elsewhere").write_bytes(b"not ours\n")
    path.symlink_to(path.parent / "elsewhere")


def make_device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # like /dev/zero, which never ends
    except PermissionError:
        pytest.skip("only root makes devices")


STRANGE = {
    "nothing": lambda path: None,
    "folder": os.mkdir,
    "pipe": os.mkfifo,
    "link": make_link,
    "link to nothing": lambda path: path.symlink_to(path.parent / "gone"),
    "socket": make_socket,
    "device": make_device,
}
ACTS: dict[str, Callable[[Ledger], object]] = {
    "stamp": Ledger.stamp,
    "read": Ledger.read,
    "read a part": lambda ledger: ledger.read(2, 4),
    "append": lambda ledger: ledger.append(OURS, 6),
}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("was_open", [False, True], ids=["at first", "later"])
@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
def test_what_is_no_ordinary_file_is_one_line_and_nobody_waits_or_follows(
    path: Path, ledger: Ledger, make: Callable[[Path], None], act: Callable[[Ledger], object], was_open: bool
) -> None:
    if was_open:
        ledger.append(OURS, 6)
    path.unlink()
    make(path)
    with pytest.raises(StoreError) as caught:
        act(ledger)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert not (path.parent / "gone").exists()
    if (path.parent / "elsewhere").exists():
        assert (path.parent / "elsewhere").read_bytes() == b"not ours\n"


def test_a_pipe_that_takes_the_place_right_before_the_file_is_opened_gets_nothing(
    path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_it = os.open

    def open_the_pipe(name: str | Path, flags: int, mode: int = 0o777) -> int:
        monkeypatch.setattr(os, "open", open_it)
        path.unlink()
        os.mkfifo(path)
        readers.append(open_it(path, os.O_RDONLY | os.O_NONBLOCK))
        return open_it(name, flags, mode)

    readers: list[int] = []
    monkeypatch.setattr(os, "open", open_the_pipe)
    with pytest.raises(StoreError, match="no ordinary file"):
        ledger.append(OURS, 6)
    with pytest.raises(BlockingIOError):
        os.read(readers[0], 1)
    os.close(readers[0])


def test_a_lock_that_nobody_gives_back_is_one_line(path: Path, ledger: Ledger) -> None:
    other = Lock(path.parent / "lock")
    assert other.try_take()
    with pytest.raises(StoreError, match=r"has held the ledger's lock for 0\.1 s"), ledger.locked():
        pass
    other.close()
    with ledger.locked():
        pass


# The disk refuses


BATCH = text_of(chain(3))
WHOLE = [id_of(number) for number in range(3)]


@contextmanager
def failing(
    monkeypatch: pytest.MonkeyPatch, call: str, number: int, code: int, *, part: int = 1 << 30
) -> Iterator[None]:
    """Let writes take `part` bytes, and the call of that number fail, all others go on."""
    real = getattr(os, call)
    calls = 0

    def fail_once(fd: int, *arguments: bytes) -> int | None:
        nonlocal calls
        calls += 1
        if calls == number:
            raise OSError(code, os.strerror(code))
        result: int | None = real(fd, *(argument[:part] for argument in arguments))
        return result

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail_once)
        yield


def frames_in(path: Path) -> list[Frame]:
    return [piece for piece in scan(path.read_bytes()) if isinstance(piece, Frame)]


@pytest.mark.parametrize("part", [1, 2, 3, 5, 17, 64, 1000])
def test_short_writes_lose_nothing(
    path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    with failing(monkeypatch, "write", 0, 0, part=part):
        assert ledger.append(BATCH, 6) == 6
    assert path.read_bytes() == FIRST + BATCH


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EINTR, errno.EDQUOT, errno.EFBIG])
def test_a_write_that_fails_at_any_call_leaves_whole_blocks_or_a_torn_tail(
    path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    part = 61
    for number in range(1, len(BATCH) // part + 2):
        path.write_bytes(FIRST)
        with failing(monkeypatch, "write", number, code, part=part), pytest.raises(StoreError) as caught:
            ledger.append(BATCH, 6)
        assert str(caught.value).startswith("cannot append to comms.md: ")
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == FIRST + BATCH[: part * (number - 1)]
        found = frames_in(path)
        assert [frame.id for frame in found] == WHOLE[: len(found)]
        assert not any(frame.edited for frame in found)


def test_a_block_that_is_cut_anywhere_is_no_block() -> None:
    data = FIRST + BATCH
    ends = [piece.end for piece in scan(data) if isinstance(piece, Frame)]
    for size in range(len(data)):
        found = [piece for piece in scan(data[:size]) if isinstance(piece, Frame)]
        assert [frame.end for frame in found] == [end for end in ends if end <= size]
        assert not any(frame.edited for frame in found)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EINTR])
def test_a_sync_that_fails_is_one_line_and_the_next_one_is_asked_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    ledger.append(OURS, 6)
    with failing(monkeypatch, "fdatasync", 1, code):
        with pytest.raises(StoreError, match=r"^cannot sync comms\.md: ") as caught:
            ledger.sync()
        assert "\n" not in str(caught.value)
        ledger.sync()


def test_a_hand_between_two_parts_of_a_write_makes_no_block_of_two_halves(
    path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def write_a_part(fd: int, data: bytes) -> int:
        written = write(fd, data[:100])
        by_hand(path, b"\nby hand\n")
        return written

    monkeypatch.setattr(os, "write", write_a_part)
    with pytest.raises(Moved):
        ledger.append(BATCH, 6)
    assert path.read_bytes() == FIRST + BATCH[:100] + b"\nby hand\n"
    assert frames_in(path) == []


def test_a_file_that_may_not_grow_is_one_line_and_keeps_what_stood_there(path: Path) -> None:
    code = """
import resource
from moot.bus.ledger import Ledger
from moot.bus.locks import Lock
from moot.parsers.errors import StoreError
path = Path(arguments[0])
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
ledger = Ledger(path, Lock(path.parent / "lock"))
try:
    ledger.append(b"x" * 1000, 6)
except StoreError as error:
    say(error)
"""
    with children(code, (path,)) as (child,):
        (line,) = child.end()
    assert line.startswith("cannot append to comms.md: the file would be too large")
    assert path.read_bytes() == FIRST + b"x" * 194
