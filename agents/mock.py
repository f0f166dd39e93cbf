"""The built-in scripted agent: it plays a peer to the end with no model, no key and no network.

Two ways to run it, both real processes. `python -m moot.agents.mock` reads a turn's prompt on standard
input and answers on standard output, as any headless agent does. With `--as NAME` it lives by the `moot`
command alone: wait, send, wait again.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence

from ..parsers.artifact import artifact_of

_POINTS = (
    "Say in one sentence what it is for, and for whom.",
    "List what goes in, and what comes out.",
    "Say what happens when the input is wrong.",
    "Give one example that a newcomer can try in a minute.",
    "Name what it leaves out, and why.",
)


def turn(number: int, task: str, artifact: str, *, proposed: bool) -> str:
    """Give a peer's turn: a first draft, an addition, a last point with [DONE], or the confirmation."""
    points = [line for line in artifact.split("\n") if re.match(r"\d+\. ", line)]
    if proposed:
        return f"I have read all {len(points)} points and have nothing to add.\n\n[DONE] - confirmed"
    title = f"# {task.partition('. ')[0].rstrip('.')}" if task else "# Draft"
    have = len(points)
    if number == 1 or not points:
        points = [f"{n}. {text}" for n, text in enumerate(_POINTS[:3], 1)]
        said = "A first draft with three points: purpose, data, faults."
    else:
        points.append(f"{have + 1}. {_POINTS[min(have, len(_POINTS) - 1)]}")
        said = f"The {have} points stand. I add one more, because a reader would ask for it."
    body = f"{said}\n\nUpdated:\n\n{title}\n\n" + "\n".join(points) + "\n"
    return f"{body}\n[DONE] - I think this covers it" if len(points) >= len(_POINTS) else body


def answer(prompt: str) -> str:
    """Answer the prompt of a turn, as `moot run` writes it."""
    number = re.search(r"^Turn: (\d+)", prompt, re.MULTILINE)
    task = re.search(r"^Task: (.*)$", prompt, re.MULTILINE)
    proposed = re.search(r"^Phase: proposed$", prompt, re.MULTILINE) is not None
    return turn(
        int(number.group(1)) if number else 1,
        task.group(1) if task else "",
        artifact_of(prompt) or "",
        proposed=proposed,
    )


def live(name: str) -> int:
    """Take part under `name` by the `moot` command alone, until the session is closed; give an exit code."""
    moot = (sys.executable, "-m", "moot")
    artifact = ""
    while True:
        waited = subprocess.run(
            [*moot, "wait", "--as", name, "--json", "--timeout", "60"], stdout=subprocess.PIPE, check=False
        )
        if waited.returncode:
            return waited.returncode
        delivery = json.loads(waited.stdout)
        message, session = delivery["message"], delivery["session"]
        if message is not None and message["origin"] != "referee":
            artifact = artifact_of(message["body"]) or artifact
        if session is not None and session["state"] != "open":
            return 0
        if session is None or not delivery["next"]:
            continue
        proposed = session["phase"] == "proposed"
        text = turn(session["turns"] + 1, session["task"], artifact, proposed=proposed)
        artifact = artifact_of(text) or artifact
        sent = subprocess.run(
            [*moot, "send", "--as", name, "--in", session["id"], "-"],
            input=text.encode(), stdout=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        if sent.returncode:
            return sent.returncode


def main(arguments: Sequence[str]) -> int:
    """Run the agent: `--as NAME` to live by the command, nothing to answer one prompt."""
    if list(arguments[:1]) == ["--as"]:
        return live(arguments[1])
    sys.stdout.write(answer(sys.stdin.read()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
