"""Ends what a run or a debate left behind: lives as long as the pipe to it, then kills all that the run started.

One that is killed by SIGKILL can end nothing itself. So it starts this beside it, and writes `+GROUP` when a
command begins and `-GROUP` when it has ended. When the pipe closes, whatever is left is killed: the groups still
named, and, on Linux, every process with the run's marker in its environment, in whatever group it is.
"""

import os
import secrets
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

MARKER = "MOOT_RUN"  # the variable; of a run inside of a run the value names both
PATIENCE_S, PAUSE_S = 2.0, 0.01  # for killed processes to be gone


def marked(marker: str) -> list[int]:
    """Give the processes that a marker stands in the environment of; none where there is no /proc."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile, or somebody else's
            variables = (folder / "environ").read_bytes().split(b"\0")
            if any(one.startswith(f"{MARKER}=".encode()) and marker.encode() in one for one in variables):
                found.append(int(folder.name))
    return found


def end_marked(marker: str) -> None:
    """Kill all processes with a marker, those too that they start meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while (left := marked(marker)) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE_S)


class Reaper:
    """The process that ends what a run or a debate leaves behind when it is killed."""

    def __init__(self) -> None:
        """Start it."""
        import subprocess

        self.marker = secrets.token_hex(8)
        argv = (sys.executable, "-m", "moot.agents.reaper", self.marker)
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True)

    def watch(self, line: str) -> None:
        """Tell it of a process group that begins (`+GROUP`) or has ended (`-GROUP`)."""
        assert self._process.stdin is not None
        os.write(self._process.stdin.fileno(), f"{line}\n".encode())

    def close(self) -> None:
        """Let it end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def marker_of(reaper: Reaper) -> tuple[str, str]:
    """Give a new marker for one command, and the variable's value that holds it, behind those of outer runs."""
    marker = f"{reaper.marker}.{secrets.token_hex(8)}"
    return marker, ",".join(filter(None, (os.environ.get(MARKER), marker)))


def main() -> None:
    """Read until the pipe closes; the argument is the run's marker."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        sign, digits = line[:1], line[1:].strip()
        if digits.isdecimal():
            (groups.add if sign == "+" else groups.discard)(int(digits))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    end_marked(sys.argv[1])


if __name__ == "__main__":
    main()
