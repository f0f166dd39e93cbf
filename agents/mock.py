"""The built-in scripted agent: it plays any seat to the end with no model, no key and no network.

Two ways to run it, both real processes. `python -m moot.agents.mock` reads a turn's prompt on standard
input and answers on standard output, as any headless agent does. With `--as NAME` it lives by the `moot`
command alone: wait, do one of the commands that are printed, wait again.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from ..parsers.artifact import artifact_of
from ..parsers.criteria import read_criteria

_POINTS = (
    "Say in one sentence what it is for, and for whom.",
    "List what goes in, and what comes out.",
    "Say what happens when the input is wrong.",
    "Give one example that a newcomer can try in a minute.",
    "Name what it leaves out, and why.",
)
_PITCHES = (
    ("Less to carry, more to find.", "one contrast, six words"),
    ("What if the first try were the last?", "a question that the work answers"),
    ("Made slowly, so that you need not be.", "a promise to whoever uses it"),
    ("Everything you need, and the door left open.", "completeness, then freedom"),
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


def entry(name: str, task: str) -> str:
    """Give a competitor's entry; it is another one for another name."""
    line, approach = _PITCHES[sum(name.encode()) % len(_PITCHES)]
    return (
        f"SUBMISSION:\n# {task.partition('. ')[0].rstrip('.') or 'Entry'}\n\n{line}\n\nAPPROACH: {approach}"
    )


def points(text: str, criterion: str) -> int:
    """Give 5 to 9 points, always the same ones to the same text."""
    return 5 + sum(f"{text}{criterion}".encode()) % 5


_REASON = "the sums say so, and the work is the clearest one"
_NOTES = "It says what it is in one breath; an example would make it stronger."


def answer(prompt: str) -> str:
    """Answer the prompt of a turn, as `moot run` writes it."""
    phase = _line("Phase", prompt)
    task = _line("Task", prompt)
    if phase in ("working", "proposed"):
        number = re.match(r"\d+", _line("Turn", prompt))
        proposed = phase == "proposed"
        return turn(int(number[0]) if number else 1, task, artifact_of(prompt) or "", proposed=proposed)
    who = re.match(r"You are (\S+)", prompt)
    if phase == "entering":
        return entry(who[1] if who else "", task)
    if phase == "challenge":
        return f"TASK: {task}\nCRITERIA:\n1. Clear (60%)\n2. Short (40%)\nDEADLINE: 6 turns"
    if phase in ("judging", "deliberating"):
        return _scores(prompt, phase)
    selected = re.search(r"`SELECTED: ([^`]*)`", prompt)
    if selected is not None:
        return f"SELECTED: {selected[1]}\nREASON: {_REASON}.\n\n[DONE]"
    return "[DONE]"


def _scores(prompt: str, phase: str) -> str:
    listed = re.search(r"^Criteria: (.*?)\. ", prompt, re.MULTILINE)
    criteria = [one.name for one in read_criteria(listed[1])] if listed else []
    texts = dict(re.findall(r"^(Entry-\d+) \(data.*\n\n((?:>.*\n)+)", prompt, re.MULTILINE))
    if phase == "deliberating":
        tied = re.search(r"(\S+(?: and \S+)+) are tied", prompt)
        texts = dict.fromkeys(tied[1].split(" and ") if tied else (), "")
    parts = []
    for label, text in texts.items():
        marks = "\n".join(f"{name}: {points(text, name)}/10" for name in criteria)
        parts.append(f"ENTRY: {label}\n{marks}\nNOTES: {_NOTES}\nREASON: a second reading")
    return "\n\n".join(parts)


def _line(key: str, prompt: str) -> str:
    found = re.search(rf"^{key}: (.*)$", prompt, re.MULTILINE)
    return found[1] if found else ""


def live(name: str) -> int:
    """Take part under `name` by the `moot` command alone, until the session is closed; give an exit code."""
    artifact = ""
    while True:
        waited = subprocess.run(
            [*MOOT, "wait", "--as", name, "--json", "--timeout", "60"], stdout=subprocess.PIPE, check=False
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
        if session["protocol"] == "competition":
            code = _compete(name, delivery)
        else:
            proposed = session["phase"] == "proposed"
            text = turn(session["turns"] + 1, session["task"], artifact, proposed=proposed)
            artifact = artifact_of(text) or artifact
            code = _moot("send", "--as", name, "--in", session["id"], "-", text=text)
        if code:
            return code


def _compete(name: str, delivery: dict[str, Any]) -> int:
    """Do what the rules offer, in the words in which they offer it; give an exit code."""
    texts = {copy["label"]: copy["text"] for copy in delivery["copies"]}
    phase = delivery["session"]["phase"]
    offered = delivery["next"] if phase in ("judging", "deliberating") else delivery["next"][:1]
    for move in offered:
        words = [_REASON if word == "why" else word for word in shlex.split(move["command"])[1:]]
        text = entry(name, delivery["session"]["task"]) if words[0] == "entry" else _NOTES
        if words[0] == "send":
            text = answer(f"Phase: {phase}\nTask: {delivery['session']['task']}\n")
        if words[0] == "score":
            about = texts.get(words[words.index("--entry") + 1], "")
            words = [
                f"{word[:-1]}{points(about, word[:-2])}" if word.endswith("=N") else word for word in words
            ]
        code = _moot(*words, text=text)
        if code:
            return code
    return 0


MOOT = (sys.executable, "-m", "moot")


def _moot(*words: str, text: str) -> int:
    done = subprocess.run([*MOOT, *words], input=text.encode(), stdout=subprocess.DEVNULL, check=False)
    return done.returncode


def main(arguments: Sequence[str]) -> int:
    """Run the agent: `--as NAME` to live by the command, nothing to answer one prompt."""
    if list(arguments[:1]) == ["--as"]:
        return live(arguments[1])
    sys.stdout.write(answer(sys.stdin.read()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
