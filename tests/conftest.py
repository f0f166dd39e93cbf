"""What all tests share: a repository of their own, and the `moot` command in it as a real process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

MOOT = (sys.executable, "-m", "moot")
PATIENCE_S = 60.0


class Shell:
    """A repository, and the command line in it."""

    def __init__(self, top: Path, env: dict[str, str]) -> None:
        self.top = top
        self.env = env

    @property
    def comms(self) -> Path:
        return self.top / "comms"

    @property
    def ledger(self) -> Path:
        return self.comms / "comms.md"

    def run(self, *arguments: str, text: str | bytes = "", cwd: Path | None = None, **env: str) -> Any:
        """Run `moot` to its end; the result has returncode, stdout and stderr as text."""
        data = text.encode() if isinstance(text, str) else text
        done = subprocess.run(
            [*MOOT, *arguments],
            input=data,
            cwd=cwd or self.top,
            env={**self.env, **env},
            capture_output=True,
            timeout=PATIENCE_S,
        )
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        return done

    def ok(self, *arguments: str, text: str | bytes = "", cwd: Path | None = None, **env: str) -> str:
        """Run `moot`, which must exit 0, and give what it printed."""
        done = self.run(*arguments, text=text, cwd=cwd, **env)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def fails(
        self, code: int, *arguments: str, text: str | bytes = "", cwd: Path | None = None, **env: str
    ) -> str:
        """Run `moot`, which must exit `code` with one line on standard error; give that line."""
        done = self.run(*arguments, text=text, cwd=cwd, **env)
        assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
        lines = done.stderr.rstrip("\n").split("\n")
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("moot: "), done.stderr
        assert "Traceback" not in done.stderr
        return lines[0]

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=self.top, env=self.env, capture_output=True, check=True, text=True
        ).stdout

    def start(self, prompt: str) -> str:
        """Open a session and give its name."""
        return self.ok("start", prompt).split(" ")[0]

    def status(self) -> Any:
        return json.loads(self.ok("status", "--json"))

    def session(self, name: str = "") -> Any:
        """Give one session of `status`, the last one where none is named."""
        sessions = self.status()["sessions"]
        return next(one for one in reversed(sessions) if name in ("", one["id"]))

    def log(self) -> list[Any]:
        return [json.loads(line) for line in self.ok("log", "--json").splitlines()]

    def hand(self, text: str) -> None:
        """Append to the ledger as `cat >>` does: without any lock."""
        with self.ledger.open("ab") as file:
            file.write(text.encode())

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds, asked again whenever the ledger changes."""
        from moot.bus.watcher import Watcher

        deadline = time.monotonic() + PATIENCE_S
        with Watcher(self.ledger, check_s=0.2) as watcher:
            while not holds():
                assert time.monotonic() < deadline, "waited in vain"
                watcher.wait(0.5)

    def rulings(self) -> int:
        """Count the rulings in the ledger, without any process of ours."""
        return self.ledger.read_bytes().count(b" ruling=")

    @contextmanager
    def up(self) -> Iterator["subprocess.Popen[str]"]:
        """Run `moot up` for a while."""
        process = self.spawn("up")
        try:
            assert process.stdout is not None
            assert "watching" in process.stdout.readline()
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE_S)

    def spawn(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*MOOT, *arguments],
            cwd=self.top,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def bare(tmp_path: Path) -> Shell:
    """Give a new repository without a workspace."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MOOT_", "GIT_", "COV_"))}
    env = {**kept, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "XDG_CONFIG_HOME": str(home)}
    top = tmp_path / "repo"
    top.mkdir()
    shell = Shell(top, env)
    shell.git("init", "-q", "-b", "main")
    return shell


@pytest.fixture
def shell(bare: Shell) -> Shell:
    """Give a new repository with a workspace for CC, CX and GM."""
    bare.ok("init", "--agents", "CC,CX,GM")
    return bare
