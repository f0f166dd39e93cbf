"""Strange files where ours should be, rights that are missing, limits that are reached, clocks that jump.

Each is one clear line. Nothing is lost, nothing is followed, and when it is mended the next command goes on.
"""

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moot.agents.reader import Reader
from moot.agents.reading import read_whole
from moot.agents.referee import Referee
from moot.bus.batch import Draft
from moot.bus.verify import Report, verify_chain
from moot.parsers.errors import MootError, StoreError
from moot.parsers.ids import RANDOM_BITS, to_number
from moot.tests.bus.processes import GIVE_UP_RIGHTS, children, public_folder
from moot.workspace.folder import Workspace
from moot.workspace.init import init_workspace

NAMES = ("CC", "CX")
POST = """
from moot.agents.referee import Referee
from moot.bus.batch import Draft
from moot.parsers.errors import MootError
from moot.workspace.folder import open_folder
def post(body):
    try:
        referee = Referee(open_folder(Path(arguments[0])))
        posted = referee.post(Draft("CX", "[CX] to CC", body, to=("CC",))).id
        referee.close()
        say(posted)
    except MootError as error:
        say(error)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return init_workspace(tmp_path, tmp_path / "comms", NAMES).workspace


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """Give a file and a folder of somebody else's, which must stay as they are."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "file").write_bytes(b"not ours\n")
    yield folder
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"file": b"not ours\n"}


def post(workspace: Workspace, body: str) -> str:
    referee = Referee(workspace)
    try:
        return referee.post(Draft("CX", "[CX] to CC", body, to=("CC",))).id
    finally:
        referee.close()


def refused(workspace: Workspace, body: str) -> str:
    """Post what cannot be posted; give the one line that says why."""
    with pytest.raises(StoreError) as caught:
        post(workspace, body)
    assert "\n" not in str(caught.value)
    assert str(workspace.folder) in str(caught.value)
    return str(caught.value)


def said(workspace: Workspace) -> list[str]:
    """Give what was posted, after a check that the record is whole."""
    reader = Reader(workspace)
    reading = read_whole(reader)
    reader.close()
    assert verify_chain(reading.linked, reading.tail, reading.quoted, reading.known) == Report((), ())
    return [message.body for message in reading.book.messages[1:]]


def unread(workspace: Workspace) -> list[str]:
    """Give what CC has not read, by its text."""
    referee = Referee(workspace)
    referee.rule()
    messages = [referee.message(mail.id) for mail in referee.index.unread("CC")]
    referee.close()
    return [message.body for message in messages if message is not None]


# Strange files


def link_to(name: str) -> Callable[[Path, Path], None]:
    return lambda path, elsewhere: path.symlink_to(elsewhere / name)


STRANGE: dict[str, Callable[[Path, Path], None]] = {
    "link to a file": link_to("file"),
    "link to a folder": link_to(""),
    "link to nothing": link_to("gone"),
    "pipe": lambda path, _: os.mkfifo(path),
    "folder": lambda path, _: path.mkdir(),
}


def replace(path: Path, make: Callable[[Path, Path], None], elsewhere: Path) -> Path:
    """Put something strange in the place of a file or folder; give where that was moved to."""
    aside = path.with_name(f"{path.name}.aside")
    if path.exists():
        path.rename(aside)
    make(path, elsewhere)
    return aside


