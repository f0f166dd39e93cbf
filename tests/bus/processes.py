"""Real processes to test with: each runs a few lines of Python and talks with the test line by line."""

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
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
        self._said = b""

    def hear(self) -> str:
        """Wait for one line that the process says; the empty string where it has ended."""
        deadline = time.monotonic() + PATIENCE_S
        while b"\n" not in self._said and self._listen(deadline - time.monotonic()):
            pass
        line, _, self._said = self._said.partition(b"\n")
        return line.decode()

    def has_said(self, count: int) -> bool:
        """Tell whether the process has said so many lines that were not heard yet; does not wait."""
        while self._listen(0):
            pass
        return self._said.count(b"\n") >= count

    def rest(self) -> list[str]:
        """Give the whole lines that a process which is gone had said, and nobody has heard."""
        while self._listen(PATIENCE_S):
            pass
        return self._said.decode().split("\n")[:-1]

    def _listen(self, patience_s: float) -> bool:
        """Take what the process says; False where it has ended, or, without patience, says nothing now."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], max(0, patience_s))
        assert ready or not patience_s, f"waited in vain, after {self._said!r}"
        heard = os.read(self.process.stdout.fileno(), 65536) if ready else b""
        self._said += heard
        return bool(heard)

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
        return (self._said + out).decode().splitlines()

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


@contextmanager
def public_folder() -> Iterator[Path]:
    """Give a folder that a process without rights can reach: pytest's own are private."""
    folder = Path(tempfile.mkdtemp(prefix="moot-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


GIVE_UP_RIGHTS = """
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
"""
