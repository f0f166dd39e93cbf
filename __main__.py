"""The front door. A hook, which runs after every tool of every agent, has one of its own, without click."""

import gc

gc.disable()  # a command lives for milliseconds: collecting what the imports allocate costs more than it frees

import os
import sys


def main() -> None:
    """Run one command and exit with its code."""
    _check_streams()
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & {*sys.argv}:
        from .agents.hooks import run as hook

        code = hook(sys.argv[2:])
    else:
        from .doors import run

        code = run()
    gc.freeze()
    sys.exit(code)


def _check_streams() -> None:
    """Put nothing in the place of a stream that was closed, before a file of ours gets its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
