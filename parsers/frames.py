"""The block format: frames between markers, and what stands between them.

Frames come before markdown. The reader looks for markers at line starts and jumps over a body whose
count and hash fit, so that nothing in a body can hide, split or forge another block. A line ends at
LF and nowhere else; every other byte is data.

    <!-- moot v=1 id=… at=… from=CC to=CX in=peer-7f3a bytes=212 sha=… prev=… gap=… -->
    ### [PEER_A - CC] to CX
                                        the counted bytes: header line, blank line, body
    Any markdown.

    <!-- /moot id=… -->

A frame runs from the `<` of its first marker to the `>` of its last. `sha` is over the first marker
without the `sha` fact, a LF and the counted bytes; `prev` is the hash of the whole frame before;
`gap` that of the loose text between, as `gap_hash` reads it. All are the first 32 hexadecimal digits
of a SHA-256.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .ids import is_id

OPEN = b"<!-- moot v=1 "
CLOSE = b"<!-- /moot id="
TORN = b"<!-- /moot torn -->"
HASH_DIGITS = 32
_MARKER = b"<!-- "
_HTML_CLOSERS = (b"-->", b"?>", b"]]>", b"</script>", b"</pre>", b"</style>", b"</textarea>")
_BOM = b"\xef\xbb\xbf"
_FACTS = ("id", "at", "from", "to", "in", "re", "ruling", "next", "by", "text", "bytes", "sha", "prev", "gap")


class Frame(NamedTuple):
    """One block as it stands in a file; `start` and `end` are byte offsets there."""

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


def gap_hash(text: bytes) -> str:
    """Hash loose text, less what formatters change (trailing blanks, CRs, blank lines); "" for none."""
    lines = [line.rstrip() for line in text.removeprefix(_BOM).split(b"\n")]
    kept = b"\n".join(line for line in lines if line)
    return digest(kept) if kept else ""


def escape(body: bytes) -> bytes:
    """Put a backslash before each line that looks like a marker of ours."""
    if _MARKER not in body:
        return body
    return re.sub(rb"(?m)^(\\*<!-- /?moot)", rb"\\\1", body)


def unescape(body: bytes) -> bytes:
    """Undo `escape`."""
    if _MARKER not in body:
        return body
    return re.sub(rb"(?m)^\\(\\*<!-- /?moot)", rb"\1", body)


def render(facts: Mapping[str, str], content: bytes, closer: bytes = b"") -> bytes:
    """Write a frame: `facts` without bytes and sha, the counted `content`, a `closer` line if one is due."""
    stamped = {**facts, "bytes": str(len(content))}
    stamped["sha"] = digest(_marker(stamped) + b"\n" + content)
    return _marker(stamped) + b"\n" + content + _tail(content, closer, facts["id"])


def _marker(facts: Mapping[str, str]) -> bytes:
    words = " ".join(f"{key}={facts[key]}" for key in _FACTS if facts.get(key))
    return OPEN + words.encode() + b" -->"


def _tail(content: bytes, closer: bytes, block_id: str) -> bytes:
    line_end = b"" if content.endswith(b"\n") else b"\n"
    closing_line = closer + b"\n" if closer else b""
    return line_end + closing_line + b"\n" + CLOSE + block_id.encode() + b" -->"


def scan(data: bytes, base: int = 0) -> Iterator[Piece]:
    """Cut `data`, which stands at offset `base` of its file, into pieces that add up to it.

    Never raises. The last piece is an open `Torn` where a frame has begun and not ended.
    """
    at = done = 0
    while (at := _next_marker(data, at)) >= 0:
        piece = _frame_at(data, at, base)
        if piece is None:
            at += len(_MARKER)
            continue
        if at > done:
            yield Loose(base + done, base + at, data[done:at])
        yield piece
        at = done = piece.end - base
    if done < len(data):
        yield Loose(base + done, base + len(data), data[done:])


def _next_marker(data: bytes, at: int) -> int:
    """Find the next line that opens a frame, at or after `at`; -1 where there is none."""
    while (at := data.find(OPEN.rstrip(), at)) >= 0:
        if at == 0 or data[at - 1 : at] == b"\n" or (at == len(_BOM) and data.startswith(_BOM)):
            return at
        at += 1
    return -1


def _frame_at(data: bytes, at: int, base: int) -> Frame | Torn | None:
    """Read the frame that opens at `at`; None where the line is no marker at all."""
    line_end = data.find(b"\n", at)
    if line_end < 0:
        return Torn(base + at, base + len(data), data[at:], open=True)
    facts = _facts(data[at:line_end])
    if facts is None:  # a marker line that was itself cut short, or somebody's own words
        cut = data.startswith(TORN, line_end + 1)
        return _torn(data, at, line_end, base) if cut else None
    frame = _exact(data, at, line_end, base, facts)
    return frame or _by_end_marker(data, at, line_end, base, facts)


def _facts(marker: bytes) -> dict[str, str] | None:
    words = marker.rstrip(b"\r").decode("utf-8", "replace").split(" ")
    if len(words) < 4 or words[-1] != "-->":
        return None
    facts = {}
    for word in words[3:-1]:
        key, equals, value = word.partition("=")
        if not equals or not value or key in facts:
            return None
        facts[key] = value
    well_formed = is_id(facts.get("id", "")) and facts.get("from") and facts.get("bytes", "").isdecimal()
    return facts if well_formed else None


def _exact(data: bytes, at: int, line_end: int, base: int, facts: dict[str, str]) -> Frame | None:
    """Jump over the counted bytes: the frame as it was written, or None."""
    start = line_end + 1
    stop = start + int(facts["bytes"][:12])
    content = data[start:stop]
    end_marker = CLOSE + facts["id"].encode() + b" -->"
    tail = _tail(content, b"", facts["id"])
    end = stop + len(tail)
    if not data.startswith(tail, stop):
        found = data.find(b"\n" + end_marker, stop, stop + 4096)
        if found < 0 or b"\n" + _MARKER in data[stop:found]:
            return None
        closer = data[stop : found + 1].removeprefix(b"" if content.endswith(b"\n") else b"\n")
        end = found + 1 + len(end_marker)
        if not _is_closer(closer.removesuffix(b"\n\n").removesuffix(b"\n")):
            return None
    bare = data[at:line_end].replace(b" sha=" + facts.get("sha", "").encode(), b"", 1)
    edited = facts.get("sha") != digest(bare + b"\n" + content)
    return None if edited else Frame(base + at, base + end, facts, content, digest(data[at:end]))


def _is_closer(line: bytes) -> bool:
    """Tell whether `line` is what a writer adds to end an open fence or HTML block."""
    return line in _HTML_CLOSERS or (len(line) >= 3 and line.strip(line[:1]) == b"" and line[:1] in b"`~")


def _by_end_marker(data: bytes, at: int, line_end: int, base: int, facts: dict[str, str]) -> Frame | Torn:
    """Find the end of a frame that does not fit its count: one edited by hand, or cut short."""
    end_marker = b"\n" + CLOSE + facts["id"].encode() + b" -->"
    other = _next_marker(data, line_end)  # never read across it: a cut frame must not swallow a whole one
    found = data.find(end_marker, line_end, other if other >= 0 else len(data))
    if found < 0 or data.find(b"\n" + TORN, line_end, found) >= 0:
        return _torn(data, at, line_end, base)
    end = found + len(end_marker)
    raw = data[at:end]
    if b"\r\n" in raw:
        unix = raw.replace(b"\r\n", b"\n")
        same = _exact(unix, 0, unix.index(b"\n"), 0, facts)
        if same is not None and same.end == len(unix):
            return same._replace(start=base + at, end=base + end)
    content = data[line_end + 1 : found].removesuffix(b"\r").removesuffix(b"\n")
    return Frame(base + at, base + end, facts, content, digest(raw), edited=True)


def _torn(data: bytes, at: int, line_end: int, base: int) -> Torn:
    """Give the cut frame up to the marker that closes it, the next frame, or the end of the data."""
    other = _next_marker(data, line_end)
    end = other if other >= 0 else len(data)
    closed = data.find(b"\n" + TORN, at, end)
    if closed >= 0:
        end = closed + 1 + len(TORN)
    return Torn(base + at, base + end, data[at:end], open=closed < 0 and other < 0)
