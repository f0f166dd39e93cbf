"""What an inbox file promises to the agent that reads it: each block once, whole, whatever the file has become."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.bus.inboxes import Inboxes, copy
from moot.bus.messages import Message, from_frame
from moot.parsers.errors import StoreError
from moot.parsers.frames import TORN, Frame, Torn, scan
from moot.tests.bus.chains import id_of
from moot.tests.bus.processes import GIVE_UP_RIGHTS, children, public_folder


def message(number: int, body: str = "", **facts: str) -> Message:
    base = Message(
        id=id_of(number),
        at="2026-11-30T19:22:11.123Z",
        sender="CX",
        to=("CC", "GM"),
        session="peer-7f3a",
        re=id_of(0),
        header="[PEER_B - CX] to CC, GM",
        tag="PEER_B",
        role="",
        body=body or f"Body {number}.",
        origin="tool",
        start=0,
        end=0,
    )
    return base._replace(**facts)  # type: ignore[arg-type]


@pytest.fixture
def boxes(tmp_path: Path) -> Inboxes:
    return Inboxes(tmp_path / "inbox")


@pytest.fixture
def path(boxes: Inboxes) -> Path:
    path = boxes.path("CC")
    path.parent.mkdir()
    return path


def frames_in(path: Path) -> list[Frame]:
    return [piece for piece in scan(path.read_bytes()) if isinstance(piece, Frame)]


def ids_in(path: Path) -> list[str]:
    found = frames_in(path)
    assert not any(frame.edited for frame in found)
    return [frame.id for frame in found]


# Copies


def test_a_copy_is_a_frame_with_the_same_id_sender_session_header_and_body() -> None:
    sent = message(3, "Some *markdown*.\n\n- a\n- b\n")
    (frame,) = [piece for piece in scan(copy(sent, "CC")) if isinstance(piece, Frame)]
    assert not frame.edited
    read = from_frame(frame)
    assert read == sent._replace(to=("CC",), start=read.start, end=read.end)
    assert (frame.fact("prev"), frame.fact("gap")) == ("", "")


def test_the_copy_of_a_block_by_hand_that_names_nobody_has_a_sender_all_the_same() -> None:
    sent = message(3, sender="", header="", tag="", session="", re="", origin="hand")
    (frame,) = [piece for piece in scan(copy(sent, "CC")) if isinstance(piece, Frame)]
    assert (frame.fact("from"), frame.body) == ("?", sent.body.encode())


lines = st.sampled_from(
    [
        "", "text", "  ", "```", "~~~~", "<!-- moot v=1 id=X -->", "<!-- /moot torn -->", "<!-- /moot id=X -->",
        "\\<!-- moot", "<!--", "-->", "<script>", "---", "# head", "\r", "a\r\nb", "\u2028", "\x00", "\ufeff", "é",
        f"<!-- /moot id={id_of(3)} -->",
    ]
)  # fmt: skip


@given(st.lists(st.one_of(lines, st.text(max_size=5)), min_size=1).map("\n".join))
@settings(deadline=None)
def test_any_body_comes_out_of_its_copy_as_it_went_in_and_the_next_copy_too(body: str) -> None:
    body = body.encode("utf-8", "replace").decode()
    found = [
        piece
        for piece in scan(copy(message(3, body), "CC") + copy(message(4), "CC"))
        if isinstance(piece, Frame)
    ]
    assert [(frame.id, frame.edited) for frame in found] == [(id_of(3), False), (id_of(4), False)]
    assert found[0].body.decode() == (body or "Body 3.")


# Delivery


def test_messages_stand_in_the_file_in_the_order_in_which_they_came(boxes: Inboxes) -> None:
    boxes.deliver("CC", [message(1), message(2)])
    boxes.deliver("CC", [message(3)])
    assert ids_in(boxes.path("CC")) == [id_of(1), id_of(2), id_of(3)]
    assert [frame.fact("to") for frame in frames_in(boxes.path("CC"))] == ["CC"] * 3


def test_each_agent_has_a_file_of_its_own(boxes: Inboxes) -> None:
    boxes.deliver("CC", [message(1)])
    boxes.deliver("CX", [message(1)])
    assert ids_in(boxes.path("CC")) == ids_in(boxes.path("CX")) == [id_of(1)]


def test_nothing_to_deliver_writes_nothing(boxes: Inboxes) -> None:
    boxes.deliver("CC", [message(1)])
    before = boxes.path("CC").read_bytes()
    boxes.deliver("CC", [])
    boxes.deliver("CC", [message(1)])
    assert boxes.path("CC").read_bytes() == before


def test_a_delivery_that_was_cut_short_anywhere_brings_each_message_once(path: Path) -> None:
    boxes = Inboxes(path.parent)
    sent = [message(1), message(2)]
    every = b"".join(copy(one, "CC") for one in sent)
    before = copy(message(0), "CC")
    for size in range(len(every) + 1):
        path.write_bytes(before + every[:size])
        boxes.deliver("CC", sent)
        assert sorted(ids_in(path)) == [id_of(n) for n in range(3)], size
        boxes.deliver("CC", [message(3)])
        assert sorted(ids_in(path)) == [id_of(n) for n in range(4)], size


def test_a_torn_copy_that_is_longer_than_what_comes_now_is_closed(path: Path) -> None:
    boxes = Inboxes(path.parent)
    long = copy(message(1, "x" * 70 + "\n" + "a line\n" * 40_000), "CC")
    for end in (len(long) - 40, len(long) - 41):  # with a line end, and in the middle of a line
        path.write_bytes(long[:end])
        boxes.deliver("CC", [message(2)])
        assert ids_in(path) == [id_of(2)]
        torn = [piece for piece in scan(path.read_bytes()) if isinstance(piece, Torn)]
        assert [piece.open for piece in torn] == [False]
        assert torn[0].text.endswith(TORN)


def test_what_hands_wrote_into_the_file_is_left_there_and_brings_no_message_twice(path: Path) -> None:
    boxes = Inboxes(path.parent)
    boxes.deliver("CC", [message(1), message(2)])
    notes = b"my notes, without a line end " * 100
    path.write_bytes(path.read_bytes() + notes)
    boxes.deliver("CC", [message(1), message(2), message(3)])
    assert ids_in(path) == [id_of(1), id_of(2), id_of(3)]
    assert notes in path.read_bytes()


@pytest.mark.parametrize(
    "text", ["<!-- /moot id=ZZZZZZZZZZZZZZZZZZ -->", "<!-- /moot torn -->", "<!-- moot v=1 id="]
)
def test_a_marker_that_a_hand_wrote_keeps_no_message_away(path: Path, text: str) -> None:
    boxes = Inboxes(path.parent)
    boxes.deliver("CC", [message(1)])
    with path.open("a") as file:
        file.write(f"\n{text}\n")
    boxes.deliver("CC", [message(2)])
    boxes.deliver("CC", [message(3)])
    assert ids_in(path) == [id_of(1), id_of(2), id_of(3)]


def test_a_file_that_was_emptied_or_removed_gets_the_next_message(boxes: Inboxes) -> None:
    path = boxes.path("CC")
    boxes.deliver("CC", [message(1)])
    path.write_bytes(b"")
    boxes.deliver("CC", [message(2)])
    assert ids_in(path) == [id_of(2)]
    path.unlink()
    boxes.deliver("CC", [message(3)])
    assert ids_in(path) == [id_of(3)]


def test_a_delivery_reads_no_more_of_a_long_file_than_its_end(
    boxes: Inboxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes.deliver("CC", [message(n, "a line\n" * 1000) for n in range(100)])
    asked: list[int] = []
    pread = os.pread

    def counting(fd: int, length: int, offset: int) -> bytes:
        asked.append(length)
        return pread(fd, length, offset)

    monkeypatch.setattr(os, "pread", counting)
    boxes.deliver("CC", [message(100)])
    assert sum(asked) <= 64


# Something else stands there


def make_link(path: Path) -> None:
    (path.parent / "elsewhere").write_bytes(b"not ours\n")
    path.symlink_to(path.parent / "elsewhere")


def make_hard_link(path: Path) -> None:
    (path.parent / "elsewhere").write_bytes(b"not ours\n")
    path.hardlink_to(path.parent / "elsewhere")


def make_dangling(path: Path) -> None:
    path.symlink_to(path.parent / "gone")


STRANGE = {
    "link": make_link,
    "link to nothing": make_dangling,
    "hard link": make_hard_link,
    "pipe": os.mkfifo,
    "folder": os.mkdir,
}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
def test_what_is_no_file_of_its_own_is_one_line_and_is_not_followed(
    path: Path, make: Callable[[Path], None]
) -> None:
    make(path)
    with pytest.raises(StoreError) as caught:
        Inboxes(path.parent).deliver("CC", [message(1)])
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert not (path.parent / "gone").exists()
    if (path.parent / "elsewhere").exists():
        assert (path.parent / "elsewhere").read_bytes() == b"not ours\n"
    Inboxes(path.parent).deliver("CX", [message(1)])  # the others get theirs


def test_a_folder_that_is_a_link_or_a_file_is_one_line_and_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "link").symlink_to(elsewhere)
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    (tmp_path / "file").write_bytes(b"")
    for name in ("link", "dangling", "file"):
        with pytest.raises(StoreError, match=r"^cannot deliver to CC\.md: ") as caught:
            Inboxes(tmp_path / name).deliver("CC", [message(1)])
        assert "\n" not in str(caught.value)
    assert os.listdir(elsewhere) == []
    assert not (tmp_path / "gone").exists()


def test_a_file_or_a_folder_that_may_not_be_written_is_one_line() -> None:
    code = f"""
