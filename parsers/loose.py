"""Loose text: what hands wrote between the frames, cut into blocks and prose.

A block by hand starts at a header line and ends at the next header or the end of its piece. A bare
`[DONE]`, `[INCOMPLETE]` or `[ACK]` belongs to the block above it; where none stands above, right
after a frame, it is a block of its own that names no author.
"""

from collections.abc import Iterator
from typing import NamedTuple

from .frames import OPEN, digest
from .headers import LETTERS, Header, Vocabulary, read_header
from .tokens import top_lines

_BOM = b"\xef\xbb\xbf"
_NOISE = (b"<!-- /moot", b"<!-- moot", b"<<<<<<< ", b">>>>>>> ", b"||||||| ")
_MOST_HASHED = 1 << 25  # bytes; a search that an honest ledger needs stays far below


class HandBlock(NamedTuple):
    """A block written by hand: byte offsets in the ledger, its header, its body, its text as it stands."""

    start: int
    end: int
    header: Header
    body: str
    text: bytes


class Prose(NamedTuple):
    """Text that stands under no header and so belongs to nobody."""

    start: int
    end: int
    text: bytes


def split_loose(text: bytes, base: int, words: Vocabulary) -> list[HandBlock | Prose]:
    """Cut loose text at offset `base` of the ledger into blocks and prose, in order; blank parts are left out.

    Markers of git conflicts and of frames that were cut are noise: no prose, and no end of a block. A byte
    order mark at the start of a line is none of it: `cat` brings one along from a file.
    """
    raw = text.split(b"\n")
    lines = [line.removeprefix("\ufeff") for line in text.decode("utf-8", "replace").split("\n")]
    offsets = _line_offsets(text)
    headers = list(_headers(lines, words))
    cuts = [*(number for number, _ in headers), len(lines)]
    found: list[HandBlock | Prose] = []
    if stop := _end_of_words(raw, 0, cuts[0]):
        first = next(number for number, line in enumerate(raw) if line.removeprefix(_BOM).strip())
        prose = text[offsets[first] : offsets[stop]].rstrip()
        found.append(Prose(base + offsets[first], base + offsets[first] + len(prose), prose))
    for (first, header), following in zip(headers, cuts[1:], strict=True):
        stop = _end_of_words(raw, first + 1, following)
        block = text[offsets[first] : offsets[stop]].rstrip()
        body = "\n".join([header.rest, *(line.rstrip("\r") for line in lines[first + 1 : stop])])
        start = base + offsets[first]
        found.append(HandBlock(start, start + len(block), header, body.strip("\n"), block))
    return found


def _end_of_words(lines: list[bytes], first: int, stop: int) -> int:
    """Give where the words among these lines end: behind the last one that is no noise."""
    while stop > first and _is_noise(lines[stop - 1]):
        stop -= 1
    return stop


def _headers(lines: list[str], words: Vocabulary) -> Iterator[tuple[int, Header]]:
    """Give the lines that begin a block: headers, less the bare tokens of a block above."""
    above = False
    for number, line in top_lines("\n".join(lines), read_open_fences=True):
        header = read_header(line, words)
        if header is None or (above and header.tag in LETTERS and not header.name):
            continue
        if header.tag in LETTERS and not header.name:
            header = header._replace(rest=line.strip())  # the token is what the block says
        above = True
        yield number, header


def _line_offsets(text: bytes) -> list[int]:
    """Give the byte offset of each line, and the end of the text as one more."""
    offsets = [0]
    at = -1
    while (at := text.find(b"\n", at + 1)) >= 0:
        offsets.append(at + 1)
    return [*offsets, len(text)]


def _is_noise(line: bytes) -> bool:
    line = line.removeprefix(_BOM).strip()
    cut = line.startswith(b"<!--") and OPEN.startswith(line)
    return cut or line in (b"", b"=======") or (line + b" ").startswith(_NOISE)


def pin(text: bytes) -> str:
    """Name a piece of loose text by its hash and its count of lines, trailing blanks and CRs aside.

    A ruling that adopts a block by hand holds this (`text=…/4`), so that anybody can find the text again.
    """
    lines = _plain_lines(text)
    while lines and not lines[-1]:
        lines.pop()
    first = next((number for number, line in enumerate(lines) if line), 0)
    return _pin(lines[first:]) if lines else ""


def _pin(lines: list[bytes]) -> str:
    return digest(b"\n".join(lines)) + f"/{len(lines)}"


def find_pinned(text: bytes, pinned: str) -> tuple[int, int] | None:
    """Find where in `text` the piece stands that `pin` named; None where it does not any more.

    A pinned piece begins with a header, or with the first word of the text. Where many lines of a long text
    could begin it, the search ends after some 32 MB, so that no text takes longer than a moment.
    """
    _, _, digits = pinned.partition("/")
    lines = _plain_lines(text)
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > len(str(len(lines))):
        return None
    count = max(1, int(digits))
    offsets = _line_offsets(text)
    hashed = 0
    first_word = next((number for number, line in enumerate(lines) if line), 0)
    for number in range(first_word, len(lines) - count + 1):
        if number > first_word and not lines[number].lstrip(b" \t#*_").startswith(b"["):
            continue
        stop = offsets[number + count]
        hashed += stop - offsets[number]
        if hashed > _MOST_HASHED + len(text):
            break
        if _pin(lines[number : number + count]) == pinned:
            return offsets[number], offsets[number] + len(text[offsets[number] : stop].rstrip())
    return None


def _plain_lines(text: bytes) -> list[bytes]:
    return [line.removeprefix(_BOM).rstrip() for line in text.split(b"\n")]
