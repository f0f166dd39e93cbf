"""One run: six stages, the candidates of each side by side, every failure its candidate's alone, always an ending.

What a worker gave is frozen and on disk before the next one is waited for (`progress.jsonl`, a line an errand, with
the hash), so a run that was killed goes on where it stood. What is quoted, selected on and published is what was
handed in: it is compared after each errand, and put back where somebody changed it.
"""

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from ...parsers.errors import MootError
from ...parsers.votes import costs_in, verdict_of, votes_in
from ...workspace.worktrees import Patch, Source
from ..protocols.compete import STAGES
from ..runners import Answer
from .errands import RESULTS, VERIFIED, Given, subjects, with_patch, within
from .folders import Folders
from .frozen import put, read_ends, remove
from .keeper import Keeper, worktree_file
from .layout import WORK, result_stage
from .oracle import Opinion, ask_oracle
from .policy import Plan
from .progress import Done
from .prompts import prompt_for
from .records import Cost
from .selection import Evidence, Selection, select
from .workers import Errand, Shell, Worker

QUOTED_CHARACTERS = 64 * 1024  # of another's text in a prompt: a reviewer reads no more
LATE = "the lease's wall-clock time is over"


class Limits(NamedTuple):
    """How many errands run at once, who verifies, the run's id, and how much one errand's output may take."""

    jobs: int
    verifier: str
    competition_id: str
    errand_bytes: int
    total_bytes: int  # of the candidates' own files and all output
    source: Source | None = None  # what each candidate gets a worktree of
    deadline: float = math.inf  # on the monotonic clock: when the lease's wall-clock time is over
    diff_bytes: int = 0  # the most that a lease allows a result to be; 0 for no limit