def mend(path: Path, aside: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    if aside.exists():
        aside.rename(path)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
def test_a_strange_thing_in_the_ledgers_place_is_one_line_and_nothing_is_lost(
    workspace: Workspace, elsewhere: Path, make: Callable[[Path, Path], None]
) -> None:
    post(workspace, "before")
    aside = replace(workspace.ledger, make, elsewhere)
    refused(workspace, "between")
    reader = Reader(workspace)
    with pytest.raises(StoreError) as caught:
        read_whole(reader)
    assert "\n" not in str(caught.value)
    reader.close()
    mend(workspace.ledger, aside)
    post(workspace, "after")
    assert said(workspace) == unread(workspace) == ["before", "after"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["lock", "lease", "index.db"])
@pytest.mark.parametrize("kind", [kind for kind in STRANGE if kind != "pipe"])
def test_a_strange_thing_in_the_place_of_a_lock_or_the_index_is_one_line_and_nothing_is_lost(
    workspace: Workspace, elsewhere: Path, name: str, kind: str
) -> None:
    post(workspace, "before")
    aside = replace(workspace.state / name, STRANGE[kind], elsewhere)
    line = refused(workspace, "between")
    assert f"/{name}" in line
    mend(workspace.state / name, aside)
    post(workspace, "after")
    assert said(workspace) == unread(workspace) == ["before", "after"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["lock", "lease", "index.db"])
def test_a_pipe_in_the_place_of_a_lock_or_the_index_keeps_nobody_waiting(
    workspace: Workspace, elsewhere: Path, name: str
) -> None:
    post(workspace, "before")
    aside = replace(workspace.state / name, STRANGE["pipe"], elsewhere)
    try:
        post(workspace, "between")  # the kernel can lock a pipe as well
    except MootError as error:
        assert name == "index.db", error  # noqa: PT017 - it need not fail
    mend(workspace.state / name, aside)
    post(workspace, "after")
    assert said(workspace) == unread(workspace)
    assert said(workspace)[-1] == "after"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
@pytest.mark.parametrize("place", ["inbox", "inbox/CC.md"])
def test_a_strange_thing_in_the_place_of_an_inbox_is_one_line_and_the_block_is_unread_mail_all_the_same(
    workspace: Workspace, elsewhere: Path, make: Callable[[Path, Path], None], place: str
) -> None:
    post(workspace, "before")
    aside = replace(workspace.folder / place, make, elsewhere)
    if make is STRANGE["folder"] and place == "inbox":
        post(workspace, "between")  # a new folder is as good as the old one
    else:
        line = refused(workspace, "between")
        assert "the ledger holds the block" in line
        assert "do not send it again" in line
    mend(workspace.folder / place, aside)
    post(workspace, "after")
    assert said(workspace) == unread(workspace) == ["before", "between", "after"]


def test_an_inbox_that_is_a_hard_link_is_one_line_and_the_other_name_gets_nothing(
    workspace: Workspace, elsewhere: Path
) -> None:
    (workspace.inbox / "CC.md").hardlink_to(elsewhere / "file")
    assert "hard link" in refused(workspace, "said")
    (workspace.inbox / "CC.md").unlink()
    assert said(workspace) == unread(workspace) == ["said"]


@pytest.mark.parametrize("what", ["nothing but", "the index of", "all of"])
def test_state_that_was_removed_costs_no_block(workspace: Workspace, what: str) -> None:
    post(workspace, "before")
    if what == "all of":
        shutil.rmtree(workspace.state)
    elif what == "the index of":
        for path in workspace.state.glob("index.db*"):
            path.unlink()
    post(workspace, "after")
    assert said(workspace) == ["before", "after"]
    assert "after" in unread(workspace)


@pytest.mark.parametrize("text", [b"", b"\xa5" * 9000], ids=["empty", "no database"])
def test_an_index_that_others_wrote_over_costs_no_block(workspace: Workspace, text: bytes) -> None:
    post(workspace, "before")
    for path in workspace.state.glob("index.db*"):
        path.unlink()
    (workspace.state / "index.db").write_bytes(text)
    post(workspace, "after")
    assert said(workspace) == ["before", "after"]


def test_an_index_that_is_damaged_deeper_down_costs_one_line_and_no_block(workspace: Workspace) -> None:
    post(workspace, "before")
    path = workspace.state / "index.db"
    db = sqlite3.connect(path)
    db.execute("pragma wal_checkpoint(truncate)")
    db.close()
    path.write_bytes(path.read_bytes()[:4096] + b"\xa5" * (path.stat().st_size - 4096))
    assert said(workspace) == ["before"]
    assert "thrown away" in refused(workspace, "between")
    post(workspace, "after")
    assert said(workspace) == ["before", "after"]


# Rights and limits


@pytest.mark.parametrize(
    ("closed", "name", "kept"),
    [
        ("comms.md", "comms.md", []),
        (".state", "index.db", []),
        (".state/lock", "lock", []),
        (".state/index.db", "index.db", ["refused"]),  # found out behind the append: the mail comes later
    ],
)
def test_what_may_not_be_written_is_one_line_and_can_be_read(closed: str, name: str, kept: list[str]) -> None:
    code = (
        POST
        + """
from moot.agents.reader import Reader
from moot.agents.reading import read_whole
post("before")  # loads whatever is loaded later: who has no rights may not read the library either
hear()
"""
        + GIVE_UP_RIGHTS
        + """
post("refused")
say(len(read_whole(Reader(open_folder(Path(arguments[0])))).linked))
"""
    )
    with public_folder() as top:
        workspace = init_workspace(top, top / "comms", NAMES).workspace
        with children(code, (workspace.folder,)) as (child,):
            assert len(child.hear()) == 18
            open_to_all(workspace.folder)
            path = workspace.folder / closed
            path.chmod(0o555 if path.is_dir() else 0o444)
            child.tell()
            lines = child.end()
        assert len(lines) == 2, lines
        assert name in lines[0]
        assert lines[1] == str(2 + len(kept))
        open_to_all(workspace.folder)
        assert said(workspace) == ["before", *kept]
        post(workspace, "after")
        assert said(workspace) == unread(workspace) == ["before", *kept, "after"]


def open_to_all(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)


def test_a_ledger_that_may_not_grow_is_one_line_and_whole_when_it_may(workspace: Workspace) -> None:
    code = (
        POST
        + """
import resource
from moot.bus.ledger import Ledger
post("before")
size = Path(arguments[0], "comms.md").stat().st_size
real = Ledger.append
def append(ledger, data, expected_size):  # the limit is for the ledger: the index must be able to begin
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
    try:
        return real(ledger, data, expected_size)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
Ledger.append = append
post("refused")
Ledger.append = real
post("after")
"""
    )
    with children(code, (workspace.folder,)) as (child,):
        before, line, after = child.end()
    assert line.startswith("cannot append to comms.md: the file would be too large")
    assert before < after
    assert said(workspace) == unread(workspace) == ["before", "after"]


def test_too_many_open_files_are_one_line(workspace: Workspace) -> None:
    code = (
        POST
        + """
import resource
post("before")
held = []
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
try:
    while True:
        held.append(os.open("/", os.O_RDONLY))
except OSError:
    pass
for _ in range(12):
    post("perhaps")
    os.close(held.pop())
"""
    )
    with children(code, (workspace.folder,)) as (child,):
        lines = child.end()
    assert any("too many files are open" in line or "unable to open" in line for line in lines)
    assert len(lines) == 13
    bodies = said(workspace)
    assert bodies[0] == "before"
    assert len(bodies) >= sum(len(line) == 18 for line in lines)


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_any_umask_gives_files_that_we_can_use_and_keeps_the_state_private(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        workspace = init_workspace(tmp_path, tmp_path / "comms", NAMES).workspace
        post(workspace, "said")
        assert said(workspace) == unread(workspace) == ["said"]
    finally:
        os.umask(before)
    for path in workspace.state.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


# Clocks


def test_a_clock_that_jumps_back_an_hour_changes_no_order(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    time_ns = time.time_ns
    hour = 3_600_000_000_000
    ids = [post(workspace, "now")]
    for number, shift in enumerate([-hour, -hour, 0, hour, 0, -hour]):
        monkeypatch.setattr(time, "time_ns", lambda shift=shift: time_ns() + shift)
        ids.append(post(workspace, f"then {number}"))
    assert ids == sorted(set(ids))
    assert said(workspace) == unread(workspace) == ["now", *(f"then {number}" for number in range(6))]
    assert to_number(ids[-1]) >> RANDOM_BITS >= to_number(ids[0]) >> RANDOM_BITS


def test_a_ledger_whose_time_stands_far_ahead_is_still_read_in_its_order(workspace: Workspace) -> None:
    post(workspace, "before")
    os.utime(workspace.ledger, (2**33, 2**33))
    post(workspace, "after")
    os.utime(workspace.ledger, (0, 0))
    post(workspace, "later")
    assert said(workspace) == unread(workspace) == ["before", "after", "later"]
