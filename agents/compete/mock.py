"""The built-in scripted worker: prompt on standard input, answer on standard output; no model, no key."""

import re
import sys

_AREAS = ("inputs", "errors", "limits", "access", "logging", "time", "encoding", "names")


def answer(prompt: str) -> str:
    """Answer a stage's prompt; always the same to the same one."""
    who = re.match(r"You are (\S+) in a bounded competition with (.*)\.$", prompt.split("\n", 1)[0])
    stage = _line("Stage", prompt)
    task = _line("Task", prompt)
    name, others = (who[1], who[2].split(", ")) if who else ("", [""])
    place = sum(name.encode()) % len(_AREAS)
    if stage in ("proposal", "revision_round_1"):
        again = " after the criticism" if stage == "revision_round_1" else ""
        findings = (
            f"FINDING: {_AREAS[(place + step) % len(_AREAS)]} | not checked | read the task | {severity}"
            for step, severity in enumerate(("high", "medium"))
        )
        return f"# {task}\n\nThe result of {name}{again}: begin with {_AREAS[place]}.\n\n" + "\n".join(
            findings
        )
    if stage == "initial_verification":
        return "The result answers the task.\n\nVERDICT: pass"
    if stage == "peer_review_round_2":
        return f"All are better now.\n\nselected_candidate_id: {min(others)}"
    if stage == "repair_synthesis":
        return f"1. Check {_AREAS[place]}.\n2. Add an example."
    return "Each says what it does; none says how it fails."


def _line(key: str, prompt: str) -> str:
    found = re.search(rf"^{key}: (.*)$", prompt, re.MULTILINE)
    return found[1] if found else ""


if __name__ == "__main__":
    sys.stdout.write(answer(sys.stdin.read()) + "\n")
