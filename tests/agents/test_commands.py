"""What the command line answers: to good input, to bad input, on a bad day."""

import json
import os
import subprocess
import sys

import pytest

from moot.agents.lease import Lease
from moot.doors import COMMANDS

PROMPT = "Plan a small picnic. Use peer-collaboration. CC + CX."


def test_init_twice_changes_nothing_and_says_so(shell):
    before = {path: path.read_bytes() for path in shell.comms.rglob("*") if path.is_file()}
    said = shell.ok("init", "--agents", "ZZ")
    assert "nothing was changed" in said
    assert "next: moot agents add ZZ" in said
    assert {path: path.read_bytes() for path in shell.comms.rglob("*") if path.is_file()} == before


def test_init_leaves_git_status_as_it_was(bare):
    before = bare.git("status", "--porcelain", "--ignored=no")
    bare.ok("init")
    assert bare.git("status", "--porcelain", "--ignored=no") == before
    assert (bare.comms / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("named", ["talk", "deep/down/talk"])
def test_init_makes_the_folder_that_is_named(bare, named):
    bare.ok("init", named, "--agents", "CC,CX")
    assert (bare.top / named / "comms.md").exists()
    assert "CC" in bare.ok("agents", "--workspace", named)


def test_init_of_a_repository_from_outside_makes_comms_inside(bare, tmp_path):
    bare.ok("init", str(bare.top), cwd=tmp_path)
    assert (bare.comms / "comms.md").exists()


def test_init_does_not_take_over_a_folder_with_other_things(bare):
    bare.comms.mkdir()
    (bare.comms / "novel.txt").write_text("chapter one")
    assert "holds other things" in bare.fails(2, "init")


def test_the_workspace_is_found_from_below_and_from_a_linked_worktree(shell, tmp_path):
    deep = shell.top / "a" / "b"
    deep.mkdir(parents=True)
    shell.ok("status", cwd=deep)
    (shell.top / "f").write_text("x")
    shell.git("add", "f")
    shell.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    for linked in (tmp_path / "linked", shell.top / "inside"):
        shell.git("worktree", "add", "-q", "--detach", str(linked))
        found = json.loads(shell.ok("status", "--json", cwd=linked))
        assert found["workspace"] == str(shell.comms.resolve())


def test_a_second_workspace_beside_the_first_is_named_in_a_warning(shell):
    shell.ok("init", "other")
    done = shell.run("status")
    assert done.returncode == 0
    assert "other" in done.stderr


def test_a_fresh_clone_gets_its_workspace_back(shell, tmp_path):
    name = shell.start(PROMPT)
    shell.ok("send", "--as", "CC", "A first plan")
    shell.ok("sync")
    subprocess.run(["git", "clone", "-q", str(shell.top), str(tmp_path / "clone")], check=True, env=shell.env,
                   capture_output=True)  # fmt: skip
    clone = type(shell)(tmp_path / "clone", shell.env)
    assert "moot init" in clone.fails(4, "status")
    assert "brought back" in clone.ok("init")
    assert clone.ledger.read_bytes() == shell.ledger.read_bytes()
    assert clone.session(name)["waiting_for"] == ["CX"]
    assert "accepted" in clone.ok("send", "--as", "CX", "And a second")


def test_sync_commits_once(shell):
    assert "committed" in shell.ok("sync")
    assert "up to date" in shell.ok("sync")


def test_agents_lists_and_adds(shell):
    assert [line.split(" ")[0] for line in shell.ok("agents").splitlines()] == ["CC", "CX", "GM"]
    before = (shell.comms / "moot.toml").read_text()
    assert "already" in shell.ok("agents", "add", "CC")
    assert (shell.comms / "moot.toml").read_text() == before
    shell.ok("agents", "add", "AG", "CC-peer-02", "v1.2")
    assert (shell.comms / "moot.toml").read_text().startswith(before)
    assert [one["name"] for one in json.loads(shell.ok("agents", "--json"))] == [
        "CC", "CX", "GM", "AG", "CC-peer-02", "v1.2",
    ]  # fmt: skip
    assert "already, as CC" in shell.fails(2, "agents", "add", "cc")


@pytest.mark.parametrize(
    "name", ["..", "a/b", "REFEREE", "human", "DONE", "x.", "CON", "a b", "n" * 65, "-x", "é"]
)
def test_names_that_could_do_harm_are_refused(shell, name):
    before = (shell.comms / "moot.toml").read_bytes()
    shell.fails(2, "agents", "add", "--", name)
    assert (shell.comms / "moot.toml").read_bytes() == before


def test_no_workspace_is_one_line_that_names_the_folder(bare):
    for arguments in (
        ["status"],
        ["send", "--as", "CC", "x"],
        ["wait", "--as", "CC"],
        ["up", "--once"],
        ["log"],
    ):
        line = bare.fails(4, *arguments)
        assert str(bare.top.resolve()) in line
        assert "moot init" in line


def test_a_pinned_folder_without_a_workspace_is_one_line(shell, tmp_path):
    assert str(tmp_path) in shell.fails(4, "status", "--workspace", str(tmp_path))
    assert str(tmp_path) in shell.fails(4, "status", MOOT_WORKSPACE=str(tmp_path))
    shell.ok("status", cwd=tmp_path, MOOT_WORKSPACE=str(shell.comms))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[limits]\nturn_timeot_s = 3\n", "did you mean turn_timeout_s?"),
        ("[limit]\n", "did you mean limits?"),
        ("[agents.CC]\nwak = 'wait'\n", "did you mean wake?"),
        ("[limits]\nturn_timeout_s = 'soon'\n", "whole number"),
        ("[git]\ntrack = 'svn'\n", "branch or off"),
        ("agents = 3\n", "must be a table"),
        ("[agents.'../x']\n", "no agent's name"),
        ("[agents.CC]\n[agents.cc]\n", "already, as CC"),
        ("what is this\n", "not TOML"),
        ("\xff\xfe", "not TOML"),
    ],
)
def test_wrong_settings_are_one_line_with_the_file_and_the_mend(shell, text, says):
    (shell.comms / "moot.toml").write_bytes(text.encode("latin-1"))
    line = shell.fails(2, "send", "--as", "CC", "--to", "CX", "hi")
    assert says in line
    assert "moot.toml" in line


