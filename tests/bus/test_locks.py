"""What a lock between processes promises, whatever becomes of its file and its holder."""

import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moot.bus.locks import Lock
from moot.parsers.errors import StoreError
from moot.tests.bus.processes import children

HOLDER = """
from moot.bus.locks import Lock
lock = Lock(Path(arguments[0]))
assert lock.try_take()
lock.note(f"{os.getpid()}\\n")
say("held")
hear()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@pytest.fixture
def lock(path: Path) -> Iterator[Lock]:
    lock = Lock(path)
    yield lock
    lock.close()


@pytest.fixture
def other(path: Path) -> Iterator[Lock]:
    other = Lock(path)
    yield other
    other.close()


def make_link(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")


# Holding


def test_of_several_processes_only_one_holds_the_lock_at_a_time(path: Path) -> None:
    code = """
from moot.bus.locks import Lock
lock, inside = Lock(Path(arguments[0])), Path(arguments[1])
say("ready")
hear()
for _ in range(100):
    with lock.held(20):
        os.close(os.open(inside, os.O_CREAT | os.O_EXCL))  # fails where another process is inside
        inside.unlink()
"""
    inside = path.parent / "inside"
    with children(code, *[(path, inside)] * 4) as started:
        assert [child.hear() for child in started] == ["ready"] * 4
        for child in started:
            child.tell()
        for child in started:
            child.end()


def test_a_lock_that_is_held_is_not_given_to_another(lock: Lock, other: Lock) -> None:
    assert lock.try_take()
    assert not other.try_take()
    lock.give_back()
    assert other.try_take()
    assert not lock.try_take()


def test_a_lock_that_was_closed_is_free_and_can_be_taken_again(lock: Lock, other: Lock) -> None:
    assert lock.try_take()
    lock.close()
    lock.give_back()  # nothing to give back, and no fault
    assert other.try_take()
    other.close()
    assert lock.try_take()


def test_a_lock_is_given_back_when_the_code_under_it_fails(lock: Lock, other: Lock) -> None:
    with pytest.raises(ZeroDivisionError), lock.held(1):
        raise ZeroDivisionError
    assert other.try_take()


def test_a_waiter_gets_the_lock_when_the_holder_gives_it_back(path: Path, lock: Lock) -> None:
    code = """
from moot.bus.locks import Lock
say("waiting")
with Lock(Path(arguments[0])).held(20):
    say("held")
"""
    assert lock.try_take()
    with children(code, (path,)) as (child,):
        assert child.hear() == "waiting"
        lock.give_back()
        assert child.hear() == "held"
        child.end()


# What becomes of the holder


def test_a_lock_is_free_at_once_when_its_holder_was_killed(path: Path, lock: Lock) -> None:
    with children(HOLDER, (path,)) as (holder,):
        assert holder.hear() == "held"
        assert not lock.try_take()
        holder.kill()
        assert lock.try_take()


def test_a_holder_that_is_stopped_costs_the_others_a_time_out_with_one_line(path: Path, lock: Lock) -> None:
    with children(HOLDER, (path,)) as (holder,):
        assert holder.hear() == "held"
        holder.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(StoreError) as caught, lock.held(0.2):
            pass
        assert 0.2 <= time.monotonic() - began < 5
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("another process has held the ledger's lock for 0.2 s")
    assert str(path) in str(caught.value)


def test_no_child_of_the_holder_keeps_the_lock(path: Path, lock: Lock) -> None:
    code = """
