"""Scripted debaters: commands on PATH that answer each round from a file of shell lines."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """#!/bin/sh
prompt=$(cat)
case "$prompt" in
  *"Round 2 of"*) round=2 ;;
  *"Round 3 of"*) round=3 ;;
  *"Round 4 of"*) round=4 ;;
  *) round=1 ;;
esac
case "$prompt" in *"You moderate"*) round=moderate-$round ;; esac
case "$prompt" in *"held no verdict"*) round=again ;; esac
. "$LINES_OF/$(basename "$0")-$round"
"""


class Table:
    """Three commands, their presets, and what each says in which round."""

    def __init__(self, shell: Any, tmp_path: Path) -> None:
        self.shell = shell
        self.bin, self.lines = tmp_path / "bin", tmp_path / "lines"
        self.bin.mkdir()
        self.lines.mkdir()
        self.files = Path(shell.env["HOME"]) / ".vcp"
        self.files.mkdir()
        shell.env["PATH"] = f"{self.bin}{os.pathsep}{shell.env['PATH']}"
        shell.env["LINES_OF"] = str(self.lines)
        self.timeouts: dict[str, int] = {}

    def seat(self, *names: str, max_rounds: int = 3, timeout_ms: int = 20_000, **more: Any) -> None:
        """Put commands of these names on PATH and into the two files in the home folder."""
        presets: dict[str, Any] = {}
        for name in names:
            script = self.bin / name
            script.write_text(SCRIPT)
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
            presets[name] = {
                "type": "cli",
                "command": name,
                "args_template": "",
                "one_shot_args_template": "--model {model}",
                "models": ["m/1:x"],
                "timeout_ms": self.timeouts.get(name, timeout_ms),
            }
            for number in (1, 2, 3, 4):
                self.says(name, number, verdict="AGREE")
        participants = [{"preset": name, "model": "m/1:x"} for name in names]
        self.write(
            {"participants": participants, "max_rounds": max_rounds},
            {"version": "2.0", "presets": presets},
            **more,
        )

    def write(self, chatroom: Any, presets: Any, **more: Any) -> None:
        """Write the two files."""
        (self.files / "dev-buddy-chatroom.json").write_text(json.dumps({**chatroom, **more}))
        (self.files / "ai-presets.json").write_text(json.dumps(presets))

    def says(
        self, name: str, number: int | str, text: str = "", *, verdict: str = "", before: str = ""
    ) -> None:
        """Let somebody say a text in a round; without one, a position of its own and the verdict."""
        if not text and number == 1:
            text = f"POSITION: {name} would keep it.\nARGUMENTS:\n- {name} has seen it"
        elif not text:
            text = f"UPDATED POSITION: {name} in round {number}\nVERDICT: {verdict}"
        (self.lines / f"{name}-{number}").write_text(
            f"{before}\ncat <<'END_OF_ANSWER'\n{text}\nEND_OF_ANSWER\n"
        )

    def does(self, name: str, number: int | str, lines: str) -> None:
        """Let somebody do something in a round."""
        (self.lines / f"{name}-{number}").write_text(f"{lines}\n")

    def debate(self, *more: str, code: int = 0) -> Any:
        """Hold a debate and give its JSON."""
        done = self.shell.run("debate", "One file or many?", "--json", *more)
        assert done.returncode == code, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    def verdicts(self, said: Any, number: int) -> dict[str, str]:
        """Give each one's verdict of a round."""
        return {
            one["title"].partition("/")[0]: one["rounds"][number - 1]["verdict"]
            for one in said["participants"]
        }

    def folder(self, said: Any) -> Path:
        """Give the folder of a debate."""
        return Path(self.shell.comms) / "runs" / said["session"]


@pytest.fixture
def table(shell: Any, tmp_path: Path) -> Table:
    """Give a table at which nobody sits yet."""
    return Table(shell, tmp_path)
