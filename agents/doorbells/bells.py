"""Rings whom the policy says, each in a thread of its own, so that the referee never waits for a doorbell."""

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from ...bus.index import now
from ...bus.rows import Presence, Ring
from ...parsers.errors import NotFound
from ...workspace.settings import Agent
from ...workspace.trust import check_trusted
from ..presence import standing
from ..referee import Referee, to_human
from ..runners import CommandRunner
from . import Rung
from .policy import due, sentence

ACTIVE = ("tmux", "command")  # the other kinds look by themselves


def line_for(name: str) -> str:
    """Give the fixed sentence; nothing of any message is in it."""
    return f"moot: there is mail for {name}. Run: moot wait --as {name}"


class Bells:
    """The doorbells of one `moot up`; all but the ringing itself happens in its one thread."""

    def __init__(self, referee: Referee, wake: Callable[[], None], complain: Callable[[str], None]) -> None:
        """Take the referee, what wakes its loop when a ring has ended, and who hears of faults."""
        self._referee, self._wake, self._complain = referee, wake, complain
        self._ended: SimpleQueue[tuple[Ring, Rung]] = SimpleQueue()
        self._ringing: dict[str, threading.Thread] = {}
        self._runners: dict[str, CommandRunner] = {}
        self._stopping = False
        self._told = False

    def look(self) -> float | None:
        """Note what has ended, ring what is due; give the time of the next ring, in seconds since 1970, or None."""
        self._note()
        agents = {name: one for name, one in self._referee.settings.agents.items() if one.wake in ACTIVE}
        if not agents:
            return None
        presence, now_ms = self._referee.index.presence(), time.time_ns() // 1_000_000
        times = [self._look_at(name, agent, presence.get(name), now_ms) for name, agent in agents.items()]
        return min((at_ms / 1000 for at_ms in times if at_ms is not None), default=None)

    def close(self) -> None:
        """Stop what rings, and note how it went."""
        self._stopping = True
        for runner in self._runners.values():
            runner.stop()
        for thread in self._ringing.values():
            thread.join()
        self._note()

    def _look_at(self, name: str, agent: Agent, seen: Presence | None, now_ms: int) -> int | None:
        """Ring an agent if that is due; give the time at which to look again, None where an event will tell."""
        index = self._referee.index
        if name in self._ringing or not (newest := index.newest_unread(name)):
            return None
        if standing(seen, now_ms).state == "waiting" or (
            seen and seen.doing == "run" and standing(seen, now_ms).pid
        ):
            return None
        rings = index.rings(name, seen.read_at if seen else "")
        next_due = due(rings, self._referee.settings.limits.ring_gap_s)
        if not next_due.what or next_due.at_ms > now_ms:
            return next_due.at_ms if next_due.what else None
        if next_due.what == "human":
            self._referee.post(to_human(sentence(name, index.count_unread(name), rings), "rings"))
            with index.changing():
                index.add_ring(Ring(name, now(), agent.wake, "human", "nobody opened", newest))
        elif self._may_ring():
            self._ring(name, agent, newest)
        return None

    def _may_ring(self) -> bool:
        try:
            check_trusted(self._referee.workspace.folder, self._referee.settings)
        except NotFound as error:
            if not self._told:
                self._told = True
                self._complain(f"nobody is rung: {error}")
            return False
        return True

    def _ring(self, name: str, agent: Agent, block: str) -> None:
        ring = Ring(name, now(), agent.wake, "rung", "", block)
        with self._referee.index.changing():
            self._referee.index.add_ring(ring)  # before: one that is killed meanwhile has rung all the same
        thread = threading.Thread(
            target=self._ring_and_tell, args=(ring, agent), name=f"bell-{name}", daemon=True
        )
        self._ringing[name] = thread
        thread.start()

    def _ring_and_tell(self, ring: Ring, agent: Agent) -> None:
        """Ring, in a thread of its own: it touches neither ledger nor index."""
        try:
            rung = self._rung(ring, agent)
        except Exception as error:  # noqa: BLE001 - a thread that dies silently would ring no more
            rung = Rung("failed", f"{type(error).__name__}: {error}")
        self._ended.put((ring, rung))
        self._wake()

    def _rung(self, ring: Ring, agent: Agent) -> Rung:
        referee, name = self._referee, ring.agent
        limits = referee.settings.limits
        if agent.wake == "tmux":
            from . import tmux

            return tmux.ring(
                name,
                agent,
                line_for(name),
                patience_s=float(limits.ring_gap_s),
                stopped=lambda: self._stopping,
            )
        from . import command

        return command.ring(
            name, agent, line_for(name), block=ring.block, inbox=referee.inboxes.path(name),
            folder=referee.workspace.folder, root=referee.workspace.root, patience_s=float(limits.turn_timeout_s),
            keep=lambda runner: self._runners.__setitem__(name, runner),
        )  # fmt: skip

    def _note(self) -> None:
        while True:
            try:
                ring, rung = self._ended.get_nowait()
            except Empty:
                return
            self._ringing.pop(ring.agent).join()
            self._runners.pop(ring.agent, None)
            with self._referee.index.changing():
                self._referee.index.end_ring(ring, rung.outcome, rung.why)
            if rung.why:
                self._complain(f"{ring.agent} ({ring.kind}): {rung.why}")
