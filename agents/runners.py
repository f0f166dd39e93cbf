"""Runs one turn of a headless agent: the prompt goes in, the answer comes out, and nothing stays behind.

An agent is somebody else's program. It may never read, never stop, print without end, or leave children that
hold its pipes; none of that may hold its caller up for longer than the time it was given.
"""

import math
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from ..parsers.errors import UsageError

if TYPE_CHECKING:
    import subprocess

LINGER_S = 0.2  # for the children of a command that is done to let go of its pipes
BURIAL_S = 0.2  # for killed children to be gone; not longer: in some containers nobody ever collects them
SHORTEST_S, LONGEST_S = 0.001, 0.1  # from look to look at a command that is silent
CHUNK_BYTES = 65536  # what a pipe holds
STDERR_BYTES = 4096


class Answer(NamedTuple):
    """What came of one turn; it went well where `error` is empty."""

    text: str  # its standard output, up to the cap; what is not UTF-8 is replaced
    exit_code: int | None  # negative where a signal ended it, None where it never started
    timed_out: bool
    error: str  # one line
    elapsed_s: float
    cut: bool = False  # whether head and tail alone were kept
    lost_bytes: int = 0  # how much stood between them


class Kept:
    """What is kept of a stream that may have no end: so many bytes of its head and of its tail."""

    def __init__(self, head_bytes: int, tail_bytes: int) -> None:
        """Begin with nothing."""
        self._head_bytes, self._tail_bytes = head_bytes, tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self.size_bytes = 0

    def add(self, chunk: bytes) -> None:
        """Take what was printed next."""
        self.size_bytes += len(chunk)
        room = self._head_bytes - len(self._head)
        self._head += chunk[:room]
        if self._tail_bytes:
            self._tail += chunk[room:]
            del self._tail[: -self._tail_bytes]

    @property
    def is_cut(self) -> bool:
        """Whether something between head and tail is gone."""
        return self.lost_bytes > 0

    @property
    def lost_bytes(self) -> int:
        """How much between head and tail is gone."""
        return max(0, self.size_bytes - self._head_bytes - self._tail_bytes)

    def text(self) -> str:
        """Give what was kept; a cut is marked, what is not UTF-8 is replaced."""
        if not self.is_cut or not self._tail_bytes:
            return (self._head + self._tail).decode("utf-8", "replace")
        mark = f"\n[... {self.lost_bytes} bytes were cut here ...]\n"
        return self._head.decode("utf-8", "replace") + mark + self._tail.decode("utf-8", "replace")


