"""Who does a stage's work: the built-in mock, or a command whose template is filled in, quoted for the shell."""

import os
import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from ..reaper import MARKER, Reaper, end_marked, marker_of
from ..runners import Answer, CommandRunner
from .quoting import exported, filled


class Errand(NamedTuple):
    """One candidate's work at one stage: who, the prompt, where it runs, the values of the template."""

    candidate: str
    stage: str
    prompt: str
    folder: Path
    values: Mapping[str, str]


class Worker(Protocol):
    """Does errands, several at a time, each to its end."""

    def run(self, errand: Errand) -> Answer:
        """Give the answer; a failure is an answer with an `error`."""

    def stop(self) -> None:
        """End what runs, and do nothing more."""


class Shell:
    """Runs commands of a run through the shell; whatever one leaves behind is ended with it."""

    def __init__(self, reaper: Reaper, *, timeout_s: float, deadline: float) -> None:
        """Give each command `timeout_s`, and none any time beyond the `deadline` (on the monotonic clock)."""
        self._reaper = reaper
        self._timeout_s, self._deadline = timeout_s, deadline
        self._running: set[CommandRunner] = set()
        self._stopped = False

    def run(self, template: str, errand: Errand, max_output_bytes: int) -> Answer:
        """Run a command once, in the errand's folder, with the prompt on its standard input."""
        marker, value = marker_of(self._reaper)
        runner = CommandRunner(
            ("/bin/sh", "-c", filled(template, errand.values)),
            cwd=errand.folder,
            env={**os.environ, **exported(errand.values), MARKER: value},
            timeout_s=max(0.1, min(self._timeout_s, self._deadline - time.monotonic())),
            max_output_bytes=max_output_bytes,
            cuts=True,
            watch=self._reaper.watch,
        )
        self._running.add(runner)
        try:
            if self._stopped:
                runner.stop()
            return runner.run(errand.prompt)
        finally:
            end_marked(marker)
            self._running.discard(runner)

    def stop(self) -> None:
        """End all that runs."""
        self._stopped = True
        for runner in tuple(self._running):
            runner.stop()


class CommandWorker:
    """Runs a template in the candidate's own folder, prompt on standard input."""

    def __init__(self, template: str, shell: Shell, max_output_bytes: int) -> None:
        """Take a template, and how much of what it prints is kept."""
        self._template, self._shell, self._max_output_bytes = template, shell, max_output_bytes

    def run(self, errand: Errand) -> Answer:
        """Run the command once."""
        return self._shell.run(self._template, errand, self._max_output_bytes)

    def stop(self) -> None:
        """End all that runs."""
        self._shell.stop()


def mock_command() -> str:
    """Give the command of the built-in scripted worker."""
    return f"{shlex.quote(sys.executable)} -m moot.agents.compete.mock"
