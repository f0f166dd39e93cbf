"""Appending under fire: many writers at once, writers killed anywhere, every system call failing in its turn.

What was acknowledged is there, once; nothing half is read as a block; the next command works.
"""

import errno
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot.agents.reader import Reader
from moot.agents.reading import Reading, read_whole
from moot.agents.referee import Referee
from moot.bus.batch import Draft
from moot.bus.verify import Report, verify_chain
from moot.parsers.errors import MootError
from moot.parsers.frames import Frame, scan
from moot.tests.bus.processes import children
from moot.workspace.folder import Workspace, open_folder
from moot.workspace.init import init_workspace

NAMES = ("CC", "CX", "GM", "AG")
WRITER = """
from moot.agents.referee import Referee
from moot.bus.batch import Draft
from moot.workspace.folder import open_folder
folder, name, count = arguments
referee = Referee(open_folder(Path(folder)))
say("ready")
hear()
for n in range(int(count)):
    say(referee.post(Draft(name, f"[{name}] to CC", f"{n} by {name}", to=("CC",))).id)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = init_workspace(tmp_path, tmp_path / "comms", NAMES).workspace
    settings = workspace.folder / "moot.toml"
    text = settings.read_text()
    assert "\n# max_chain = 20" in text
    settings.write_text(text.replace("\n# max_chain = 20", "\nmax_chain = 10000"))  # who answer themselves
    return workspace


@pytest.fixture
def referee(workspace: Workspace) -> Iterator[Referee]:
    referee = Referee(workspace)
    yield referee
    referee.close()


def draft(body: str) -> Draft:
    return Draft("CX", "[CX] to CC", body, to=("CC",))


def read(workspace: Workspace) -> tuple[Reading, Report]:
    reader = Reader(workspace)
    reading = read_whole(reader)
    reader.close()
    return reading, verify_chain(reading.linked, reading.tail, reading.quoted, reading.known)


def bodies(reading: Reading) -> list[str]:
    """Give what agents have posted."""
    return [message.body for message in reading.book.messages[1:] if message.origin == "tool"]


def check(workspace: Workspace, acknowledged: Sequence[str], *, notes: Sequence[str] = ()) -> Reading:
    """Check what every writer was promised, and that the chain is whole; give what was read."""
    reading, report = read(workspace)
    ids = [one.frame.id for one in reading.linked]
    assert report.faults == ()
    assert {note.kind for note in report.notes} <= set(notes)
    assert not any(one.frame.edited for one in reading.linked)
    assert ids == sorted(set(ids))
    assert set(acknowledged) <= set(ids)
    assert len(set(bodies(reading))) == len(bodies(reading))
    return reading


def check_mail(workspace: Workspace, ids: Sequence[str]) -> None:
    """Check that each block has come to CC once: in the index, and as a copy in the file."""
    referee = Referee(workspace)
    referee.rule()
    assert [mail.id for mail in referee.index.unread("CC")] == list(ids)
    found = [piece for piece in scan(referee.inboxes.path("CC").read_bytes()) if isinstance(piece, Frame)]
    copies = [frame.id for frame in found]
    assert len(set(copies)) == len(copies) == len(ids)
    assert set(copies) <= set(ids)
    assert not any(frame.edited for frame in found)
    referee.close()


# Many at once


def test_eight_writers_and_a_reader_at_once_agree_on_one_order_with_every_block_in_it_once(
    workspace: Workspace,
) -> None:
    reading_code = """
from moot.agents.reader import Reader
from moot.agents.reading import read_whole
from moot.bus.verify import verify_chain
from moot.workspace.folder import open_folder
folder, done = map(Path, arguments)
reader, before, times = Reader(open_folder(folder)), [], 0
say("ready")
last = False
while not last:
    last = times >= 2 and done.exists()  # one reading more, when all is written
    reading = read_whole(reader)
    assert verify_chain(reading.linked, reading.tail, reading.quoted, reading.known).faults == ()
    ids = [one.frame.id for one in reading.linked]
    assert ids[:len(before)] == before
    before, times = ids, times + 1
