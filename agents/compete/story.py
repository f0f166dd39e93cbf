"""The story of a run in the ledger: its opening, a block a stage, the selection; hashes and paths, no payloads."""

from pathlib import Path

from ...bus.batch import Draft
from ...bus.messages import HUMAN
from ...parsers.errors import NotFound
from ...parsers.screen import one_line
from ...parsers.seats import Seat
from ...parsers.stage import Selection as Chosen
from ...parsers.stage import Stage, StageLine, write_selection, write_stage
from ...workspace.folder import find_workspace
from ...workspace.options import known_agent
from ..protocols import compete as rules
from ..protocols.opening import Opening
from ..referee import Referee
from ..starting import new_name, open_session
from .frozen import put, read_kept
from .outputs import reason
from .run import Run
from .selection import Selection

REASON_CHARACTERS, NOTE_CHARACTERS = 300, 500  # a block tells the first of it, the run's folder all
FILE = "session"  # in the run's folder: which session tells its story


class Story:
    """One run's session. Without a workspace there is none, and the run's folder tells all."""

    def __init__(self, referee: Referee, session: str, by: str) -> None:
        """Name the session."""
        self._referee, self.session, self._by = referee, session, by
        self._noted = 0  # how many of the run's notes the ledger has

    def stage(self, run: Run, stage: str, names: list[str]) -> None:
        """Tell what came of a stage, unless the ledger has it already."""
        if self._phase() != stage:
            return
        lines = []
        for name in names:
            failure = run.failures.get(name, "").removeprefix(f"{stage}: ")
            done = run.done.get((name, stage))
            where = str(run.path(name, stage).relative_to(run.folder))
            lines.append(StageLine(name, "" if failure or not done else done.sha256, where, failure))
        self._post("STAGE", write_stage(Stage(stage, tuple(lines))) + self._notes(run))

    def selection(self, run: Run, selection: Selection) -> None:
        """Tell who was chosen, and close."""
        if self._phase() == rules.SELECTION:
            why = one_line(reason(run, selection), REASON_CHARACTERS)
            body = write_selection(Chosen(selection.chosen, run.plan.selection_mode, why))
            self._post("SELECTION", body + self._notes(run))

    def _notes(self, run: Run) -> str:
        """Give what was noticed since the last block, as lines below its own."""
        new, self._noted = run.notes[self._noted :], len(run.notes)
        return "".join(f"\n* {one_line(note, NOTE_CHARACTERS)}" for note in new)

    def _phase(self) -> str:
        self._referee.refresh()
        session = self._referee.book.sessions.get(self.session)
        return session.state.phase if session is not None and not session.closed else ""

    def _post(self, tag: str, body: str) -> None:
        self._referee.post(Draft(self._by, f"[{tag} - {self._by}]", body, session=self.session))


def tell_story(run: Run, start: Path, pinned: str | None, by: str, timeout_s: int) -> Story | None:
    """Open the session of a new run, or go on with that of one that is resumed; None without a workspace."""
    try:
        workspace = find_workspace(start, pinned=pinned)
    except NotFound:
        if pinned:
            raise
        return None
    referee = Referee(workspace)
    known_agent(by, referee.settings.names, also=(HUMAN,))
    known = read_kept(run.folder, FILE)
    if known is not None:
        return Story(referee, known.decode("utf-8", "replace").strip(), by)
    inside = run.folder.is_relative_to(workspace.root)
    folder = str(run.folder.relative_to(workspace.root)) if inside else str(run.folder)
    seats = [Seat(name, "CANDIDATE") for name in run.plan.candidate_ids]
    opening = Opening(
        session=new_name(referee, rules.SHORT),
        protocol=rules.NAME,
        task=run.task,
        roster=(*([Seat(by, "MASTER")] if by != HUMAN else []), *seats),
        max_turns=rules.MAX_TURNS,
        turn_timeout_s=timeout_s,
        rules=rules.RULES,
        options=(("RUN", folder), ("SELECTION_MODE", run.plan.selection_mode)),
    )
    open_session(referee, by, run.task, opening, (), "a run begins")
    put(run.folder, FILE, f"{opening.session}\n".encode())
    return Story(referee, opening.session, by)
