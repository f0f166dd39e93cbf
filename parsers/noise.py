"""The noise of terminals: what a program prints to move, colour and erase, taken out of what it says.

ECMA-48 names the sequences: CSI (colours, cursor, erasing), OSC (titles, links), DCS, SOS, PM and APC (strings),
the choice of character sets, and the short ones. A carriage return begins a line anew, as progress bars do: what
was written last on a line is what stands there.
"""

import re
from functools import cache


@cache
def _sequences() -> re.Pattern[str]:
    csi = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    # A string without its end goes on to the end of its line and no further: an answer must not vanish in it.
    strings = r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    short = r"\x1b[ -/]*[0-~]?"  # character sets, save and restore, keypad, reset
    return re.compile(f"{strings}|{csi}|{short}")


def without_noise(text: str) -> str:
    """Give what is left on the screen of a text: lines as they were written last, no sequences, no controls."""
    text = _sequences().sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_written(line) if "\r" in line else line for line in text.split("\n"))
    if "\b" in text:
        text = "\n".join(_gone_back(line) if "\b" in line else line for line in text.split("\n"))
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "", text)


def _last_written(line: str) -> str:
    """Give a line as it stands after its carriage returns."""
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")


def _gone_back(line: str) -> str:
    """Give a line as it stands after its backspaces."""
    left: list[str] = []
    for character in line:
        if character != "\b":
            left.append(character)
        elif left:
            left.pop()
    return "".join(left)


def without_echo(text: str, prompt: str) -> str:
    """Give an answer without the prompt, where the program printed that first, or again."""
    whole = prompt.strip()
    return text.replace(whole, "") if len(whole) > 20 else text  # a word of the prompt may be the answer
