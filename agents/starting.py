"""From plain words to an open session: the human's prompt and the opening that pins what it means."""

import secrets
from collections.abc import Iterable
from typing import NamedTuple

from ..bus.batch import PREVIOUS, Draft
from ..bus.messages import HUMAN, REFEREE
from ..parsers.errors import NotFound, UsageError
from ..parsers.names import did_you_mean
from ..parsers.prompts import parse_prompt
from ..parsers.seats import Prompt
from ..workspace.files import check_output_path, digest_of
from ..workspace.folder import Workspace
from .closing import ABSENT, OUTPUT_WAS
from .protocols import FILES, Rules, rules_for
from .protocols.events import IllFormed
from .protocols.opening import Opening, write_opening
from .referee import Referee
from .views import moves_next


class Started(NamedTuple):
    """A session that is open now, who moves, and what its human is told beside."""

    opening: Opening
    waiting_for: tuple[str, ...]
    notes: tuple[str, ...]


def start_session(
    referee: Referee,
    text: str,
    *,
    by: str = HUMAN,
    turn_timeout_s: int | None = None,
    driven: Iterable[str] = (),
) -> Started:
    """Open the session that a prompt asks for.

    `driven` are agents that somebody means to drive in it. Raises UsageError for a prompt that does not say
    enough, a path that is not allowed or a driven agent that takes no part, NotFound for a name that is not in
    the roster.
    """
    prompt = parse_prompt(text)
    rules = rules_for(prompt.protocol)
    if rules is None:
        there = ", ".join(FILES)
        raise UsageError(f"{prompt.protocol} cannot be started here yet", then=f"this version has {there}")
    opening = plan(referee.workspace, rules, prompt, referee.settings.names)
    for name in driven:
        if opening.seat(name) is None:
            names = " and ".join(opening.names)
            raise UsageError(f"--agent {name}: {name} takes no part, {names} do", then="correct the name")
    pinned = tuple((key, referee.seals.put(secrets.token_hex(16))) for key in rules.seeds(prompt))
    opening = opening._replace(
        options=(*opening.options, *pinned),
        session=new_name(referee, rules.SHORT),
        turn_timeout_s=turn_timeout_s or referee.settings.limits.turn_timeout_s,
    )
    notes = []
    if opening.work and not (referee.workspace.root / opening.work).exists():
        notes.append(f"the work file {opening.work} does not exist yet")
    if not opening.output:
        kept = f"{referee.workspace.folder.name}/runs/{opening.session}/"
        notes.append(f"the prompt names no `Output: PATH`, so the result is kept in {kept}")
    first = rules.waiting_for(rules.begin(opening, 0))
    open_session(referee, by, text, opening, first, moves_next(first))
    return Started(opening, first, tuple(notes))


def open_session(
    referee: Referee, by: str, text: str, opening: Opening, first: Iterable[str], follows: str
) -> None:
    """Write the words that ask for a session, and the ruling that opens it, in one."""
    referee.post(
        Draft(by, f"[{by}] begins {opening.session}", text),
        Draft(
            REFEREE,
            f"[{REFEREE}] {opening.session} open, {follows}",
            write_opening(opening),
            session=opening.session,
            re=PREVIOUS,
            facts=(("ruling", f"opened/{opening.protocol}"), ("next", ",".join(first))),
        ),
    )


def plan(workspace: Workspace, rules: Rules, prompt: Prompt, roster: tuple[str, ...]) -> Opening:
    """Give the opening that a prompt asks for, before it has a name; raises as `start_session`."""
    try:
        seats, options = rules.seats(prompt), rules.options(prompt)
    except IllFormed as error:
        raise UsageError(error.what, then=error.then) from error
    for seat in seats:
        if seat.name not in roster:
            hint = f"{did_you_mean(seat.name, roster)} (or add it: `moot agents add {seat.name}`)"
            raise NotFound(f"no agent {seat.name} in the roster", then=hint)
    if not prompt.task and not prompt.work:
        raise UsageError("the prompt names no task", then="say what to make, or add `Work: path`")
    if prompt.output:
        path = check_output_path(workspace.root, workspace.folder, prompt.output)
        options = (
            *options,
            (OUTPUT_WAS, digest_of(path) or ABSENT),
        )
    if prompt.work:
        check_output_path(workspace.root, workspace.folder, prompt.work)
    return Opening(
        session="",
        protocol=rules.NAME,
        task=prompt.task,
        roster=seats,
        max_turns=prompt.max_turns or rules.MAX_TURNS,
        turn_timeout_s=0,
        rules=rules.RULES,
        output=prompt.output,
        work=prompt.work,
        options=options,
    )


def new_name(referee: Referee, short: str) -> str:
    """Give a session name that this ledger has not seen: four digits, more where they are taken."""
    digits = 4
    while True:
        name = f"{short}-{secrets.token_hex(8)[:digits]}"
        if referee.index.session(name) is None and name not in referee.book.sessions:
            return name
        digits = min(16, digits + 1)
