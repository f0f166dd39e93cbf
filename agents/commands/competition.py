"""Commands of a competition: entry, score, winner. Each writes the body that its grammar reads."""

import click

from ...parsers.entry import write_entry
from ...parsers.errors import UsageError
from ...parsers.score import write_score
from ...parsers.winner import write_winner
from ...workspace.options import as_agent, as_json, here, in_session, in_workspace, known_agent
from ..posting import body_from, take_turn
from ..referee import Referee
from .talk import body_options, report


@click.command(epilog="Example: moot entry --as CC --file tagline.md --approach 'short and warm'")
@body_options
@click.option("--approach", "approach", metavar="TEXT", default="", help="A sentence on your strategy.")
@as_agent
@in_session
@in_workspace
@as_json
def entry(
    text: str | None, file: str | None, approach: str, name: str | None, session: str | None, pinned: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Hand in your work. It is sealed: the ledger holds its hash until the judges are done.

    A second entry before then takes the place of the first. Leave your name out of the text: it is judged blind.
    """
    referee = Referee(here(pinned))
    sender = known_agent(name, referee.settings.names)
    body = write_entry(body_from(text, file), approach)
    report(referee, take_turn(referee, sender, body, session, tag="ENTRY"), as_json)


@click.command(
    epilog="Example: moot score --as GM --entry Entry-1 --set Clear=8 --set 'Under 8 words=9' --notes 'Sharp.'"
)
@click.option("--entry", "label", metavar="ENTRY", required=True, help="Which entry, as in Entry-1.")
@click.option(
    "--set", "marks", metavar="CRITERION=POINTS", multiple=True, help="0 to 10; once for each criterion."
)
@click.option("--notes", "notes", metavar="TEXT|-", required=True, help="Feedback; `-` for standard input.")
@click.option(
    "--reason", "reason", metavar="TEXT", default="", help="Why a score is another one than before."
)
@as_agent
@in_session
@in_workspace
@as_json
def score(
    label: str, marks: tuple[str, ...], notes: str, reason: str, name: str | None, session: str | None,
    pinned: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Score one entry; the total is added up for you. Sealed until all judges are in.

    `moot wait` shows the entries under their labels. A second score of the same entry takes the place of the first.
    """
    referee = Referee(here(pinned))
    sender = known_agent(name, referee.settings.names)
    pairs = []
    for mark in marks:
        criterion, sign, points = mark.rpartition("=")
        if not sign or not criterion.strip() or not points.strip():
            raise UsageError(f"--set {mark!r}", then="write --set Criterion=8")
        pairs.append((criterion.strip(), points.strip()))
    body = write_score(label, pairs, body_from(notes, None).strip(), reason)
    report(referee, take_turn(referee, sender, body, session, tag="SCORE"), as_json)


@click.command(
    epilog="Example: moot winner --as GM --selected CX --reason 'clearer, at half the length' --done"
)
@click.option("--selected", "selected", metavar="NAME", required=True, help="Whose entry won, by the sums.")
@click.option("--reason", "reason", metavar="TEXT", required=True, help="Why it won.")
@click.option("--synthesis", "synthesis", metavar="TEXT|-", help="The best of all entries, put together.")
@click.option("--done", "is_done", is_flag=True, help="Close the session with it.")
@as_agent
@in_session
@in_workspace
@as_json
def winner(
    selected: str, reason: str, synthesis: str | None, is_done: bool, name: str | None, session: str | None,
    pinned: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Name the winner. It has to be the one that the sums give: change your scores first where you disagree."""
    referee = Referee(here(pinned))
    sender = known_agent(name, referee.settings.names)
    body = write_winner(selected, reason, body_from(synthesis, None).strip() if synthesis else "")
    body += "\n\n[DONE]" * is_done
    report(referee, take_turn(referee, sender, body, session, tag="WINNER"), as_json)
