"""Ends what a run left behind: lives as long as the pipe to it, then kills every process group still named.

A run that is killed by SIGKILL can end nothing itself. So it starts this beside it, and writes `+GROUP` when a
command begins and `-GROUP` when it has ended. When the pipe closes, whatever is left is killed.
"""

import os
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Read until the pipe closes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        sign, digits = line[:1], line[1:].strip()
        if digits.isdecimal():
            (groups.add if sign == "+" else groups.discard)(int(digits))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
