"""The built-in scripted debater: prompt on standard input, answer on standard output; no model, no key.

It holds one of four positions by the name that it is asked under, gives way to the first of them in the third
round at the latest, and so shows a whole debate: positions, a PARTIAL, a concession, consensus.
"""

import re
import sys

_STANDS = (
    ("Keep it in one file", "one file is read in one go", "a file grows"),
    (
        "Split it into a folder with a file each",
        "a small file has one author at a time",
        "many files are many places",
    ),
    (
        "Keep it in a small database",
        "a query finds what nobody remembers",
        "nobody reads a database in a review",
    ),
    (
        "Leave it as it is until it hurts",
        "a change that nobody asked for is paid for twice",
        "it will hurt at night",
    ),
)


def answer(prompt: str) -> str:
    """Answer a prompt; always the same to the same one."""
    who = re.match(r"(?s)(?:.*?\n---\n)?\s*You are (.+?) in a debate", prompt)
    name = who[1] if who else ""
    if "You moderate a debate" in prompt:
        return f"Take the first position as the base: {_STANDS[0][0].lower()}. Open: when it is time to change it."
    stand, argument, against = _STANDS[sum(name.encode()) % len(_STANDS)]
    round_ = re.search(r"Round (\d+) of \d+", prompt)
    if round_ is None:
        return (
            f"POSITION: {stand}.\n\nARGUMENTS:\n- {argument}\n- it can be undone\n\n"
            f"ANTICIPATED OBJECTIONS:\n- {against}; that is seen early enough\n\nBOTTOM LINE: {stand}."
        )
    other = re.search(r"(?m)^(\S.*?)(?: \(absent[^\n]*\))?:\n\n> Position: (.*)$", prompt)
    rival, claim = (other[1], other[2]) if other else ("nobody", "nothing")
    if int(round_[1]) == 2 and stand != _STANDS[0][0]:
        return (
            f"CRITIQUES:\n- {rival} | {claim} | nobody has measured it\n\nDEFENSE: {argument}.\n\n"
            f"UPDATED POSITION: {stand}, once there are more than ten of them.\n\n"
            f"VERDICT: PARTIAL: the order of the steps / {against}"
        )
    return (
        f"CRITIQUES:\n\nDEFENSE: {argument}.\n- CONCEDED: {rival} | it is the smaller step\n\n"
        "UPDATED POSITION: Take the smallest step that can be undone.\n\nVERDICT: AGREE"
    )


if __name__ == "__main__":
    sys.stdout.write(answer(sys.stdin.read()) + "\n")