class CommandRunner:
    """Runs a command once for each prompt: prompt on its standard input, answer on its standard output.

    When its time is over, the command's process group is asked to end (SIGTERM), and `grace_s` seconds later
    it is ended (SIGKILL). A process that left the group for a session of its own is out of reach.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout_s: float,
        max_output_bytes: int = 262144,
        grace_s: float = 2.0,
        cuts: bool = False,
        watch: Callable[[str], None] | None = None,
    ) -> None:
        """Take an argument vector, no shell, and all of the environment that the command is to see.

        Output over the cap ends the turn; with `cuts` its head and tail are kept instead, and the cut is marked.
        `watch` is told `+GROUP` when a process group begins and `-GROUP` when it has ended.

        Raises UsageError where the vector is empty.
        """
        if not argv:
            raise UsageError("there is no command to run")
        self._argv, self._cwd, self._env = tuple(argv), os.fspath(cwd), dict(env)
        self._timeout_s, self._grace_s = timeout_s, grace_s
        self._max_output_bytes, self._cuts = max_output_bytes, cuts
        self._watch = watch or (lambda _: None)
        self._late = f"time-out after {timeout_s:g} s"
        self._stopped = False

    def run(self, prompt: str) -> Answer:
        """Run one turn and give its answer; a command that fails is an answer with an `error`, no exception.

        When this returns or raises (KeyboardInterrupt, or what a signal handler raises), the command and all
        others of its process group are gone.
        """
        began = time.monotonic()
        tail_bytes = self._max_output_bytes // 2 if self._cuts else 0
        kept = Kept(self._max_output_bytes - tail_bytes, tail_bytes)
        group = _Group(prompt.encode("utf-8", "replace"), kept)
        unstarted = "not yet"
        try:
            unstarted = self._start(group)
            error = unstarted or self._attend(group, began + self._timeout_s)
        except BaseException:
            self._attend(group, -math.inf)  # interrupted: the command gets its grace all the same
            raise
        finally:
            group.end()
            if not unstarted:
                self._watch(f"-{group.number}")
        return Answer(
            text=group.kept.text(),
            exit_code=None if unstarted else group.exit_code,
            timed_out=error == self._late,
            error=error or group.complaint(),
            elapsed_s=time.monotonic() - began,
            cut=group.kept.is_cut,
            lost_bytes=group.kept.lost_bytes,
        )

    def stop(self) -> None:
        """End the turn that runs, and any that begins later; from any thread, from any signal handler."""
        # Only a flag, seen at the next look: a number killed from here might be another's by now.
        self._stopped = True

    def _start(self, group: "_Group") -> str:
        """Start the command, or say in a line why it cannot be."""
        if self._stopped:
            return "stopped"
        try:
            group.start(self._argv, self._cwd, self._env)
        except OSError as error:
            place = f": {self._cwd}" if error.filename == self._cwd else ""
            return _visible(f"cannot start {self._argv[0]}: {error.strerror}{place}")
        except ValueError as error:  # a NUL or a lone surrogate among the arguments
            return _visible(f"cannot start {self._argv[0]}: {error}")
        self._watch(f"+{group.number}")
        return ""

    def _attend(self, group: "_Group", deadline: float) -> str:
        """Keep the pipes moving until the group is done or out of grace; say in a line what went wrong."""
        error, end_at, pause_s = "", math.inf, SHORTEST_S
        while True:
            left_s = min(deadline, end_at) - time.monotonic()
            moved = group.move(max(0.0, min(pause_s, left_s)))
            pause_s = SHORTEST_S if moved else min(2 * pause_s, LONGEST_S)
            now, exited = time.monotonic(), group.has_exited()
            if not error:
                error = self._objection(group, exited=exited, late=now >= deadline)
                if error:
                    group.send(signal.SIGTERM)
                    deadline, end_at = math.inf, now + self._grace_s
            if (exited and group.is_silent) or now >= end_at:
                return error
            if exited and not error:
                end_at = min(end_at, now + LINGER_S)

    def _objection(self, group: "_Group", *, exited: bool, late: bool) -> str:
        """Say why the turn has to end now, if it has to."""
        if group.kept.is_cut and not self._cuts:
            return f"output over the cap of {self._max_output_bytes} bytes"
        if exited:
            return ""
        if self._stopped:
            return "stopped"
        return self._late if late else ""


class _Group:
    """A process group of its own: the command that leads it, and the three pipes to that."""

    def __init__(self, prompt: bytes, kept: Kept) -> None:
        from selectors import DefaultSelector

        self.kept = kept
        self._errors = b""
        self._unsent = memoryview(prompt)
        self._pipes = DefaultSelector()
        self._leader: subprocess.Popen[bytes] | None = None
        self._started = False

    def start(self, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        """Start the command; raises OSError or ValueError where that cannot be."""
        from selectors import EVENT_READ, EVENT_WRITE
        from subprocess import PIPE, Popen

        # Made before it is started: an interrupt meanwhile must find the number of what it leaves.
        leader = self._leader = Popen.__new__(Popen)
        Popen.__init__(
            leader,
            argv,
            bufsize=0,
            cwd=cwd,
            env=env,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        self._started = True
        assert leader.stdin
        assert leader.stdout
        assert leader.stderr
        os.set_blocking(leader.stdin.fileno(), False)
        self._pipes.register(leader.stdin, EVENT_WRITE, self._feed)
        self._pipes.register(leader.stdout, EVENT_READ, self._hear)
        self._pipes.register(leader.stderr, EVENT_READ, self._overhear)

    @property
    def exit_code(self) -> int | None:
        """The leader's, once the group has ended; negative where a signal ended it."""
        return self._leader.returncode if self._leader else None

    @property
    def is_silent(self) -> bool:
        """Whether nobody holds standard output or standard error any longer."""
        leader = self._leader
        return not leader or all(pipe is None or pipe.closed for pipe in (leader.stdout, leader.stderr))

    def move(self, timeout_s: float) -> bool:
        """Move what the pipes will take and give; False if they were quiet for `timeout_s` seconds."""
        ready = self._pipes.select(timeout_s)
        for key, _ in ready:
            key.data(key.fileobj)
        return bool(ready)

    def has_exited(self) -> bool:
        """Say whether the leader is done, and leave it unreaped: until then its number is nobody else's."""
        pid = self._pid()
        if not hasattr(os, "waitid"):
            return not pid or (self._leader is not None and self._leader.poll() is not None)
        try:
            return not pid or os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        except ChildProcessError:  # whoever started us ignores SIGCHLD, so the system reaped it
            return True

    def send(self, number: int) -> None:
        """Send a signal to all of the group that is left."""
        # PermissionError is what macOS says of a group of which nothing but the unreaped leader is left.
        with suppress(ProcessLookupError, PermissionError):
            if pid := self._pid():
                os.killpg(pid, number)

    def end(self) -> None:
        """Kill what is left of the group, reap the leader, close the pipes; nothing of it is left then."""
        leader, pid = self._leader, self._pid()
        try:
            if leader and pid:
                self.send(signal.SIGKILL)
                leader.kill()  # one interrupted before it had made its session is in no group of its own yet
                leader.wait()
                _await_burial(pid)
        finally:
            for pipe in (leader.stdin, leader.stdout, leader.stderr) if leader else ():
                if pipe:
                    pipe.close()
            self._pipes.close()

    def complaint(self) -> str:
        """Say in a line how the leader failed, and the last line of its standard error; empty if not."""
        code = self.exit_code
        if not code:
            return ""
        what = f"exit code {code}" if code > 0 else f"ended by signal {-code} ({signal.strsignal(-code)})"
        lines = self._errors.decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return _visible(f"{what}: {last}" if last else what)

    @property
    def number(self) -> int:
        """The group's number; 0 where it never started."""
        return self._pid()

    def _pid(self) -> int:
        """Give the number of the leader and its group; 0 where there never was one."""
        leader = self._leader
        # A start that failed has a return code already; one that was interrupted has none, and a number or not.
        return getattr(leader, "pid", 0) if leader and (self._started or leader.returncode is None) else 0

    def _feed(self, pipe: IO[bytes]) -> None:
        try:
            sent = os.write(pipe.fileno(), self._unsent[:CHUNK_BYTES])
        except BrokenPipeError:  # it does not care for the rest, and may answer all the same
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._close(pipe)

    def _hear(self, pipe: IO[bytes]) -> None:
        self.kept.add(self._take(pipe))

    def _overhear(self, pipe: IO[bytes]) -> None:
        self._errors = (self._errors + self._take(pipe))[-STDERR_BYTES:]

    def _take(self, pipe: IO[bytes]) -> bytes:
        chunk = os.read(pipe.fileno(), CHUNK_BYTES)
        if not chunk:
            self._close(pipe)
        return chunk

    def _close(self, pipe: IO[bytes]) -> None:
        self._pipes.unregister(pipe)
        pipe.close()


