"""What agents write, through the tool: turns, messages, acknowledgements. The rules are asked first."""

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..bus.batch import Draft
from ..bus.messages import EVERYBODY, HUMAN, Message
from ..parsers.artifact import LABELS, artifact_of
from ..parsers.attachment import stub
from ..parsers.errors import NotFound, Refused, UsageError
from ..parsers.names import did_you_mean, shown
from ..parsers.seal import sealed_body
from ..parsers.tokens import tokens_of
from ..workspace.files import make_folder, store_error, write_whole
from .facts import posted
from .protocols.events import Posted
from .reader import Reader
from .referee import Outcome, Referee, from_header
from .session import Session

MAX_BYTES = 64 * 1024 * 1024  # beyond this a text is a file, and a path to it is the message


def body_from(text: str | None, file: str | None) -> str:
    """Give the text of a block: an argument, a file, or standard input for `-`.

    Raises UsageError where it is missing, empty, given twice, not text, or larger than 64 MiB.
    """
    if (text is None) == (file is None):
        raise UsageError(
            "give the text once", then="as an argument, with --file PATH, or `-` for standard input"
        )
    if file is not None:
        data, where = _read_file(file), file
    elif text == "-":
        data, where = sys.stdin.buffer.read(MAX_BYTES + 1), "standard input"
    else:
        assert text is not None
        data, where = os.fsencode(text), "the argument"
    return checked_body(data, where)


def checked_body(data: bytes, where: str) -> str:
    """Give bytes as the text of a block; UsageError where they are empty, not text, or larger than 64 MiB."""
    if len(data) > MAX_BYTES:
        raise UsageError("the text is larger than 64 MiB", where=where, then="send the path of the file")
    try:
        body = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"not text: byte {error.start} is not UTF-8", where=where, then="send the path of the file"
        ) from error
    if "\0" in body:
        raise UsageError(
            f"not text: byte {data.index(0)} is NUL", where=where, then="send the path of the file"
        )
    if not body.strip():
        raise UsageError("the text is empty", where=where, then="say something")
    return body


def _read_file(path: str) -> bytes:
    if os.path.isdir(path):
        raise UsageError("--file is a folder", where=path, then="name a file")
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise UsageError("there is no such file", where=path, then="correct --file") from error
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError):
            raise UsageError("that is no path", where=shown(path), then="correct --file") from error
        raise store_error(error, Path(path), "read") from error


def send_text(
    referee: Referee,
    sender: str,
    body: str,
    *,
    to: Sequence[str] | None = None,
    session: str | None = None,
    tag: str = "",
    private: bool = False,
) -> Outcome:
    """Do what `moot send` does: take a turn, or with `to` and no session send a message."""
    if to is not None and not session:
        return send_message(referee, sender, list(to), body, private=private)
    if private:
        raise UsageError("a private text is a message, never a move", then="give --to NAME")
    return take_turn(referee, sender, body, session, tag=tag)


def take_turn(
    referee: Referee, sender: str, body: str, session_name: str | None, *, tag: str = "", note: str = ""
) -> Outcome:
    """Write a turn in a session, under a tag or else the sender's role; a `note` stands behind them in the header.

    Where the rules have the text sealed, the ledger gets its hash. Refused with who moves next where it is not
    the sender's turn.
    """
    session = session_for(referee, sender, session_name, tag)
    seat = session.opening.seat(sender)
    if seat is None and not (sender == HUMAN and tag):
        names = " and ".join(session.opening.names)
        raise Refused(f"{sender} takes no part in {session.opening.session}; {names} do")
    due = session.rules.tag_for(session.opening, session.state, sender)
    tag = tag or ("" if due in session.rules.ROLES else due)
    role = tag or (seat.role if seat is not None else "")
    draft = Draft(sender, f"[{role} - {sender}] {note}".rstrip(), body, session=session.name)
    event = posted(from_header(draft), 0)
    if (shown := session.rules.open_part(session.state, event)) is not None:
        return _post_sealed(referee, draft, shown, event)
    others = tuple(name for name in session.opening.names if name != sender)
    header = f"{draft.header} to {', '.join(others)}" if not tag else draft.header
    if artifact_of(body) is None and any(f"{label}:" in body for label in LABELS):
        referee.notes.append(
            "this turn holds no artifact: `Updated:` and `Artifact:` count at the beginning of a line"
        )
    body = _fitted(referee, body, sender)
    return referee.post(draft._replace(header=header, body=body, to=() if tag else others))


def _post_sealed(referee: Referee, draft: Draft, shown: str, event: Posted) -> Outcome:
    """Write a block whose text is sealed, and forget that text where the block was not written."""
    limit = referee.settings.limits.max_body_kib
    if len(draft.body.encode("utf-8", "replace")) > limit * 1024:
        raise UsageError(
            f"a sealed text is over the limit of {limit} KiB", then="shorten it, or name a file in it"
        )
    if event.names_author:
        referee.notes.append(f"the text names {draft.sender}: whoever reads it blind is told so")
    sealed = referee.seals.put(draft.body)
    try:
        body, facts = sealed_body(sealed, shown), (("seal", sealed),)
        return referee.post(draft._replace(body=body, secret=draft.body, facts=facts))
    except Refused:
        referee.seals.drop(sealed)
        raise