def test_the_environment_stands_over_the_settings_file(shell):
    assert "MOOT_TURN_TIMEOUT_S" in shell.fails(2, "start", PROMPT, MOOT_TURN_TIMEOUT_S="soon")
    shell.ok("start", PROMPT, MOOT_TURN_TIMEOUT_S="77")
    assert "TURN_TIMEOUT_S: 77" in shell.ledger.read_text()


@pytest.mark.parametrize(
    ("arguments", "text", "code", "says"),
    [
        (["send", "--as", "CC"], "", 2, "give the text once"),
        (["send", "--as", "CC", "x", "--file", "y"], "", 2, "give the text once"),
        (["send", "--as", "CC", ""], "", 2, "empty"),
        (["send", "--as", "CC", "-"], " \n\t\n", 2, "empty"),
        (["send", "--as", "CC", "-"], b"ab\xffc", 2, "byte 2 is not UTF-8"),
        (["send", "--as", "CC", "-"], b"ab\0c", 2, "byte 2 is NUL"),
        (["send", "--as", "CC", "--file", "nowhere.md"], "", 2, "no such file"),
        (["send", "--as", "CC", "--file", "."], "", 2, "folder"),
        (["send", "--as", "CC", "--to", "CXX", "hi"], "", 4, "did you mean CX?"),
        (["send", "--as", "CCC", "hi"], "", 4, "did you mean CC?"),
        (["send", "hi"], "", 2, "--as NAME"),
        (["send", "--as", "REFEREE", "hi"], "", 4, "REFEREE"),
        (["send", "--as", "CC", "--in", "peer-0000", "hi"], "", 4, "no session"),
        (["send", "--as", "GM", "hi"], "", 3, "GM takes part in no open session"),
        (["send", "--as", "CC", "--to", "CX,GM", "--private", "hi"], "", 2, "one reader"),
        (["send", "--as", "CC", "--private", "hi"], "", 2, "never a move"),
        (["done", "--as", "CX"], "", 3, "CC moves next"),
        (["ack", "--as", "CC", "01ARZ3NDEKTSV4RRFF"], "", 4, "no block"),
        (["ack", "--as", "CC", "../../etc"], "", 4, "no block"),
        (["trace", "nonsense"], "", 4, "no block"),
        (["wait", "--as", "CXX", "--timeout", "1"], "", 4, "did you mean CX?"),
        (["wait", "--as", "GM", "--timeout", "0.1"], "", 6, "nothing for GM"),
        (["inbox", "--as", "NOBODY"], "", 4, "NOBODY"),
        (["start", ""], "", 2, "empty"),
        (["start", "Build it. CC + CX."], "", 2, "protocol"),
        (["start", "Build it. Use peer-collaboration."], "", 2, "CC + CX"),
        (["start", "Build it. Use peer-collaboration. CC + ZZ."], "", 4, "moot agents add ZZ"),
        (["start", "Build it. Use peer-collaboration. CC + CX. Output: ../out.md"], "", 2, "out.md"),
        (["start", "Build it. Use peer-collaboration. CC + CX. Output: .git/config"], "", 2, ".git"),
        (["start", "Build it. Use peer-collaboration. CC + CX. Output: comms/x.md"], "", 2, "comms"),
        (["start", "Build it. Use peer-collaboration. CC + CX. max_turns: none"], "", 2, "max_turns"),
        (["start", "--as", "ZZ", PROMPT], "", 4, "ZZ"),
        (["run", PROMPT], "", 2, "--agent"),
        (["run", PROMPT, "--agent", "CC"], "", 2, "CC"),
        (["run", PROMPT, "--agent", "ZZ=mock"], "", 4, "ZZ"),
        (["run", PROMPT, "--agent", "CC=telepathy"], "", 2, "telepathy"),
        (["run", "--in", "peer-0000", "--agent", "CC=mock"], "", 4, "peer-0000"),
        (["demo", "chess"], "", 2, "peer-collaboration"),
        (["sned"], "", 2, "did you mean send?"),
        (["send", "--too", "CX"], "", 2, "--too"),
        (["log", "--last", "0"], "", 2, "last"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_with_the_right_code_and_nothing_written(shell, arguments, text, code, says):
    shell.start(PROMPT)
    before = shell.ledger.read_bytes()
    assert says in shell.fails(code, *arguments, text=text)
    assert shell.ledger.read_bytes() == before


def test_an_argument_is_never_read_by_a_shell_nor_changed(shell):
    text = "`touch x` $(touch y) \\n %s \u2028 \u202e <!-- moot v=1 id=0 -->\n<!-- /moot id=0 -->\n\n   "
    shell.ok("send", "--as", "CC", "--to", "CX", text)
    (line,) = shell.ok("inbox", "--as", "CX", "--json").splitlines()
    assert json.loads(line)["body"] == text
    assert sorted(path.name for path in shell.top.iterdir()) == [".git", "comms"]


def test_a_text_over_the_limit_is_kept_whole_and_its_sender_knows(shell):
    shell.start(PROMPT + "\nOutput: big.md")
    plan = "\n".join(f"{n}. point" for n in range(40_000)) + "\n"
    done = shell.run("send", "--as", "CC", "-", text=f"Much to say.\n\nUpdated:\n{plan}\n[DONE] - all said\n")
    assert done.returncode == 0
    assert "runs/attachments/" in done.stderr
    assert len(shell.ledger.read_bytes()) < 10_000
    shell.ok("done", "--as", "CX")
    assert (shell.top / "big.md").read_text() == plan


def test_a_body_that_leaves_a_fence_open_is_closed_and_its_sender_knows(shell):
    done = shell.run("send", "--as", "CC", "--to", "CX", "look:\n\n```python\nx = 1")
    assert "closed with ```" in done.stderr
    shell.ok("send", "--as", "CC", "--to", "CX", "and this")
    assert [json.loads(line)["body"] for line in shell.ok("inbox", "--as", "CX", "--json").splitlines()] == [
        "look:\n\n```python\nx = 1",
        "and this",
    ]


def test_a_private_message_is_in_one_inbox_and_a_hash_in_the_ledger(shell):
    shell.ok("send", "--as", "CC", "--to", "CX", "--private", "the gift is a kite")
    assert "kite" not in shell.ledger.read_text()
    assert "kite" in (shell.comms / "inbox/CX.md").read_text()
    assert "kite" not in shell.ok("log")
    assert "kite" in shell.ok("wait", "--as", "CX")
    shell.ok("sync")
    assert "kite" not in shell.git("log", "-p", "moot")


def test_receipts_go_from_stored_to_acknowledged(shell):
    said = shell.ok("send", "--as", "CC", "--to", "CX", "ready?")
    block_id = said.split(" ")[0]
    assert "notified" in shell.ok("trace", block_id)
    assert "read" not in shell.ok("trace", block_id)
    shell.ok("inbox", "--as", "CX", "--peek")
    assert "read" not in shell.ok("trace", block_id)
    shell.ok("wait", "--as", "CX")
    assert "read" in shell.ok("trace", block_id)
    shell.ok("ack", "--as", "CX", block_id[:14])
    assert "acknowledged" in shell.ok("trace", block_id)
    assert "already" in shell.ok("ack", "--as", "CX", block_id)
    assert "not sent to GM" in shell.fails(3, "ack", "--as", "GM", block_id)
    assert "nothing unread" in shell.ok("inbox", "--as", "CC")  # an acknowledgement wakes nobody


def test_a_closed_pipe_marks_nothing_as_read(shell):
    for n in range(40):
        shell.ok("send", "--as", "CC", "--to", "CX", f"{n} " + "x" * 4000)
    reader = subprocess.Popen(
        [sys.executable, "-m", "moot", "inbox", "--as", "CX"],
        cwd=shell.top,
        env=shell.env,
        stdout=subprocess.PIPE,
    )
    assert reader.stdout is not None
    reader.stdout.read(10)
    reader.stdout.close()
    assert reader.wait() != 0
    assert len(shell.ok("inbox", "--as", "CX", "--peek", "--json").splitlines()) == 40


def test_what_would_move_a_terminals_cursor_is_shown_as_text(shell):
    shell.ok("send", "--as", "CC", "--to", "CX", "\x1b[2Jgone\x1b]52;c;aGk=\x07 \u202ereversed\rover")
    for command in (["log"], ["inbox", "--as", "CX", "--peek"], ["wait", "--as", "CX"]):
        said = shell.ok(*command)
        assert "\x1b" not in said
        assert "\u202e" not in said
        assert "\r" not in said
        assert "\\u001b" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can drop to another user")
def test_a_folder_that_may_not_be_written_is_one_line(shell):
    shell.start(PROMPT)
    for path in (shell.top.parent, *shell.top.parents):
        path.chmod(path.stat().st_mode | 0o055)
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-m", "moot", "send", "--as",
         "CC", "hello"],
        cwd=shell.top, env=shell.env, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "permission denied" in done.stderr


def test_inboxes_that_are_no_files_lose_nothing(shell):
    inbox = shell.comms / "inbox" / "CX.md"
    os.mkfifo(inbox)
    line = shell.fails(1, "send", "--as", "CC", "--to", "CX", "are you there?")
    assert "do not send it again" in line
    assert "are you there?" in shell.ok("inbox", "--as", "CX")


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_a_help_page_with_an_example(bare, command):
    said = bare.ok(command, "--help")
    assert f"Example: moot {command}" in said


def test_the_version_is_that_of_the_package(bare):
    assert bare.ok("--version").startswith("moot, version 0.")


def test_a_referee_that_runs_already_is_named_and_the_second_leaves(shell):
    with shell.up() as first:
        for arguments in (["up"], ["up", "--once"]):
            assert f"process {first.pid}" in shell.fails(4, *arguments)
        assert shell.status()["referee"] == {"running": True, "pid": first.pid}
    assert shell.status()["referee"] == {"running": False, "pid": None}


def test_a_referee_that_was_killed_is_not_named_while_a_command_rules(shell):
    with shell.up() as killed:
        shell.until(lambda: shell.status()["referee"]["running"])
        killed.kill()
        killed.wait()
        lease = Lease(shell.comms / ".state" / "lease")
        with lease.for_one_pass() as ours:
            assert ours
            assert shell.status()["referee"] == {"running": False, "pid": None}


def test_an_inbox_can_be_read_by_its_owner_alone(shell):
    shell.ok("send", "--as", "CC", "--to", "CX", "--private", "the code is 17")
    assert (shell.comms / "inbox" / "CX.md").stat().st_mode & 0o777 == 0o600


def test_an_inbox_copy_that_could_not_be_written_comes_with_the_next_one(shell):
    inbox = shell.comms / "inbox" / "CX.md"
    inbox.mkdir()
    assert "an inbox copy is missing" in shell.fails(1, "send", "--as", "CC", "--to", "CX", "the first")
    inbox.rmdir()
    shell.ok("send", "--as", "CC", "--to", "CX", "the second")
    text = inbox.read_text()
    assert text.index("the first") < text.index("the second")


def test_an_id_in_small_letters_is_found(shell):
    block_id = shell.ok("send", "--as", "CC", "--to", "CX", "hello").split(" ")[0]
    assert block_id in shell.ok("trace", block_id.lower())


def test_status_shows_open_sessions_and_the_last_closed_ones(shell):
    names = []
    for _ in range(7):
        names.append(shell.start(PROMPT))
        shell.ok("done", "--as", "CC", "Artifact:\ncake")
        shell.ok("done", "--as", "CX")
    names.append(shell.start(PROMPT))
    said = shell.ok("status")
    assert "2 older sessions are closed" in said
    assert [name for name in names if name in said] == names[2:]
    assert "    DONE, TURNS 2, OUTPUT none" in said
    assert (
        "CC moves next"
        in said.splitlines()[
            said.splitlines().index(f"{names[-1]}  peer-collaboration  CC (PEER_A), CX (PEER_B)") + 1
        ]
    )


def test_wait_gives_the_block_and_the_commands_that_the_rules_allow(shell):
    name = shell.start(PROMPT)
    shell.ok("wait", "--as", "CX")
    shell.ok("send", "--as", "CC", "A plan\n\nUpdated:\ncake")
    said = shell.ok("wait", "--as", "CX")
    assert "[PEER_A - CC]" in said
    assert f"moot send --as CX --in {name} -" in said
    delivery = json.loads(shell.ok("wait", "--as", "CX", "--json"))  # its turn is still its own
    assert delivery["again"] is True
    assert delivery["session"]["role"] == "PEER_B"
    assert delivery["next"][0]["command"] == f"moot send --as CX --in {name} -"


def test_wait_returns_at_the_end_of_a_session(shell):
    shell.start(PROMPT)
    shell.ok("done", "--as", "CC", "Artifact:\ncake")
    shell.ok("inbox", "--as", "CC")
    waiting = shell.spawn("wait", "--as", "CC", "--timeout", "50")
    shell.ok("done", "--as", "CX")
    printed, _ = waiting.communicate(timeout=60)
    assert "[DONE]" in printed or "is closed" in printed


@pytest.mark.parametrize("fault", ["sync", "_save"])
def test_a_fault_after_the_append_says_that_the_block_is_there(shell, fault):
    code = """
import sys
from moot.agents.referee import Referee
from moot.bus.ledger import Ledger
from moot.parsers.errors import StoreError
def refuse(*_, **__): raise StoreError("the disk refused", then="look at the disk")
setattr(Ledger if sys.argv[1] == "sync" else Referee, sys.argv[1], refuse)
sys.argv = ["moot", "send", "--as", "CC", "--to", "CX", "once"]
from moot.__main__ import main
main()
"""
    shell.ok("send", "--as", "CC", "--to", "CX", "before")
    done = subprocess.run(
        [sys.executable, "-c", code, fault], cwd=shell.top, env=shell.env, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "but the disk refused: do not send it again" in done.stderr
    assert [line["body"] for line in shell.log()].count("once") == 1
    assert "once" in shell.ok("inbox", "--as", "CX")
