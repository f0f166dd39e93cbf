"""What `workspace/files.py` promises about files written whole and about paths."""

import errno
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from moot.parsers.errors import StoreError, UsageError
from moot.workspace import files
from moot.workspace.files import (
    check_output_path,
    digest_of,
    is_git_name,
    is_temporary,
    read_regular,
    store_error,
    write_new,
    write_whole,
)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask_022() -> Any:
    before = os.umask(0o022)
    yield
    os.umask(before)


def make_link(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")


def make_socket(path: Path) -> None:
    # Bound by a relative name: a socket's path is short on every system.
    here = os.open(".", os.O_RDONLY)
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.fchdir(here)
        os.close(here)


KINDS: dict[str, Callable[[Path], None]] = {
    "link": make_link,
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "socket": make_socket,
}


# Writing


def test_a_file_is_written_whole_and_nothing_else_is_left(tmp_path: Path, umask_022: None) -> None:
    write_whole(tmp_path / "a", b"one\r\n\0\xff")
    assert (tmp_path / "a").read_bytes() == b"one\r\n\0\xff"
    assert mode_of(tmp_path / "a") == 0o644
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_file_is_as_private_as_the_umask_asks(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_whole(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "a") == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o666])
def test_a_standing_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_whole(path, b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", mode)


def test_a_mode_that_is_asked_for_is_set_exactly(tmp_path: Path, umask_022: None) -> None:
    (tmp_path / "old").write_bytes(b"")
    for name in ("old", "new"):
        write_whole(tmp_path / name, b"", mode=0o666)
        assert mode_of(tmp_path / name) == 0o666


def test_short_writes_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, bytes(data)[:3]))
    write_whole(tmp_path / "a", b"0123456789")
    assert (tmp_path / "a").read_bytes() == b"0123456789"


def test_the_file_is_synced_before_the_rename_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    fsync, replace = os.fsync, os.replace

    def noting_fsync(fd: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file")
        fsync(fd)

    def noting_replace(*names: str, **folders: int) -> None:
        calls.append("rename")
        replace(*names, **folders)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(os, "replace", noting_replace)
    write_whole(tmp_path / "a", b"x")
    assert calls == ["file", "rename", "folder"]
    calls.clear()
    write_whole(tmp_path / "a", b"y", sync=False)
    assert calls == ["rename"]


@pytest.mark.parametrize("call", ["open", "fchmod", "write", "fsync", "replace"])
@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_at_any_call_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, fault: BaseException
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    original = getattr(os, call)

    def failing(*arguments: Any, **named: Any) -> Any:
        if call == "open" and not str(arguments[0]).endswith(".tmp"):
            return original(*arguments, **named)
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        expected = StoreError if isinstance(fault, OSError) else KeyboardInterrupt
        with pytest.raises(expected):
            write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_failed_write_leaves_no_open_descriptor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    free = os.open(tmp_path, os.O_RDONLY)
    os.close(free)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StoreError):
            write_whole(tmp_path / "a", b"new")
    again = os.open(tmp_path, os.O_RDONLY)
    os.close(again)
    assert again == free


def test_a_folder_that_cannot_be_synced_is_no_failure_where_the_system_has_no_such_thing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync
    said = errno.EINVAL

    def refusing(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(said, os.strerror(said))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", refusing)
    write_whole(tmp_path / "a", b"x")
    said = errno.EIO
    with pytest.raises(StoreError, match="the disk reports a fault"):
        write_whole(tmp_path / "a", b"y")


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_plain_file_is_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    (tmp_path / "elsewhere").write_bytes(b"untouched")
    KINDS[kind](path)
    before = os.lstat(path)
    with pytest.raises(StoreError, match=f"cannot write a: it is a {kind}"):
        write_whole(path, b"x")
    assert os.path.samestat(before, os.lstat(path))
    assert (tmp_path / "elsewhere").read_bytes() == b"untouched"
    assert sorted(os.listdir(tmp_path)) == ["a", "elsewhere"]


def test_a_device_is_not_written_to() -> None:
    with pytest.raises(StoreError, match="it is a device"):
        write_whole(Path("/dev/null"), b"x")


def test_a_link_that_appears_at_the_last_moment_is_replaced_and_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, victim = tmp_path / "a", tmp_path / "victim"
    victim.write_bytes(b"untouched")
    replace = os.replace

    def swapped(*names: str, **folders: int) -> None:
        path.symlink_to(victim)
        replace(*names, **folders)

    monkeypatch.setattr(os, "replace", swapped)
    write_whole(path, b"x")
    assert victim.read_bytes() == b"untouched"
    assert not path.is_symlink()
    assert path.read_bytes() == b"x"


def test_a_hard_link_elsewhere_keeps_its_old_text(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"old")
    os.link(tmp_path / "elsewhere", tmp_path / "a")
    write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "elsewhere").read_bytes() == b"old"


