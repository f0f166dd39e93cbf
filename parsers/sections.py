"""Sections: what stands under `KEY:` lines of a body, each up to the next key; and which lines are fenced.

A key counts at the start of a line, in capitals, bold or in a heading or bare, outside closed code fences. Models
that are asked for headings write them in more ways: numbered, in any case, with a dash or nothing behind.
"""

import re
from collections.abc import Collection, Sequence

from .headers import TOKENS, read_header


def sections(body: str, keys: Collection[str], *, loosely: bool = False) -> list[tuple[str, str]]:
    """Give (key, text) of each section in order; what stands before the first key comes under "".

    Lines that are tokens, such as `[DONE]`, are nobody's text. With `loosely` a key counts as a model writes it.
    """
    lines = body.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    key = _loose_key(keys) if loosely else _key(keys)
    found: list[tuple[str, list[str]]] = [("", [])]
    fenced = fences(lines)
    until = -1
    for number, line in enumerate(lines):
        if number > until and (match := re.match(key, line)):
            found.append((match["key"].upper(), [line[match.end() :]]))
        elif number <= until or line[:1] not in "[*_# " or not read_header(line, TOKENS):
            found[-1][1].append(line)
        until = max(until, fenced.get(number, -1)) if number > until else until
    # The first line of a drawing or of code keeps its indent; blank lines around a text go.
    blank = re.compile(r"(?:[^\S\n]*\n)*")
    texts = [(name, "\n".join(text).rstrip()) for name, text in found]
    return [(name, blank.sub("", text, count=1)) for name, text in texts]


def _key(keys: Collection[str]) -> str:
    return rf" {{0,3}}(?:#{{1,6}}[ \t]+)?(?P<bold>\*\*|__|)(?P<key>{'|'.join(keys)})(?:(?P=bold):|:(?P=bold))[ \t]*"


def _loose_key(keys: Collection[str]) -> str:
    """Give the pattern of `2. **Defense** — text`, `### DEFENSE`, `Defense: text`; a word in a sentence is none."""
    number = r"(?:[0-9]{1,2}[.)][ \t]+)?"
    named = rf"(?P<bold>\*\*|__|)(?P<key>(?i:{'|'.join(keys)}))"
    dash = r"[\u2014\u2013-](?![\w-])"
    colon = r"(?::(?P=bold)|(?P=bold)[ \t]*:)"
    closed = rf"(?:{colon}(?:[ \t]*{dash})?|(?P=bold)[ \t]+{dash}|(?P=bold)[ \t]*$)"
    return rf" {{0,3}}(?:#{{1,6}}[ \t]+)?{number}{named}{closed}[ \t]*"


def unfenced(text: str) -> str:
    """Give the text in the one fence that holds all of it; a text that no fence holds as it is."""
    lines = text.strip().split("\n")
    if len(lines) > 1 and fences(lines).get(0) == len(lines) - 1:
        return "\n".join(lines[1:-1])
    return text


def own_lines(text: str) -> list[str]:
    """Give the lines that an author says itself: not quoted, fenced, indented as code or commented out.

    A fence or a comment that is never closed holds all that follows.
    """
    lines = re.sub(r"(?is)<!--.*?(?:-->|\Z)|<blockquote\b.*?(?:</blockquote>|\Z)", "", text).split("\n")
    fenced, own, until = fences(lines), [], -1
    for number, line in enumerate(lines):
        if number > until and re.match(r"\s*(?:`{3,}[^`]*|~{3,}.*)$", line):
            until = fenced.get(number, len(lines))
        elif number > until and not re.match(r"(?: {4}| {0,3}\t| {0,3}>)", line):
            own.append(line.rstrip("\r"))
    return own


def as_text(text: str, keys: Collection[str]) -> str:
    """Quote those lines of a text that would begin a section, so that it stays one text."""
    key = rf"(?m)^(?= {{0,3}}(?:#{{1,6}}[ \t]+)?(?:\*\*|__|)(?:{'|'.join(keys)})(?:\*\*|__|):)"
    return re.sub(key, "> ", text)


def first(found: Sequence[tuple[str, str]], key: str) -> str:
    """Give the text of the first section under a key, or the empty string."""
    return next((text.strip() for name, text in found if name == key), "")


def fences(lines: Sequence[str]) -> dict[int, int]:
    """Map the first line of each code fence that is closed to its last; some of these stand inside others."""
    found: dict[int, int] = {}
    closers: dict[str, int] = {}
    for at in reversed(range(len(lines))):
        fence = re.match(r"\s*(`{3,}|~{3,})(.*)", lines[at])
        if fence:
            found |= {at: closers[fence[1]]} if fence[1] in closers else {}
            closers |= {} if fence[2].strip() else {fence[1]: at}
    return found
