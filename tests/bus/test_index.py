"""What the index promises: whole or nothing, for several processes at once, and a damaged file costs little."""

import errno
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moot.bus.index import Index, now, stamp_of
from moot.bus.rows import BlockRow, Mail, Saved, SessionRow
from moot.parsers.errors import StoreError
from moot.tests.bus.processes import GIVE_UP_RIGHTS, children, public_folder

EMPTY = Saved(0, {}, [])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


@pytest.fixture
def index(path: Path) -> Iterator[Index]:
    index = Index(path)
    yield index
    index.close()


@pytest.fixture
def reader(path: Path) -> Iterator[Index]:
    reader = Index(path, read_only=True)
    yield reader
    reader.close()


def session(name: str, n: int, *, is_open: bool = True) -> SessionRow:
    return SessionRow(name, n, is_open, {"n": n, "of": ["é", None]})


def fill(index: Index) -> None:
    """Save one of each."""
    with index.changing():
        index.add_blocks([BlockRow("A1", 0, 10), BlockRow("A2", 11, 20, "CX"), BlockRow("B1", 40, 5)])
        index.add_mail([Mail("CC", "A1", "peer-1"), Mail("CX", "A1"), Mail("CC", "B1"), Mail("CC", "A2")])
        index.save(1, {"head": ["B1"]}, [session("peer-2", 2), session("peer-1", 1), session("peer-0", 0)])


# What is kept


def test_an_index_begins_empty(index: Index) -> None:
    assert index.load() == EMPTY
    assert index.cursor() == (0, {})
    assert (index.count_blocks(), index.has_mail(), index.sessions()) == (0, False, [])
    assert (index.block("A1"), index.session("peer-1"), index.unread("CC")) == (None, None, [])


def test_what_was_saved_is_there_for_the_next_process(index: Index, path: Path) -> None:
    fill(index)
    index.close()
    other = Index(path)
    saved = other.load()
    assert saved == Saved(
        1, {"head": ["B1"]}, [session("peer-0", 0), session("peer-1", 1), session("peer-2", 2)]
    )
    assert other.cursor() == (1, {"head": ["B1"]})
    assert other.count_blocks() == 3
    assert (other.block("A1"), other.block("A2")) == (BlockRow("A1", 0, 10), BlockRow("A2", 11, 20, "CX"))
    other.close()


def test_a_closed_session_is_kept_and_is_not_among_the_open_ones(index: Index) -> None:
    fill(index)
    with index.changing():
        index.save(2, {}, [session("peer-1", 1, is_open=False)])
    assert [row.id for row in index.load().sessions] == ["peer-0", "peer-2"]
    assert [row.id for row in index.sessions()] == ["peer-0", "peer-1", "peer-2"]
    assert index.session("peer-1") == session("peer-1", 1, is_open=False)


def test_ids_are_found_by_their_beginning_in_order(index: Index) -> None:
    fill(index)
    assert index.ids_like("A") == ["A1", "A2"]
    assert index.ids_like("A2") == ["A2"]
    assert index.ids_like("") == ["A1", "A2", "B1"]
    assert index.ids_like("", limit=1) == ["A1"]
    assert index.ids_like("Z") == index.ids_like("%") == index.ids_like("A_") == []


# Receipts


def test_mail_is_unread_until_it_is_marked_and_comes_oldest_first(index: Index) -> None:
    fill(index)
    assert [mail.id for mail in index.unread("CC")] == ["A1", "A2", "B1"]
    assert [mail.id for mail in index.unread("CC", limit=2)] == ["A1", "A2"]
    assert index.unread("GM") == []
    with index.changing():
        index.mark_read("CC", ["A2", "A1", "unknown"])
    assert [mail.id for mail in index.unread("CC")] == ["B1"]
    assert [mail.id for mail in index.unread("CX")] == ["A1"]
    assert [bool(mail.read_at) for mail in index.mail("CC")] == [True, True, False]