say(len(before))
"""
    names, done = [*NAMES, *NAMES], workspace.folder / "done"
    arguments = [(workspace.folder, name, "50") for name in names]
    with (
        children(WRITER, *arguments) as writers,
        children(reading_code, (workspace.folder, done)) as (reader,),
    ):
        assert [child.hear() for child in (*writers, reader)] == ["ready"] * 9
        for writer in writers:
            writer.tell()
        said = [writer.end() for writer in writers]
        done.touch()
        assert reader.end() == ["401"]
    assert all(one == sorted(one) for one in said)
    ids = sorted(block_id for one in said for block_id in one)
    reading, report = read(workspace)
    assert report == Report((), ())
    assert [one.frame.id for one in reading.linked][1:] == ids
    assert sorted(bodies(reading)) == sorted(f"{n} by {name}" for name in names for n in range(50))
    check_mail(workspace, ids)


def test_a_lock_file_that_is_removed_again_and_again_loses_no_block_of_those_who_write(
    workspace: Workspace,
) -> None:
    with children(WRITER, *[(workspace.folder, name, "40") for name in NAMES]) as writers:
        assert [child.hear() for child in writers] == ["ready"] * 4
        for writer in writers:
            writer.tell()
        while not all(writer.has_said(40) for writer in writers):
            assert all(writer.process.poll() in (None, 0) for writer in writers)
            with suppress(FileNotFoundError):
                (workspace.state / "lock").unlink()
        said = [block_id for writer in writers for block_id in writer.end()]
    reading = check(workspace, said, notes=["quotation", "loose"])
    assert sorted(bodies(reading)) == sorted(f"{n} by {name}" for name in NAMES for n in range(40))


def test_hands_that_write_without_the_lock_lose_nothing_and_take_nothing(workspace: Workspace) -> None:
    code = "import moot.agents.referee\nmoot.agents.referee.HANDS_PATIENCE_S = 0\n" + WRITER
    with children(code, *[(workspace.folder, name, "30") for name in NAMES[:2]]) as writers:
        assert [child.hear() for child in writers] == ["ready"] * 2
        for writer in writers:
            writer.tell()
        lines = 0
        while not all(writer.has_said(30) for writer in writers):
            assert all(writer.process.poll() in (None, 0) for writer in writers)
            with workspace.ledger.open("ab") as file:
                file.write(f"line {lines}\n".encode())
            lines += 1
        said = [block_id for writer in writers for block_id in writer.end()]
    reading = check(workspace, said, notes=["loose"])
    assert sorted(bodies(reading)) == sorted(f"{n} by {name}" for name in NAMES[:2] for n in range(30))
    written = workspace.ledger.read_text().split("\n")
    assert [line for line in written if line.startswith("line ")] == [f"line {n}" for n in range(lines)]


# Killed


CALLS = (
    "open", "close", "read", "write", "pread", "lseek", "stat", "lstat", "fstat", "fdatasync", "ftruncate", "mkdir"
)  # fmt: skip
Hook = Callable[[str], None]


@contextmanager
def every_call(before: Hook) -> Iterator[None]:
    """Call `before` with the name of each system call, and of each statement for the index."""

    def hooked(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            before(name)
            return real(*arguments, **named)

        return call

    class Connection(sqlite3.Connection):
        execute = hooked("execute", sqlite3.Connection.execute)
        executemany = hooked("executemany", sqlite3.Connection.executemany)

    connect = sqlite3.connect
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, hooked(name, getattr(os, name)))
        patch.setattr(
            sqlite3, "connect", lambda *arguments, **named: connect(*arguments, factory=Connection, **named)
        )
        yield


def killed_while(act: Callable[[], None], *, when: Callable[[], None] | None = None) -> bool:
    """Run `act` in a process of its own, killed after `when` has passed; tell whether it was killed."""
    child = os.fork()
    if child == 0:
        act()
        os._exit(0)
    if when is not None:
        when()
        os.kill(child, 9)
    return os.waitpid(child, 0)[1] == 9


def kill_at_any_time(folder: str, say: Callable[[str], None]) -> None:
    """Kill writers at random times, and post after each; say the ids of all blocks that were acknowledged."""
    workspace, chance = open_folder(Path(folder)), random.Random(7)
    for turn in range(15):
        reading_end, writing_end = os.pipe()

        def post_on_and_on(turn: int = turn, pipe: int = writing_end) -> None:
            referee = Referee(workspace)
            for n in range(10_000):
                os.write(pipe, f"{referee.post(draft(f'{n} of {turn}')).id}\n".encode())

        def wait(pipe: int = reading_end) -> None:
            heard = os.read(pipe, 19 * chance.randrange(1, 4)) if chance.random() < 0.8 else b""
            os.write(1, heard)
            moment = time.perf_counter() + chance.random() * 0.01
            while time.perf_counter() < moment:
                pass

        assert killed_while(post_on_and_on, when=wait)
        os.close(writing_end)
        while heard := os.read(reading_end, 65536):
            os.write(1, heard)
        os.close(reading_end)
        referee = Referee(workspace)
        say(referee.post(draft(f"after {turn}")).id)
        referee.close()
        check(workspace, [])


def kill_before_each_call(folder: str, say: Callable[[str], None]) -> None:
    """Kill one writer before its first call, one before its second, and so on; say each block posted after that."""
    workspace = open_folder(Path(folder))
    killed, number = True, 0
    while killed:
        number += 1
        calls = 0

        def die_at_last(name: str, last: int = number) -> None:
            nonlocal calls
            calls += 1
            if calls == last:
                os.kill(os.getpid(), 9)

        def post(hook: Hook = die_at_last, body: str = f"killed at {number}") -> None:
            with every_call(hook):
                Referee(workspace).post(draft(body))

        killed = killed_while(post)
        referee = Referee(workspace)
        said = referee.post(draft(f"after {number}")).id
        referee.close()
        assert check(workspace, [said]).linked[-1].frame.id == said
        say(said)


def test_a_writer_killed_at_any_time_leaves_every_acknowledged_block_once_and_nothing_half(
    workspace: Workspace,
) -> None:
    code = "from moot.tests.faults.test_append import kill_at_any_time\nkill_at_any_time(arguments[0], say)"
    with children(code, (workspace.folder,)) as (child,):
        said = child.end()
    assert len(set(said)) == len(said) > 15
    reading = check(workspace, said)
    check_mail(workspace, [one.frame.id for one in reading.linked][1:])


def test_a_writer_killed_between_any_two_calls_leaves_nothing_half_and_the_next_one_goes_on(
    workspace: Workspace,
) -> None:
    code = "from moot.tests.faults.test_append import kill_before_each_call\nkill_before_each_call(arguments[0], say)"
    with children(code, (workspace.folder,)) as (child,):
        said = child.end()
    assert len(said) > 40
    reading = check(workspace, said)
    check_mail(workspace, [one.frame.id for one in reading.linked][1:])


# Failing


def sentence_of(act: Callable[[], object]) -> str:
    """Give the one line that something fails with, or nothing; any other failure is one of the test."""
    try:
        act()
    except MootError as error:
        assert len(str(error).split("\n")) == 1  # noqa: PT017 - it need not fail
        return str(error)
    return ""


class Failure:
    """What lets one call fail, of those that are made from `next_is` on."""

    def __init__(self, code: int) -> None:
        self.code = code
        self.number = self.calls = 0

    def next_is(self, number: int) -> None:
        self.number, self.calls = number, 0

    def __call__(self, name: str) -> None:
        self.calls += 1
        if self.calls != self.number or name == "close":
            return
        if name.startswith("execute"):
            raise sqlite3.OperationalError("disk I/O error")
        raise OSError(self.code, os.strerror(self.code))


@pytest.mark.parametrize("anew", [True, False], ids=["a process that begins", "a process that goes on"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EINTR], ids=errno.errorcode.get)
def test_any_call_that_fails_is_one_line_and_the_next_block_goes_on(
    workspace: Workspace, code: int, anew: bool
) -> None:
    acknowledged: list[str] = []
    sentences: list[str] = []
    number = 0
    failure = Failure(code)
    with every_call(failure):
        referee = Referee(workspace)
        while failure.calls >= number:
            number += 1
            if anew:
                referee.close()
                referee = Referee(workspace)
            post = partial(referee.post, draft(f"failing at {number}"))
            failure.next_is(number)
            sentences.append(sentence_of(lambda post=post: acknowledged.append(post().id)))  # type: ignore[misc]
            calls = failure.calls
            failure.next_is(0)
            acknowledged.append(referee.post(draft(f"after {number}")).id)
            check(workspace, acknowledged)
            failure.calls = calls
        referee.close()
    assert sum(map(bool, sentences)) > 20
    assert any(
        "an inbox copy is missing" in sentence for sentence in sentences
    )  # and the next delivery brings it
    check_mail(workspace, [one.frame.id for one in read(workspace)[0].linked][1:])


def post_on_a_full_disk(referee: Referee, body: str, room: int, code: int) -> str:
    """Post where the ledger may grow by `room` bytes; give the error."""
    write, end = os.write, referee.workspace.ledger.stat().st_size + room

    def write_what_fits(fd: int, data: bytes) -> int:
        left = end - os.fstat(fd).st_size
        if left <= 0:
            raise OSError(code, os.strerror(code))
        return write(fd, data[:left])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", write_what_fits)
        return sentence_of(lambda: referee.post(draft(body)))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_a_disk_that_fills_up_in_the_middle_of_a_block_leaves_no_half_of_it(
    workspace: Workspace, referee: Referee, code: int
) -> None:
    acknowledged, room = [referee.post(draft("before")).id], 0
    while sentence := post_on_a_full_disk(referee, f"Text\n\n```\nwith an open fence {room}", room, code):
        assert sentence.startswith("cannot append to comms.md: ")
        acknowledged.append(referee.post(draft(f"after {room}")).id)
        check(workspace, acknowledged)
        room += 7
    assert room > 200
