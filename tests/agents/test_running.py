"""`moot run`, `moot demo`, and many processes at once."""

import json
import subprocess
import sys
import textwrap

PROMPT = "Write a short checklist. Use peer-collaboration. CC + CX.\nOutput: docs/list.md"

PEER = """
import sys
prompt = sys.stdin.read()
assert "You are CX (PEER_B)" in prompt, prompt
assert "There is no artifact yet" not in prompt
open("seen.txt", "a").write(prompt)
print("[DONE]" if "Phase: proposed" in prompt else "Fine by me, go on.")
"""


def agent(shell, text, name="agent.py"):
    (shell.top / name).write_text(textwrap.dedent(text))
    return f"cmd:{sys.executable} {name}"


def test_run_drives_mock_and_command_agents_to_the_final_status(shell):
    said = shell.ok("run", PROMPT, "--agent", "CC=mock", "--agent", f"CX={agent(shell, PEER)}")
    assert "STATUS: DONE" in said
    assert "OUTPUT: docs/list.md" in said
    assert "1. Say in one sentence" in (shell.top / "docs/list.md").read_text()
    seen = (shell.top / "seen.txt").read_text()
    assert "> [PEER_A - CC]" in seen
    assert "```artifact" in seen
    shell.ok("verify")


def test_run_with_json_prints_the_session_alone(shell):
    session = json.loads(shell.ok("run", PROMPT, "--agent", "CC=mock", "--agent", "CX=mock", "--json"))
    assert session["state"] == "done"
    assert session["result"]["TURNS"] == "4"


def test_run_under_a_running_referee_ends_the_same(shell):
    with shell.up():
        assert "STATUS: DONE" in shell.ok("run", PROMPT, "--agent", "CC=mock", "--agent", "CX=mock")


def test_a_command_that_fails_twice_leaves_the_session_open_and_run_goes_on(shell):
    broken = agent(shell, "import sys; sys.exit('no model today')", "broken.py")
    done = shell.run("run", PROMPT, "--agent", "CC=mock", "--agent", f"CX={broken}")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no model today" in done.stderr
    name = shell.session()["id"]
    assert f"moot run --in {name}" in done.stderr
    assert shell.session()["waiting_for"] == ["CX"]
    assert "STATUS: DONE" in shell.ok("run", "--in", name, "--agent", "CC=mock", "--agent", "CX=mock")


def test_a_command_that_hangs_is_ended_with_all_its_children(shell):
    hanging = agent(
        shell,
        """
        import os, signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "600"])
        open("pids.txt", "a").write(f"{os.getpid()} {child.pid}\\n")
        time.sleep(600)
        """,
    )
    line = shell.fails(
        1, "run", "--json", PROMPT, "--agent", f"CC={hanging}", "--agent", "CX=mock", "--timeout", "0.5"
    )
    assert "time-out after 0.5 s" in line
    for pid in (shell.top / "pids.txt").read_text().split():
        assert not is_running(int(pid))


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_an_answer_that_the_rules_refuse_is_asked_for_again_with_the_reason(shell):
    second_thoughts = agent(
        shell,
        """
        import sys
        again = "Your last answer was not taken" in sys.stdin.read()
        print("[DONE]" if again else "[DONE]\\n[INCOMPLETE]")
        """,
    )
    said = shell.ok("run", PROMPT, "--agent", "CC=mock", "--agent", f"CX={second_thoughts}")
    assert "[DONE] and [INCOMPLETE] in one turn" in said
    assert "STATUS: DONE" in said


def test_an_incomplete_end_is_exit_3(shell):
    done = shell.run("run", f"{PROMPT}\nmax_turns: 2", "--agent", "CC=mock", "--agent", "CX=mock")
    assert done.returncode == 3
    assert "STATUS: INCOMPLETE" in done.stdout