def test_a_missing_folder_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        write_whole(tmp_path / "no" / "a", b"x")
    assert str(caught.value) == (
        f"cannot write a: no such file or folder ({tmp_path}/no/a): "
        "make it or correct the path, then run the command again"
    )


# Writing only what is new


def test_a_new_file_is_written_once_and_never_over_another(tmp_path: Path) -> None:
    assert write_new(tmp_path / "a", b"first") is True
    assert write_new(tmp_path / "a", b"second") is False
    assert (tmp_path / "a").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_new_is_written_where_anything_stands(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "a")
    assert write_new(tmp_path / "a", b"x") is False
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
def test_a_file_that_appears_while_a_new_one_is_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    link = os.link

    def late(*names: Any, **folders: Any) -> None:
        (tmp_path / "a").write_bytes(b"theirs")
        if not links:
            raise OSError(errno.EPERM, "Operation not permitted")
        link(*names, **folders)

    monkeypatch.setattr(os, "link", late)
    assert write_new(tmp_path / "a", b"ours") is False
    assert (tmp_path / "a").read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_file_is_written_where_the_disk_has_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any, **__: Any) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "link", none)
    assert write_new(tmp_path / "a", b"ours") is True
    assert (tmp_path / "a").read_bytes() == b"ours"
    assert os.listdir(tmp_path) == ["a"]


def test_another_fault_of_a_new_file_is_a_store_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(StoreError, match="the disk is full"):
        write_new(tmp_path / "a", b"ours")
    assert os.listdir(tmp_path) == []


def test_our_unfinished_files_are_known_by_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seen(temporary: str, *_: Any, **__: Any) -> None:
        assert is_temporary(temporary)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", seen)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a", b"x")
    assert not is_temporary("comms.md")
    assert not is_temporary("report.tmp")


# Faults in words


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.ENOSPC, "cannot append to comms.md: the disk is full (/r/comms.md): free some space"),
        (errno.EACCES, "cannot append to comms.md: permission denied (/r/comms.md): give yourself access"),
        (errno.EROFS, "cannot append to comms.md: the file system is read-only (/r/comms.md): mount it"),
        (errno.EXDEV, "cannot append to comms.md: Invalid cross-device link (/r/comms.md): see to that"),
    ],
)
def test_a_fault_of_the_disk_says_what_where_and_what_next(code: int, sentence: str) -> None:
    error = store_error(OSError(code, os.strerror(code)), Path("/r/comms.md"), "append to")
    assert str(error).startswith(sentence)
    assert error.exit_code == 1


def test_a_fault_without_a_number_is_told_in_its_own_words() -> None:
    assert "cannot read a: odd" in str(store_error(OSError("odd"), Path("/a"), "read"))


def test_a_path_with_a_line_break_or_an_escape_stays_on_one_line() -> None:
    said = str(store_error(OSError(errno.EIO, "x"), Path("/r/a\n\x1b]52;c;x\x07\u202eb\udcff"), "read"))
    assert said.isprintable()
    assert r"\n\x1b]52;c;x\x07\u202eb\udcff" in said


def test_no_permission_is_a_store_error(tmp_path: Path) -> None:
    """Run where even root has to ask: without the capability that passes over permissions."""
    folder = tmp_path / "shut"
    folder.mkdir()
    folder.chmod(0o555)
    script = (
        "import sys; from pathlib import Path; from moot.workspace.files import write_whole\n"
        "write_whole(Path(sys.argv[1]), b'x')"
    )
    command = [sys.executable, "-c", script, str(folder / "a")]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "setpriv" in done.stderr.split("\n")[0]:
        pytest.skip("no setpriv: root cannot be refused here")
    assert "StoreError: cannot write a: permission denied" in done.stderr
    assert os.listdir(folder) == []


# Reading


def test_the_digest_is_that_of_the_bytes_and_empty_where_there_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\r\n")
    assert digest_of(tmp_path / "a") == sha256(b"x\r\n").hexdigest()
    assert digest_of(tmp_path / "b") == ""
    assert digest_of(tmp_path / "a" / "b") == ""


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "socket"])
def test_what_is_no_plain_file_has_no_digest_and_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "a")
    with pytest.raises(StoreError, match="cannot read a: "):
        digest_of(tmp_path / "a")


def test_a_file_is_read_from_the_folder_that_was_opened_even_if_a_link_takes_its_place(
    tmp_path: Path,
) -> None:
    folder, secret = tmp_path / "folder", tmp_path / "secret"
    for place, text in ((folder, b"ours"), (secret, b"theirs")):
        place.mkdir()
        (place / "a").write_bytes(text)
    fd = os.open(folder, os.O_RDONLY)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(secret)
    try:
        assert read_regular(folder / "a", folder_fd=fd) == b"ours"
    finally:
        os.close(fd)


