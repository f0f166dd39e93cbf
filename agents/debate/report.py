"""The end of a debate: what was agreed, how each position moved, the votes, what was conceded, what stays open."""

from typing import Any

from .recap import open_points, verdict_line, verdict_rows
from .record import Debate, agreements, cut, settled, write_change

SCHEMA_VERSION = 1


def consensus(debate: Debate) -> bool:
    """Tell whether all active debaters agreed."""
    return debate.ending == "consensus"


def report_of(debate: Debate) -> str:
    """Write the final report."""
    last = debate.rounds[-1]
    where = f"Round {last.number}/{debate.max_rounds}"
    heading = "Consensus Reached" if consensus(debate) else "Debate Complete — No Full Consensus"
    parts = [f"## {heading} ({where})", f"Question: {_line(debate.topic)}", _ending(debate)]
    parts += [
        f"### {'Final' if consensus(debate) else 'Best'} Synthesis",
        final_synthesis(debate) or "(there is none)",
    ]
    parts += ["### Verdicts", _table(debate)]
    parts += ["### Position Evolution", *(_evolution(debate, voice.name) for voice in debate.voices)]
    parts += ["### Consensus Votes" if consensus(debate) else "### Final Verdicts", _votes(debate)]
    if not consensus(debate):
        points = open_points(debate, last.number)
        parts += ["### Remaining Disagreements", _listed(points) or "- none is stated"]
    parts += ["### Points Resolved During Debate", _listed(_settled(debate)) or "- none is stated"]
    agreed = _listed(agreements(debate, last.number)) or "- none that all have stated"
    parts += ["### Areas of Universal Agreement", agreed]
    changed = [write_change(change) for past in debate.rounds for change in past.changes]
    parts += ["### Changes to the Repository", *changed] if changed else []
    return "\n\n".join(parts) + "\n"


def _ending(debate: Debate) -> str:
    """Say in a sentence why it ended, who moderated, and who was who where it was anonymous."""
    number = len(debate.rounds)
    why = {
        "consensus": f"All who answered agree to the synthesis of round {number - 1}.",
        "still": "No verdict and no position moved in the last two rounds.",
        "rounds": "The last round is over, and not all who answered agree.",
    }.get(debate.ending, "It has not ended.")
    by = (
        f"{debate.shown(debate.moderator)} moderated."
        if debate.moderator
        else "Nobody moderated: each synthesis is a list."
    )
    numbers = ", ".join(
        f"Position {voice.number} is {debate.shown(voice.name)}"
        for voice in sorted(debate.voices, key=lambda one: one.number)
    )
    return f"{why} {by}" + (f" It was anonymous: {numbers}." if debate.blind else "")


def final_synthesis(debate: Debate) -> str:
    """Give the synthesis that counts: what a moderator wrote and all agreed to, or else the last."""
    agreed = consensus(debate) and debate.moderator and len(debate.rounds) > 1
    return debate.rounds[-2 if agreed else -1].synthesis


def _table(debate: Debate) -> str:
    """Write how the verdicts moved, round by round."""
    rows = [("", *(f"Round {past.number}" for past in debate.rounds)), ("---",) * (len(debate.rounds) + 1)]
    return "\n".join(
        f"| {' | '.join(one.replace('|', '/') for one in row)} |" for row in (*rows, *verdict_rows(debate))
    )


def _evolution(debate: Debate, name: str) -> str:
    """Write one debater's first position, how it moved, and what it conceded."""
    said = [(past.number, one) for past in debate.rounds if (one := past.of(name)) is not None]
    last = debate.rounds[-1]
    absent = (
        "" if last.of(name) is not None else f" — ABSENT ({_line(dict(last.absent).get(name, 'no answer'))})"
    )
    lines = [f"**{debate.shown(name)}**{absent}", ""]
    held = ""
    for number, one in said:
        verdict = f" [{one.verdict}]" if one.verdict else ""
        moved = _line(one.held) if one.held != held or number == 1 else "unchanged"
        lines.append(f"- Round {number}{verdict}: {moved or '(no position)'}")
        held = one.held
    if not said:
        lines.append("- It never answered.")
    conceded = dict.fromkeys(
        f"{_line(point)} (to {debate.shown(debate.named(to) or to)})"
        for _, one in said
        for to, point in one.said.conceded
    )
    lines.append(f"- Key Concessions: {'; '.join(conceded) or 'none is stated'}")
    return "\n".join(lines)


def _votes(debate: Debate) -> str:
    """Write the verdict of each debater in the last round."""
    last, lines = debate.rounds[-1], []
    for voice in debate.voices:
        one = last.of(voice.name)
        absent = f"ABSENT — {_line(dict(last.absent).get(voice.name, 'no answer'))}"
        verdict = absent if one is None else verdict_line(one) if one.verdict else "OPENING"
        lines.append(f"- {debate.shown(voice.name)}: {verdict}")
    return "\n".join(lines)


def _settled(debate: Debate) -> list[str]:
    found = []
    for one in settled(debate):
        to = ", ".join(debate.shown(debate.named(name) or name) for name in one.to) or "the synthesis"
        found.append(
            f"{_line(one.point)}: resolved in Round {one.round} — {debate.shown(one.name)} conceded to {to}"
        )
    return found


def report_json(debate: Debate) -> dict[str, Any]:
    """Give a debate as JSON values: what the report says, for scripts."""
    last = debate.rounds[-1]
    return {
        "schema_version": SCHEMA_VERSION,
        "session": debate.session,
        "topic": debate.topic,
        "state": debate.state,
        "ending": debate.ending or None,
        "consensus": consensus(debate),
        "round": last.number,
        "max_rounds": debate.max_rounds,
        "moderator": debate.moderator or None,
        "anonymous": debate.blind,
        "synthesis": final_synthesis(debate),
        "participants": [_participant(debate, voice.name) for voice in debate.voices],
        "disagreements": open_points(debate, last.number),
        "resolved": [one._asdict() for one in settled(debate)],
        "agreements": list(agreements(debate, last.number)),
        "changes": [
            {"round": past.number, "files": list(change.files), "running": list(change.running)}
            for past in debate.rounds
            for change in past.changes
        ],
    }


def _participant(debate: Debate, name: str) -> dict[str, Any]:
    """Give one debater's rounds as JSON values."""
    rounds = []
    for past in debate.rounds:
        one = past.of(name)
        rounds.append(
            {
                "round": past.number,
                "position": one.held if one is not None else None,
                "verdict": (one.verdict or None) if one is not None else "ABSENT",
                "reason": one.said.verdict.reason or None if one is not None else dict(past.absent).get(name),
                "accepted": one.said.verdict.accepted or None if one is not None else None,
                "moved": one.moved if one is not None else False,
                "conceded": [{"to": to, "point": point} for to, point in one.said.conceded] if one else [],
            }
        )
    voice = debate.voice(name)
    return {"name": name, "title": voice.title or None, "rounds": rounds}


def _line(text: str) -> str:
    return cut(" ".join(text.split()), 1200)


def _listed(points: list[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {_line(point)}" for point in points)
