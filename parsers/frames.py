"""The block format: frames between markers, and what stands between them.

Frames come before markdown. The reader looks for markers at line starts and takes what stands between
two of them as bytes, so that nothing in a body can hide, split or forge another block. A line ends at
LF and nowhere else; every other byte is data.

    <!-- moot v=1 id=… at=… from=CC to=CX in=peer-7f3a bytes=212 sha=… prev=… gap=… -->
    ### [PEER_A - CC] to CX
                                        the counted bytes: header line, blank line, body
    Any markdown.

    <!-- /moot id=… -->

A frame runs from the `<` of its first marker to the `>` of its last. `sha` is over all of it up to the
last marker, less the `sha` fact; `prev` is the hash of the whole frame before; `gap` that of the loose
text between, as `gap_hash` reads it. All are the first 32 hexadecimal digits of a SHA-256, and see no
blanks and CRs at line ends, which formatters change.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .ids import LATEST_TIME, is_id

OPEN = b"<!-- moot v=1 "
CLOSE = b"<!-- /moot id="
TORN = b"<!-- /moot torn -->"
HASH_DIGITS = 32
_COMMENT = b"<!--"
_BOM = b"\xef\xbb\xbf"
_FIRST_FACTS = ("id", "at", "from", "to", "in", "re")
_LAST_FACTS = ("bytes", "sha", "prev", "gap")


class Frame(NamedTuple):
    """One block as it stands in a file; `start` and `end` are byte offsets there.

    `content` is header line, blank line and escaped body. `edited` says that it is not what was written.
    """

    start: int
    end: int
    facts: Mapping[str, str]
    content: bytes
    hash: str
    edited: bool = False

    @property
    def id(self) -> str:
        """The block's id."""
        return self.facts["id"]

    def fact(self, key: str) -> str:
        """One stamped fact, or the empty string."""
        return self.facts.get(key, "")

    @property
    def header(self) -> str:
        """The header line, without the heading's number signs."""
        return self.content.split(b"\n", 1)[0].decode("utf-8", "replace").lstrip("#").strip()

    @property
    def body(self) -> bytes:
        """The body as its sender gave it."""
        _, _, rest = self.content.partition(b"\n")
        return unescape(rest.removeprefix(b"\n"))


class Loose(NamedTuple):
    """Text between frames: hand-written blocks, prose, noise."""

    start: int
    end: int
    text: bytes


class Torn(NamedTuple):
    """The beginning of a frame whose writer died; `open` while it may still be in the making."""

    start: int
    end: int
    text: bytes
    open: bool


Piece = Frame | Loose | Torn


def digest(data: bytes) -> str:
    """Hash bytes as markers hold it: the first 128 bits of their SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()[:HASH_DIGITS]


def frame_hash(raw: bytes) -> str:
    """Hash a whole frame, as the `prev` of the next one does: blanks and CRs at line ends do not count."""
    return digest(_plain(raw))


def gap_hash(text: bytes) -> str:
    """Hash loose text, less what formatters change (trailing blanks, CRs, blank lines); "" for none."""
    lines = [line.rstrip() for line in text.removeprefix(_BOM).split(b"\n")]
    kept = b"\n".join(line for line in lines if line)
    return digest(kept) if kept else ""


def _plain(text: bytes) -> bytes:
    return b"\n".join(line.rstrip() for line in text.split(b"\n"))


def escape(body: bytes) -> bytes:
    """Put a backslash before each line that looks like a marker of ours."""
    if _COMMENT not in body:
        return body
    return re.sub(rb"(?m)^(\\*<!-- /?moot)", rb"\\\1", body)


def unescape(body: bytes) -> bytes:
    """Undo `escape`."""
    if _COMMENT not in body:
        return body
    return re.sub(rb"(?m)^\\(\\*<!-- /?moot)", rb"\1", body)


def render(facts: Mapping[str, str], content: bytes, closer: bytes = b"") -> bytes:
    """Write a frame: `facts` without bytes and sha, the counted `content`, a `closer` line if one is due.

    Facts without a value are left out. Raises ValueError for what would not be read again: no id or sender,
    a blank or control character in a fact, a line in `content` that looks like a marker (`escape` it).
    """
    stamped = {key: value for key, value in facts.items() if value and key != "sha"}
    stamped["bytes"] = str(len(content))
    lines = content + (b"" if content.endswith(b"\n") else b"\n") + (closer + b"\n" if closer else b"")
    if b"\n" in closer or (_COMMENT in lines and re.search(rb"(?m)^<!-- /?moot", lines)):
        raise ValueError("a line of the content looks like a marker")
    text = lines + b"\n"
    stamped["sha"] = digest(_marker(stamped) + b"\n" + _plain(text))
    marker = _marker(stamped)
    if _facts(marker) != stamped:
        raise ValueError(f"facts that no reader could read: {facts}")
    return marker + b"\n" + text + CLOSE + stamped["id"].encode() + b" -->"


def _marker(facts: Mapping[str, str]) -> bytes:
    between = [key for key in facts if key not in _FIRST_FACTS + _LAST_FACTS]
    words = [f"{key}={facts[key]}" for key in (*_FIRST_FACTS, *between, *_LAST_FACTS) if key in facts]
    return OPEN + " ".join(words).encode("utf-8", "replace") + b" -->"


def _facts(marker: bytes) -> dict[str, str] | None:
    """Read a first marker; None where it is cut, or somebody's own words."""
    *words, end = marker.removeprefix(OPEN).rstrip().decode("utf-8", "replace").split(" ")
    facts = {}
    for word in words:
        key, _, value = word.partition("=")
        if not (key.isidentifier() and value.isprintable() and value) or ">" in value or key in facts:
            return None
        facts[key] = value
    block_id = facts.get("id", "")
    is_ours = is_id(block_id) and block_id < LATEST_TIME and "from" in facts
    return facts if end == "-->" and is_ours else None


