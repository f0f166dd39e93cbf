"""Holds a debate: asks everybody at once, writes what they say into the ledger, and tells what came of each round.

All that it knows is in the session and in `runs/SESSION/debate.json`, so it can be killed anywhere and goes on with
`--resume`: who has answered is not asked again.
"""

import json
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from ...bus.watcher import Watcher
from ...parsers.absent import write_absent
from ...parsers.errors import Refused, UsageError
from ...parsers.noise import without_echo, without_noise
from ...parsers.screen import one_line
from ...parsers.seal import read_opened
from ...workspace.files import make_folder, write_whole
from ..driving import current
from ..posting import take_turn
from ..protocols import debate as rules
from ..reader import Reader
from ..referee import Outcome, Referee
from ..runners import Answer, Kept
from ..session import Session
from .prompts import answer_prompt, synthesis_prompt
from .recap import listed_synthesis, recap_of
from .record import Change, Debate, record_of
from .report import report_json, report_of
from .screen import Screen
from .speakers import Question, Speaker
from .tree import Tree

ENVELOPE_BYTES = 1024  # what is left of a body's limit for what stands around an answer


class Convener:
    """One process's hold on a debate: it asks, and it writes what a human would have to write."""

    def __init__(
        self,
        referee: Referee,
        session: str,
        by: str,
        speakers: Mapping[str, Speaker],
        roles: Mapping[str, str],
        screen: Screen,
    ) -> None:
        """Name the session, who convenes it, how each is asked, and the system prompt of each that has one."""
        self._referee, self._name, self._by = referee, session, by
        self._speakers, self._roles, self._screen = speakers, roles, screen
        self._folder = referee.workspace.runs / session
        self._tree = Tree(referee.workspace, self._folder)
        self._is_stopped = False

    def hold(self) -> Session:
        """Take the debate to its end, and give its session, closed."""
        with Watcher(self._referee.workspace.ledger) as watcher:
            while True:
                if self._is_stopped:  # the interpreter can lose what a signal handler raises
                    raise KeyboardInterrupt
                self._referee.rule()
                session = current(self._referee, self._name)
                if session.closed:
                    return session
                phase, opening = session.state.phase, session.opening
                if phase in (rules.POSITIONS, rules.REBUTTALS):
                    self._ask_all(session)
                elif phase == rules.RECAP and not rules.lacks_quorum(opening, session.state):
                    self._recap(session)
                elif phase == rules.SYNTHESIS:
                    self._moderate(session)
                elif phase == rules.REPORT:
                    self._report(session)
                else:  # another process is the referee, and has not ruled yet
                    watcher.wait(1.0)

    # -- one round --------------------------------------------------------------------------------

    def _ask_all(self, session: Session) -> None:
        """Ask all who are still to answer, side by side; write each answer as it comes."""
        names = session.waiting_for
        self._screen.round_begins(session.state.round, rules.rounds_of(session.opening), names)
        self._tree.runs(names)
        with ThreadPoolExecutor(len(names)) as pool:
            try:
                self._ask_in(pool, session, names)
            except BaseException:
                self.stop()
                raise

    def _ask_in(self, pool: ThreadPoolExecutor, session: Session, names: tuple[str, ...]) -> None:
        pending: dict[Future[Answer], tuple[str, Question]] = {}
        by_hand = [name for name in names if self._speakers[name].in_foreground]
        for name in names:
            if name not in by_hand:
                question = self._question(session, name)
                pending[pool.submit(self._speakers[name].ask, question)] = (name, question)
        for name in by_hand:
            question = self._question(session, name)
            with self._screen.paused():
                answer = self._speakers[name].ask(question)
            if self._take(name, question, answer):
                self._take(name, question, self._speakers[name].ask(self._question(session, name)))
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                name, question = pending.pop(future)
                if self._take(name, question, future.result()):
                    again = self._question(current(self._referee, self._name), name)
                    pending[pool.submit(self._speakers[name].ask, again)] = (name, again)

    def _question(self, session: Session, name: str) -> Question:
        """Write down what a debater is asked now."""
        debate = self._debate(session).to_debaters()
        prompt = answer_prompt(session.opening, session.state, debate, name, self._roles.get(name, ""))
        return self._written(session, name, prompt)

    def _written(self, session: Session, name: str, prompt: str) -> Question:
        state = session.state
        file = f"{name}-{state.phase}-{state.round}.md"
        prompt_file = self._folder / "prompts" / file
        make_folder(prompt_file.parent)
        write_whole(prompt_file, prompt.encode("utf-8", "replace"))
        question = Question(session.name, prompt, prompt_file, self._folder / "answers" / file)
        if hint := self._speakers[name].hint(question):
            self._screen.say(hint)
        return question

    def _take(self, name: str, question: Question, answer: Answer) -> bool:
        """Write what came of asking somebody; tell whether it has to be asked again."""
        if self._is_stopped:  # it was ended by us: that is no absence
            return False
        session = current(self._referee, self._name)
        if session.closed or name not in session.waiting_for:  # it has written itself, or a hand did
            self._screen.answered(name, answer.elapsed_s, self._verdict(session, name))
            return False
        text, error = self._cleaned(answer.text, question.prompt), one_line(answer.error, 300)
        if not error and not text:
            error = "its answer was empty"
        if not error:
            try:
                outcome = take_turn(self._referee, name, text, self._name)
            except (Refused, UsageError) as refusal:
                error = one_line(refusal.what, 300)
            else:
                again = outcome.ruling is not None and outcome.ruling.code == "restate"
                what = (
                    "no verdict; asked again"
                    if again
                    else self._verdict(current(self._referee, self._name), name)
                )
                self._screen.answered(name, answer.elapsed_s, what)
                return again
        self._write("ABSENT", write_absent(((name, error),)))
        self._screen.answered(name, 0, f"ABSENT: {error}")
        return False

    def _cleaned(self, text: str, prompt: str) -> str:
        """Give an answer without a terminal's noise and the prompt, cut to what a block holds."""
        text = without_echo(without_noise(text), without_noise(prompt)).strip()
        limit = self._referee.settings.limits.max_body_kib * 1024 - ENVELOPE_BYTES
        data = text.encode("utf-8", "replace")
        if len(data) <= limit:
            return text
        kept = Kept(limit // 4, limit // 2)  # the verdict stands at the end
        kept.add(data)
        return kept.text()

    def _verdict(self, session: Session, name: str) -> str:
        return rules.verdicts(session.state, session.state.round).get(name) or "answered"

    # -- after a round ----------------------------------------------------------------------------

    def _recap(self, session: Session) -> None:
        debate, number = self._debate(session), session.state.round
        recap = recap_of(debate, number, self._changed())
        self._write("RECAP", recap)
        self._tree.begin()
        self._screen.recap(debate, number, recap)

    def _changed(self) -> tuple[Change, ...]:
        """Give what was changed in the repository since the last recap, and say it."""
        changes = self._tree.changes()
        for one in changes:
            self._screen.say(
                f"the repository was changed while {', '.join(one.running)} ran: {', '.join(one.files[:5])}"
            )
        return changes

    def _moderate(self, session: Session) -> None:
        """Have the synthesis of a round written: by its moderator, or as a list where there is none to write it."""
        debate, number = self._debate(session).to_debaters(), session.state.round
        name, why = rules.moderator(session.opening), ""
        if name in session.waiting_for:
            prompt = synthesis_prompt(debate, number, recap_of(debate, number), self._roles.get(name, ""))
            question = self._written(session, name, prompt)
            self._screen.moderates(name)
            self._tree.runs((name,))
            answer = self._ask_moderator(name, question)
            session = current(self._referee, self._name)
            if session.closed or session.state.phase != rules.SYNTHESIS:
                return
            text, error = self._cleaned(answer.text, prompt), one_line(answer.error, 300)
            if text and not error:
                take_turn(self._referee, name, text, self._name, tag="SYNTHESIS")
                return
            why = f"{debate.shown(name)} gave no synthesis ({error or 'it was empty'}), so this is a list."
        elif name:
            why = f"{debate.shown(name)}, who moderates, was absent, so this is a list."
        self._write("SYNTHESIS", listed_synthesis(debate, number, why=why))

    def _ask_moderator(self, name: str, question: Question) -> Answer:
        """Ask in a thread, so that Ctrl-C is seen at once; at the terminal there is nothing to wait for."""
        speaker = self._speakers[name]
        if speaker.in_foreground:
            with self._screen.paused():
                return speaker.ask(question)
        with ThreadPoolExecutor(1) as pool:
            try:
                return pool.submit(speaker.ask, question).result()
            except BaseException:
                self.stop()
                raise

    def _report(self, session: Session) -> None:
        """Write the report's files, and then the block that ends the debate."""
        debate = self._debate(session)
        last = debate.rounds[-1]
        known = tuple(change for past in debate.rounds for change in past.changes)
        late = tuple(change for change in self._changed() if change not in known)
        debate = debate._replace(rounds=(*debate.rounds[:-1], last._replace(changes=(*last.changes, *late))))
        report = report_of(debate)
        make_folder(self._folder)
        write_whole(self._folder / "report.md", report.encode("utf-8", "replace"))
        values = report_json(debate._replace(state="done"))
        write_whole(self._folder / "report.json", (json.dumps(values, indent=2) + "\n").encode())
        self._write("REPORT", report)
        self._tree.end()

    def _write(self, tag: str, body: str) -> Outcome:
        """Write a block as whoever convened the debate."""
        return take_turn(self._referee, self._by, body, self._name, tag=tag, note="by `moot debate`")

    def _debate(self, session: Session) -> Debate:
        return read_debate(self._referee, session)

    def stop(self) -> None:
        """End all that runs, and ask nobody any more."""
        self._is_stopped = True
        for speaker in self._speakers.values():
            speaker.stop()


def read_debate(reader: Reader, session: Session) -> Debate:
    """Read a debate back from the ledger."""

    def text_of(block_id: str) -> str:
        message = reader.message(block_id)
        opened = read_opened(message.body) if message is not None else None
        return opened.text if opened is not None else message.body if message is not None else ""

    debate = record_of(session.opening, session.state, text_of)
    return debate._replace(state=session.closed or "open")


def save_plan(folder: Path, values: Mapping[str, Any]) -> None:
    """Keep what `--resume` needs beside what the session pins: how each is asked; no key is in it."""
    make_folder(folder)
    write_whole(folder / "debate.json", (json.dumps(values, indent=2) + "\n").encode(), mode=0o600)
