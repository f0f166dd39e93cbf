"""Inbox files: one an agent, in the ledger's block format, for agents that read files.

A copy keeps the id of its block. The ledger is the evidence; an inbox is only a convenience and can be
written anew from it.
"""

import os
import stat
from pathlib import Path

from ..parsers.errors import StoreError
from ..parsers.frames import CLOSE, OPEN, TORN, escape, render
from ..parsers.tokens import unclosed
from ..workspace.files import store_error
from .messages import Message

_LAST_LINE_BYTES = 64
_TAIL_BYTES = 1 << 20  # longer than any copy: where one was torn, its beginning is in the tail


class Inboxes:
    """The folder of inbox files. One process at a time delivers: it holds the index meanwhile."""

    def __init__(self, folder: Path) -> None:
        """Name the folder."""
        self._folder = folder

    def path(self, agent: str) -> Path:
        """Give the file of an agent, whose name was checked before."""
        return self._folder / f"{agent}.md"

    def deliver(self, agent: str, messages: list[Message]) -> None:
        """Append copies of messages, less those that a delivery cut short has already brought.

        Not synced. Raises StoreError where the folder is a link, or the file a link, a pipe, or not writable.
        """
        path = self.path(agent)
        copies = {message.id: copy(message, agent) for message in messages}
        try:
            self._folder.mkdir(exist_ok=True)
            folder_fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                fd = os.open(path.name, flags, 0o600, dir_fd=folder_fd)
            finally:
                os.close(folder_fd)
            try:
                _check_ordinary(fd, path)
                left = memoryview(_missing(fd, copies))
                while left:
                    left = left[os.write(fd, left) :]
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


def _missing(fd: int, copies: dict[str, bytes]) -> bytes:
    """Give the copies that are not in the file yet, behind what ends one that its writer left torn."""
    every = b"".join(copies.values())
    size = os.fstat(fd).st_size
    _, found, last_id = _tail(fd, size, _LAST_LINE_BYTES).rpartition(b"\n" + CLOSE)
    if not size or (found and last_id.endswith(b" -->\n") and last_id < min(copies, default="").encode()):
        return every  # all that stands there is whole, and older
    tail = b"\n" + _tail(fd, size, _TAIL_BYTES + len(every))
    new = b"".join(one for block_id, one in copies.items() if _end_marker(block_id) not in tail)
    return _torn_end(tail) + new if new else b""


def _tail(fd: int, size: int, length: int) -> bytes:
    return os.pread(fd, length, max(0, size - length))


def _end_marker(block_id: str) -> bytes:
    return b"\n" + CLOSE + block_id.encode() + b" -->"


def _torn_end(tail: bytes) -> bytes:
    """Give the marker that ends a copy cut short, as the ledger has it; nothing where all are whole."""
    if tail.rfind(b"\n" + OPEN) <= tail.rfind(b"\n<!-- /moot "):
        return b""
    return b"\n" * (not tail.endswith(b"\n")) + TORN + b"\n"