def say_done(referee: Referee, sender: str, body: str, session_name: str | None) -> Outcome:
    """Write a turn with `[DONE]`."""
    if "DONE" not in {token.name for token in tokens_of(body, sender)}:
        body = f"{body.rstrip()}\n\n[DONE]" if body.strip() else "[DONE]"
    session = session_for(referee, sender, session_name)
    due = session.rules.tag_for(session.opening, session.state, sender)
    return take_turn(referee, sender, body, session.name, tag="" if due in session.rules.ROLES else "DONE")


def send_message(
    referee: Referee, sender: str, names: list[str], body: str, *, private: bool = False
) -> Outcome:
    """Send a message to agents, or to ALL; it is never a turn. NotFound for an unknown name."""
    known = (*referee.settings.names, HUMAN, EVERYBODY)
    for name in names:
        if name not in known:
            raise NotFound(f"no agent {shown(name)}", then=did_you_mean(name, known))
    if not names:
        raise UsageError("a message to nobody", then="give --to NAME")
    if private and (len(names) != 1 or names[0] == EVERYBODY):
        raise UsageError("a private message has one reader", then="give one name with --to")
    header = f"[{sender}] to {', '.join(names)}"
    if private:
        referee.refresh()
        for session in referee.book.playing(sender):
            if session.rules.keeps_apart(session.opening, sender, names[0]):
                raise Refused(f"{sender} and {names[0]} work alone in {session.name} until it is closed")
    body = _fitted(referee, body, sender)
    if private:
        body = referee.put_aside(body)
    return referee.post(Draft(sender, header, body, to=tuple(names)))


def acknowledge(referee: Referee, sender: str, block_id: str) -> Outcome | None:
    """Acknowledge a block; None where that was done before. NotFound for a block that is not there."""
    message = find_block(referee, block_id)
    receipt = next((mail for mail in referee.index.receipts(message.id) if mail.agent == sender), None)
    if receipt is None:
        raise Refused(f"{message.id} was not sent to {sender}", where=f"from {message.sender}")
    if receipt.acknowledged_at:
        return None
    draft = Draft(sender, f"[ACK - {sender}] of {message.id}", "", to=(message.sender,), re=message.id)
    session = referee.book.sessions.get(message.session or receipt.session)
    if session is not None and not session.closed and "ACK" in session.rules.TAGS:
        try:
            return referee.post(draft._replace(session=session.name))
        except Refused:  # the rules wait for no acknowledgement now: then it is between these two
            referee.notes.clear()
    return referee.post(draft)


def find_block(referee: Reader, block_id: str) -> Message:
    """Find a block by its id or the unmistakable beginning of one; NotFound says what is near."""
    referee.refresh()
    block_id = block_id.upper()  # letters are never told apart by case alone
    message = referee.message(block_id)
    if message is not None:
        return message
    near = referee.index.ids_like(block_id) if len(block_id) >= 4 else []
    if near == [block_id]:
        raise NotFound(f"block {block_id} is gone from the ledger", then="see `moot verify`")
    message = referee.message(near[0]) if len(near) == 1 else None
    if message is None:
        hint = f"it could be {', '.join(near)}" if near else "see `moot log`"
        raise NotFound(f"no block {shown(block_id)}", then=hint)
    return message


def session_for(referee: Referee, sender: str, name: str | None, tag: str = "") -> Session:
    """Give the session a turn is for: the one named, or the only one that the sender plays in."""
    referee.refresh()
    open_sessions = [session for session in referee.book.sessions.values() if not session.closed]
    if name:
        session = referee.book.sessions.get(name)
        if session is not None and not session.closed:
            return session
        if referee.index.session(name) is not None:
            raise Refused(f"{name} is closed", then="begin another with `moot start`")
        known = [session.opening.session for session in open_sessions]
        raise NotFound(f"no session {shown(name)}", then=did_you_mean(name, known))
    playing = referee.book.playing(sender)
    if sender == HUMAN:
        playing = [session for session in open_sessions if tag in session.rules.TAGS]
    if not playing:
        names = [session.opening.session for session in open_sessions]
        if names:
            raise Refused(
                f"{sender} takes part in no open session ({', '.join(names)})", then="give --to for a message"
            )
        raise NotFound("no session is open", then="begin one with `moot start` (a message needs `send --to`)")
    if len(playing) > 1:
        names = [session.opening.session for session in playing]
        raise UsageError(f"{sender} takes part in {', '.join(names)}", then=f"give --in {names[0]}")
    return playing[0]


def _fitted(referee: Referee, body: str, author: str) -> str:
    """Give a body as the ledger takes it: one that is too long is kept aside whole, with a link to it."""
    data = body.encode("utf-8", "replace")
    limit = referee.settings.limits.max_body_kib * 1024
    if len(data) <= limit:
        return body
    sha256 = hashlib.sha256(data).hexdigest()
    path = referee.workspace.runs / "attachments" / f"{sha256}.md"
    make_folder(path.parent)
    write_whole(path, data)
    referee.notes.append(
        f"{len(data)} bytes are over the limit of {limit // 1024} KiB, so the whole text is in"
        f" {path.relative_to(referee.workspace.folder)}, and the block holds its first lines and the link"
    )
    return stub(body, sha256, author)
