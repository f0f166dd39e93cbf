"""The recap of a round, and the synthesis of one that nobody moderates: counted and listed, never composed."""

from .record import Change, Clash, Debate, Round, Spoken, agreements, clashes, cut, settled, write_change

LINE = 600  # characters of a position on one line: two or three sentences are fewer
CELL = 160


def recap_of(debate: Debate, number: int, changes: tuple[Change, ...] = ()) -> str:
    """Write the recap of a round: positions, verdicts, conflict matrix, what all agree on, what was changed."""
    now = debate.rounds[number - 1]
    parts = [f"## Round {number} — Participant Positions"]
    parts += [_position(debate, now, voice.name) for voice in debate.voices]
    found = clashes(debate, number)
    parts += ["### Conflict Matrix", _matrix(debate, found, number=number)]
    parts += [
        "**Key Disagreements:**",
        "\n".join(_numbered(open_points(debate, number))) or "None is stated.",
    ]
    parts += [
        "**Areas of Universal Agreement:**",
        _listed(agreements(debate, number)) or "- None that all have stated.",
    ]
    parts += [write_change(change) for change in changes]
    return "\n\n".join(parts)


def verdict_rows(debate: Debate) -> list[tuple[str, ...]]:
    """Give how the verdicts moved: a row a debater, a word a round."""
    rows = []
    for voice in debate.voices:
        given = [past.of(voice.name) for past in debate.rounds]
        words = ("ABSENT" if one is None else one.verdict or "position" for one in given)
        rows.append((debate.shown(voice.name), *words))
    return rows


def _position(debate: Debate, now: Round, name: str) -> str:
    """Write what one debater holds, and its verdict."""
    title, spoken = debate.shown(name), now.of(name)
    if spoken is None:
        why = dict(now.absent).get(name, "no answer")
        held = debate.held_before(name, now.number - 1)
        carried = (
            f"Carried forward from an earlier round: {_line(held)}"
            if held
            else "It has given no position yet."
        )
        return f"### {title} — NO RESPONSE ({_line(why, CELL)})\n\n*{carried}*"
    parts = [f"### {title}", f"**Core Position:** {_line(spoken.held) or '(none is stated)'}"]
    if spoken.said.arguments:
        listed = "\n".join(f"- {_line(one, 300)}" for one in spoken.said.arguments[:5])
        parts += [f"**Key Arguments:**\n\n{listed}"]
    parts += [f"**Verdict:** {verdict_line(spoken)}"] if spoken.verdict else []
    return "\n\n".join(parts)


def verdict_line(spoken: Spoken) -> str:
    """Write a verdict with its reason: `PARTIAL — accepts: one file; contests: its name`."""
    accepted, reason = (
        _line(text, 300) for text in (spoken.said.verdict.accepted, spoken.said.verdict.reason)
    )
    if spoken.verdict == "PARTIAL" and accepted:
        return f"PARTIAL — accepts: {accepted}; contests: {reason}"
    return f"{spoken.verdict} — {reason}" if reason else spoken.verdict


def _matrix(debate: Debate, found: tuple[Clash, ...], *, number: int) -> str:
    """Write the table of who is for and who against each point; in round 1 nobody has been asked yet."""
    rows = ["| Point of Contention | Who Agrees | Who Disagrees |", "| --- | --- | --- |"]
    for clash in found:
        point = (
            clash.point if clash.of or number == 1 else f"the synthesis of round {number - 1}: {clash.point}"
        )
        against = _names(debate, clash.disagree) or "not asked yet"
        rows.append(f"| {_cell(point)} | {_holders(debate, clash) or 'nobody'} | {against} |")
    return "\n".join(rows) if found else "Nothing is contested."


def open_points(debate: Debate, number: int) -> list[str]:
    """Give every open disagreement of a round, a line each: who against whom, and why; none is left out."""
    found = clashes(debate, number)
    if number == 1:
        if len(found) < 2:
            return []
        return [f"{len(found)} positions stand beside each other; nobody has answered the others yet"]
    lines = []
    for clash in found:
        critics, why = _names(debate, clash.disagree), f" — {_line(clash.why, 300)}" if clash.why else ""
        who = f"{_holders(debate, clash)} vs {critics}"
        if not clash.of:
            agreed = f" (accepted by {_names(debate, clash.agree)})" if clash.agree else ""
            who = f"{critics} vs the synthesis of round {number - 1}{agreed}"
        lines.append(f"{who}: {_line(clash.point, 300)}{why}")
    return lines


def _holders(debate: Debate, clash: Clash) -> str:
    """Name those who hold a point; somebody who takes no part is named as the critics wrote it."""
    return _names(debate, clash.agree) or (f'"{_line(clash.of, 40)}" (nobody here)' if clash.of else "")


def listed_synthesis(debate: Debate, number: int, *, why: str = "") -> str:
    """Write the synthesis of a round that nobody moderates: who holds what, by verdict, and what is open."""
    now = debate.rounds[number - 1]
    parts = [why] if why else []
    positions = [f"{debate.shown(one.name)}: {_line(one.held)}" for one in now.spoken]
    parts += ["Positions:", _listed(positions)]
    clusters = []
    for word in ("AGREE", "PARTIAL", "DISAGREE", "UNPARSED"):
        names = tuple(one.name for one in now.spoken if one.verdict == word)
        clusters += [f"{word}: {_names(debate, names)}"] if names else []
    parts += ["Verdicts on the synthesis before:", _listed(clusters)] if clusters else []
    parts += ["What all agree on:", _listed(agreements(debate, number)) or "- nothing that all have stated"]
    given = [
        f"{_line(one.point, 300)} ({debate.shown(one.name)} gave way in round {one.round})"
        for one in settled(debate)
        if one.round <= number
    ]
    parts += ["Settled:", _listed(given)] if given else []
    parts += [
        "Open:",
        _listed(open_points(debate, number)) or "- nothing that anybody has stated",
    ]
    return "\n\n".join(parts)


def _names(debate: Debate, names: tuple[str, ...]) -> str:
    return ", ".join(debate.shown(name) for name in names)


def _line(text: str, limit: int = LINE) -> str:
    return cut(" ".join(text.split()), limit)


def _cell(text: str) -> str:
    return _line(text, CELL).replace("\\", "\\\\").replace("|", "\\|")


def _listed(points: tuple[str, ...] | list[str]) -> str:
    return "\n".join(f"- {_line(point)}" for point in points)


def _numbered(points: list[str]) -> list[str]:
    return [f"{number}. {point}" for number, point in enumerate(points, 1)]
