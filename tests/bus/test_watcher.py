"""The watcher wakes its owner when the ledger changes, whatever becomes of the events."""

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import moot.bus.watcher
from moot.bus.watcher import Watcher

SLOW_S = 60.0  # a clock that never strikes within a test: what wakes the waiter then was an event
QUICK_S = 0.1

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks into watchdog's inotify threads")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    folder = tmp_path / "comms"
    folder.mkdir()
    path = folder / "comms.md"
    path.write_text("first\n")
    return path


@pytest.fixture(autouse=True)
def _no_thread_outlives_the_test() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def proven(watcher: Watcher) -> Watcher:
    """Wait, in short waits, until events are known to come."""
    deadline = time.monotonic() + 10
    while watcher.mode != "events":
        assert time.monotonic() < deadline, "no event ever came"
        assert not watcher.wait(0.02)
    return watcher


def is_woken(watcher: Watcher) -> bool:
    """Wait; False also where only the last look, when time was up, found the change."""
    began = time.monotonic()
    return watcher.wait(10) and time.monotonic() - began < 5


def settle(watcher: Watcher) -> None:
    """Take every change there is, until a short wait finds none."""
    while watcher.wait(0.05):
        pass


def append(path: Path, text: str = "more\n") -> None:
    with path.open("a") as file:
        file.write(text)


@contextmanager
def another_process(code: str, *arguments: Path) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-ISc", f"import os, sys\n{code}", *map(str, arguments)]
    with subprocess.Popen(argv) as process:
        yield process
        assert process.wait(30) == 0


# What wakes


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("open(sys.argv[1], 'a').write('more')", id="append"),
        pytest.param("os.truncate(sys.argv[1], 0)", id="truncate"),
        pytest.param("open(sys.argv[1], 'r+').write('F')", id="edit in place, same size"),
        pytest.param("os.utime(sys.argv[1], (1, 1))", id="another time"),
        pytest.param("open(sys.argv[1] + '~', 'w'); os.rename(sys.argv[1] + '~', sys.argv[1])", id="replace"),
        pytest.param("os.unlink(sys.argv[1])", id="remove"),
    ],
)
def test_a_change_by_another_process_wakes_the_waiter_by_its_event(ledger: Path, change: str) -> None:
    with Watcher(ledger, check_s=SLOW_S, poll_s=SLOW_S) as watcher:
        proven(watcher)
        with another_process(change, ledger):
            assert is_woken(watcher)


def test_a_file_that_is_not_there_yet_wakes_the_waiter_when_it_comes(ledger: Path) -> None:
    ledger.unlink()
    with Watcher(ledger, check_s=SLOW_S, poll_s=SLOW_S) as watcher:
        proven(watcher)
        with another_process("open(sys.argv[1], 'w').write('first')", ledger):
            assert is_woken(watcher)


def test_a_change_since_the_watcher_was_made_is_not_slept_through(ledger: Path) -> None:
    with Watcher(ledger) as watcher:
        append(ledger)
        assert watcher.wait(0)
        assert not watcher.wait(0)


