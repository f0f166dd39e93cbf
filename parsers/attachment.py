"""A body that is too long for the ledger: its first lines, where the whole is, and its tokens."""

import re
from functools import cache
from typing import NamedTuple

from .artifact import artifact_of
from .tokens import tokens_of

_LINES = 12
_WIDTH = 160


class Attachment(NamedTuple):
    """Where a whole body lies: a path below the workspace, its SHA-256, and whether an artifact is in it."""

    path: str
    sha256: str
    holds_artifact: bool


@cache
def _link() -> re.Pattern[str]:
    return re.compile(
        r"^Attachment: (?P<path>runs/attachments/(?P<sha>[0-9a-f]{64})\.md), [0-9]+ bytes"
        r"(?P<holds>, holds the artifact)?$",
        re.MULTILINE,
    )


def private_stub(body: str, sha256: str) -> str:
    """Write what stands in the ledger for a private message."""
    return f"Private: {len(body.encode('utf-8', 'replace'))} bytes, sha256 {sha256}"


def private_hash(body: str) -> str:
    """Read the hash out of a private message's stub; nothing where the body is none."""
    match = re.fullmatch(r"Private: [0-9]+ bytes, sha256 ([0-9a-f]{64})", body)
    return match[1] if match else ""


def stub(body: str, sha256: str, author: str) -> str:
    """Write what stands in the ledger for a long body: quoted first lines, the link, its tokens.

    Its length has a bound, whatever the body holds: of each token the first counts, cut like the quoted lines.
    """
    size = len(body.encode("utf-8", "replace"))
    first = "\n".join(f"> {line[:_WIDTH]}" for line in body.split("\n", _LINES)[:_LINES])
    holds = ", holds the artifact" if artifact_of(body) else ""
    link = f"Attachment: runs/attachments/{sha256}.md, {size} bytes{holds}"
    tokens: dict[str, str] = {}
    for token in tokens_of(body, author):
        tokens.setdefault(token.name, f"[{token.name}] {token.rest[:_WIDTH]}".strip())
    return "\n".join([first, "> …", "", link, *(["", *tokens.values()] if tokens else [])])


def attachment_of(body: str) -> Attachment | None:
    """Read the link out of a block's body; None where it has none."""
    found = _link().search(body) if "Attachment: " in body else None
    return Attachment(found["path"], found["sha"], bool(found["holds"])) if found else None
