"""What `workspace/git.py` promises, tried with real repositories."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.parsers.errors import StoreError, UsageError
from moot.workspace import git
from moot.workspace.git import branch_holds_workspace, commit_workspace, last_commit, restore_workspace
from moot.workspace.repository import Repository, find_repository

HOSTILE_NAMES = [
    "new\nline.md",
    'quo"te.md',
    "tab\tname.md",
    "back\\slash.md",
    "snow ☃ é.md",
    " lead and trail ",
    "-rf",
    "*.md",
    "latin\udce9.md",
    "$(touch x)`id`.md",
]


def run(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return os.fsdecode(done.stdout)


def new_repository(top: Path, *options: str) -> Path:
    top.mkdir(parents=True)
    run(top, "init", "-q", "-b", "main", *options)
    (top / "code.py").write_text("print()\n")
    run(top, "add", "code.py")
    run(top, "commit", "-q", "-m", "code")
    return top


def new_workspace(folder: Path) -> Path:
    for below in ("kept", "runs/peer-1", ".state"):
        (folder / below).mkdir(parents=True)
    (folder / ".gitignore").write_bytes(b"*\n")
    (folder / "moot.toml").write_bytes(b"[git]\n")
    (folder / "comms.md").write_bytes(b"first\r\nsecond\n\0\xff")
    (folder / "kept" / "CC.md").write_bytes(b"mail\n")
    (folder / "runs" / "peer-1" / "report.md").write_bytes(b"report\n")
    (folder / ".state" / "lock").write_bytes(b"")
    return folder


def found(folder: Path) -> Repository:
    repository = find_repository(folder)
    assert repository is not None
    return repository


def shown(folder: Path, path: str) -> bytes:
    return subprocess.run(["git", "show", path], cwd=folder, capture_output=True, check=True).stdout


def names_in(folder: Path, revision: str) -> list[str]:
    return run(folder, "ls-tree", "-r", "-z", "--name-only", revision).split("\0")[:-1]


WORKSPACE_FILES = [
    "comms/.gitignore",
    "comms/comms.md",
    "comms/kept/CC.md",
    "comms/moot.toml",
    "comms/runs/peer-1/report.md",
]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the settings of whoever runs the tests out of them; give the file of the user's settings."""
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    settings = tmp_path / "gitconfig"
    settings.write_text('[user]\n name = U\n email = u@example.org\n[protocol "file"]\n allow = always\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return settings


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    top = new_repository(tmp_path / "repo")
    new_workspace(top / "comms")
    return top


def commit(top: Path, message: str = "a batch", **named: Any) -> str | None:
    return commit_workspace(found(top), top / "comms", message, **named)


# Finding


def test_a_repository_is_found_from_any_folder_below_it(repo: Path) -> None:
    below = repo / "comms" / "runs" / "peer-1"
    for start in (repo, below, below / "report.md", repo / "not" / "there", repo / ".git"):
        assert find_repository(start) == Repository(repo, repo / ".git")


def test_a_repository_is_found_through_a_link(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(repo / "comms")
    assert found(tmp_path / "alias" / "kept").root == repo


def test_no_git_is_run_to_find_a_repository(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert found(repo).root == repo


def test_outside_of_any_repository_there_is_none(tmp_path: Path) -> None:
    assert find_repository(tmp_path) is None


def test_a_linked_work_tree_leads_to_the_main_one(repo: Path, tmp_path: Path) -> None:
    run(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    run(repo, "worktree", "add", "-q", "-b", "inner", "inner")
    assert found(tmp_path / "linked" / "deep") == Repository(repo, repo / ".git")
    assert found(repo / "inner") == Repository(repo, repo / ".git")


def test_a_submodule_is_its_own_repository_also_in_a_linked_work_tree(repo: Path, tmp_path: Path) -> None:
    other = new_repository(tmp_path / "other")
    run(repo, "submodule", "add", "-q", str(other), "sub")
    run(repo, "commit", "-q", "-m", "sub")
    assert found(repo / "sub") == Repository(repo / "sub", repo / ".git" / "modules" / "sub")
    linked = tmp_path / "linked"
    run(repo, "worktree", "add", "-q", str(linked))
    run(linked, "submodule", "update", "-q", "--init")
    assert found(linked / "sub").root == linked / "sub"


def test_work_trees_of_a_bare_repository_share_the_folder_that_points_to_it(
    repo: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    run(tmp_path, "clone", "-q", "--bare", str(repo), str(project / ".bare"))
    (project / ".git").write_text("gitdir: ./.bare\n")
    run(project, "worktree", "add", "-q", "one", "main")
    assert found(project / "one") == found(project) == Repository(project, project / ".bare")


def test_a_work_tree_of_a_bare_repository_elsewhere_is_its_own_top(repo: Path, tmp_path: Path) -> None:
    run(tmp_path, "clone", "-q", "--bare", str(repo), str(tmp_path / "x.git"))
    run(tmp_path / "x.git", "worktree", "add", "-q", str(tmp_path / "one"), "main")
    assert found(tmp_path / "one") == Repository(tmp_path / "one", tmp_path / "x.git")


def test_a_separate_git_folder_is_followed(tmp_path: Path) -> None:
    top = new_repository(tmp_path / "top", f"--separate-git-dir={tmp_path / 'away'}")
    assert found(top) == Repository(top, tmp_path / "away")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"gitdir: ",
        b"gitdir: /not/there\n",
        b"gitdir: \0\n",
        b"nonsense",
        b"\xff" * 10_000,
        b"gitdir: .\n",
    ],
)
def test_a_broken_pointer_ends_the_search_as_it_does_for_git(repo: Path, text: bytes) -> None:
    broken = repo / "broken"
    broken.mkdir()
    (broken / ".git").write_bytes(text)
    assert find_repository(broken) is None


def test_a_pointer_that_cannot_be_read_ends_the_search(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "shut").mkdir()
    (repo / "shut" / ".git").write_text("gitdir: ../.git\n")

    def shut(*_: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", shut)
    assert find_repository(repo / "shut") is None


def test_an_empty_git_folder_is_passed_over_as_git_does(repo: Path) -> None:
    (repo / "below" / ".git").mkdir(parents=True)
    assert found(repo / "below").root == repo


# Committing


def test_the_branch_holds_the_workspace_at_its_path_byte_for_byte(repo: Path) -> None:
    made = commit(repo)
    assert made == run(repo, "rev-parse", "moot").strip()
    assert names_in(repo, "moot") == WORKSPACE_FILES
    for name in WORKSPACE_FILES:
        assert shown(repo, f"moot:{name}") == (repo / name).read_bytes()
    assert run(repo, "log", "-1", "--format=%an %ae %cn %ce %s", "moot") == (
        "moot moot@localhost moot moot@localhost a batch\n"
    )
    run(repo, "fsck", "--strict")


def test_nothing_of_the_users_is_touched(repo: Path) -> None:
    (repo / "staged.py").write_text("staged\n")
    run(repo, "add", "staged.py")
    (repo / "code.py").write_text("changed\n")
    (repo / "loose.py").write_text("untracked\n")

    def state() -> list[Any]:
        index = repo / ".git" / "index"
        files = sorted(str(path) for path in repo.rglob("*") if ".git/" not in str(path))
        return [
            run(repo, "--no-optional-locks", "status", "--porcelain"),
            run(repo, "rev-parse", "HEAD"),
            (repo / ".git" / "HEAD").read_bytes(),
            index.read_bytes(),
            index.stat().st_mtime_ns,
            files,
            sorted(os.listdir(repo / ".git")),
        ]

    before = state()
    assert "comms" not in before[0]
    assert commit(repo)
    # The log of the branch makes its folder; that is no file of the user's.
    assert state() == before


def test_a_second_commit_goes_on_from_the_first_and_holds_what_changed(repo: Path) -> None:
    first = commit(repo)
    with open(repo / "comms" / "comms.md", "ab") as ledger:
        ledger.write(b"third\n")
    (repo / "comms" / "kept" / "CC.md").unlink()
    second = commit(repo)
    assert run(repo, "rev-parse", "moot", "moot^").split() == [second, first]
    assert shown(repo, "moot:comms/comms.md").endswith(b"third\n")
    assert "comms/kept/CC.md" not in names_in(repo, "moot")


def test_nothing_new_gives_no_commit(repo: Path) -> None:
    first = commit(repo)
    (repo / "comms" / ".state" / "cursor").write_bytes(b"12")
    os.utime(repo / "comms" / "comms.md", (1, 1))
    assert commit(repo) is None
    assert run(repo, "rev-parse", "moot").strip() == first


def counting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which git commands are run."""
    asked: list[str] = []
    plain = git._git

    def noting(repository: Repository, *arguments: str, **named: Any) -> bytes:
        asked.append(arguments[0])
        return plain(repository, *arguments, **named)

    monkeypatch.setattr(git, "_git", noting)
    return asked


def test_only_the_files_that_changed_are_given_to_git(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo)
    (repo / "comms" / "comms.md").write_bytes(b"more")
    asked = counting(monkeypatch)
    assert commit(repo)
    assert asked.count("hash-object") == 1


def test_a_repository_without_any_commit_gets_the_branch_too(tmp_path: Path) -> None:
    top = tmp_path / "empty"
    top.mkdir()
    run(top, "init", "-q", "-b", "main")
    new_workspace(top / "comms")
    assert commit(top)
    assert names_in(top, "moot") == WORKSPACE_FILES
    assert run(top, "status", "--porcelain", "--branch").startswith("## No commits yet on main")


def test_a_repository_that_counts_in_sha256_works_too(tmp_path: Path) -> None:
    top = new_repository(tmp_path / "long", "--object-format=sha256")
    new_workspace(top / "comms")
    made = commit(top)
    assert made is not None
    assert len(made) == 64
    assert commit(top) is None


def test_a_deeper_workspace_keeps_its_whole_path(repo: Path) -> None:
    deep = new_workspace(repo / "tools" / "agents" / "talk")
    assert commit_workspace(found(repo), deep, "x", branch="deep")
    assert "tools/agents/talk/runs/peer-1/report.md" in names_in(repo, "deep")
    assert branch_holds_workspace(found(repo), branch="deep") == "tools/agents/talk"


def test_a_workspace_that_moved_is_followed(repo: Path) -> None:
    commit(repo)
    (repo / "comms").rename(repo / "talk")
    assert commit_workspace(found(repo), repo / "talk", "moved")
    assert branch_holds_workspace(found(repo)) == "talk"


def test_a_users_index_lock_does_not_stop_a_commit(repo: Path) -> None:
    (repo / ".git" / "index.lock").write_bytes(b"")
    assert commit(repo)
    assert (repo / ".git" / "index.lock").exists()


def test_names_that_would_upset_a_shell_or_a_list_are_kept(repo: Path, tmp_path: Path) -> None:
    for name in HOSTILE_NAMES:
        (repo / "comms" / name).write_bytes(os.fsencode(name))
        (repo / "comms" / "runs" / name).mkdir()
        (repo / "comms" / "runs" / name / "x").write_bytes(b"")
    assert commit(repo)
    assert commit(repo) is None
    target = tmp_path / "back"
    assert restore_workspace(found(repo), target) == 2 * len(HOSTILE_NAMES) + len(WORKSPACE_FILES)
    for name in HOSTILE_NAMES:
        assert (target / name).read_bytes() == os.fsencode(name)
        assert (target / "runs" / name / "x").exists()


def test_only_plain_finished_files_are_committed(repo: Path, tmp_path: Path) -> None:
    comms = repo / "comms"
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("secret")
    (comms / "link.md").symlink_to(secret / "key")
    (comms / "folder").symlink_to(secret)
    os.mkfifo(comms / "pipe")
    (comms / ".moot-0123456789abcdef.tmp").write_bytes(b"half")
    (comms / "runs" / ".git").mkdir()
    (comms / "runs" / ".git" / "config").write_bytes(b"")
    (comms / "kept" / ".GIT").write_bytes(b"gitdir: /\n")
    (comms / "kept" / ".state").mkdir()
    (comms / "kept" / ".state" / "kept").write_bytes(b"")
    assert commit(repo, skip=(".state", "moot.toml"))
    expected = sorted({*WORKSPACE_FILES, "comms/kept/.state/kept"} - {"comms/moot.toml"})
    assert names_in(repo, "moot") == expected


def test_a_link_that_takes_a_files_place_is_not_followed(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = repo / "comms" / "comms.md"
    (tmp_path / "key").write_text("secret")
    plain = git.read_regular

    def late(path: Path, *, folder_fd: int | None = None) -> bytes | None:
        if path == ledger:
            ledger.unlink()
            ledger.symlink_to(tmp_path / "key")
        return plain(path, folder_fd=folder_fd)

    monkeypatch.setattr(git, "read_regular", late)
    with pytest.raises(StoreError, match="it is a link"):
        commit(repo)


def test_a_link_that_takes_a_folders_place_is_not_followed(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, secret = repo / "comms" / "kept", tmp_path / "secret"
    secret.mkdir()
    (secret / "CC.md").write_text("secret")
    plain = git.read_regular

    def late(path: Path, *, folder_fd: int | None = None) -> bytes | None:
        if path == kept / "CC.md":
            kept.rename(tmp_path / "aside")
            kept.symlink_to(secret)
        return plain(path, folder_fd=folder_fd)

    monkeypatch.setattr(git, "read_regular", late)
    assert commit(repo)
    assert shown(repo, "moot:comms/kept/CC.md") == b"mail\n"


def test_a_file_or_folder_that_goes_away_meanwhile_is_left_out(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = git.read_regular

    def late(path: Path, *, folder_fd: int | None = None) -> bytes | None:
        if path.name == "comms.md":
            (repo / "comms" / "moot.toml").unlink()
            (repo / "comms" / "kept").rename(repo / "gone")
        return plain(path, folder_fd=folder_fd)

    monkeypatch.setattr(git, "read_regular", late)
    assert commit(repo)
    assert names_in(repo, "moot") == sorted({*WORKSPACE_FILES} - {"comms/moot.toml", "comms/kept/CC.md"})


def test_a_folder_that_cannot_be_read_is_a_store_error(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shut(*_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", "kept")

    monkeypatch.setattr(os, "scandir", shut)
    with pytest.raises(StoreError, match="cannot read comms: permission denied"):
        commit(repo)
    with pytest.raises(PermissionError):
        git._pass_if_gone(PermissionError())


def test_an_empty_or_missing_workspace_wipes_nothing(repo: Path) -> None:
    first = commit(repo)
    (repo / "comms").rename(repo / "aside")
    with pytest.raises(StoreError, match="cannot read comms: no such file or folder"):
        commit(repo)
    (repo / "comms").mkdir()
    assert commit(repo) is None
    assert run(repo, "rev-parse", "moot").strip() == first


@pytest.mark.parametrize("where", [".", "..", ".git", ".git/x", "docs/.GIT", "link"])
def test_a_workspace_that_is_no_folder_below_the_top_is_refused(
    repo: Path, tmp_path: Path, where: str
) -> None:
    (repo / "link").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="not a folder inside the repository"):
        commit_workspace(found(repo), repo / where, "x")


def test_the_users_settings_attributes_and_hooks_have_no_say(repo: Path, alone: Path) -> None:
    with open(alone, "a", encoding="utf-8") as settings:
        settings.write(
            "[core]\n autocrlf = true\n safecrlf = true\n splitIndex = true\n"
            "[commit]\n gpgSign = true\n[gpg]\n program = /bin/false\n"
            "[i18n]\n commitEncoding = latin1\n[user]\n signingKey = x\n"
            '[filter "rot"]\n clean = "tr a-z n-za-m"\n required = true\n'
        )
    (repo / ".gitattributes").write_text("* text eol=crlf ident filter=rot\n")
    hooks = repo / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {repo}/ran-$(basename $0)\nexit 1\n")
        (hooks / name).chmod(0o755)
    assert commit(repo, "naïve ☃ \udc80")
    assert shown(repo, "moot:comms/comms.md") == b"first\r\nsecond\n\0\xff"
    raw = run(repo, "cat-file", "commit", "moot")
    assert raw.endswith("\n\nnaïve ☃ \\udc80")
    assert "gpgsig" not in raw
    assert "encoding" not in raw
    assert not list(repo.glob("ran-*"))


def test_a_git_hook_that_calls_us_does_not_lead_us_astray(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_repository(tmp_path / "other")
    for name, value in {
        "GIT_DIR": other / ".git",
        "GIT_INDEX_FILE": other / ".git" / "index",
        "GIT_WORK_TREE": other,
        "GIT_OBJECT_DIRECTORY": other / ".git" / "objects",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_AUTHOR_DATE": "nonsense",
        "GIT_TRACE": "1",
    }.items():
        monkeypatch.setenv(name, str(value))
    made = commit(repo)
    for name in list(os.environ):
        if name.startswith("GIT_") and "CONFIG" not in name:
            monkeypatch.delenv(name)
    assert run(repo, "rev-parse", "moot").strip() == made
    assert "moot" not in run(other, "branch", "--list")
    run(repo, "fsck", "--strict", "moot")


def test_a_commit_from_a_folder_that_is_gone_works(repo: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    here = os.open(".", os.O_RDONLY)
    os.chdir(gone)
    gone.rmdir()
    try:
        assert commit(repo)
    finally:
        os.fchdir(here)
        os.close(here)


def test_a_commit_from_a_linked_work_tree_is_the_main_ones(repo: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    run(repo, "worktree", "add", "-q", str(linked))
    assert commit_workspace(found(linked), found(linked).root / "comms", "x")
    assert names_in(linked, "moot") == WORKSPACE_FILES
    assert run(linked, "status", "--porcelain") == ""


def test_a_submodule_keeps_a_workspace_of_its_own(repo: Path, tmp_path: Path) -> None:
    run(repo, "submodule", "add", "-q", str(new_repository(tmp_path / "other")), "sub")
    new_workspace(repo / "sub" / "comms")
    assert commit(repo / "sub")
    assert names_in(repo / "sub", "moot") == WORKSPACE_FILES
    assert run(repo / "sub", "status", "--porcelain") == ""
    assert run(repo, "for-each-ref", "refs/heads/moot") == ""


def test_a_branch_that_is_checked_out_moves_all_the_same(repo: Path, tmp_path: Path) -> None:
    commit(repo)
    run(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "moot")
    (repo / "comms" / "comms.md").write_bytes(b"more")
    assert commit(repo) == run(tmp_path / "linked", "rev-parse", "HEAD").strip()


def test_a_branch_that_is_a_link_to_another_does_not_move_the_other(repo: Path) -> None:
    commit(repo, branch="target")
    run(repo, "symbolic-ref", "refs/heads/moot", "refs/heads/target")
    before = run(repo, "rev-parse", "target")
    (repo / "comms" / "comms.md").write_bytes(b"more")
    assert commit(repo)
    assert run(repo, "rev-parse", "target") == before


def test_a_users_own_branch_of_the_same_name_is_left_alone(repo: Path) -> None:
    run(repo, "branch", "moot")
    with pytest.raises(StoreError, match=r"the branch moot holds other things .*code\.py"):
        commit(repo)
    assert names_in(repo, "moot") == ["code.py"]
    assert branch_holds_workspace(found(repo)) is None


def test_a_branch_below_the_name_is_not_taken_for_it(repo: Path) -> None:
    run(repo, "branch", "moot/feature")
    assert last_commit(found(repo)) is None
    with pytest.raises(StoreError, match=r"git update-ref failed: fatal: .*moot/feature"):
        commit(repo)


def test_the_last_commit_is_told_with_its_time(repo: Path) -> None:
    before = int(time.time())
    made = commit(repo)
    told = last_commit(found(repo))
    assert told is not None
    assert told[0] == made
    assert before <= told[1] <= time.time()


# Several at once


def test_two_processes_that_commit_at_once_both_succeed_and_lose_no_commit(repo: Path) -> None:
    script = """
import sys
from pathlib import Path
from moot.workspace.git import commit_workspace; from moot.workspace.repository import find_repository
top, name = Path(sys.argv[1]), sys.argv[2]
sys.stdin.readline()
for n in range(5):
    with open(top / "comms" / "kept" / name, "a") as kept:
        kept.write(f"{n}\\n")
    print(commit_workspace(find_repository(top), top / "comms", f"{name} {n}"))
"""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(repo), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("A.md", "B.md", "C.md")
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
    made = []
    for worker in workers:
        printed, said = worker.communicate(timeout=60)
        assert worker.returncode == 0, said
        made += [line for line in printed.split() if line != "None"]
    assert commit(repo) is None
    assert sorted(run(repo, "rev-list", "moot").split()) == sorted(made)
    for name in ("A.md", "B.md", "C.md"):
        assert shown(repo, f"moot:comms/kept/{name}") == b"0\n1\n2\n3\n4\n"


def moving(repo: Path, monkeypatch: pytest.MonkeyPatch, times: int) -> list[str]:
    """Have somebody else move the branch before each of our first `times` moves; give their commits."""
    theirs: list[str] = []
    plain = git._git

    def late(repository: Repository, *arguments: str, **named: Any) -> bytes:
        if arguments[0] == "update-ref" and len(theirs) < times:
            tip = run(repo, "rev-parse", "moot").strip()
            tree = run(repo, "rev-parse", "moot^{tree}").strip()
            theirs.append(run(repo, "commit-tree", tree, "-p", tip, stdin=b"theirs").strip())
            run(repo, "update-ref", "refs/heads/moot", theirs[-1])
        return plain(repository, *arguments, **named)

    monkeypatch.setattr(git, "_git", late)
    return theirs


def test_a_branch_that_moved_meanwhile_is_gone_on_from(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo)
    (repo / "comms" / "comms.md").write_bytes(b"more")
    theirs = moving(repo, monkeypatch, times=2)
    made = commit(repo)
    assert run(repo, "rev-parse", "moot", "moot^", "moot^^").split() == [made, theirs[1], theirs[0]]


def test_a_branch_that_never_rests_is_given_up_with_a_line(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repo)
    (repo / "comms" / "comms.md").write_bytes(b"more")
    theirs = moving(repo, monkeypatch, times=1000)
    with pytest.raises(StoreError, match=r"git update-ref failed: fatal: .*cannot lock ref"):
        commit(repo)
    assert len(theirs) == git._ATTEMPTS
    assert run(repo, "rev-parse", "moot").strip() == theirs[-1]


def test_a_lock_that_nobody_gives_back_is_named_and_waited_for_once(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / ".git" / "refs" / "heads" / "moot.lock").write_bytes(b"")
    asked = counting(monkeypatch)
    with pytest.raises(StoreError, match=r"git update-ref failed: fatal: .*moot\.lock': File exists"):
        commit(repo)
    assert asked.count("update-ref") == 1


# Faults


def test_a_read_only_repository_is_a_store_error(repo: Path) -> None:
    """Run where even root has to ask: without the capability that passes over permissions."""
    script = (
        "import sys; from pathlib import Path\n"
        "from moot.workspace.git import commit_workspace\n"
        "from moot.workspace.repository import find_repository\n"
        "top = Path(sys.argv[1]); commit_workspace(find_repository(top), top / 'comms', 'x')"
    )
    command = [sys.executable, "-c", script, str(repo)]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override", *command]
    folders = [repo / ".git", *(path for path in (repo / ".git").rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for folder in folders:
        folder.chmod(0o755)
    if "setpriv" in done.stderr.split("\n")[0]:
        pytest.skip("no setpriv: root cannot be refused here")
    said = done.stderr.strip().split("\n")[-1]
    assert "StoreError: git hash-object failed: error: insufficient permission" in said
    assert f"({repo}/.git)" in said


def test_a_missing_git_is_named(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = found(repo)
    monkeypatch.setenv("PATH", str(repo))
    with pytest.raises(StoreError, match="git is not there to be run: install it"):
        commit_workspace(repository, repo / "comms", "x")


def test_a_repository_that_went_away_is_a_store_error(repo: Path) -> None:
    with pytest.raises(StoreError, match="cannot run git in"):
        last_commit(Repository(repo, repo / "gone"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo warning: old >&2; echo fatal: cause >&2; echo advice >&2; exit 1", "failed: fatal: cause"),
        ("echo odd >&2; echo odder >&2; exit 1", "failed: odder"),
        ("exit 3", "failed: exit code 3"),
        ("exec sleep 60", "took over 0.2 s"),
    ],
)
def test_a_git_that_fails_or_hangs_is_told_in_one_line(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n{body}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    with pytest.raises(StoreError, match=f"git status {said}"):
        git._git(Repository(repo, repo / ".git"), "status", timeout_s=0.2 if "sleep" in body else 30)


# Getting it back


def test_a_fresh_clone_gets_its_workspace_back_and_goes_on_from_there(repo: Path, tmp_path: Path) -> None:
    first = commit(repo)
    clone = tmp_path / "clone"
    run(tmp_path, "clone", "-q", str(repo), str(clone))
    assert branch_holds_workspace(found(clone)) == "comms"
    assert restore_workspace(found(clone), clone / "comms") == len(WORKSPACE_FILES)
    for name in WORKSPACE_FILES:
        assert (clone / name).read_bytes() == (repo / name).read_bytes()
        assert (clone / name).stat().st_mode & 0o777 == 0o644 & ~current_umask()
    assert run(clone, "status", "--porcelain") == ""
    assert commit(clone) is None
    (clone / "comms" / "comms.md").write_bytes(b"more")
    assert commit(clone)
    assert run(clone, "rev-parse", "moot^").strip() == first
    run(clone, "push", "-q", "origin", "moot")


def current_umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def test_no_standing_file_is_written_over(repo: Path, tmp_path: Path) -> None:
    commit(repo)
    target = tmp_path / "comms"
    target.mkdir()
    (target / "comms.md").write_bytes(b"mine")
    (target / "moot.toml").symlink_to("nowhere")
    assert restore_workspace(found(repo), target) == len(WORKSPACE_FILES) - 2
    assert (target / "comms.md").read_bytes() == b"mine"
    assert not (target / "nowhere").exists()
    assert restore_workspace(found(repo), target) == 0


def test_origin_comes_before_other_remotes_and_the_local_branch_before_all(repo: Path) -> None:
    commit(repo)
    repository = found(repo)
    tip = run(repo, "rev-parse", "moot").strip()
    code = run(repo, "rev-parse", "main").strip()
    run(repo, "update-ref", "-d", "refs/heads/moot")
    run(repo, "update-ref", "refs/remotes/alice/moot", code)
    assert branch_holds_workspace(repository) is None
    run(repo, "update-ref", "refs/remotes/origin/moot", tip)
    assert branch_holds_workspace(repository) == "comms"
    run(repo, "update-ref", "refs/heads/moot", code)
    assert branch_holds_workspace(repository) is None


def test_where_there_is_no_workspace_none_is_restored(repo: Path, tmp_path: Path) -> None:
    assert branch_holds_workspace(found(repo)) is None
    assert restore_workspace(found(repo), tmp_path / "comms") == 0
    assert last_commit(found(repo)) is None
    assert not (tmp_path / "comms").exists()


def raw_tree(repo: Path, *entries: tuple[str, str, str]) -> str:
    """Store a tree that git itself would refuse to make: (mode, name, object id)."""
    body = b"".join(
        f"{mode} {name}\0".encode() + bytes.fromhex(object_id) for mode, name, object_id in entries
    )
    return run(repo, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=body).strip()


def evil_branch(repo: Path, make: Callable[[str], tuple[str, str, str]]) -> None:
    """Point the branch at a workspace that holds one more, hostile, entry."""
    blob = run(repo, "hash-object", "-w", "--stdin", stdin=b"evil").strip()
    entries = [("100644", "comms.md", blob), ("100644", "moot.toml", blob), make(blob)]
    tree = raw_tree(repo, ("40000", "comms", raw_tree(repo, *sorted(entries, key=lambda entry: entry[1]))))
    made = run(repo, "commit-tree", tree, stdin=b"evil").strip()
    run(repo, "update-ref", "refs/heads/moot", made)


@pytest.mark.parametrize(
    "make",
    [
        lambda repo, blob: ("40000", "..", raw_tree(repo, ("100644", "evil", blob))),
        lambda repo, blob: (
            "40000",
            "a",
            raw_tree(repo, ("40000", "..", raw_tree(repo, ("100644", "e", blob)))),
        ),
        lambda repo, blob: ("40000", ".", raw_tree(repo, ("100644", "evil", blob))),
        lambda repo, blob: ("100644", "/etc/evil", blob),
        lambda repo, blob: ("40000", ".GIT", raw_tree(repo, ("100644", "config", blob))),
        lambda repo, blob: ("120000", "link", blob),
        lambda repo, blob: ("160000", "module", blob),
    ],
    ids=["up", "up below", "here", "absolute", "git folder", "link", "submodule"],
)
def test_a_branch_with_one_unsafe_path_is_not_restored_at_all(
    repo: Path, tmp_path: Path, make: Callable[[Path, str], tuple[str, str, str]]
) -> None:
    evil_branch(repo, lambda blob: make(repo, blob))
    target = tmp_path / "below" / "comms"
    target.parent.mkdir()
    with pytest.raises(StoreError, match="the branch moot holds an unsafe path"):
        restore_workspace(found(repo), target)
    assert os.listdir(target.parent) == []


def test_a_workspace_under_an_unsafe_path_is_no_workspace(repo: Path) -> None:
    blob = run(repo, "hash-object", "-w", "--stdin", stdin=b"evil").strip()
    inner = raw_tree(repo, ("100644", "comms.md", blob), ("100644", "moot.toml", blob))
    made = run(repo, "commit-tree", raw_tree(repo, ("40000", "..", inner)), stdin=b"evil").strip()
    run(repo, "update-ref", "refs/heads/moot", made)
    assert branch_holds_workspace(found(repo)) is None


def test_state_that_somebody_put_on_the_branch_stays_there(repo: Path, tmp_path: Path) -> None:
    evil_branch(repo, lambda blob: ("40000", ".State", raw_tree(repo, ("100644", "journal", blob))))
    assert restore_workspace(found(repo), tmp_path / "comms") == 2
    assert sorted(os.listdir(tmp_path / "comms")) == ["comms.md", "moot.toml"]


def test_what_lies_beside_the_workspace_on_the_branch_stays_there(repo: Path, tmp_path: Path) -> None:
    evil_branch(repo, lambda blob: ("100644", "x", blob))
    tree = run(repo, "rev-parse", "moot:comms").strip()
    both = raw_tree(repo, ("40000", "comms", tree), ("40000", "comms2", tree))
    run(repo, "update-ref", "refs/heads/moot", run(repo, "commit-tree", both, stdin=b"x").strip())
    assert branch_holds_workspace(found(repo)) == "comms"
    assert restore_workspace(found(repo), tmp_path / "comms") == 3


@pytest.mark.parametrize("kind", ["link to a folder", "file"])
def test_nothing_is_written_through_what_stands_where_a_folder_should(
    repo: Path, tmp_path: Path, kind: str
) -> None:
    commit(repo)
    target, away = tmp_path / "comms", tmp_path / "away"
    target.mkdir()
    away.mkdir()
    if kind == "file":
        (target / "kept").write_bytes(b"")
    else:
        (target / "kept").symlink_to(away)
    with pytest.raises(StoreError, match="cannot make the folder kept: something else stands there"):
        restore_workspace(found(repo), target)
    assert os.listdir(away) == []


def test_a_deep_workspace_comes_back_with_the_folders_above_it(repo: Path, tmp_path: Path) -> None:
    (repo / "tools" / "agents").mkdir(parents=True)
    (repo / "comms").rename(repo / "tools" / "agents" / "talk")
    commit_workspace(found(repo), repo / "tools" / "agents" / "talk", "x")
    clone = tmp_path / "clone"
    run(tmp_path, "clone", "-q", str(repo), str(clone))
    assert restore_workspace(found(clone), clone / "tools" / "agents" / "talk") == len(WORKSPACE_FILES)


def test_a_link_on_the_way_to_the_target_is_not_followed(repo: Path, tmp_path: Path) -> None:
    commit(repo)
    (tmp_path / "away").mkdir()
    (repo / "tools").symlink_to(tmp_path / "away")
    with pytest.raises(StoreError, match="cannot make the folder tools: something else stands there"):
        restore_workspace(found(repo), repo / "tools" / "comms")
    assert os.listdir(tmp_path / "away") == []


def test_a_restore_that_was_cut_short_is_no_workspace_yet(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repo)
    written: list[Path] = []
    monkeypatch.setattr(git, "write_new", lambda path, data: written.append(path) or True)
    restore_workspace(found(repo), tmp_path / "comms")
    assert len(written) == len(WORKSPACE_FILES)
    assert written[-1] == tmp_path / "comms" / "moot.toml"


def test_a_target_without_a_folder_above_it_is_a_store_error(repo: Path, tmp_path: Path) -> None:
    commit(repo)
    with pytest.raises(StoreError, match="cannot make the folder comms: no such file or folder"):
        restore_workspace(found(repo), tmp_path / "no" / "comms")


def test_a_branch_that_lost_a_file_is_a_store_error(repo: Path, tmp_path: Path) -> None:
    commit(repo)
    blob = run(repo, "rev-parse", "moot:comms/kept/CC.md").strip()
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(StoreError, match=f"lacks a file of the branch .{blob}.: run git fetch"):
        restore_workspace(found(repo), tmp_path / "comms")
    assert not (tmp_path / "comms").exists()


def test_copies_of_mail_stay_out_of_the_history(repo: Path) -> None:
    (repo / "comms" / "inbox").mkdir()
    (repo / "comms" / "inbox" / "CC.md").write_bytes(b"private\n")
    commit_workspace(found(repo), repo / "comms", "x")
    assert not [name for name in names_in(repo, "moot") if "inbox" in name]