def parse_agent_spec(text: str) -> tuple[str, str, tuple[str, ...]]:
    """Read `NAME=mock` or `NAME=cmd:COMMAND` into name, kind and argument vector.

    The command is split as a shell would, quotes respected, and no shell ever sees it. Whether the name may
    be one is the roster's business. Raises UsageError on anything else.
    """
    import shlex

    then = "write NAME=mock or NAME=cmd:COMMAND"
    name, _, runner = (part.strip() for part in text.partition("="))
    kind, colon, command = runner.partition(":")
    if name and runner == "mock":
        return name, kind, ()
    if not name or kind != "cmd" or not colon:
        raise UsageError("this does not say what runs whom", where=repr(text), then=then)
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError("the command cannot be split", where=repr(text), then=str(error).lower()) from None
    if not argv or not argv[0]:
        raise UsageError("the command is empty", where=repr(text), then=then)
    return name, kind, argv


def _await_burial(group: int) -> None:
    """Wait until the last killed member of a group whose leader is reaped is gone too."""
    end_at, pause_s = time.monotonic() + BURIAL_S, SHORTEST_S / 10
    with suppress(ProcessLookupError, PermissionError):
        while time.monotonic() < end_at:
            os.killpg(group, 0)
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_S)


def _visible(line: str) -> str:
    """Show what would not print, or end the line, as an escape; a command's words may reach a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