def test_the_demo_shows_a_whole_session_between_processes(bare):
    said = bare.ok("demo")
    for line in ("STATUS: DONE", "OUTPUT: docs/checklist.md", "PARTICIPANTS: CC (PEER_A), CX (PEER_B)"):
        assert f"\n{line}\n" in said
    assert "moves next" in said
    assert "moot init" in said
    folder = said.partition("The session is in ")[2].partition("/comms/comms.md")[0]
    log = subprocess.run(
        ["git", "-C", folder, "log", "--format=%s", "moot"], capture_output=True, text=True
    ).stdout
    assert "DONE" in log


WRITER = """
import sys
from pathlib import Path
import moot
referee = moot.Referee(moot.find_workspace(Path.cwd()))
for n in range(int(sys.argv[2])):
    print(moot.send_message(referee, sys.argv[1], ["HUMAN"], f"{sys.argv[1]} {n}").id, flush=True)
"""

READER = """
import sys
from pathlib import Path
import moot
from moot.bus.watcher import Watcher
referee = moot.Reader(moot.find_workspace(Path.cwd()))
before = []
with Watcher(referee.workspace.ledger) as watcher:
    while len(before) < int(sys.argv[1]):
        ids = [one.frame.id for one in moot.read_whole(referee).linked]
        assert ids[: len(before)] == before, "the order that was read once has changed"
        before = ids
        watcher.wait(1.0)
print(*before, sep="\\n")
"""


def test_eight_writers_of_two_hundred_blocks_each_are_all_there_once_in_one_order(shell):
    names = [f"W{n}" for n in range(8)]
    shell.ok("agents", "add", *names)

    def spawn(code, *arguments):
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=shell.top,
            env=shell.env,
            stdout=subprocess.PIPE,
            text=True,
        )

    reader = spawn(READER, str(8 * 200 + 1))
    writers = [spawn(WRITER, name, "200") for name in names]
    stored = [writer.communicate(timeout=100)[0].split() for writer in writers]
    read = reader.communicate(timeout=100)[0].split()
    assert [writer.returncode for writer in writers] == [0] * 8
    assert reader.returncode == 0
    assert sorted(read[1:]) == sorted(block_id for ids in stored for block_id in ids)
    assert read == sorted(read)
    shell.ok("verify")
    bodies = [line["body"] for line in shell.log() if line["from"] != "REFEREE"]
    assert sorted(bodies) == sorted(f"{name} {n}" for name in names for n in range(200))
    for name in names:
        assert [body for body in bodies if body.startswith(f"{name} ")] == [f"{name} {n}" for n in range(200)]
    assert len(shell.ok("inbox", "--as", "HUMAN", "--json").splitlines()) == 1600


def test_what_a_command_reads_does_not_grow_with_the_ledger(shell):
    """Nothing reads the whole file: counted in bytes, so that the machine's speed does not matter."""
    code = """
import os, sys
from pathlib import Path
read = [0]
pread = os.pread
def counted(fd, size, offset):
    data = pread(fd, size, offset)
    read[0] += len(data)
    return data
os.pread = counted
import moot
def fresh(): return moot.Referee(moot.find_workspace(Path.cwd()))
referee = fresh()
name = moot.start_session(referee, "Plan tea. Use peer-collaboration. CC + CX.").opening.session
def measure():
    read[0] = 0
    moot.send_message(fresh(), "CC", ["GM"], "hello")
    one = fresh()
    moot.wait_for(one, "GM", 1)
    return read[0]
small = measure()
for n in range(int(sys.argv[1])):
    moot.send_message(referee, "CC", ["HUMAN"], f"{n} " + "x" * 200)
large = measure()
moot.take_turn(fresh(), "CC", "A plan", None)
print(small, large, read[0], os.path.getsize("comms/comms.md"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "1500"],
        cwd=shell.top,
        env=shell.env,
        capture_output=True,
        text=True,
        check=True,
    )
    small, large, turn, size = map(int, done.stdout.split())
    assert size > 500_000
    assert abs(large - small) < 4096
    assert turn < 16_384
