"""Two agents that use only `moot send` and `moot wait`, with no referee running, over and over.

    python -m moot.tests.rounds 100

plays a hundred sessions and says how many ended as they should. Each agent is a shell of its own.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LOOP = """\
role=$1; shift
while read -r session; do
  for body in "$@"; do
    "$PYTHON" -m moot wait --as "$role" --timeout 120 > /dev/null || exit 1
    until "$PYTHON" -m moot wait --as "$role" --timeout 120 | grep -q "moot send --as $role --in $session"; do :; done
    printf '%s\\n' "$body" | "$PYTHON" -m moot send --as "$role" --in "$session" - > /dev/null || exit 1
  done
  until "$PYTHON" -m moot wait --as "$role" --timeout 120 | grep -q "$session is closed"; do :; done
done
"""

CC = ("A first plan: tea, cake", "Good.\n\n[DONE] - enough")
CX = ("Updated:\ntea, cake, napkins", "[DONE] - confirmed")


def play(top: Path, env: dict[str, str], rounds: int) -> None:
    """Play sessions one after the other; AssertionError where an agent fails or waits in vain."""
    env = {**env, "PYTHON": sys.executable}
    for _ in range(rounds):
        said = subprocess.run(
            [sys.executable, "-m", "moot", "start", "Plan tea. Use peer-collaboration. CC + CX."],
            cwd=top, env=env, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        session = said.split(" ")[0]
        agents = []
        for name, bodies in (("CC", CC), ("CX", CX)):
            agent = subprocess.Popen(
                ["sh", "-c", LOOP, "sh", name, *bodies], cwd=top, env=env, stdin=subprocess.PIPE, text=True
            )
            assert agent.stdin is not None
            agent.stdin.write(f"{session}\n")
            agent.stdin.close()
            agents.append(agent)
        assert [agent.wait(timeout=300) for agent in agents] == [0, 0]


def main() -> None:
    """Play as many rounds as the first argument says (100)."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        subprocess.run(["git", "init", "-q", folder], check=True)
        subprocess.run([sys.executable, "-m", "moot", "init", "--agents", "CC,CX"], cwd=top, check=True)
        play(top, dict(os.environ), rounds)
        done = subprocess.run(
            [sys.executable, "-m", "moot", "replay"], cwd=top, check=True, capture_output=True, text=True
        ).stdout
        print(f"{rounds} sessions, {done.count('confirmed')} ended DONE")


if __name__ == "__main__":
    main()
