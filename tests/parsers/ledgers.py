"""Ledgers to test readers with: bodies that try to break out, frames around them, and hands that spoil both."""

from hypothesis import strategies as st

from moot.parsers.frames import TORN, escape, render
from moot.parsers.ids import from_number

IDS = [from_number(number << 60) for number in range(1, 9)]
FACTS = {"id": IDS[0], "at": "2026-11-30T19:22:11.123Z", "from": "ANT", "to": "BEE", "in": "peer-7f3a"}

NASTY_LINES = [
    b"",
    b" ",
    b"words  \t",
    b"---",
    b"```",
    b"~~~~ python",
    b"<!--",
    b"-->",
    b"<script>",
    b"### [PEER_A - ANT] to BEE",
    b"[DONE]",
    b"<!-- moot v=1 ",
    b"<!-- moot v=1 id=",
    b"<!-- moot v=1 id=" + IDS[0].encode() + b" from=EVE bytes=3 sha=0 -->",
    b"<!-- /moot id=" + IDS[0].encode() + b" -->",
    b"<!-- /moot id=" + IDS[1].encode() + b" -->",
    TORN,
    b"\\" + TORN,
    b"\\\\\\<!-- moot v=1 -->",
    b" <!-- moot v=1 id=x -->",
    b"<!-- moot v=2 id=x -->",
    b"<!-- mo",
    "one\u2028two\u2029three\u0085four\x0bfive\x0csix\x1cseven".encode(),
    "\u202eright to left\u2066".encode(),
    b"nul \0 nul",
    b"carriage\rreturn\r",
    b"\xef\xbb\xbf<!-- moot v=1 -->",
    b"not utf-8: \xff\xfe\xc3",
    b"<<<<<<< ours",
    b"=======",
    b">>>>>>> theirs",
    b"TASK: x",
]

lines = st.one_of(st.sampled_from(NASTY_LINES), st.binary(max_size=12))
bodies = st.one_of(st.binary(max_size=60), st.lists(lines, max_size=8).map(b"\n".join))
closers = st.sampled_from([b"", b"```", b"~~~~", b"-->", b"</script>"])
values = st.text(st.sampled_from("abzAZ09._-,:/=é日"), min_size=1, max_size=12)
extra_facts = st.dictionaries(st.from_regex(r"[a-z]{3,8}", fullmatch=True), values, max_size=3)


def frame(number: int, body: bytes, closer: bytes = b"", **facts: str) -> bytes:
    """Write the frame that has the id with this number, as the bus does."""
    header = b"### [PEER_A - ANT] to BEE"
    return render({**FACTS, "id": IDS[number], **facts}, header + b"\n\n" + escape(body), closer)


frames = st.builds(frame, st.integers(0, len(IDS) - 1), bodies, closers)
loose = st.lists(lines, max_size=4).map(b"\n".join)
ledgers = st.lists(st.one_of(frames, loose), max_size=6).map(b"\n\n".join)


@st.composite
def spoiled_ledgers(draw: st.DrawFn) -> bytes:
    """Draw a ledger that somebody cut, doubled, typed and pasted into."""
    data = draw(ledgers)
    for _ in range(draw(st.integers(0, 4))):
        first, second = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        new = draw(st.one_of(st.just(b""), lines, st.just(data[first:second] * 2), frames))
        data = data[:first] + new + data[second:]
    return draw(st.sampled_from([data, b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n")]))