# Output paths


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    top = tmp_path / "repo"
    for folder in (".git", "comms/runs", "docs", ".github/workflows"):
        (top / folder).mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (top / "docs" / "old.md").write_bytes(b"")
    (top / "docs" / "away").symlink_to(tmp_path / "outside")
    (top / "docs" / "link.md").symlink_to("old.md")
    (top / "docs" / "dangling.md").symlink_to("nothing")
    os.mkfifo(top / "docs" / "pipe")
    return top


def check(repo: Path, text: str) -> Path:
    return check_output_path(repo, repo / "comms", text)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("result.md", "result.md"),
        ("docs/old.md", "docs/old.md"),
        ("new/deep/result.md", "new/deep/result.md"),
        ("./docs/../docs//x y é.md", "docs/x y é.md"),
        ("docs/.../..a", "docs/.../..a"),
        ("commsy/x.md", "commsy/x.md"),
        ("docs/comms/x.md", "docs/comms/x.md"),
        (".gitignore", ".gitignore"),
        ("~/x", "~/x"),
        ("-x", "-x"),
    ],
)
def test_an_output_path_inside_the_repository_is_given_whole(repo: Path, text: str, inside: str) -> None:
    assert check(repo, text) == repo / inside


def test_an_absolute_output_path_is_taken_where_it_lies_inside(repo: Path, tmp_path: Path) -> None:
    assert check(repo, f"{repo}/docs/x.md") == repo / "docs" / "x.md"
    (tmp_path / "alias").symlink_to(repo)
    assert check(tmp_path / "alias", f"{repo}/docs/x.md") == tmp_path / "alias" / "docs" / "x.md"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("a\nb", "control characters"),
        ("a\0b", "control characters"),
        ("a\x1b[2Jb", "control characters"),
        ("a\u202eb", "control characters"),
        ("a\udc80b", "control characters"),
        ("new/", "names a folder"),
        (".", "names no file inside"),
        ("..", "names no file inside"),
        ("../outside/x", "names no file inside"),
        ("docs/../../x", "names no file inside"),
        ("/etc/passwd", "names no file inside"),
        ("../repo2/x", "names no file inside"),
        (".git/hooks/pre-commit", "git's own folder"),
        (".GIT/config", "git's own folder"),
        ("docs/.git/config", "git's own folder"),
        ("docs/../.git/config", "git's own folder"),
        ("GIT~1/config", "git's own folder"),
        (".git. /config", "git's own folder"),
        (".git::$INDEX_ALLOCATION/x", "git's own folder"),
        ("comms/x.md", "in the workspace"),
        ("Comms/runs/x.md", "in the workspace"),
        ("comms", "in the workspace"),
        (".github/workflows/x.yml", "build service"),
        (".GitHub/x", "build service"),
        (".gitlab/x", "build service"),
        (".circleci/config.yml", "build service"),
        (".buildkite/x", "build service"),
        (".ci/x", "build service"),
        (".woodpecker/x.yml", "build service"),
        (".gitlab-ci.yml", "build service"),
        ("sub/Jenkinsfile", "build service"),
        ("azure-pipelines.yml", "build service"),
        (".travis.yml", "build service"),
        ("bitbucket-pipelines.yml", "build service"),
        ("docs", "meets a folder"),
        ("docs/away/x.md", "meets a link"),
        ("docs/link.md", "meets a link"),
        ("docs/dangling.md", "meets a link"),
        ("docs/pipe", "meets a pipe"),
        ("docs/old.md/x", "meets a file"),
        ("x" * 10_000, "too long"),
    ],
)
def test_an_output_path_that_could_do_harm_is_refused(repo: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        check(repo, text)
    assert why in caught.value.what
    assert str(caught.value).isprintable()
    assert caught.value.exit_code == 2


def test_a_workspace_that_is_named_by_another_way_is_still_the_workspace(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(repo)
    with pytest.raises(UsageError, match="lies in the workspace"):
        check_output_path(repo, tmp_path / "alias" / "comms", "comms/x.md")


def test_a_workspace_outside_the_repository_forbids_nothing_inside(repo: Path, tmp_path: Path) -> None:
    assert check_output_path(repo, tmp_path / "comms", "comms/x.md") == repo / "comms" / "x.md"


def test_a_way_that_cannot_be_looked_at_is_a_store_error(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shut(path: Path) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(files.os, "lstat", shut)
    with pytest.raises(StoreError, match="cannot look at docs: permission denied"):
        check(repo, "docs/x.md")


@pytest.mark.parametrize(
    "name", [".git", ".GiT", "git~1", ".git.", ".git ", ".git:x", ".git\\x", ".g\u200cit"]
)
def test_every_spelling_of_gits_folder_is_known(name: str) -> None:
    assert is_git_name(name)


@pytest.mark.parametrize("name", [".gitignore", "git", ".github", "git~10", "a.git", ""])
def test_other_names_are_not_taken_for_gits_folder(name: str) -> None:
    assert not is_git_name(name)
