"""From a topic and wishes to an open debate, and from an open debate back to whoever convenes it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ...bus.messages import HUMAN
from ...parsers.errors import NotFound, UsageError
from ...parsers.names import check_name, did_you_mean, shown
from ...parsers.seats import Seat
from ...workspace.files import read_regular
from ..driving import current
from ..protocols import debate as rules
from ..protocols.opening import Opening
from ..reaper import Reaper
from ..referee import Referee
from ..runners import parse_agent_spec
from ..starting import new_name, open_session
from .engine import Convener, save_plan
from .participants import TIMEOUTS_S, Participant, Table
from .screen import Screen
from .sources import find_table, is_open_to_others, read_key, role_text
from .speakers import speaker_of

SILENCE_S = 900  # beyond the longest time-out: then whoever convened it is gone
NOBODY = "none"


class Wishes(NamedTuple):
    """What the command line asks for, over what the files say."""

    specs: tuple[str, ...] = ()
    config: str | None = None
    presets: str | None = None
    rounds: int | None = None
    moderator: str | None = None
    anonymous: bool = False
    timeout_s: float | None = None


class Opened(NamedTuple):
    """A debate that is open, what its participants are called, and what was odd in the files."""

    session: str
    names: tuple[str, ...]
    warnings: tuple[str, ...]


def open_debate(referee: Referee, topic: str, wishes: Wishes, by: str = HUMAN) -> Opened:
    """Open a debate; UsageError or NotFound for what the files or the options get wrong, and nothing is written."""
    table, preset_file = _table(referee, wishes)
    warnings = list(table.warnings)
    for participant in table.participants:
        if participant.system_prompt:
            try:
                role_text(referee.workspace, participant.system_prompt)
            except UsageError as error:
                if not preset_file:
                    raise
                warnings.append(f"{participant.name}: {error}; it is asked without one")
        if participant.kind == "api":
            read_key(participant, preset_file)
    if any(one.key.startswith("presets:") for one in table.participants) and is_open_to_others(
        Path(preset_file)
    ):
        warnings.append(f"others may read the keys in {preset_file}: run `chmod 600` on it")
    name = new_name(referee, rules.SHORT)
    opening = _opening(referee, name, topic, table, by)
    seats = [participant._asdict() for participant in table.participants]
    folder = referee.workspace.runs / name
    save_plan(folder, {"by": by, "presets": preset_file, "participants": seats})
    first = rules.waiting_for(rules.begin(opening, 0))
    open_session(referee, by, topic, opening, first, "all take a position at once")
    shown_names = tuple(f"{one.title} ({one.name})" if one.title else one.name for one in table.participants)
    return Opened(name, shown_names, tuple(warnings))


def _table(referee: Referee, wishes: Wishes) -> tuple[Table, str]:
    """Give who debates, as the command line has it over the files."""
    if wishes.specs and (wishes.config or wishes.presets):
        raise UsageError("--agent and --config both say who debates", then="give one of them")
    if wishes.specs:
        table, preset_file = Table(tuple(_from_spec(spec) for spec in wishes.specs)), ""
        names = [one.name for one in table.participants]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UsageError(f"--agent gives {twice} twice", then="name each once")
        if len(names) > rules.MAX_DEBATERS:
            raise UsageError(f"--agent names {len(names)}", then=f"name 1 to {rules.MAX_DEBATERS} who debate")
    else:
        table, preset_file = find_table(referee.workspace, referee.settings, wishes.config, wishes.presets)
    names = [one.name for one in table.participants]
    moderator = wishes.moderator if wishes.moderator is not None else table.moderator
    moderator = "" if moderator in ("", NOBODY, "mechanical") else moderator
    if moderator and moderator not in (*names, HUMAN):
        hint = did_you_mean(moderator, (*names, HUMAN))
        raise NotFound(f"the moderator {shown(moderator)} takes no part", then=hint)
    if wishes.timeout_s is not None:
        table = table._replace(
            participants=tuple(one._replace(timeout_s=wishes.timeout_s) for one in table.participants)
        )
    anonymous = wishes.anonymous or table.anonymous
    return table._replace(
        max_rounds=wishes.rounds or table.max_rounds, moderator=moderator, anonymous=anonymous
    ), preset_file


def _from_spec(spec: str) -> Participant:
    """Read `NAME=mock` or `NAME=cmd:COMMAND`."""
    name, kind, argv = parse_agent_spec(spec)
    check_name(name)
    kind = "mock" if kind == "mock" else "cli"
    return Participant(name, kind, argv=argv, timeout_s=TIMEOUTS_S[kind])


def _opening(referee: Referee, name: str, topic: str, table: Table, by: str) -> Opening:
    """Pin all that the debate rests on."""
    run = f"{referee.workspace.folder.name}/runs/{name}"
    seats = [Seat(one.name, "DEBATER", one.title) for one in table.participants]
    readers = ", ".join(one.name for one in table.participants if one.kind == "agent")
    options = (
        ("ROUNDS", str(table.max_rounds)),
        ("MODERATOR", table.moderator),
        ("ANONYMOUS", "yes" if table.anonymous else ""),
        ("READERS", readers),
        ("RUN", run),
    )
    if by != HUMAN and by in {seat.name for seat in seats}:
        raise UsageError(f"{by} convenes and debates", then="have somebody else convene it, with --as")
    return Opening(
        session=name,
        protocol=rules.NAME,
        task=topic.strip(),
        roster=(*seats, *([Seat(by, "CONVENER")] if by != HUMAN else [])),
        max_turns=rules.MAX_TURNS,
        turn_timeout_s=int(max(one.timeout_s for one in table.participants)) + SILENCE_S,
        rules=rules.RULES,
        options=tuple((key, value) for key, value in options if value),
    )


@contextmanager
def convening(referee: Referee, name: str, screen: Screen) -> Iterator[Convener]:
    """Give the convener of a debate that is open; nothing that it started outlives the block.

    Raises NotFound where its plan is gone from `runs/SESSION/`.
    """
    session = current(referee, name)
    plan = _saved(referee, name)
    participants = [Participant(**{**one, "argv": tuple(one["argv"])}) for one in plan["participants"]]
    reaper = Reaper()
    try:
        at_terminal = screen.is_interactive
        speakers = {
            one.name: speaker_of(
                one, referee.workspace, plan["by"], reaper, partial(read_key, one, plan["presets"]),
                at_terminal=at_terminal,
            )
            for one in participants
        }  # fmt: skip
        if rules.moderator(session.opening) == HUMAN:
            human = Participant(HUMAN, "human", timeout_s=TIMEOUTS_S["human"])
            speakers[HUMAN] = speaker_of(
                human, referee.workspace, plan["by"], reaper, str, at_terminal=at_terminal
            )
        roles = {one.name: _role(referee, one) for one in participants if one.system_prompt}
        convener = Convener(referee, name, plan["by"], speakers, roles, screen)
        try:
            yield convener
        finally:
            convener.stop()
    finally:
        reaper.close()


def _saved(referee: Referee, name: str) -> dict[str, Any]:
    path = referee.workspace.runs / name / "debate.json"
    data = read_regular(path)
    if data is None:
        raise NotFound(f"nothing says how {name} is asked", where=str(path), then="begin another debate")
    try:
        plan = json.loads(data)
        return {"by": plan["by"], "presets": plan["presets"], "participants": plan["participants"]}
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"this plan is broken: {error}", where=str(path), then="begin another debate"
        ) from None


def _role(referee: Referee, participant: Participant) -> str:
    try:
        return role_text(referee.workspace, participant.system_prompt)
    except UsageError:  # said when the debate was opened
        return ""
