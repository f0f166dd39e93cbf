"""Who does a stage's work: the built-in mock, or a command whose template is filled in, quoted for the shell."""

import math
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from ..runners import Answer, CommandRunner

VARIABLES = (
    "agent_id", "run_id", "candidate_id", "stage", "prompt_file", "output_file", "competition_id",
    "question_type", "selection_mode",
)  # fmt: skip


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


class CommandWorker:
    """Runs a template through the shell, in the candidate's own folder, prompt on standard input."""

    def __init__(
        self,
        template: str,
        *,
        timeout_s: float,
        max_output_bytes: int,
        watch: Callable[[str], None],
        deadline: float = math.inf,
    ) -> None:
        """Take a template; braces that name no variable are left alone. Nothing runs beyond the `deadline`."""
        self._deadline = deadline
        self._watch = watch
        self._template = template
        self._timeout_s = timeout_s
        self._max_output_bytes = max_output_bytes
        self._running: set[CommandRunner] = set()
        self._stopped = False

    def run(self, errand: Errand) -> Answer:
        """Run the command once."""
        line = filled(self._template, errand.values)
        runner = CommandRunner(
            ("/bin/sh", "-c", line),
            cwd=errand.folder,
            env={**os.environ, **{f"MOOT_{key.upper()}": value for key, value in errand.values.items()}},
            timeout_s=max(0.1, min(self._timeout_s, self._deadline - time.monotonic())),
            max_output_bytes=self._max_output_bytes,
            cuts=True,
            watch=self._watch,
        )
        self._running.add(runner)
        try:
            if self._stopped:
                runner.stop()
            return runner.run(errand.prompt)
        finally:
            self._running.discard(runner)

    def stop(self) -> None:
        """End all that runs."""
        self._stopped = True
        for runner in tuple(self._running):
            runner.stop()


class Reaper:
    """The process that ends what a run leaves behind when it is killed."""

    def __init__(self) -> None:
        """Start it."""
        import subprocess

        argv = (sys.executable, "-m", "moot.agents.compete.reaper")
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


def filled(template: str, values: Mapping[str, str]) -> str:
    """Put values into a template, each quoted for the shell."""
    names = "|".join(VARIABLES)
    return re.sub(rf"\{{({names})\}}", lambda match: shlex.quote(values[match[1]]), template)


def mock_command() -> str:
    """Give the command of the built-in scripted worker."""
    return f"{shlex.quote(sys.executable)} -m moot.agents.compete.mock"
