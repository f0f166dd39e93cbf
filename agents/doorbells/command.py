"""The `command` doorbell: an argument vector of the user's own, no shell, with the block's id and path around it."""

import os
from collections.abc import Callable
from pathlib import Path

from ...parsers.screen import one_line
from ...workspace.settings import Agent
from ..runners import CommandRunner
from . import Rung


def ring(
    name: str, agent: Agent, line: str, *, block: str, inbox: Path, folder: Path, root: Path, patience_s: float,
    keep: Callable[[CommandRunner], None],
) -> Rung:  # fmt: skip
    """Run the command in the repository; the fixed `line` is its standard input. Failed where its exit code says so.

    It sees MOOT_AGENT, MOOT_WORKSPACE, MOOT_BLOCK (the id of the newest unread block) and MOOT_INBOX (the file with
    its copy). `keep` is given the runner, so that it can be stopped from another thread.
    """
    ours = {"MOOT_AGENT": name, "MOOT_WORKSPACE": str(folder), "MOOT_BLOCK": block, "MOOT_INBOX": str(inbox)}
    env = {**os.environ, **ours}
    runner = CommandRunner(agent.command, cwd=root, env=env, timeout_s=patience_s, cuts=True)
    keep(runner)
    answer = runner.run(f"{line}\n")
    return Rung("failed", one_line(answer.error, 200)) if answer.error else Rung("taken", "")