def scan(data: bytes, base: int = 0) -> Iterator[Piece]:
    """Cut `data`, which stands at offset `base` of its file, into pieces that add up to it.

    Never raises, and takes time in proportion to the data, whatever that is. A marker counts at the start
    of a line, or right behind a piece. The last piece is an open `Torn` where a frame has begun and not ended.
    """
    done = 0
    at = len(_BOM) if base == 0 and data.startswith(_BOM) else 0
    at = at if data.startswith(_COMMENT, at) else _next_comment(data, at)
    while at >= 0:
        piece = _piece_at(data, at, base)
        if piece is None:
            at = _next_comment(data, at)
            continue
        if at > done:
            yield Loose(base + done, base + at, data[done:at])
        yield piece
        done = piece.end - base
        at = done if data.startswith(_COMMENT, done) else _next_comment(data, done)
    if done < len(data):
        yield Loose(base + done, base + len(data), data[done:])


def _next_comment(data: bytes, at: int) -> int:
    """Find the next line behind `at` that begins a comment; -1 where there is none."""
    return data.find(b"\n" + _COMMENT, at) + 1 or -1


def _line_at(data: bytes, at: int) -> bytes:
    end = data.find(b"\n", at)
    return data[at : end if end >= 0 else len(data)]


def _piece_at(data: bytes, at: int, base: int) -> Frame | Torn | None:
    """Read the frame, whole or cut, that begins at `at`; None where the line is no marker of ours."""
    line = _line_at(data, at)
    below = at + len(line) + 1
    facts = _facts(line) if line.startswith(OPEN) else None
    if facts is not None and below <= len(data):
        return _frame_at(data, at, below, base, facts)
    if facts is None and not _is_cut(line.rstrip()):
        return None
    if below > len(data):
        return Torn(base + at, base + len(data), data[at:], open=True)
    if data.startswith(TORN, below):
        end = below + len(TORN)
        return Torn(base + at, base + end, data[at:end], open=False)
    return None


def _is_cut(marker: bytes) -> bool:
    """Tell whether this may be the beginning of a first marker, and is not all of one."""
    return OPEN.startswith(marker) or (marker.startswith(OPEN) and not marker.endswith(b"-->"))


def _frame_at(data: bytes, at: int, below: int, base: int, facts: dict[str, str]) -> Frame | Torn:
    """Read on `below` a first marker: to the last marker of the same id, or to what shows that none will come.

    Never across another frame or a torn marker, so that a cut frame swallows nothing.
    """
    last_marker = CLOSE + facts["id"].encode() + b" -->"
    place = below - 1
    while (place := _next_comment(data, place)) >= 0:
        if data.startswith(last_marker, place):
            end = place + len(last_marker)
            return _frame(data[at:end], below - at, place - at, base + at, facts)
        if data.startswith(TORN, place):
            end = place + len(TORN)
            return Torn(base + at, base + end, data[at:end], open=False)
        if data.startswith(OPEN, place) and _facts(_line_at(data, place)):
            return Torn(base + at, base + place, data[at:place], open=False)
    return Torn(base + at, base + len(data), data[at:], open=True)


def _frame(raw: bytes, below: int, last: int, start: int, facts: dict[str, str]) -> Frame:
    """Make a frame of its bytes; its text stands between the offsets `below` and `last`."""
    marker, text = raw[: below - 1], raw[below:last]
    sha = facts.get("sha", "")
    bare = marker.rstrip().replace(f" sha={sha}".encode(), b"", 1)
    edited = sha != digest(bare + b"\n" + _plain(text))
    if marker.endswith(b"\r"):
        text = text.replace(b"\r\n", b"\n")  # the whole file was rewritten with CRLF
    whole = text.removesuffix(b"\n").removesuffix(b"\n")
    content = whole if edited else _counted(text, facts.get("bytes", "")) or whole
    return Frame(start, start + len(raw), facts, content, frame_hash(raw), edited)


def _counted(text: bytes, count: str) -> bytes:
    """Give the counted bytes of an unedited frame's text; none where the count is wrong, or was made wrong."""
    size = int(count) if count.isascii() and count.isdecimal() and len(count) < HASH_DIGITS else len(text)
    content, tail = text[:size], text[size:]
    own_line = content.endswith(b"\n") or tail.startswith(b"\n")
    closer = tail.strip(b"\n")
    return content if own_line and tail.endswith(b"\n") and b"\n" not in closer else b""
