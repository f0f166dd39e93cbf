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


@cache
def _shape() -> re.Pattern[str]:
    return re.compile(
        r" {0,3}(?:\#{1,6}[ \t]+)?(?P<bold>\*\*|__)?"
        r"\[(?P<left>[A-Za-z0-9][\w.-]*)"
        r"(?:[ \t]+[-\u2013\u2014][ \t]+(?P<right>[A-Za-z0-9][\w.-]*)(?:[ \t]*\((?P<role>[^()\[\]]+)\))?)?\]"
        r"(?(bold)(?:\*\*|__))"
        r"(?P<rest>(?:[\s:.,;!@\u2013\u2014-].*)?)",
        re.ASCII,
    )


@cache
def _address() -> re.Pattern[str]:
    name = r"[A-Za-z0-9][\w.-]*"
    return re.compile(
        rf"\s*(?:(?:(?P<sign>@)|to\s+@?)(?P<to>{name}(?:\s*,\s*@?{name})*))?"
        r"(?:\s*\bin\s+(?P<session>[a-z]+-[0-9a-f]{4,}))?(?P<rest>.*)",
        re.ASCII,
    )


def read_header(line: str, words: Vocabulary) -> Header | None:
    """Read one line; None where it is no header for these tags and names."""
    match = _shape().fullmatch(line.rstrip())
    if match is None:
        return None
    left, right, role, rest = match.group("left", "right", "role", "rest")
    if right is None:
        if left in words.tags:
            return _addressed(left, "", "", rest)
        return _addressed("", left, "", rest) if left in words.names else None
    if not _is_tag(left) or not (left in words.tags or right in words.names):
        return None
    return _addressed(left, right, (role or "").strip(), rest)


def _is_tag(word: str) -> bool:
    return word.upper() == word and word[:1].isalpha()


def _addressed(tag: str, name: str, role: str, rest: str) -> Header:
    """Split what stands behind the bracket into an address, a session and text."""
    match = _address().fullmatch(rest)
    assert match is not None
    to, session, text = match.group("to") or "", match.group("session") or "", match.group("rest")
    if to and not match.group("sign") and not session and text.strip(" .:"):
        return Header(tag, name, role, rest=rest.strip())  # "to be or not": words, no address
    names = tuple(part.strip(" @").rstrip(".") for part in to.split(",")) if to else ()
    return Header(tag, name, role, names, session, text.strip().lstrip(":").strip())