from moot.bus.inboxes import Inboxes
from moot.parsers.errors import StoreError
from moot.tests.bus.test_inboxes import message
{GIVE_UP_RIGHTS}
for name in ("CC", "CX"):
    try:
        Inboxes(Path(arguments[0])).deliver(name, [message(1)])
    except StoreError as error:
        say(error)
"""
    with public_folder() as folder:
        (folder / "CC.md").write_bytes(b"")
        (folder / "CC.md").chmod(0o444)
        folder.chmod(0o555)
        with children(code, (folder,)) as (child,):
            lines = child.end()
        assert [line.partition(":")[0] for line in lines] == [
            "cannot deliver to CC.md",
            "cannot deliver to CX.md",
        ]
        assert all("permission denied" in line for line in lines)
        assert os.listdir(folder) == ["CC.md"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_a_write_that_fails_at_any_call_is_one_line_and_the_next_delivery_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    boxes = Inboxes(path.parent)
    write = os.write
    sent = [message(1), message(2)]
    every = b"".join(copy(one, "CC") for one in sent)
    for last in range(1, len(every) // 50 + 2):
        path.unlink(missing_ok=True)
        calls = 0

        def fail_at_last(fd: int, data: bytes, last: int = last) -> int:
            nonlocal calls
            calls += 1
            if calls == last:
                raise OSError(code, "no")
            return write(fd, data[:50])

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", fail_at_last)
            with pytest.raises(StoreError, match=r"^cannot deliver to CC\.md: ") as caught:
                boxes.deliver("CC", sent)
        assert "\n" not in str(caught.value)
        boxes.deliver("CC", [*sent, message(3)])
        assert sorted(ids_in(path)) == [id_of(1), id_of(2), id_of(3)]


def test_short_writes_lose_nothing(boxes: Inboxes, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    boxes.deliver("CC", [message(1), message(2)])
    assert ids_in(boxes.path("CC")) == [id_of(1), id_of(2)]
