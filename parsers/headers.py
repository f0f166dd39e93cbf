"""Header lines, in all the shapes that agents give them.

    [TAG]   [TAG - NAME]   [ROLE - NAME]   [TAG - NAME (ROLE)]   [NAME] @OTHER

with or without a heading's number signs, bold, an en or em dash, an address (`to CX`, `@CX`), a
session (`in peer-7f3a`) and text behind. What a line means depends on which tags and names are in
play (`Vocabulary`): `[NOTE]` is a header for nobody.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import NamedTuple

LETTERS = ("DONE", "INCOMPLETE", "ACK")  # tokens that may also stand inside a body
_NAME = r"[A-Za-z0-9][\w.-]{0,63}"
_DASH = r"(?:[ \t]+-[ \t]+|[ \t]*[\u2013\u2014][ \t]*)"


class Header(NamedTuple):
    """One header line, read; empty strings where it says nothing."""

    tag: str
    name: str
    role: str = ""
    to: tuple[str, ...] = ()
    session: str = ""
    rest: str = ""

    @property
    def label(self) -> str:
        """The words between the brackets, in one form: `PEER_A - CC`."""
        words = " - ".join(word for word in (self.tag, self.name) if word)
        return f"{words} ({self.role})" if self.role else words


class Vocabulary(NamedTuple):
    """The tags of the open sessions and the names of the roster."""

    tags: Collection[str]
    names: Collection[str]


TOKENS = Vocabulary(LETTERS, ())
"""What a line within a body is read with."""


@cache
def _shape() -> re.Pattern[str]:
    return re.compile(
        rf" {{0,3}}(?:\#{{1,6}}[ \t]+)?(?P<bold>\*\*|__)?\[(?P<left>{_NAME})"
        rf"(?:{_DASH}(?P<right>{_NAME})(?:[ \t]*\((?P<role>[^()\[\]]{{1,64}})\))?)?\](?P<rest>.*)",
        re.ASCII,
    )


@cache
def _recipient() -> re.Pattern[str]:
    return re.compile(rf"\s*(?P<sign>@|to\s+@?)(?P<name>{_NAME})(?!['\w])", re.ASCII)


@cache
def _further() -> re.Pattern[str]:
    return re.compile(rf"(?:\s*,\s*@?|\s+@)(?P<name>{_NAME})(?!['\w])", re.ASCII)


@cache
def _session() -> re.Pattern[str]:
    # What stands alone behind `in` is meant as a session, also where no session can be called that.
    name = r"[a-z]+-[0-9a-f]{4,}(?![\w-])|[a-z]+-\w{4,}(?=[\s:.,]*$)"
    return re.compile(rf"[\s,]*\bin\s+(?P<session>{name})", re.ASCII)


def read_header(line: str, words: Vocabulary) -> Header | None:
    """Read one line; None where it is no header for these tags and names."""
    match = _shape().fullmatch(line.rstrip())
    if match is None:
        return None
    left, right, role, bold, rest = match.group("left", "right", "role", "bold", "rest")
    if bold:
        before, found, after = rest.partition(bold)
        if not found:
            return None
        rest = (before + after).rstrip()
    if rest and not (rest[0].isspace() or rest[0] in ":.,;!@\u2013\u2014-"):
        return None
    if right is None:
        if left in words.tags:
            return _addressed(Header(left, ""), rest, words.names)
        return _addressed(Header("", left), rest, words.names) if left in words.names else None
    if not _is_tag(left) or not (left in words.tags or right in words.names):
        return None
    return _addressed(Header(left, right, (role or "").strip()), rest, words.names)


def _is_tag(word: str) -> bool:
    return word.upper() == word and word[0].isalpha()


def _addressed(header: Header, rest: str, names: Collection[str]) -> Header:
    """Split what stands behind the bracket into an address, a session (in either order) and text."""
    before = _session().match(rest)
    text = rest[before.end() :] if before else rest
    to, text = _recipients(text, names)
    behind = None if before else _session().match(text)
    if behind:
        text = text[behind.end() :]
    session = before or behind
    name = session["session"] if session else ""
    return header._replace(to=to, session=name, rest=text.strip().lstrip(":,").strip())


def _recipients(text: str, names: Collection[str]) -> tuple[tuple[str, ...], str]:
    """Give whom a text is for, and what follows.

    Where words follow, `to` counts only with names that are known and a stop behind them: `to CX: look` is an
    address, `to be or not` is words. `@CX` always counts.
    """
    first = _recipient().match(text)
    if first is None:
        return (), text
    found = [first]
    while (more := _further().match(text, found[-1].end())) is not None:
        found.append(more)
    if _words_follow(text[found[-1].end() :]):
        while found and not _is_sure(found[-1], names):
            found.pop()
        behind = text[found[-1].end() :].lstrip() if found else ""
        if not found or (first["sign"] != "@" and behind[0] not in ":,;.!\u2013\u2014-"):
            return (), text
    return tuple(match["name"].rstrip(".") for match in found), text[found[-1].end() :]


def _words_follow(text: str) -> bool:
    return bool(text.strip().strip(".: \t")) and _session().match(text) is None


def _is_sure(match: re.Match[str], names: Collection[str]) -> bool:
    return "@" in match[0] or match["name"].rstrip(".") in names
