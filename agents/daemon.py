"""`moot up`: watcher, delivery, doorbells and referee in one process, until it is told to stop."""

import signal
import time
from collections.abc import Callable
from types import FrameType

from ..bus.watcher import Watcher
from ..parsers.errors import MootError, NotFound, StoreError
from .book import Ruling
from .doorbells.bells import Bells
from .reader import REST_S
from .referee import Referee

COMMIT_EVERY_S = 180.0  # a batch at a time: the branch's history stays readable, and little is lost
LOOK_AFTER_S = 5.0  # whether `.state/` is still there: the ledger's changes do not tell

Tell = Callable[[Ruling], None]


def run_once(referee: Referee, tell: Tell) -> None:
    """Rule until nothing is new, and hands have rested. Raises NotFound where another referee runs."""
    _become_referee(referee)
    with Watcher(referee.workspace.ledger) as watcher:
        while True:
            rulings = referee.rule()
            for ruling in rulings:
                tell(ruling)
            if not rulings and not referee.has_unruled:
                return
            if not rulings:
                watcher.wait(REST_S)


def run_until_stopped(
    referee: Referee, tell: Tell, complain: Callable[[str], None], begun: Callable[[], None]
) -> None:
    """Rule on each change until SIGINT or SIGTERM; `begun` is called as soon as the lease is ours.

    Raises NotFound where another referee runs.
    """
    _become_referee(referee)
    begun()
    stopping = False
    with Watcher(referee.workspace.ledger) as watcher:

        def stop(_number: int, _frame: FrameType | None) -> None:
            nonlocal stopping
            stopping = True
            watcher.wake()

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            bells = Bells(referee, watcher.wake, complain)
            try:
                _watch(referee, watcher, bells, tell, complain, lambda: stopping)
            finally:
                bells.close()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    _commit(referee, complain)


def _watch(
    referee: Referee,
    watcher: Watcher,
    bells: Bells,
    tell: Tell,
    complain: Callable[[str], None],
    stopping: Callable[[], bool],
) -> None:
    trouble, ring_at = "", None
    commit_at, committed = time.monotonic() + COMMIT_EVERY_S, ""
    while not stopping():
        try:
            for ruling in referee.rule():
                tell(ruling)
            referee.rulings.clear()
            ring_at = bells.look()
            if referee.is_head_new(committed) and time.monotonic() >= commit_at:
                committed = referee.head_id
                commit_at = time.monotonic() + COMMIT_EVERY_S
                _commit(referee, complain)
            trouble = ""
        except StoreError as error:  # the folder was moved, the disk is full: it may come back, so go on
            if str(error) != trouble:
                trouble = str(error)
                complain(trouble)
        for note in referee.notes:
            complain(note)
        referee.notes.clear()
        watcher.wait(1.0 if trouble else _patience(referee, commit_at, committed, ring_at))


def _patience(referee: Referee, commit_at: float, committed: str, ring_at: float | None) -> float:
    """Give how long nothing has to be looked at, in seconds."""
    limits = [LOOK_AFTER_S]
    if referee.has_unruled:
        limits.append(REST_S)
    if referee.is_head_new(committed):
        limits.append(max(0.1, commit_at - time.monotonic()))
    if ring_at is not None:
        limits.append(max(0.05, ring_at - time.time()))
    due_ms = referee.next_due_ms()
    if due_ms is not None:
        limits.append(max(0.05, due_ms / 1000 - time.time() + 0.05))
    return min(limits)


def _become_referee(referee: Referee) -> None:
    if not referee.lease.take():
        raise NotFound(
            f"the referee runs already, as process {referee.lease.holder() or 'unknown'}",
            where=str(referee.workspace.folder),
            then="leave it running, or stop that process first",
        )


def _commit(referee: Referee, complain: Callable[[str], None]) -> None:
    try:
        referee.commit("what was said since the last commit")
    except MootError as error:
        complain(f"not committed to the branch `moot`: {error}")
