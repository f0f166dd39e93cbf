"""What others do to a workspace while it is used, and what the commands say on a bad day."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from moot.tests.conftest import MOOT, Shell

PROMPT = "Plan a small picnic. Use peer-collaboration. CC + CX."


def through_a_shell(shell: Shell, line: str) -> "subprocess.CompletedProcess[str]":
    """Run a line of sh in which `moot` is ours."""
    script = f'moot() {{ "{sys.executable}" -m moot "$@"; }}\n{line}'
    return subprocess.run(
        ["bash", "-c", script], cwd=shell.top, env=shell.env, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("left", [0, 1])
def test_blocks_that_somebody_put_an_older_file_over_are_named_ever_after(shell: Shell, left: int) -> None:
    shell.ok("send", "--as", "CC", "--to", "CX", "kept" * left or "first")
    old = shell.ledger.read_bytes()
    lost = [shell.ok("send", "--as", "CC", "--to", "CX", text).split(" ")[0] for text in ("one", "two")]
    shell.ledger.write_bytes(old)
    shell.ok("send", "--as", "CX", "--to", "CC", "and on we go")
    done = shell.run("verify", "--json")
    assert done.returncode == 5
    assert [fault["block"] for fault in json.loads(done.stdout)["faults"]] == lost
    assert f"block {lost[0]} is gone from the ledger" in shell.fails(4, "trace", lost[0])


@pytest.mark.parametrize("printing", [">/dev/full", ">&-", "| true"])
def test_a_block_whose_id_could_not_be_printed_is_not_sent_again(shell: Shell, printing: str) -> None:
    done = through_a_shell(shell, f"sleep 0 {printing}; moot send --as CC --to CX hello {printing}")
    assert "fault of moot's own" not in done.stderr
    if "full" in printing:
        assert "the ledger holds the block" in done.stderr
        assert "do not send it again" in done.stderr
    assert shell.ok("inbox", "--as", "CX").count("hello") == 1


@pytest.mark.parametrize(
    "line",
    [
        "moot status >&-",
        "moot send --as CC --to CX - <&-",
        "moot log >/dev/full",
        "PYTHONIOENCODING=ascii moot log",
    ],
)
def test_streams_that_are_closed_or_narrow_are_no_fault_of_ours(shell: Shell, line: str) -> None:
    shell.ok("send", "--as", "CC", "--to", "CX", "\u20ac 5 \u2013 done")
    done = through_a_shell(shell, line)
    assert "fault of moot's own" not in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == {"moot send --as CC --to CX - <&-": 2, "moot log >/dev/full": 1}.get(line, 0)


def test_a_referee_goes_on_where_nobody_reads_what_it_prints(shell: Shell) -> None:
    name = shell.start(PROMPT)
    read, write = os.pipe()
    process = subprocess.Popen(
        [*MOOT, "up"], cwd=shell.top, env=shell.env, stdout=write, stderr=subprocess.DEVNULL
    )
    os.close(write)
    with os.fdopen(read) as file:
        file.readline()
    try:
        for peer in ("[PEER_A - CC]", "[PEER_B - CX]"):
            before = shell.rulings()
            shell.hand(f"\n{peer}\nwords\n")
            shell.until(lambda before=before: shell.rulings() > before)  # type: ignore[misc]
    finally:
        process.terminate()
        process.wait()
    assert shell.session(name)["turns"] == 2


def test_an_index_that_is_removed_under_a_running_referee_stops_nobody(shell: Shell) -> None:
    name = shell.start(PROMPT)
    with shell.up():
        shell.until(lambda: shell.status()["referee"]["running"])
        for author in ("CC", "CX", "CC"):
            (shell.comms / ".state" / "index.db").unlink()
            shell.ok("send", "--as", author, "words")
    assert shell.session(name)["turns"] == 3
    assert shell.run("verify").returncode == 0


@pytest.mark.parametrize("taken", ["lease", "."])
def test_a_referee_takes_its_lease_again_where_the_file_was_removed(shell: Shell, taken: str) -> None:
    with shell.up() as first:
        shell.until(lambda: shell.status()["referee"]["running"])
        state = shell.comms / ".state"
        for path in sorted(state.iterdir()) if taken == "." else [state / taken]:
            path.unlink()
        shell.hand("\nsomething to look at\n")
        shell.until(lambda: shell.status()["referee"]["pid"] == first.pid)


def test_silence_is_measured_though_a_clock_was_ahead_once(shell: Shell) -> None:
    shell.ok("start", PROMPT, "--turn-timeout", "1")
    code = """
import sys, time
real = time.time_ns
time.time_ns = lambda: real() + 3_600_000_000_000
sys.argv = ["moot", "send", "--as", "GM", "--to", "CX", "I come from the future"]
from moot.__main__ import main
main()
"""
    subprocess.run(
        [sys.executable, "-c", code], cwd=shell.top, env=shell.env, check=True, capture_output=True
    )
    shell.ok("send", "--as", "CC", "a turn")
    with shell.up():
        shell.until(lambda: "reminded" in shell.ok("replay"))


def test_a_session_that_nobody_can_mean_is_refused_with_those_that_are_open(shell: Shell) -> None:
    name = shell.start(PROMPT)
    shell.hand("\n[PEER_A - CC] in peer-12zz\nmeant for another\n")
    said = shell.ok("up", "--once")
    assert "no session peer-12zz is open; " in said  # how near the other's digits are is chance
    assert f"; did you mean {name}?" in said or f"; open: {name}" in said
    assert shell.session(name)["turns"] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["wait", "--as", "CC", "--timeout", "nan"], "nan is no length of time"),
        (["run", "x", "--agent", "CC=mock", "--timeout", "inf"], "is not in the range"),
        (["agents", "add", ""], "nobody is named"),
        (["start", "Use nothing-known. CC + CX."], "'nothing-known' is none"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(shell: Shell, arguments: list[str], says: str) -> None:
    assert says in shell.fails(2, *arguments)


def test_a_limit_that_is_too_high_is_told_how_high_it_may_be(shell: Shell) -> None:
    assert "from 1 to 10000000" in shell.fails(2, "status", MOOT_TURN_TIMEOUT_S="99999999999999")


def test_a_ledger_that_is_gone_is_no_riddle(shell: Shell) -> None:
    Path(shell.ledger).unlink()
    assert "`moot init`" in shell.fails(1, "status")
