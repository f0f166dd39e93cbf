"""How blocks, sessions and moves are shown: as lines for people and agents, as JSON for programs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..bus.messages import Message
from ..parsers.screen import visible
from ..parsers.tokens import tokens_of
from .book import Ruling
from .protocols.events import Move
from .session import Session
from .waiting import Delivery

_RULE = "─" * 60


def message_json(
    message: Message, n: int = 0, ruling: Ruling | None = None, flags: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Give a block as `moot log --json` prints it."""
    return {
        "n": n,
        "id": message.id or None,
        "at": message.at or None,
        "from": message.sender or None,
        "to": list(message.to),
        "session": message.session or (ruling.session if ruling else "") or None,
        "header": message.header,
        "tag": message.tag or None,
        "role": message.role or None,
        "body": message.body,
        "tokens": [token.name for token in tokens_of(message.body, message.sender)]
        if message.origin != "referee"
        else [],
        "origin": message.origin,
        "flags": list(flags),
        "ruling": {"verdict": ruling.verdict, "code": ruling.code, "why": ruling.why, "id": ruling.id}
        if ruling
        else None,
    }


def facts_of(message: Message, state: str = "") -> str:
    """Give what is known of a block beside its text: id, time, session, whether it is to be doubted, its state."""
    facts = [
        message.id,
        message.at[:19].replace("T", " "),
        f"in {message.session}" if message.session else "",
    ]
    facts += [
        "by hand, unproven" if message.origin == "hand" else "",
        "EDITED" if message.edited else "",
        state,
    ]
    return visible(", ".join(fact for fact in facts if fact))


def block_lines(message: Message, state: str = "") -> list[str]:
    """Give a block as lines for a terminal; what others wrote cannot move its cursor."""
    head = f"{message.header or '(text under no header)'}    ({facts_of(message, state)})"
    body = message.body.rstrip("\n")
    return [visible(head), *([_RULE, visible(body), _RULE] if body else [])]


def as_command(move: Move) -> Move:
    """Give a move as the shell's command that it is."""
    return move


def next_lines(delivery: Delivery, name: str, said: Callable[[Move], Move] = as_command) -> list[str]:
    """Say what an agent may do next, after what it was given; `said` puts a move in the reader's own terms."""

    def step(word: str, command: str, meaning: str = "") -> str:
        move = said(Move(command, meaning))
        return f"{word}: {move.command}    ({move.meaning})" if meaning else f"{word}: {move.command}"

    session, wait = delivery.session, f"moot wait --as {name}"
    lines = []
    if session is not None and session.closed:
        lines.append(f"done: {session.opening.session} is closed; nothing more to do in it")
    elif delivery.moves:
        lines += [step("next", move.command, move.meaning) for move in delivery.moves]
        lines.append(step("then", wait))
    elif session is not None and name in session.waiting_for:
        lines.append(step("next", wait, "read on: your move comes with the last of what is unread"))
    elif session is not None:
        lines.append(step("next", wait, moves_next(session.waiting_for)))
    elif delivery.message is not None:
        answer = f"moot send --as {name} --to {delivery.message.sender} -"
        lines += [step("next", answer, "an answer, where one is due"), step("then", wait)]
    if delivery.unread > 1:
        lines.append(f"{step(f'more: {delivery.unread - 1} unread', wait)} gives the next")
    return lines


def copy_lines(delivery: Delivery) -> list[str]:
    """Give the texts that an agent reads blind, each under its label."""
    lines = []
    for copy in delivery.copies:
        flag = "    (its text names its author)" if copy.names_author else ""
        lines += [f"{copy.label}{flag}", _RULE, visible(copy.text), _RULE]
    return lines


def delivery_json(delivery: Delivery, name: str) -> dict[str, Any]:
    """Give what `moot wait --json` prints."""
    session = delivery.session
    seat = session.opening.seat(name) if session is not None else None
    return {
        "message": message_json(delivery.message) if delivery.message else None,
        "session": {
            **session_json(session),
            "task": session.opening.task,
            "role": seat.role if seat else None,
        }
        if session is not None
        else None,
        "next": [{"command": move.command, "meaning": move.meaning} for move in delivery.moves],
        "unread": delivery.unread,
        "again": delivery.again,
        "copies": [copy._asdict() for copy in delivery.copies],
    }


def session_json(session: Session) -> dict[str, Any]:
    """Give a session as `moot status --json` prints it."""
    opening = session.opening
    return {
        "id": opening.session,
        "protocol": opening.protocol,
        "state": session.closed or "open",
        "phase": session.state.phase,
        "turns": session.state.turns,
        "max_turns": opening.max_turns,
        "waiting_for": list(session.waiting_for),
        "roster": [
            {"name": seat.name, "role": seat.role, "lens": seat.lens or None} for seat in opening.roster
        ],
        "output": opening.output or None,
        "result": dict(session.result) if session.closed else None,
    }


def moves_next(names: Sequence[str]) -> str:
    """Say whose move it is: `CC moves next`, `CC and CX move next`."""
    if not names:
        return "it goes on by itself"
    return f"{' and '.join(names)} move{'s' * (len(names) == 1)} next"


def result_lines(result: Mapping[str, str]) -> list[str]:
    """Give a final status, line by line."""
    return [visible(f"{key}: {value}") for key, value in result.items()]