class Run:
    """A run in its folder."""

    def __init__(
        self, plan: Plan, task: str, folder: Path, worker: Worker, limits: Limits, tell: Callable[[str], None]
    ) -> None:
        """Take up a run, with what was done in this folder before."""
        self.plan, self.task, self.folder, self.limits = plan, task, folder, limits
        self._worker, self.tell = worker, tell
        self.keeper = Keeper(folder, plan)
        self.done, self.notes = self.keeper.done, self.keeper.notes
        self.failures: dict[str, str] = {}
        self.is_late = False  # whether the time of the lease ended a candidate
        self._taking = Lock()
        self.folders = Folders(folder, limits.source, limits.total_bytes)
        self._is_stopped = False

    # -- the stages -------------------------------------------------------------------------------

    def stages(self, after: Callable[[str, list[str]], None]) -> None:
        """Go through all stages; a candidate that fails at one takes no part in the next.

        `after` is called when a stage is over, with its name and the candidates that took part.
        """
        for stage in STAGES:
            names = self.alive
            if not names:
                return
            began = time.monotonic()
            todo = [name for name in names if (name, stage) not in self.done]
            if todo and began >= self.limits.deadline:
                self.is_late = True
                for name in names:
                    self.fail(name, f"{stage}: {LATE}")
                return
            self.tell(f"{stage}: {len(names)} candidate{'s' * (len(names) != 1)}")
            self._go(stage, todo)
            for name in names:
                self._settle(name, stage)
            after(stage, names)
            self.tell(f"{stage}: done in {time.monotonic() - began:.1f} s")

    @property
    def alive(self) -> list[str]:
        """The candidates that have not failed."""
        return [name for name in self.plan.candidate_ids if name not in self.failures]

    def _go(self, stage: str, todo: list[str]) -> None:
        """Have the errands of a stage done, side by side, and take each when it comes back."""
        for name in self.alive if todo else ():
            with suppress(MootError):  # it comes again when its errand is done, and is its own failure
                self._prepare(name)
        had = {name: self._made(name) for name in self.alive}
        errands = [self._errand(name, stage) for name in todo]
        with ThreadPoolExecutor(max(1, self.limits.jobs)) as pool:
            try:
                for future in [pool.submit(self._see_to, errand) for errand in errands]:
                    future.result()
            except BaseException:
                self.stop()
                raise
        if self._is_stopped:  # the interpreter can lose what a signal handler raises
            raise KeyboardInterrupt
        self._check_room(stage, had)

    def stop(self) -> None:
        """End what runs, and take nothing more."""
        self._is_stopped = True
        self._worker.stop()

    def _see_to(self, errand: Errand) -> None:
        """Do an errand, compare what is frozen before another one begins, and take what it gave."""
        given = self._do(errand)
        with self._taking:
            if not self._is_stopped:
                self.keeper.compare(errand.stage)
                self._take(errand.candidate, errand.stage, given)

    def _do(self, errand: Errand) -> Given:
        """Do an errand; whatever goes wrong with it is its candidate's failure."""
        name, stage, cap = errand.candidate, errand.stage, self.limits.errand_bytes
        given = Given(b"", 0, Answer("", None, False, "", 0.0), Patch(b"", ()))
        try:
            self._prepare(name)
            put(self.folder, f"{name}/prompts/{stage}.md", errand.prompt.encode("utf-8", "replace"))
            remove(self.path(name, stage))  # what stands there now was not written by who is asked now
            with self.keeper.running(f"the verifier of {name}" if stage == VERIFIED else name):
                answer = self._worker.run(errand)
            data = answer.text.encode("utf-8", "replace")
            size_bytes = len(data) + answer.lost_bytes
            if not data.strip():  # it may have written {output_file} instead
                data, size_bytes = read_ends(self.folder, self.keeper.where(name, stage), cap)
            given = Given(data, size_bytes, answer, given.patch)
            given = given._replace(patch=self.folders.patch(name))
        except (MootError, OSError) as error:
            answer = given.answer
            given = given._replace(answer=answer._replace(error=answer.error or str(error)))
        return given

    def _take(self, name: str, stage: str, given: Given) -> None:
        """Freeze what a worker gave, and then note that it is there."""
        answer, patch, limits = given.answer, given.patch, self.limits
        data = given.data if given.data.strip() else b""
        size_bytes = given.size_bytes
        if limits.source is not None and stage in RESULTS:
            size_bytes = len(patch.data)
            data = with_patch(data, patch.data)
            self.keeper.frozen.take(f"{name}/patch.diff", patch.data)
            for inside in patch.left_out:
                self.keeper.note(
                    f"{name}/{WORK}/{inside} is a repository of its own: its files are not in the patch"
                )
        error = answer.error or ("" if data else "it printed nothing")
        late = answer.timed_out and time.monotonic() >= limits.deadline
        if late:
            error = LATE
        elif not error and stage in RESULTS and 0 < limits.diff_bytes < size_bytes:
            error = f"its result is over the lease's max_diff_kib ({limits.diff_bytes // 1024})"
        kept = within(data, limits.errand_bytes)
        is_cut = answer.cut or len(kept) < len(data) or len(given.data) < given.size_bytes
        digest = self.keeper.frozen.take(self.keeper.where(name, stage), kept)
        stood = ""
        if limits.source is not None:
            stood = self.keeper.frozen.take(worktree_file(name, stage), patch.data)
        self.done[name, stage] = Done(
            name, stage, digest, answer.exit_code, error, round(answer.elapsed_s, 3), len(kept), is_cut, stood, late
        )  # fmt: skip
        self.keeper.write(self.done[name, stage])
        for before in STAGES[: STAGES.index(stage)]:
            self.keeper.frozen.drop(worktree_file(name, before))

    def _settle(self, name: str, stage: str) -> None:
        """Fail a candidate whose errand failed; of a verifier's failure only note that there is no verdict."""
        if name in self.failures:
            return
        done = self.done[name, stage]
        self.is_late |= done.late
        if why := self.keeper.struck.get((name, stage)):
            self.fail(name, f"{stage}: {why}")
        elif done.error and stage == VERIFIED:
            self.notes.append(f"no verdict on {name}: the verifier failed ({done.error})")
        elif done.error:
            self.fail(name, f"{stage}: {done.error}")

    def fail(self, name: str, why: str) -> None:
        """Take a candidate out of the run, and say why in its folder."""
        self.failures[name] = why
        self.keeper.frozen.take(f"{name}/failure.md", f"# {name} failed\n\n{why}\n".encode())
        self.tell(f"{name} failed: {why}")

    def ask(self, template: str, shell: Shell) -> dict[str, Opinion]:
        """Ask the oracle about each candidate's result, in the candidate's folder."""
        opinions = {}
        for name in self.alive:
            self.tell(f"oracle: {name}")
            with suppress(MootError):  # the oracle says then that it cannot start
                self._prepare(name)
            errand = Errand(name, "oracle", "", self.folders.of(name), self.values(name, "oracle"))
            with self.keeper.running(f"the oracle of {name}"):
                opinion = ask_oracle(template, errand, shell)
            self.keeper.compare()
            if opinion.timed_out and time.monotonic() >= self.limits.deadline:
                self.is_late = True
                self.fail(name, f"oracle: {LATE}")
                continue
            opinions[name] = opinion
        return opinions

    def _prepare(self, name: str) -> None:
        """Make a candidate's folder, a worktree as it stood when the last errand was over."""
        stages = [stage for stage in STAGES if (name, stage) in self.done]
        self.folders.prepare(
            name, lambda: self.keeper.frozen.read(worktree_file(name, stages[-1])) if stages else b""
        )

    def _made(self, name: str) -> int:
        """Give how many bytes a candidate's own files hold."""
        return max(0, self.folders.made_bytes(name) - self.keeper.frozen.size_bytes(name))

    def _check_room(self, stage: str, had: Mapping[str, int]) -> None:
        """Strike who made most at a stage, as long as the run is over its bound."""
        made = {name: self._made(name) for name in self.alive}
        room = self.limits.total_bytes - sum(self.keeper.frozen.size_bytes(name) for name in made)
        while made and sum(made.values()) > room:
            worst = max(made, key=lambda name: (made[name] - had[name], name))
            if made[worst] <= had[worst]:
                return
            self.keeper.note(
                f"{worst} made {made[worst] - had[worst]} bytes at {stage}: too much for --max-output-mb"
            )
            self.keeper.strike(worst, stage, "its own files took the run over --max-output-mb")
            del made[worst]

    def clear(self) -> None:
        """Remove what only a run in progress needs."""
        for name in self.plan.candidate_ids:
            for stage in STAGES:
                self.keeper.frozen.drop(worktree_file(name, stage))
        self.keeper.frozen.close()

    # -- what there is ----------------------------------------------------------------------------

    def path(self, name: str, stage: str) -> Path:
        """Give the file of a candidate's stage."""
        return self.folder / self.keeper.where(name, stage)

    def text(self, name: str, stage: str) -> str:
        """Give what a candidate wrote at a stage, cut to what a reviewer reads."""
        return self.whole(name, stage)[:QUOTED_CHARACTERS]

    def cost(self, began_at: float) -> Cost:
        """Give what the run cost: time since it began, what its errands gave, and what their texts report."""
        reports = [costs_in(self.whole(name, stage)) for name, stage in self.done]
        tokens, minutes = (sum(of) for of in zip(*reports, strict=True)) if reports else (0.0, 0.0)
        output_kib = sum(one.bytes for one in self.done.values()) / 1024
        return Cost(round((time.time() - began_at) / 60, 3), round(output_kib, 3), tokens, minutes)

    def whole(self, name: str, stage: str) -> str:
        """Give all that was kept of what a candidate wrote at a stage: a vote stands at the end."""
        return self.keeper.frozen.read(self.keeper.where(name, stage)).decode("utf-8", "replace")

    def result_of(self, name: str) -> str:
        """Give the whole of a candidate's result as it stands."""
        return self.whole(name, self._result_stage(name))

    def _result_stage(self, name: str) -> str:
        return result_stage(
            {stage: one.sha256 for (who, stage), one in self.done.items() if who == name and not one.error}
        )

    def values(self, name: str, stage: str) -> dict[str, str]:
        """Give the values of the template's variables for a candidate at a stage, or for the oracle."""
        output_of = stage if stage in STAGES else self._result_stage(name)
        return {
            "agent_id": self.limits.verifier if stage == VERIFIED else name,
            "run_id": name,
            "candidate_id": name,
            "stage": stage,
            "prompt_file": str(self.folder / name / "prompts" / f"{stage}.md"),
            "output_file": str(self.path(name, output_of)),
            "competition_id": self.limits.competition_id,
            "question_type": self.plan.question_type,
            "selection_mode": self.plan.selection_mode,
        }

    def _errand(self, name: str, stage: str) -> Errand:
        others = [other for other in self.alive if other != name]
        prompt = prompt_for(self.task, self.plan, stage, name, subjects(stage, name, others, self.text))
        return Errand(name, stage, prompt, self.folders.of(name), self.values(name, stage))

    def selection(self, oracle: Mapping[str, Opinion]) -> tuple[dict[str, Evidence], Selection]:
        """Weigh the evidence and the votes, and choose."""
        evidence = {}
        for name in self.plan.candidate_ids:
            verified = self.done.get((name, VERIFIED))
            verdict = verdict_of(self.whole(name, VERIFIED)) if verified and not verified.error else ""
            unread = "no VERDICT line" if verified and not verdict else ""
            unread = f"the verifier failed: {verified.error}" if verified and verified.error else unread
            opinion = oracle.get(name, Opinion("", None))
            evidence[name] = Evidence(
                name, self.failures.get(name, ""), verdict, opinion.says, opinion.score, unread, opinion.why
            )
        votes = {
            name: votes_in(self.whole(name, "peer_review_round_2"), self.plan.candidate_ids)
            for name in self.plan.candidate_ids
            if (name, "peer_review_round_2") in self.done
        }
        return evidence, select(self.plan, evidence, votes)