import subprocess
from moot.bus.locks import Lock
lock = Lock(Path(arguments[0]))
assert lock.try_take()
nothing = subprocess.DEVNULL
child = subprocess.Popen(["sleep", "60"], stdin=nothing, stdout=nothing, stderr=nothing)
say(child.pid)
hear()
"""
    with children(code, (path,)) as (holder,):
        grandchild = int(holder.hear())
        try:
            assert not lock.try_take()
            holder.kill()
            assert lock.try_take()
        finally:
            os.kill(grandchild, signal.SIGKILL)


# What becomes of the file


def test_a_lock_file_that_was_removed_while_it_was_held_is_made_anew(
    path: Path, lock: Lock, other: Lock
) -> None:
    assert lock.try_take()
    assert not other.try_take()
    path.unlink()
    assert not other.try_take()  # it has seen that the file is gone
    assert other.try_take()
    assert path.exists()
    lock.give_back()
    assert not lock.try_take()  # what it held is no lock any more: it waits for the new one
    other.give_back()
    assert lock.try_take()


def test_a_lock_whose_file_was_removed_before_is_taken_on_the_file_that_all_see(
    path: Path, lock: Lock, other: Lock
) -> None:
    assert lock.try_take()
    lock.give_back()
    path.unlink()
    assert lock.try_take()
    assert not other.try_take()


def test_those_who_wait_for_a_lock_go_on_to_the_file_that_replaced_it(
    path: Path, lock: Lock, other: Lock
) -> None:
    assert lock.try_take()
    assert not other.try_take()
    (path.parent / "new").write_bytes(b"")
    (path.parent / "new").replace(path)
    assert not other.try_take()  # it has seen that the file is another one
    assert other.try_take()
    assert not lock.try_take()


def test_a_lock_file_is_private(path: Path, lock: Lock) -> None:
    assert lock.try_take()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("make", [make_link, os.mkdir], ids=["link", "folder"])
@pytest.mark.parametrize("act", [Lock.try_take, Lock.is_held, Lock.read_note], ids=lambda act: act.__name__)
def test_what_is_no_file_is_one_line_and_is_not_followed(
    path: Path, lock: Lock, make: Callable[[Path], None], act: Callable[[Lock], object]
) -> None:
    make(path)
    if make is os.mkdir and act is Lock.is_held:
        return  # a folder can be looked at, and nobody holds it
    with pytest.raises(StoreError) as caught:
        act(lock)
    assert "\n" not in str(caught.value)
    assert os.listdir(path.parent) == ["lock"]


def test_a_pipe_in_the_place_of_the_file_stops_nobody(path: Path, lock: Lock) -> None:
    os.mkfifo(path)
    assert not lock.is_held()
    with pytest.raises(StoreError, match="it is a pipe"):
        lock.read_note()


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^cannot lock lock: no such file or folder"):
        Lock(tmp_path / "gone" / "lock").try_take()


# Looking and noting


def test_looking_whether_a_lock_is_held_makes_no_file_and_takes_nothing(
    path: Path, lock: Lock, other: Lock
) -> None:
    assert not lock.is_held()
    assert not path.exists()
    assert other.try_take()
    assert lock.is_held()
    other.give_back()
    assert not lock.is_held()
    assert other.try_take()


def test_two_that_look_at_once_do_not_take_each_other_for_the_holder(path: Path) -> None:
    code = """
from moot.bus.locks import Lock
lock = Lock(Path(arguments[0]))
say("ready")
hear()
assert not any(lock.is_held() for _ in range(2000))
"""
    path.write_bytes(b"")
    with children(code, (path,), (path,)) as started:
        assert [child.hear() for child in started] == ["ready"] * 2
        for child in started:
            child.tell()
        for child in started:
            child.end()


def test_the_holder_says_who_it_is_and_what_was_said_before_is_gone(
    path: Path, lock: Lock, other: Lock
) -> None:
    assert other.read_note() == ""
    assert lock.try_take()
    lock.note("process 12345\n")
    assert other.read_note() == "process 12345"
    lock.note("7")
    assert other.read_note() == "7"
    lock.note("")
    assert other.read_note() == ""


def test_a_note_of_any_bytes_is_read(path: Path, lock: Lock) -> None:
    path.write_bytes(b"\xff\0 1\n")
    assert lock.read_note() == "\ufffd\0 1"


def test_a_note_that_the_disk_refuses_is_one_line(lock: Lock) -> None:
    with pytest.raises(StoreError, match=r"^cannot write lock: "):
        lock.note("not held, and so not open")