def test_a_change_just_before_the_watch_begins_is_not_slept_through(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Watcher(ledger, check_s=SLOW_S, poll_s=SLOW_S) as watcher:
        start = watcher._start

        def start_after_a_change() -> object:
            append(ledger)
            return start()

        monkeypatch.setattr(watcher, "_start", start_after_a_change)
        assert is_woken(watcher)


def test_each_change_is_told_once(ledger: Path) -> None:
    with Watcher(ledger, check_s=QUICK_S, poll_s=QUICK_S) as watcher:
        proven(watcher)
        append(ledger)
        assert is_woken(watcher)
        assert not watcher.wait(3 * QUICK_S)


def test_the_folder_may_be_a_link(ledger: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(ledger.parent)
    with Watcher(link / ledger.name, check_s=SLOW_S, poll_s=SLOW_S) as watcher:
        proven(watcher)
        with another_process("open(sys.argv[1], 'a').write('more')", ledger):
            assert is_woken(watcher)


# What does not wake, and what waiting costs


def test_other_files_and_readers_of_the_ledger_do_not_wake_the_waiter(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
folder = os.path.dirname(sys.argv[1])
os.mkdir(folder + "/.state")
for n in range(500):
    open(folder + "/.state/lock", "w").close()
    open(folder + "/comms.lock", "w").close()
    os.replace(folder + "/comms.lock", folder + "/inbox.md")
    open(sys.argv[1]).read()
"""
    hinted = []
    with Watcher(ledger, check_s=QUICK_S, poll_s=QUICK_S) as watcher:
        proven(watcher)
        pause = watcher._pause
        monkeypatch.setattr(watcher, "_pause", lambda seconds: hinted.append(pause(seconds)))
        with another_process(code, ledger) as other:
            while other.poll() is None:
                assert not watcher.wait(QUICK_S)
        assert not watcher.wait(QUICK_S)
    assert hinted
    assert not any(hinted)


@pytest.mark.parametrize("mode", ["events", "polling"])
def test_waiting_costs_next_to_nothing(ledger: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Watcher(ledger) as watcher:
        if mode == "polling":
            monkeypatch.setattr(watcher, "_probe", lambda: None)
            watcher.wait(0.05)  # loads watchdog
        else:
            proven(watcher)
        before_s = time.process_time()
        assert not watcher.wait(1.5)
        spent_s = time.process_time() - before_s
        assert watcher.mode == mode
    # measured: 0.03% and 0.1% of a core; two per cent leave room for a machine that is busy with other things
    assert spent_s < 0.02 * 1.5


def test_time_that_is_up_is_said_in_time(ledger: Path) -> None:
    with Watcher(ledger, check_s=SLOW_S, poll_s=SLOW_S) as watcher:
        proven(watcher)
        began = time.monotonic()
        assert not watcher.wait(0.2)
        assert 0.2 <= time.monotonic() - began < 5


def test_a_waiter_that_need_not_block_loads_no_watchdog_and_nothing_is_logged_on_the_screen(
    ledger: Path,
) -> None:
    code = f"""
import pathlib, sys
from moot.bus.watcher import Watcher
path = pathlib.Path({str(ledger)!r})
with Watcher(path) as watcher:
    path.write_text("more than first")
    assert watcher.wait(60) and not watcher.wait(0)
    assert not [name for name in sys.modules if name.startswith(("watchdog", "logging"))]
    watcher.wait(0.01)
    import logging
    logging.getLogger("watchdog.observers.inotify").error("called when the thread is inactive")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_probe_leaves_nothing_behind(ledger: Path) -> None:
    left = ledger.with_name(f".moot-probe-{os.getpid()}")
    left.touch()  # by a process that was killed, and had our number
    with Watcher(ledger) as watcher:
        proven(watcher)
        assert os.listdir(ledger.parent) == [ledger.name]


# Folders that move


def test_a_folder_moved_away_and_made_anew_is_watched_again(ledger: Path, tmp_path: Path) -> None:
    with Watcher(ledger, check_s=QUICK_S, poll_s=QUICK_S) as watcher:
        proven(watcher)
        ledger.parent.rename(tmp_path / "old")
        ledger.parent.mkdir()
        ledger.write_text("another first\n")
        assert is_woken(watcher)
        settle(watcher)
        proven(watcher)
        append(ledger)
        assert is_woken(watcher)
        assert watcher.mode == "events"


def test_what_is_written_to_the_folder_moved_away_does_not_wake_the_waiter(
    ledger: Path, tmp_path: Path
) -> None:
    with Watcher(ledger, check_s=QUICK_S, poll_s=QUICK_S) as watcher:
        proven(watcher)
        old = ledger.parent.rename(tmp_path / "old") / ledger.name
        ledger.parent.mkdir()
        ledger.write_text("another first\n")
        settle(watcher)
        append(old)
        assert not watcher.wait(3 * QUICK_S)


def test_a_folder_that_is_gone_is_waited_for(ledger: Path, tmp_path: Path) -> None:
    with Watcher(ledger, check_s=QUICK_S, poll_s=QUICK_S) as watcher:
        proven(watcher)
        away = ledger.parent.rename(tmp_path / "away")
        assert not watcher.wait(3 * QUICK_S)
        assert watcher.mode == "polling"
        away.rename(ledger.parent)
        assert not watcher.wait(3 * QUICK_S), "it came back as it was"
        proven(watcher)
        append(ledger)
        assert is_woken(watcher)


def test_a_folder_removed_and_made_anew_is_watched_again(ledger: Path) -> None:
    with Watcher(ledger, check_s=QUICK_S, poll_s=QUICK_S) as watcher:
        proven(watcher)
        ledger.unlink()
        assert is_woken(watcher)
        ledger.parent.rmdir()
        assert not watcher.wait(3 * QUICK_S)
        ledger.parent.mkdir()
        ledger.write_text("first\n")
        assert is_woken(watcher)
        settle(watcher)
        proven(watcher)


# Events that stop


def test_an_observer_that_was_stopped_is_replaced(ledger: Path) -> None:
    with Watcher(ledger, check_s=QUICK_S, poll_s=QUICK_S) as watcher:
        first = proven(watcher)._observer
        assert first is not None
        first.stop()
        first.join()
        append(ledger)
        assert is_woken(watcher)
        settle(watcher)
        proven(watcher)
        assert watcher._observer is not first


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_handler_that_raises_costs_an_observer_and_no_change(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised = threading.Event()

    def fail(event: object) -> None:
        raised.set()
        raise RuntimeError("a handler's")

    with Watcher(ledger, check_s=QUICK_S, poll_s=QUICK_S) as watcher:
        with monkeypatch.context() as patch:
            patch.setattr(watcher, "_on_event", fail)
            assert not watcher.wait(0.01)
            assert raised.wait(10)
            append(ledger)
            assert is_woken(watcher)
        proven(watcher)
        append(ledger)
        assert is_woken(watcher)


@linux_only
def test_a_reading_thread_that_died_unseen_is_found_out_by_the_first_change_that_no_event_told(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Watcher(ledger, check_s=QUICK_S, poll_s=QUICK_S) as watcher:
        first = proven(watcher)._observer
        first._inotify_fd.stop()  # type: ignore[union-attr]
        first._inotify_fd.join()  # type: ignore[union-attr]
        with monkeypatch.context() as patch:
            pause = watcher._pause
            patch.setattr(watcher, "_pause", lambda seconds: append(ledger) or pause(seconds))
            assert is_woken(watcher)
        assert watcher.mode == "polling"
        assert not watcher.wait(2 * QUICK_S)
        assert watcher._observer is not first
        assert watcher.mode == "polling", "only the file's own events count now"
        append(ledger)
        assert is_woken(watcher)
        settle(watcher)
        assert watcher.mode == "events"


def refuse(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "inotify watch limit reached")


@pytest.mark.parametrize("step", ["__init__", "schedule", "start"])
def test_where_no_observer_can_start_the_clock_looks_and_later_events_take_over(
    ledger: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import watchdog.observers

    observer = type("Refusing", (watchdog.observers.Observer,), {step: refuse})  # type: ignore[misc]
    monkeypatch.setattr(moot.bus.watcher, "RETRY_S", 0.0)
    with Watcher(ledger, check_s=SLOW_S, poll_s=0.02) as watcher:
        with monkeypatch.context() as patch:
            patch.setattr(watchdog.observers, "Observer", observer)
            assert not watcher.wait(0.1)
            assert watcher.mode == "polling"
            with another_process("open(sys.argv[1], 'a').write('more')", ledger):
                assert is_woken(watcher)
        proven(watcher)


def test_where_no_observer_can_start_none_is_tried_at_every_look(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []
    with Watcher(ledger, poll_s=0.01) as watcher:
        monkeypatch.setattr(watcher, "_start", lambda: tries.append("once"))
        assert not watcher.wait(0.1)
    assert tries == ["once"]


def test_a_folder_that_cannot_be_written_to_is_polled_until_its_first_event(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", refuse)
    with Watcher(ledger, check_s=SLOW_S, poll_s=0.05) as watcher:
        assert not watcher.wait(0.3)
        assert watcher.mode == "polling"
        with another_process("open(sys.argv[1], 'a').write('more')", ledger):
            assert is_woken(watcher)
        settle(watcher)
        assert watcher.mode == "events"


# Being woken by hand


def test_another_thread_wakes_the_waiter(ledger: Path) -> None:
    with Watcher(ledger, check_s=SLOW_S, poll_s=SLOW_S) as watcher:
        proven(watcher)
        thread = threading.Timer(0.05, watcher.wake)
        thread.start()
        assert watcher.wait(None)
        thread.join()
        assert not watcher.wait(0.01)


def test_a_wake_before_the_wait_is_not_lost(ledger: Path) -> None:
    with Watcher(ledger) as watcher:
        watcher.wake()
        watcher.wake()
        assert watcher.wait(0)
        assert not watcher.wait(0)


def test_a_signal_handler_wakes_the_waiter_wherever_it_stands(ledger: Path) -> None:
    """A wake that took a lock would sooner or later wait for the waiter, whose thread it runs on."""
    code = f"""
import faulthandler, pathlib, random, signal, time
from moot.bus.watcher import Watcher
faulthandler.dump_traceback_later(30, exit=True)
watcher = Watcher(pathlib.Path({str(ledger)!r}), check_s=0.01, poll_s=0.01)
signal.signal(signal.SIGALRM, lambda *_: watcher.wake())
end_at = time.monotonic() + 1.5
while time.monotonic() < end_at:
    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 6e-5))
    assert watcher.wait(20)
watcher.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# The end


def test_closing_ends_a_wait_in_another_thread(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = proven(Watcher(ledger, check_s=SLOW_S, poll_s=SLOW_S))
    said: list[bool] = []
    blocking = threading.Event()
    pause = watcher._pause
    monkeypatch.setattr(watcher, "_pause", lambda seconds: blocking.set() or pause(seconds))
    waiter = threading.Thread(target=lambda: said.append(watcher.wait(None)))
    waiter.start()
    assert blocking.wait(10)
    watcher.close()
    waiter.join(10)
    assert said == [True]
    watcher.close()
    with pytest.raises(ValueError, match="closed"):
        watcher.wait(0)


def test_a_watcher_closed_while_it_starts_to_watch_leaves_no_thread(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher(ledger)
    start = watcher._start

    def start_late() -> object:
        watcher.close()
        return start()

    monkeypatch.setattr(watcher, "_start", start_late)
    assert watcher.wait(None)
    assert watcher._observer is None
