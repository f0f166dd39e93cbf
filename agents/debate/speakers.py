"""How each kind of participant is asked: by a command, a model's endpoint, mail, or an editor at the terminal."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from ...bus.batch import Draft
from ...bus.messages import HUMAN
from ...bus.watcher import Watcher
from ...parsers.errors import NotFound
from ...workspace.files import make_folder, read_regular
from ...workspace.folder import Workspace
from ..driving import current
from ..reaper import MARKER, Reaper, end_marked, marker_of
from ..referee import Referee
from ..runners import Answer, CommandRunner, Kept
from .participants import Participant, filled

RAW_BYTES = 32 * 1024 * 1024  # of a command's output, progress bars and all: head and tail of more are kept
LOOK_AFTER_S = 1.0  # whether the debate was stopped: the ledger's changes do not tell
MOCK = (sys.executable, "-m", "moot.agents.debate.mock")
API = (sys.executable, "-m", "moot.agents.debate.api")


class Question(NamedTuple):
    """What somebody is asked: the prompt, the file that holds it, and the one that an answer by mail goes to."""

    session: str
    prompt: str
    prompt_file: Path
    answer_file: Path


class Speaker(Protocol):
    """Asks one participant; `writes_itself` where its answer is in the ledger already when it comes."""

    writes_itself: bool
    in_foreground: bool

    def ask(self, question: Question) -> Answer:
        """Give the answer; a failure is an answer with an `error`."""

    def hint(self, question: Question) -> str:
        """Give what a person at the screen has to do for the answer; nothing where it comes by itself."""

    def stop(self) -> None:
        """End what runs, and ask nothing more."""


class CommandSpeaker:
    """Runs a command in the repository, with the prompt on its standard input or in an argument."""

    writes_itself = in_foreground = False

    def __init__(self, participant: Participant, cwd: Path, reaper: Reaper) -> None:
        """Name the participant, and where its command runs."""
        self._participant, self._cwd, self._reaper = participant, cwd, reaper
        self._runner: CommandRunner | None = None
        self._stopped = False

    def ask(self, question: Question) -> Answer:
        """Run the command once."""
        argv, text = filled(self._participant, question.prompt)
        return self._run(argv, text)

    def hint(self, question: Question) -> str:  # noqa: ARG002
        """Give nothing: a command answers by itself."""
        return ""

    def _run(self, argv: tuple[str, ...], text: str) -> Answer:
        marker, value = marker_of(self._reaper)
        runner = self._runner = CommandRunner(
            argv,
            cwd=self._cwd,
            env={**os.environ, "MOOT_AGENT": self._participant.name, MARKER: value},
            timeout_s=self._participant.timeout_s,
            max_output_bytes=RAW_BYTES,
            cuts=True,
            watch=self._reaper.watch,
        )
        if self._stopped:
            runner.stop()
        try:
            return runner.run(text)
        finally:
            end_marked(marker)

    def stop(self) -> None:
        """End the command that runs."""
        self._stopped = True
        if self._runner is not None:
            self._runner.stop()


class ApiSpeaker(CommandSpeaker):
    """Asks a model's endpoint, in a process of its own that gets the key on its standard input."""

    def __init__(self, participant: Participant, cwd: Path, reaper: Reaper, key: Callable[[], str]) -> None:
        """Name the participant, and what gives its key."""
        super().__init__(participant, cwd, reaper)
        self._key = key

    def ask(self, question: Question) -> Answer:
        """Send one request."""
        one = self._participant
        request = {
            "protocol": one.protocol, "base_url": one.base_url, "key": self._key(), "model": one.model,
            "prompt": question.prompt, "timeout_s": one.timeout_s, "max_output_tokens": one.max_output_tokens,
        }  # fmt: skip
        return self._run(API, json.dumps(request))


