"""Real processes to test with: each runs a few lines of Python and talks with the test line by line."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 30.0


class Child:
    """A process that runs `code`; in it `arguments` is what it was given, and `say` and `hear` speak to the test."""

    def __init__(self, code: str, *arguments: str | Path) -> None:
        prelude = (
            "import os, sys\nfrom pathlib import Path\narguments = sys.argv[1:]\n"
            "def say(word): os.write(1, f'{word}\\n'.encode())\n"
            "def hear(): return sys.stdin.readline()\n"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", prelude + code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def hear(self) -> str:
        """Wait for one line that the process says; the empty string where it has ended."""
        assert self.process.stdout is not None
        line = b""
        deadline = time.monotonic() + PATIENCE_S
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], deadline - time.monotonic())
            assert ready, f"waited in vain, after {line!r}"
            if not (byte := os.read(self.process.stdout.fileno(), 1)):
                break
            line += byte
        return line.decode().strip()

    def tell(self, word: str = "go") -> None:
        """Send one line to the process."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()

    def send_signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill the process, and wait until it is gone."""
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def end(self) -> list[str]:
        """Let the process run to its end, which must be a good one; give the lines it has said since."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == 0, err.decode()
        return out.decode().splitlines()

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def children(code: str, *argument_lists: tuple[str | Path, ...]) -> Iterator[list[Child]]:
    """Run one process a list of arguments; whatever is left of them at the end is killed."""
    started: list[Child] = []
    try:
        for arguments in argument_lists:
            started.append(Child(code, *arguments))  # noqa: PERF401 - those that did start have to be ended
        yield started
    finally:
        for child in started:
            child.close()
