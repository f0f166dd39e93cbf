"""The `tmux` doorbell: types one fixed line into the agent's pane, when the pane is idle and at its prompt.

The line goes in as one paste, so that a dialog which opens in that moment gets no keys; Enter follows only when the
line is seen to stand at the prompt. Nothing is typed while the program is busy, into a dialog, behind a person's
draft, or into a shell that the program has left behind.
"""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...parsers.screen import one_line
from ...workspace.settings import Agent
from ..programs import Program, Screen, is_shell, program_for, shows
from . import Rung

LOOK_S = 0.15  # from look to look: a screen tells of no event
CALM_S = 0.3  # an idle screen has to stay as it is for so long
TAKEN_S = 5.0  # for a program to take a line that was submitted
CALL_S = 10.0  # for tmux to answer
_FORMAT = "\t".join(
    f"#{{{key}}}"
    for key in (
        "pane_id",
        "cursor_x",
        "cursor_y",
        "pane_in_mode",
        "pane_dead",
        "pane_current_command",
        "pane_title",
    )
)
_WHY = {
    "busy": "it is busy",
    "dialog": "a dialog is open",
    "typed": "a draft stands at its prompt",
    "unknown": "its screen shows no prompt that is known",
}


class Failed(Exception):
    """The ring cannot go on; its text says why in one line."""


class _Look(NamedTuple):
    screen: Screen
    word: str


def ring(
    name: str,
    agent: Agent,
    line: str,
    *,
    patience_s: float,
    tmux: Sequence[str] = ("tmux",),
    stopped: Callable[[], bool] = lambda: False,
) -> Rung:
    """Type `line` once into the pane of an agent, waiting up to `patience_s` for it to be idle.

    Raises ValueError for a line with control characters. Whatever else goes wrong is a Rung that failed.
    """
    if not line.isprintable():
        raise ValueError("the line holds a control character")
    try:
        pane = _Pane(tuple(tmux), agent, name)
        pane.await_idle(time.monotonic() + patience_s, stopped)
        pane.submit(line)
    except Failed as error:
        return Rung("failed", one_line(str(error), 200))
    return Rung("taken", "")


class _Pane:
    """One pane, and the program in it."""

    def __init__(self, tmux: tuple[str, ...], agent: Agent, name: str) -> None:
        self._tmux = tmux
        self._program: Program = program_for(agent.program or "generic")
        self._id = self._named(agent.pane) if agent.pane else self._marked(name)

    def await_idle(self, deadline: float, stopped: Callable[[], bool]) -> None:
        """Wait until the screen is idle, and stays as it is; Failed when the time is up."""
        before, since = self.look(), time.monotonic()
        while True:
            if before.word == "idle" and time.monotonic() - since >= CALM_S:
                return
            if time.monotonic() > deadline or stopped():
                raise Failed(f"nothing was typed: {_WHY.get(before.word, 'its screen does not rest')}")
            time.sleep(LOOK_S)
            after = self.look()
            if after != before:
                before, since = after, time.monotonic()

    def submit(self, line: str) -> None:
        """Paste the line, submit it once it stands at the prompt, and see that it was taken."""
        buffer = f"moot-{os.getpid()}-{self._id.lstrip('%')}"
        self._call("set-buffer", "-b", buffer, "--", line)
        self._call("paste-buffer", "-p", "-d", "-b", buffer, "-t", self._id)
        typed = self._until(lambda look: look.word != "idle" and self._stands(look, line))
        if typed is None or typed.word != "typed":
            word = _WHY.get(typed.word if typed else self.look().word, "")
            raise Failed(
                f"the line was pasted, and not submitted: {word or 'it does not stand at the prompt'}"
            )
        for _ in range(2):  # an Enter may be swallowed once
            time.sleep(self._program.KEYS.pause_s)
            if not self._stands(self.look(), line):
                return  # somebody else has submitted it
            for key in self._program.KEYS.submit:
                self._call("send-keys", "-t", self._id, key)
                time.sleep(LOOK_S)
            if self._until(lambda look: not self._stands(look, line)) is not None:
                return
        raise Failed("the line stands at the prompt, and the program does not take it")

    def look(self) -> _Look:
        """Look at the screen; Failed where no program is there to be typed to."""
        facts = self._call("display-message", "-p", "-t", self._id, _FORMAT).rstrip("\n").split("\t")
        _, column, row, in_mode, dead, command, title = facts
        if dead == "1":
            raise Failed("its pane is dead")
        if is_shell(command):
            raise Failed(f"a shell ({command}) is in its pane: the program has ended")
        text = self._call("capture-pane", "-p", "-t", self._id)
        lines = tuple(line.rstrip() for line in text.split("\n"))
        screen = Screen(lines, (int(column), int(row)), title)
        return _Look(screen, "unknown" if in_mode != "0" else self._program.look(screen))

    def _stands(self, look: _Look, line: str) -> bool:
        """Tell whether the line stands at the prompt."""
        return look.word == "typed" and shows(look.screen, line)

    def _until(self, holds: Callable[[_Look], bool]) -> _Look | None:
        deadline = time.monotonic() + TAKEN_S
        while time.monotonic() < deadline:
            look = self.look()
            if holds(look):
                return look
            time.sleep(LOOK_S)
        return None

    def _named(self, pane: str) -> str:
        found = self._call("display-message", "-p", "-t", pane, "#{pane_id}").strip()
        if not found:
            raise Failed(f"tmux has no pane {pane}: correct `pane` in moot.toml")
        return found

    def _marked(self, name: str) -> str:
        """Find the one pane that a person has marked as the agent's."""
        panes = self._call("list-panes", "-a", "-F", "#{pane_id}\t#{@moot_agent}").splitlines()
        ids = [pane.split("\t")[0] for pane in panes if pane.split("\t")[-1] == name]
        if len(ids) != 1:
            there = "no pane is" if not ids else f"{len(ids)} panes are"
            raise Failed(f"{there} marked as {name}'s: `tmux set -p @moot_agent {name}` in its own")
        return ids[0]

    def _call(self, *words: str) -> str:
        try:
            done = subprocess.run(
                [*self._tmux, *words],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=CALL_S,
                check=False,
            )
        except FileNotFoundError:
            raise Failed("tmux is not installed") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failed(f"tmux does not answer: {error}") from None
        if done.returncode:
            raise Failed(f"tmux: {done.stderr.strip() or 'it refused'}")
        return done.stdout