class MailSpeaker:
    """Asks by mail: an agent of the roster takes its turn itself; the human writes a file and acknowledges."""

    in_foreground = False

    def __init__(self, participant: Participant, workspace: Workspace, by: str) -> None:
        """Name who is asked, where, and by whom."""
        self._participant, self._workspace, self._by = participant, workspace, by
        self.writes_itself = participant.kind == "agent"
        self._stopped = False

    def ask(self, question: Question) -> Answer:
        """Send the question and wait for what comes of it."""
        began = time.monotonic()
        referee = Referee(self._workspace)  # each waits in a thread of its own
        name = self._participant.name
        reader = name if self.writes_itself else HUMAN
        try:
            block_id = referee.post(self._draft(question, reader)).id
            deadline = began + self._participant.timeout_s
            done = self._wait(
                referee, lambda: self._has_answered(referee, question, block_id, reader), deadline
            )
        finally:
            referee.close()
        kept = Kept(RAW_BYTES // 2, RAW_BYTES // 2)
        kept.add((read_regular(question.answer_file) or b"") if done and not self.writes_itself else b"")
        late = "stopped" if self._stopped else f"time-out after {self._participant.timeout_s:g} s"
        return Answer(
            kept.text(), None, not done, "" if done else late, time.monotonic() - began, kept.is_cut
        )

    def hint(self, question: Question) -> str:
        """Say what the human has to do; an agent is told by its mail."""
        return "" if self.writes_itself else self._words(question, HUMAN)

    def _words(self, question: Question, reader: str) -> str:
        at = f"{question.session}: your answer is due. Read {question.prompt_file}"
        if self.writes_itself:
            return f"{at}, and write it with `moot send --as {reader} --in {question.session} -`."
        make_folder(question.answer_file.parent)
        return f"{at}, write it to {question.answer_file}, and then acknowledge this block with `moot ack`."

    def _draft(self, question: Question, reader: str) -> Draft:
        return Draft(self._by, f"[{self._by}] to {reader}", self._words(question, reader), to=(reader,))

    def _has_answered(self, referee: Referee, question: Question, block_id: str, reader: str) -> bool:
        session = current(referee, question.session)
        if session.closed or self._participant.name not in session.waiting_for:
            return True
        receipts = () if self.writes_itself else referee.index.receipts(block_id)
        return any(one.agent == reader and one.acknowledged_at for one in receipts)

    def _wait(self, referee: Referee, holds: Callable[[], bool], deadline: float) -> bool:
        """Wait until something holds; tell whether it did in time."""
        with Watcher(self._workspace.ledger) as watcher:
            while not self._stopped:
                referee.rule()
                if holds():
                    return True
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                watcher.wait(min(left, LOOK_AFTER_S))
        return False

    def stop(self) -> None:
        """Wait for nothing more."""
        self._stopped = True


class TerminalSpeaker:
    """Asks the human at this terminal: the prompt opens in an editor, and what stands above it is the answer."""

    writes_itself = False
    in_foreground = True
    MARK = "# Write your answer above this line; what stands below is what you were asked."

    def ask(self, question: Question) -> Answer:
        """Open the editor (VISUAL or EDITOR) and give what was written."""
        import click

        began = time.monotonic()
        shown = "\n".join(f"# {line}".rstrip() for line in question.prompt.split("\n"))
        text, error = "", ""
        try:
            text = click.edit(f"\n\n{self.MARK}\n{shown}\n", extension=".md", require_save=False) or ""
        except click.ClickException as fault:
            error = fault.format_message()
        answer = text.partition(self.MARK)[0].strip()
        error = error or ("" if answer else "nothing was written")
        return Answer(answer, None, timed_out=False, error=error, elapsed_s=time.monotonic() - began)

    def hint(self, question: Question) -> str:  # noqa: ARG002
        """Give nothing: the editor says it."""
        return ""

    def stop(self) -> None:
        """Do nothing: the editor is in the person's hands."""


def speaker_of(
    participant: Participant,
    workspace: Workspace,
    by: str,
    reaper: Reaper,
    key: Callable[[], str],
    *,
    at_terminal: bool,
) -> Speaker:
    """Give the way in which a participant is asked."""
    if participant.kind == "human" and at_terminal:
        return TerminalSpeaker()
    if participant.kind in ("agent", "human"):
        return MailSpeaker(participant, workspace, by)
    if participant.kind == "api":
        return ApiSpeaker(participant, workspace.root, reaper, key)
    argv = MOCK if participant.kind == "mock" else participant.argv
    if not argv:
        raise NotFound(f"nothing says how {participant.name} is asked", then="give it a command")
    return CommandSpeaker(participant._replace(argv=argv), workspace.root, reaper)
