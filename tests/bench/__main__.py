"""How quick it is, as ratios within one run: `python -m moot.tests.bench`.

Nothing here fails: machines are noisy. It prints medians, for a person to read.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import moot

PROMPT = "Plan tea. Use peer-collaboration. CC + CX.\nmax_turns: 9999"


def workspace(folder: str, blocks: int) -> moot.Referee:
    """Make a workspace with an open session and a ledger of about `blocks` blocks."""
    top = Path(folder)
    moot.init_workspace(top, None, ("CC", "CX", "GM"))
    referee = moot.Referee(moot.find_workspace(top))
    for n in range(blocks):
        moot.send_message(referee, "CC", ["HUMAN"], f"{n} " + "a few words more " * 10)
    moot.start_session(referee, PROMPT)
    return referee


def medians(works: list[Callable[[], object]], rounds: int) -> list[float]:
    """Time several pieces of work in turn; give the median of each in milliseconds."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for taken, work in zip(times, works, strict=True):
            began = time.perf_counter()
            work()
            taken.append((time.perf_counter() - began) * 1000)
    return [statistics.median(taken) for taken in times]


def command(top: Path, *arguments: str) -> Callable[[], object]:
    """Give a run of the command line, as a new process."""
    return lambda: subprocess.run(
        [sys.executable, "-m", "moot", *arguments], cwd=top, check=True, stdout=subprocess.DEVNULL
    )


def sizes(small: int = 20, large: int = 20_000) -> None:
    """Compare a small ledger with a large one: a message, and a turn with its ruling."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        began = time.perf_counter()
        referees = [workspace(one, small), workspace(other, large)]
        print(f"{small + large} sends to fill two ledgers: {time.perf_counter() - began:.1f} s")
        tops = [referee.workspace.root for referee in referees]
        base = medians([lambda: subprocess.run([sys.executable, "-c", "import click"], check=True)], 15)[0]
        print(f"{'python -c import click':<34} {base:7.1f} ms")
        for name, arguments in (
            ("send --to, a new process", ("send", "--as", "CC", "--to", "GM", "hello")),
            ("inbox, nothing unread", ("inbox", "--as", "CC")),
            ("status", ("status",)),
        ):
            few, many = medians([command(top, *arguments) for top in tops], 15)
            print(f"{name:<34} {few:7.1f} ms at {small}, {many:7.1f} ms at {large}: ratio {many / few:.2f}")
        movers = [["CC", "CX"], ["CC", "CX"]]

        def turn(which: int) -> None:
            moot.take_turn(referees[which], movers[which][0], "one more thing", None)
            movers[which].reverse()

        few, many = medians([lambda: turn(0), lambda: turn(1)], 200)
        print(f"{'a turn and its ruling, in process':<34} {few:7.2f} ms at {small}, {many:7.2f} ms at {large}: "
              f"ratio {many / few:.2f}")  # fmt: skip


WAITER = """
import sys, time
from pathlib import Path
import moot
from moot.agents.waiting import mark_read
referee = moot.Referee(moot.find_workspace(Path.cwd()))
print("ready", flush=True)
while True:
    delivery = moot.wait_for(referee, "GM", 60)
    print(time.monotonic_ns(), flush=True)
    mark_read(referee, "GM", delivery.message.id)
"""


def latency(rounds: int = 100) -> None:
    """Measure from a durable send to `wait` returning in another process, and what waiting costs."""
    with tempfile.TemporaryDirectory() as folder:
        referee = workspace(folder, 20)
        waiter = subprocess.Popen(
            [sys.executable, "-c", WAITER], cwd=folder, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        assert waiter.stdout is not None
        waiter.stdout.readline()
        time.sleep(1.0)
        taken = []
        for n in range(rounds):
            moot.send_message(referee, "CC", ["GM"], f"{n}")
            durable = time.monotonic_ns()
            taken.append((int(waiter.stdout.readline()) - durable) / 1e6)
            time.sleep(0.05)
        taken.sort()
        print(f"{'send durable to wait returning':<34} median {statistics.median(taken):.2f} ms, "
              f"p99 {taken[int(len(taken) * 0.99) - 1]:.2f} ms")  # fmt: skip
        before = _cpu_s(waiter.pid)
        time.sleep(5.0)
        print(f"{'processor while waiting':<34} {(_cpu_s(waiter.pid) - before) / 5.0:.2%} of a core")
        waiter.kill()
        waiter.wait()


def stages(rounds: int = 3) -> None:
    """Measure three workers of one second each through the six stages of a run, against six seconds."""
    with tempfile.TemporaryDirectory() as folder:
        taken = []
        for n in range(rounds):
            began = time.monotonic()
            subprocess.run(
                [sys.executable, "-m", "moot", "compete", "--task", "x", "--output", f"run{n}", "--min-free-gb", "0",
                 "--competition-shape", "three_way_challenge", "--runner", "command", "--command", "sleep 1; echo x"],
                cwd=folder, check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            taken.append(time.monotonic() - began)
        median = statistics.median(taken)
        print(f"{'compete, six stages of one second':<34} {median:.2f} s: ratio {median / 6:.2f}")


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    latency()
    sizes()
    stages()