def test_the_first_time_of_each_receipt_stays(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in ("first", "later"):
        monkeypatch.setattr("moot.bus.index.now", lambda at=at: at)
        with index.changing():
            index.add_mail([Mail("CC", "A1", "peer-1")])
            index.mark_read("CC", ["A1"])
            index.mark_acknowledged("CC", "A1", f"acknowledged {at}")
    assert index.receipts("A1") == [Mail("CC", "A1", "peer-1", "first", "acknowledged first", "first")]


def test_what_was_acknowledged_was_read(index: Index) -> None:
    fill(index)
    with index.changing():
        index.mark_acknowledged("CC", "A1", "then")
        index.mark_acknowledged("GM", "A1", "then")  # was never sent to GM: nothing to mark
    first, second = index.receipts("A1")
    assert (first.agent, first.read_at, first.acknowledged_at) == ("CC", "then", "then")
    assert (second.agent, second.read_at, second.acknowledged_at) == ("CX", "", "")
    assert "A1" not in [mail.id for mail in index.unread("CC")]


def test_mail_that_was_read_before_it_was_noted_is_kept_as_read(index: Index) -> None:
    with index.changing():
        index.add_mail([Mail("CC", "A1", read_at="then", notified_at="before")])
    assert index.unread("CC") == []
    assert index.mail("CC") == [Mail("CC", "A1", "", "then", "", "before")]


@pytest.mark.parametrize("limit", [-1, 1])
def test_unread_mail_is_found_without_looking_at_what_was_read(
    index: Index, path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    fill(index)
    asked: list[str] = []
    index._db.set_trace_callback(asked.append)
    index.unread("CC", limit)
    index._db.set_trace_callback(None)
    with_values = sqlite3.connect(path)
    (plan,) = with_values.execute(f"explain query plan {asked[0]}")
    with_values.close()
    assert plan[3] == "SEARCH mail USING INDEX mail_unread (agent=?)"


# Whole or nothing


def change_and_fail(index: Index, failure: BaseException) -> None:
    with index.changing():
        index.add_blocks([BlockRow("C1", 0, 0)])
        index.mark_read("CC", ["A1"])
        index.save(9, {}, [])
        raise failure


def test_a_change_that_fails_leaves_nothing(index: Index, reader: Index) -> None:
    fill(index)
    for failure in (ZeroDivisionError(), KeyboardInterrupt(), StoreError("no")):
        with pytest.raises((ZeroDivisionError, KeyboardInterrupt, StoreError)):
            change_and_fail(index, failure)
    assert (index.count_blocks(), index.cursor()[0], len(index.unread("CC"))) == (3, 1, 3)
    assert (reader.count_blocks(), reader.cursor()[0], len(reader.unread("CC"))) == (3, 1, 3)


def test_a_reader_sees_nothing_of_a_change_before_its_end(index: Index, reader: Index) -> None:
    fill(index)
    with index.changing():
        index.save(2, {}, [])
        assert (index.cursor()[0], reader.cursor()[0]) == (2, 1)
    assert reader.cursor()[0] == 2


def test_a_full_disk_at_any_moment_is_one_line_and_the_next_change_works(index: Index) -> None:
    fill(index)
    pages = index._rows("pragma page_count")[0][0]
    for room in range(7):  # so many pages are free, and 30,000 bytes need one more
        index._rows(f"pragma max_page_count = {pages + room}")
        with pytest.raises(StoreError, match="disk is full") as caught, index.changing():
            index.save(2, {"text": "x" * 30_000}, [session("peer-9", 9)])
        assert "\n" not in str(caught.value)
        assert index.cursor()[0] == 1
        assert index.session("peer-9") is None
    index._rows(f"pragma max_page_count = {pages + 7}")
    with index.changing():
        index.save(2, {"text": "x" * 30_000}, [session("peer-9", 9)])
    assert index.cursor()[0] == 2


def test_a_change_whose_end_fails_is_taken_back(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(index)

    class Failing:
        """A connection that cannot commit the first time."""

        def __init__(self, db: sqlite3.Connection) -> None:
            self.db, self.left = db, 1

        def execute(self, query: str, values: tuple[str | int, ...] = ()) -> sqlite3.Cursor:
            if query == "commit" and self.left:
                self.left -= 1
                raise sqlite3.OperationalError("disk I/O error")
            return self.db.execute(query, values)

        def __getattr__(self, name: str) -> object:
            return getattr(self.db, name)

    monkeypatch.setattr(index, "_opened", Failing(index._db))
    with pytest.raises(StoreError, match="disk I/O error"), index.changing():
        index.save(2, {}, [])
    with index.changing():
        assert index.cursor()[0] == 1
        index.save(2, {}, [])
    assert index.cursor()[0] == 2


def test_processes_that_save_at_once_lose_nothing(index: Index, path: Path) -> None:
    code = """
from moot.bus.index import Index
from moot.bus.rows import BlockRow, Mail, SessionRow
path, name = arguments
index = Index(Path(path))
say("ready")
hear()
for n in range(50):
    with index.changing():  # the first of these makes the file: all begin at once
        version, _ = index.cursor()
        index.add_blocks([BlockRow(f"{name}{n}", 0, 0)])
        index.add_mail([Mail(name, f"{name}{n}")])
        index.save(version + 1, {"by": name}, [SessionRow(f"s{name}", version, True, {})])
"""
    with children(code, *[(path, name) for name in "abcdef"]) as started:
        assert [child.hear() for child in started] == ["ready"] * 6
        for child in started:
            child.tell()
        for child in started:
            child.end()
    assert index.count_blocks() == index.cursor()[0] == 300
    assert [len(index.unread(name)) for name in "abcdef"] == [50] * 6
    assert len(index.load().sessions) == 6


def test_the_cursor_and_the_sessions_that_are_loaded_were_saved_together(index: Index, path: Path) -> None:
    code = """
from moot.bus.index import Index
from moot.bus.rows import SessionRow
index = Index(Path(arguments[0]))
version = 0
while True:
    version += 1
    with index.changing():
        index.save(version, {}, [SessionRow("peer-1", 1, True, {"version": version})])
    if version == 1:
        say("saving")
"""
    with children(code, (path,)) as (child,):
        assert child.hear() == "saving"
        seen: set[int] = set()
        while len(seen) < 300:
            saved = index.load()
            assert saved.version == saved.sessions[0].data["version"]
            seen.add(saved.version)
        child.kill()
    assert index.load().version == index.load().sessions[0].data["version"]


def test_a_process_killed_in_the_middle_of_a_change_leaves_what_was_before(index: Index, path: Path) -> None:
    fill(index)
    code = """
from moot.bus.index import Index
from moot.bus.rows import BlockRow
index = Index(Path(arguments[0]))
with index.changing():
    index.add_blocks([BlockRow("C1", 0, 0)])
    index.save(2, {}, [])
    say("half-way")
    hear()
"""
    with children(code, (path,)) as (child,):
        assert child.hear() == "half-way"
        child.kill()
    assert (index.cursor()[0], index.count_blocks()) == (1, 3)
    with index.changing():
        index.save(2, {}, [])


# What becomes of the file


def damage_header(path: Path) -> None:
    path.write_bytes(b"this is not a database, and long enough to be looked at" * 100)


def damage_pages(path: Path) -> None:
    """Leave the first page as it is, and nothing of the others."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))


@pytest.mark.parametrize("beside", [b"", b"\xa5" * 5000], ids=["alone", "with a strange journal"])
def test_a_file_that_is_no_database_is_made_anew(index: Index, path: Path, beside: bytes) -> None:
    fill(index)
    index.close()
    damage_header(path)
    if beside:
        (path.parent / "index.db-wal").write_bytes(beside)
    assert index.load() == EMPTY
    fill(index)
    assert index.count_blocks() == 3


def test_an_empty_file_is_an_empty_index(index: Index, path: Path) -> None:
    path.write_bytes(b"")
    assert index.load() == EMPTY
    fill(index)


def test_a_file_that_is_damaged_deeper_down_is_thrown_away_with_one_line(index: Index, path: Path) -> None:
    fill(index)
    index.close()
    damage_pages(path)
    with pytest.raises(StoreError) as caught:
        index.load()
    assert "\n" not in str(caught.value)
    assert "thrown away" in str(caught.value)
    assert "run the command again" in str(caught.value)
    assert index.is_gone()
    again = Index(path)
    assert again.load() == EMPTY
    again.close()


def test_a_change_of_a_damaged_file_throws_it_away_too(index: Index, path: Path) -> None:
    fill(index)
    index.close()
    damage_pages(path)
    with pytest.raises(StoreError, match="thrown away"), index.changing():
        index.add_mail([Mail("GM", "A1")])
    assert not path.exists()


def test_a_reader_takes_a_damaged_file_for_an_empty_one_and_leaves_it(
    index: Index, reader: Index, path: Path
) -> None:
    fill(index)
    index.close()
    for damage in (damage_pages, damage_header):
        damage(path)
        before = path.read_bytes()
        assert reader.load() == EMPTY
        assert (reader.cursor(), reader.unread("CC"), reader.receipts("A1")) == ((0, {}), [], [])
        assert path.read_bytes() == before
        reader.close()


def test_a_reader_that_finds_the_damage_half_way_gives_nothing_of_the_first_half(
    index: Index, reader: Index, path: Path
) -> None:
    fill(index)
    (root,) = index._rows("select rootpage from sqlite_schema where name = 'sessions_open'")[0]
    index.close()
    with path.open("r+b") as file:
        file.seek(4096 * (root - 1))
        file.write(b"\xa5" * 4096)
    assert reader.cursor()[0] == 1
    assert reader.load() == EMPTY


def test_of_two_that_find_a_damaged_file_the_second_does_not_throw_away_the_new_one(path: Path) -> None:
    damage_header(path)
    second = Index(path)
    look = second._look

    def look_late() -> tuple[int, int]:
        found = look()
        second._look = look  # type: ignore[method-assign]
        first = Index(path)
        fill(first)
        first.close()
        return found

    second._look = look_late  # type: ignore[method-assign]
    assert second.load().version == 1
    second.close()


def test_an_index_tells_when_its_file_is_gone_or_another(index: Index, path: Path) -> None:
    assert not index.is_gone()
    fill(index)
    assert not index.is_gone()
    path.unlink()
    assert index.is_gone()
    other = Index(path)
    fill(other)
    assert index.is_gone()
    assert not other.is_gone()
    index.close()
    assert not index.is_gone()
    assert index.cursor()[0] == 1
    assert not index.is_gone()
    (path.parent / "new").write_bytes(b"")
    (path.parent / "new").replace(path)
    assert index.is_gone()
    path.unlink()
    path.mkdir()
    assert index.is_gone()
    other.close()


def test_an_index_whose_folder_is_gone_is_gone(path: Path) -> None:
    folder = path.parent / "state"
    folder.mkdir()
    index = Index(folder / "index.db")
    fill(index)
    shutil.rmtree(folder)
    assert index.is_gone()
    index.close()
    with pytest.raises(StoreError, match=r"^cannot open index\.db: no such file or folder"):
        index.load()


def test_the_file_is_private(index: Index, path: Path) -> None:
    fill(index)
    assert [stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()] == [0o600] * 3


@pytest.mark.timeout(10)
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, "link"], ids=["folder", "pipe", "link"])
def test_what_is_no_file_is_one_line_and_for_a_reader_nothing(
    index: Index, reader: Index, path: Path, make: Callable[[Path], None] | str
) -> None:
    elsewhere = path.parent / "elsewhere"
    if callable(make):
        make(path)
    else:
        sqlite3.connect(elsewhere).close()
        elsewhere.write_bytes(b"")
        path.symlink_to(elsewhere)
    with pytest.raises(StoreError, match="the index is no ordinary file") as caught:
        index.load()
    assert "\n" not in str(caught.value)
    assert reader.load() == EMPTY
    assert not elsewhere.exists() or elsewhere.read_bytes() == b""


def test_a_reader_makes_nothing(reader: Index, path: Path) -> None:
    assert reader.load() == EMPTY
    assert reader.cursor() == (0, {})
    assert not reader.is_gone()
    assert os.listdir(path.parent) == []


def test_a_reader_sees_what_others_save(index: Index, reader: Index) -> None:
    fill(index)
    assert reader.load() == index.load()
    with index.changing():
        index.mark_read("CC", ["A1"])
    assert reader.unread("CC") == index.unread("CC")


def test_another_versions_file_is_one_line_and_no_matter_to_a_reader(
    index: Index, reader: Index, path: Path
) -> None:
    db = sqlite3.connect(path)
    db.executescript("create table cursor (a); pragma user_version = 99")
    db.close()
    assert reader.load() == EMPTY
    with pytest.raises(StoreError, match="made by another version") as caught:
        index.load()
    assert "\n" not in str(caught.value)
    db = sqlite3.connect(path)
    assert db.execute("pragma user_version").fetchone() == (99,)
    db.close()


def test_where_the_folder_may_not_be_written_a_reader_sees_nothing_and_a_writer_gets_one_line() -> None:
    code = f"""
from moot.bus.index import Index
from moot.parsers.errors import StoreError
{GIVE_UP_RIGHTS}
path = Path(arguments[0])
say(Index(path, read_only=True).load().version)
try:
    Index(path).load()
except StoreError as error:
    say(error)
"""
    with public_folder() as folder:
        path = folder / "index.db"
        index = Index(path)
        fill(index)
        index.close()
        path.chmod(0o644)
        folder.chmod(0o555)
        with children(code, (path,)) as (child,):
            version, line = child.end()
    assert version == "0"
    assert "permission denied" in line
    assert str(path) in line


# When


def test_a_time_is_written_in_utc_to_the_millisecond() -> None:
    assert stamp_of(0) == "1970-01-01T00:00:00.000Z"
    assert stamp_of(1_796_066_531_007) == "2026-11-30T19:22:11.007Z"
    assert len(now()) == len(stamp_of(0))


def test_a_refusal_of_the_disk_is_one_line(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "no")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match=r"^cannot open index\.db: the file system is read-only") as caught:
        index.load()
    assert "\n" not in str(caught.value)
