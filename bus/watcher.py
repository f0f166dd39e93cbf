"""Wakes its owner when the ledger's folder changes. File events are hints; what counts is the file's stamp.

The operating system's events make waking quick, nothing more. They stop without a word when a thread dies, a
folder is moved and made anew, a queue overflows, or the writer sits on the other side of a network mount. So
the clock looks too: seldom while events are known to come, often while they are not.
"""

import math
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

RETRY_S = 30.0  # an observer that could not start, for want of inotify instances, may find one later


class Stamp(NamedTuple):
    """What tells one state of a file from the next without opening it; times in nanoseconds."""

    device: int
    inode: int
    size_bytes: int
    mtime_ns: int


class Watcher:
    """Wakes its owner when the ledger's folder changes; never says what changed.

    Make it, then read the file, then `wait`: a change since it was made is never slept through. Making one
    costs a stat; watchdog is loaded, and its threads started, by the first `wait` that has to block. One
    thread waits; any may `wake`.
    """

    def __init__(self, path: Path, *, check_s: float = 1.0, poll_s: float = 0.25) -> None:
        """Watch the file at `path`, there or not yet, by way of its folder.

        The file is looked at every `check_s` seconds without an event, and every `poll_s` while no event has
        shown that events come.
        """
        from queue import SimpleQueue

        self._path = os.path.abspath(path)
        self._folder, self._name = os.path.split(self._path)
        self._probe_name = f".moot-probe-{os.getpid()}"
        self._check_s, self._poll_s = check_s, poll_s
        self._stamp = _stamp(self._path)
        # Not an Event: a signal handler that sets one while its own thread enters `wait` waits for ever for
        # the Event's lock. A SimpleQueue may be put to from anywhere.
        self._hints: SimpleQueue[None] = SimpleQueue()
        self._woken = False
        self._closed = False
        self._observer: BaseObserver | None = None
        self._watched: tuple[int, int] | None = None
        self._proven = False
        self._missed = False
        self._retry_at = -math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Tell whether somebody has closed it."""
        return self._closed

    @property
    def mode(self) -> Literal["events", "polling"]:
        """Say what wakes the owner now: events, once one has come, or the clock every `poll_s` seconds."""
        return "events" if self._proven else "polling"

    def wait(self, timeout_s: float | None) -> bool:
        """Block until the file's stamp is other than when `wait` last returned; None waits without limit.

        True: look again; the file changed, appeared or vanished, or somebody called `wake`. False: time's up.
        A folder that is gone is waited for. Raises ValueError on a watcher that was closed.
        """
        if self._closed:
            raise ValueError("wait on a closed watcher")
        deadline = math.inf if timeout_s is None else time.monotonic() + timeout_s
        hinted = True  # of a change made while the owner was away, the event may still be under way
        while not self._changed(hinted=hinted):
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return False
            # What changed before a watch began gave no hint, so after its beginning comes another look.
            look_s = self._check_s if self._proven else self._poll_s
            hinted = self._supervise() or self._pause(min(left_s, look_s))
        return True

    def wake(self) -> None:
        """Make `wait` return True, now or when next called; from any thread, from any signal handler.

        Where a signal meets the waiter on the threshold of its sleep, Python runs the handler only when that
        is over: before the next look.
        """
        self._woken = True
        self._hints.put(None)

    def close(self) -> None:
        """Stop watching and end the threads; a `wait` in another thread returns. May be called again."""
        self._closed = True
        self.wake()
        self._stop()

    def _changed(self, *, hinted: bool) -> bool:
        """Take a new stamp; True if it differs from the last, or the owner was woken."""
        woken = False
        if self._woken:  # tested before it is cleared: a signal between reading and clearing would be lost
            self._woken, woken = False, True
        stamp = _stamp(self._path)
        if stamp == self._stamp or (stamp is None and _identity(self._folder) is None):
            return woken
        if self._proven and not hinted:
            # The clock saw what no event told: a dead thread that looks alive, a full queue, a writer beyond
            # a mount. Watch anew, and count on the clock until the file's own events come again.
            self._proven, self._missed, self._watched = False, True, None
        self._stamp = stamp
        return True

    def _pause(self, seconds: float) -> bool:
        """Sleep until a hint comes; False if none came in `seconds`."""
        from queue import Empty

        try:
            self._hints.get(timeout=seconds)
        except Empty:
            return False
        return True

    def _supervise(self) -> bool:
        """See to it that living threads watch the folder now at the path; True if watching began anew."""
        folder = _identity(self._folder)
        if self._observer is not None:
            if folder == self._watched and _is_alive(self._observer):
                return False
            self._stop()
        if folder is None or self._closed or time.monotonic() < self._retry_at:
            return False
        self._observer = self._start()
        if self._observer is None:
            self._retry_at = time.monotonic() + RETRY_S
            return False
        self._watched = folder
        if self._closed:  # by another thread, which saw no observer to stop yet
            self._stop()
        elif not self._missed:  # our own write would prove little where others' writes went unseen
            self._probe()
        return True

    def _start(self) -> "BaseObserver | None":
        """Start the system's observer on the folder; None where no watch or thread is to be had."""
        import logging

        from watchdog import events
        from watchdog.observers import Observer

        on_event = self._on_event

        class Handler(events.FileSystemEventHandler):
            def dispatch(self, event: "FileSystemEvent") -> None:
                on_event(event)

        # Without a handler of its own, what watchdog logs while it stops would land on the agent's screen.
        log = logging.getLogger("watchdog")
        if not log.hasHandlers():
            log.addHandler(logging.NullHandler())
        # Without opens and reads the kernel need not wake us for every reader of the ledger.
        kinds = [
            events.FileAttribEvent,
            events.FileClosedEvent,
            events.FileCreatedEvent,
            events.FileDeletedEvent,
            events.FileModifiedEvent,
            events.FileMovedEvent,
        ]
        observer = None
        try:
            observer = Observer()
            # By its real path: inotify watches a link itself, and nothing ever happens to that.
            observer.schedule(Handler(), os.path.realpath(self._folder), event_filter=[*kinds])
            observer.start()
        except (OSError, RuntimeError):  # RuntimeError is how Python says that no thread can be had
            if observer is not None:
                observer.stop()
            return None
        return observer

    def _stop(self) -> None:
        """End the observer and its threads, if there is one."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join()
        self._proven = False

    def _probe(self) -> None:
        """Make and remove a small file: its events, when they come, prove that events come."""
        probe = os.path.join(self._folder, self._probe_name)
        # Where the folder cannot be written to, nothing is proved and the clock goes on.
        with suppress(OSError):
            os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with suppress(OSError):
            os.unlink(probe)

    def _on_event(self, event: "FileSystemEvent") -> None:
        """Take a hint, on the observer's thread: must neither raise, which ends that thread, nor block it."""
        names = {
            os.path.basename(os.fsdecode(event.src_path)),
            os.path.basename(os.fsdecode(event.dest_path)),
        }
        if self._name in names:
            self._proven, self._missed = True, False
            if self._hints.empty():  # one hint is as good as the thousand of a busy hour
                self._hints.put(None)
        elif self._probe_name in names:
            self._proven = True


def _stamp(path: str) -> Stamp | None:
    """Give the file's stamp; None while there is no file to be seen."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _identity(folder: str) -> tuple[int, int] | None:
    """Give the folder's device and inode; None while it is not there."""
    stamp = _stamp(folder)
    return None if stamp is None else (stamp.device, stamp.inode)


def _is_alive(observer: "BaseObserver") -> bool:
    """Say whether the thread that dispatches events and the one that reads the folder's are both running."""
    return observer.is_alive() and any(emitter.is_alive() for emitter in observer.emitters)
