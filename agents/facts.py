"""From a block to what a protocol sees of it: who, which tokens, which artifact, and no text."""

import re
from collections.abc import Iterator
from itertools import product

from ..bus.messages import Message
from ..parsers.artifact import artifact_of
from ..parsers.attachment import attachment_of
from ..parsers.bodies import GRAMMARS, read_body
from ..parsers.frames import digest
from ..parsers.headers import LETTERS
from ..parsers.tokens import tokens_of
from .protocols.events import Posted

_ENDINGS: tuple[tuple[str, ...], ...] = ((), ("DONE",), ("INCOMPLETE",))
_LOST = "lost"  # stands for the hash of a text that nobody can read any more


def posted(message: Message, at_ms: int) -> Posted:
    """Tell a protocol what a block says, without its text."""
    tokens = tokens_of(message.body, message.sender)
    own = {message.tag} & set(LETTERS)  # `[DONE - CX]` is a token and a header at once
    reasons = [token.rest for token in tokens if token.name == "INCOMPLETE"]
    if "INCOMPLETE" in own:
        reasons.append(message.body.split("\n", 1)[0])
    return Posted(
        block=message.id,
        author=message.sender,
        tag=message.tag,
        role=message.role,
        tokens=tuple(sorted({token.name for token in tokens} | own)),
        reason=next((plain for reason in reasons if (plain := reason.strip(" -:\u2013\u2014"))), ""),
        artifact=_artifact_hash(message.body),
        empty=not (own or message.body.strip()),
        at_ms=at_ms,
        says=read_body(message.tag, message.body),
        sealed=message.seal,
        names_author=message.tag in GRAMMARS and _is_named(message.sender, message.body),
    )


def _is_named(name: str, text: str) -> bool:
    """Tell whether a text holds a name, as a word of its own."""
    return bool(name) and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) is not None


def _artifact_hash(body: str) -> str:
    """Hash the artifact in a body, less what formatters change: CRs, and blanks at the ends of lines."""
    attached = attachment_of(body)
    if attached and attached.holds_artifact:
        return attached.sha256
    lines = [line.rstrip() for line in (artifact_of(body) or "").split("\n")]
    text = "\n".join(lines).strip("\n")
    return digest(text.encode("utf-8", "replace")) if text else ""


def might_have_been(now: Posted) -> Iterator[Posted]:
    """Give what a block can have said before somebody changed its text, which nobody can read any more."""
    for tokens, artifact in product(_ENDINGS, ("", now.artifact, _LOST)):
        yield now._replace(tokens=tokens, artifact=artifact, reason="", empty=False)
