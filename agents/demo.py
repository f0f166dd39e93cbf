"""`moot demo`: two agents, each a process that uses only the `moot` command, under a running `moot up`."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from ..bus.watcher import Watcher
from ..parsers.errors import StoreError, UsageError
from ..parsers.names import did_you_mean, shown
from ..parsers.prompts import parse_prompt
from ..workspace.folder import open_folder
from .reader import Reader
from .reading import entries, read_whole
from .session import Session
from .terminal import show_block

PROMPTS = {
    "peer-collaboration": """\
Write a checklist for a small command-line tool. Use peer-collaboration. CC + CX.
Output: docs/checklist.md""",
    "competition": """\
Use competition to write a line for the first page of a todo app.
Competitors: CC, CX. Judge: GM. Criteria: Clear 40%, Memorable 60%.
Output: docs/line.md""",
}
TIME_LIMIT_S = 60.0


def show(protocol: str) -> None:
    """Run the demo and print the ledger as it grows. Raises StoreError where it does not end in a minute."""
    if protocol not in PROMPTS:
        raise UsageError(f"no demo of {shown(protocol)}", then=did_you_mean(protocol, PROMPTS))
    prompt = PROMPTS[protocol]
    names = [seat.name for seat in parse_prompt(prompt).seats]
    top = Path(tempfile.mkdtemp(prefix="moot-demo-"))
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q", str(top)], check=True)
    env = {key: value for key, value in os.environ.items() if not key.startswith("MOOT_")}
    moot = (sys.executable, "-m", "moot")
    _run(moot, "init", "--agents", ",".join(names), cwd=top, env=env)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        processes.append(_spawn(moot, "up", cwd=top, env=env))
        click.echo(click.style(f'$ moot start "{prompt}"', bold=True))
        click.echo(_run(moot, "start", prompt, cwd=top, env=env))
        for name in names:
            agent = (sys.executable, "-m", "moot.agents.mock")
            processes.append(_spawn(agent, "--as", name, cwd=top, env=env))
        session = _follow(Reader(open_folder(top / "comms")), processes)
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait()
    _say_goodbye(top, session, prompt)


def _follow(reader: Reader, processes: list[subprocess.Popen[bytes]]) -> Session:
    """Print each new block, until the session is closed; give it."""
    printed = 0
    deadline = time.monotonic() + TIME_LIMIT_S
    with Watcher(reader.workspace.ledger) as watcher:
        while time.monotonic() < deadline:
            reading = read_whole(reader)
            listed = entries(reading)
            for message, _, _ in listed[printed:]:
                show_block(message)
            printed = len(listed)
            session = next(iter(reading.book.sessions.values()), None)
            if session is not None and session.closed:
                return session
            failed = next((p for p in processes if p.poll() not in (None, 0)), None)
            if failed is not None:
                raise StoreError(f"a process of the demo ended with exit code {failed.returncode}")
            watcher.wait(1.0)
    raise StoreError(f"the demo did not end within {TIME_LIMIT_S:g} s", where=str(reader.workspace.folder))


def _say_goodbye(top: Path, session: Session, prompt: str) -> None:
    output = top / session.opening.output
    click.echo(f"The session is in {top / 'comms' / 'comms.md'}, the artifact in {output};")
    click.echo(f"`git -C {top} log moot` has its history. Participants: {', '.join(session.opening.names)}.")
    click.echo("On your own repository:")
    click.echo(f"    moot init --agents {','.join(session.opening.names)}")
    click.echo(f'    moot start "{" ".join(prompt.split())}"')
    click.echo("    moot wait --as CC        (tell each agent to begin with this, under its own name)")


def _run(moot: tuple[str, ...], *arguments: str, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run([*moot, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StoreError(f"the demo's `moot {arguments[0]}` failed", where=str(cwd), then=done.stderr.strip())
    return done.stdout


def _spawn(
    program: tuple[str, ...], *arguments: str, cwd: Path, env: dict[str, str]
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*program, *arguments], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
