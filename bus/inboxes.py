"""Inbox files: one an agent, in the ledger's block format, for agents that read files.

A copy keeps the id of its block. The ledger is the evidence; an inbox is only a convenience and can be
written anew from it.
"""

import os
import stat
from pathlib import Path

from ..parsers.errors import StoreError
from ..parsers.frames import escape, render
from ..parsers.tokens import unclosed
from ..workspace.files import store_error
from .messages import Message

_TAIL_BYTES = 512


class Inboxes:
    """The folder of inbox files."""

    def __init__(self, folder: Path) -> None:
        """Name the folder."""
        self._folder = folder

    def path(self, agent: str) -> Path:
        """Give the file of an agent, whose name was checked before."""
        return self._folder / f"{agent}.md"

    def deliver(self, agent: str, messages: list[Message]) -> None:
        """Append copies of messages, less those that a delivery cut short has already brought.

        Not synced. Raises StoreError where the file is a link, a pipe, or cannot be written.
        """
        path = self.path(agent)
        try:
            self._folder.mkdir(exist_ok=True)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            fd = os.open(path, flags, 0o644)
            try:
                _check_ordinary(fd, path)
                last = _last_id(fd)
                new = [message for message in messages if message.id > last]
                if new:
                    os.write(fd, b"".join(copy(message, agent) for message in new))
            finally:
                os.close(fd)
        except OSError as error:
            raise store_error(error, path, "deliver to") from error


def copy(message: Message, agent: str) -> bytes:
    """Write a message as an inbox holds it: the same frame facts, less those of the ledger's chain."""
    facts = {
        "id": message.id,
        "at": message.at,
        "from": message.sender or "?",
        "to": agent,
        "in": message.session,
        "re": message.re,
    }
    header = f"### {message.header}"
    content = header if not message.body else f"{header}\n\n" + escape(message.body.encode()).decode()
    closer = unclosed(message.body)
    return b"\n" + render(facts, content.encode(), closer.encode()) + b"\n"


def _check_ordinary(fd: int, path: Path) -> None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise StoreError(
            "an inbox must be a file of its own, no pipe, device or hard link",
            where=str(path),
            then="move it away; the next delivery makes a new one",
        )


def _last_id(fd: int) -> str:
    size = os.fstat(fd).st_size
    tail = os.pread(fd, _TAIL_BYTES, max(0, size - _TAIL_BYTES))
    _, found, rest = tail.rpartition(b"<!-- /moot id=")
    return rest.split(b" ", 1)[0].decode("ascii", "replace") if found else ""
