"""One run: six stages, the candidates of each side by side, every failure its candidate's alone, always an ending.

What a worker gave is on disk before the next one begins (`progress.jsonl`, a line an errand, with the hash), so
a run that was killed goes on where it stood. Results are frozen when they are handed in: copied aside, compared
after each stage, and put back where somebody changed them.
"""

import hashlib
import json
import math
import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from ...parsers.votes import verdict_of, votes_in
from ...workspace.files import make_folder, read_regular, write_whole
from ...workspace.worktrees import lend, patch_of, take_back
from ..protocols.compete import STAGES
from ..runners import Answer
from .layout import WORK, file_of, result_stage
from .policy import Plan
from .prompts import prompt_for
from .selection import Evidence, Selection, select
from .workers import Errand, Worker

QUOTED_CHARACTERS = 64 * 1024  # of another's text in a prompt: a reviewer reads no more
RESULTS = ("proposal", "revision_round_1")
_VERIFIED = "initial_verification"


class Done(NamedTuple):
    """One errand that came to its end: `error` is empty where it went well."""

    candidate: str
    stage: str
    sha256: str
    exit_code: int | None
    error: str
    elapsed_s: float
    bytes: int
    cut: bool


class Limits(NamedTuple):
    """How many errands run at once, who verifies, the run's id, and how much one errand's output may take."""

    jobs: int
    verifier: str
    competition_id: str
    errand_bytes: int
    sources: Path | None = None  # the repository that each candidate gets a worktree of
    deadline: float = math.inf  # on the monotonic clock: when the lease's wall-clock time is over
    diff_bytes: int = 0  # the most that a lease allows a result to be; 0 for no limit


class Run:
    """A run in its folder."""

    def __init__(
        self, plan: Plan, task: str, folder: Path, worker: Worker, limits: Limits, tell: Callable[[str], None]
    ) -> None:
        """Take up a run, with what was done in this folder before."""
        self.plan, self.task, self.folder, self.limits = plan, task, folder, limits
        self._worker, self._tell = worker, tell
        self.done: dict[tuple[str, str], Done] = {}
        self.failures: dict[str, str] = {}
        self.notes: list[str] = []
        self._read_progress()

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
            if began >= self.limits.deadline:
                for name in names:
                    self.fail(name, f"{stage}: the lease's wall-clock time is over")
                return
            self._tell(f"{stage}: {len(names)} candidate{'s' * (len(names) != 1)}")
            todo = [name for name in names if (name, stage) not in self.done]
            errands = [self._errand(name, stage) for name in todo]
            with ThreadPoolExecutor(max(1, self.limits.jobs)) as pool:
                futures = [pool.submit(self._worker.run, errand) for errand in errands]
                try:
                    for name, future in zip(todo, futures, strict=True):
                        self._take(name, stage, future.result())
                except BaseException:
                    self._worker.stop()
                    raise
            self._check_frozen(todo)
            for name in names:
                self._settle(name, stage)
            after(stage, names)
            self._tell(f"{stage}: done in {time.monotonic() - began:.1f} s")

    @property
    def alive(self) -> list[str]:
        """The candidates that have not failed."""
        return [name for name in self.plan.candidate_ids if name not in self.failures]

    def _errand(self, name: str, stage: str) -> Errand:
        work = self.folder / name / WORK
        make_folder(work)
        if self.limits.sources is not None:
            lend(self.limits.sources, work)
        prompt = prompt_for(self.task, self.plan, stage, name, self._texts(name, stage))
        prompt_file = self.folder / name / "prompts" / f"{stage}.md"
        make_folder(prompt_file.parent)
        write_whole(prompt_file, prompt.encode("utf-8", "replace"))
        return Errand(name, stage, prompt, work, self.values(name, stage))

    def values(self, name: str, stage: str) -> dict[str, str]:
        """Give the values of the template's variables for a candidate at a stage."""
        output_of = stage if stage in STAGES else "proposal"
        return {
            "agent_id": self.limits.verifier if stage == _VERIFIED else name,
            "run_id": name,
            "candidate_id": name,
            "stage": stage,
            "prompt_file": str(self.folder / name / "prompts" / f"{stage}.md"),
            "output_file": str(self.path(name, output_of)),
            "competition_id": self.limits.competition_id,
            "question_type": self.plan.question_type,
            "selection_mode": self.plan.selection_mode,
        }

    def _texts(self, name: str, stage: str) -> dict[str, str]:
        """Give what a candidate's errand is about, by title."""
        others = [other for other in self.alive if other != name]
        if stage == _VERIFIED:
            return {f"The result of {name}": self.text(name, "proposal")}
        if stage == "peer_review_round_1":
            return {f"The result of {other}": self.text(other, "proposal") for other in others}
        if stage == "revision_round_1":
            texts = {"Your result": self.text(name, "proposal")}
            return texts | {f"What {other} says": self.text(other, "peer_review_round_1") for other in others}
        if stage == "peer_review_round_2":
            return {
                f"The revised result of {other}": self.text(other, "revision_round_1") for other in others
            }
        if stage == "repair_synthesis":
            texts = {"Your revised result": self.text(name, "revision_round_1")}
            return texts | {f"What {other} says": self.text(other, "peer_review_round_2") for other in others}
        return {}

    def _take(self, name: str, stage: str, answer: Answer) -> None:
        """Put what a worker gave on disk, and then note that it is there."""
        text = answer.text if answer.text.strip() or answer.error else ""
        if self.limits.sources is not None and stage in RESULTS:
            text = self._with_patch(name, text)
        error = answer.error or ("" if text else "it printed nothing")
        if answer.timed_out and time.monotonic() >= self.limits.deadline:
            error = "the lease's wall-clock time is over"
        data = _within(text.encode("utf-8", "replace"), self.limits.errand_bytes)
        write_whole(self.path(name, stage), data)
        over = self.limits.diff_bytes and stage in RESULTS and len(data) > self.limits.diff_bytes
        if over and not error:
            error = f"its result is over the lease's max_diff_kib ({self.limits.diff_bytes // 1024})"
        digest = hashlib.sha256(data).hexdigest()
        is_cut = answer.cut or len(data) < len(text)
        done = Done(
            name, stage, digest, answer.exit_code, error, round(answer.elapsed_s, 3), len(data), is_cut
        )
        self.done[name, stage] = done
        if stage in RESULTS and not error:
            frozen = self._frozen(name, stage)
            make_folder(frozen.parent)
            write_whole(frozen, data)
        with (self.folder / "progress.jsonl").open("a") as file:
            file.write(json.dumps(done._asdict()) + "\n")

    def _with_patch(self, name: str, text: str) -> str:
        """Give a result with what its candidate changed in its worktree; the patch is a file of its own as well."""
        patch = patch_of(self.folder / name / WORK)
        write_whole(self.folder / name / "patch.diff", patch.encode("utf-8", "replace"))
        return f"{text.rstrip()}\n\n```diff\n{patch}```\n" if patch else text

    def _settle(self, name: str, stage: str) -> None:
        """Fail a candidate whose errand failed; of a verifier's failure only note that there is no verdict."""
        error = self.done[name, stage].error if name not in self.failures else ""
        if error and stage == _VERIFIED:
            self.notes.append(f"no verdict on {name}: the verifier failed ({error})")
        elif error:
            self.fail(name, f"{stage}: {error}")

    def fail(self, name: str, why: str) -> None:
        """Take a candidate out of the run, and say why in its folder."""
        self.failures[name] = why
        write_whole(self.folder / name / "failure.md", f"# {name} failed\n\n{why}\n".encode())
        self._tell(f"{name} failed: {why}")

    # -- what is frozen ---------------------------------------------------------------------------

    def _check_frozen(self, ran: list[str]) -> None:
        """Put back what was changed since it was handed in, and name all that ran at that time."""
        for (name, stage), done in sorted(self.done.items()):
            frozen = self._frozen(name, stage)
            if done.error or not frozen.exists():
                continue
            if hashlib.sha256(read_regular(self.path(name, stage)) or b"").hexdigest() == done.sha256:
                continue
            write_whole(self.path(name, stage), read_regular(frozen) or b"")
            changed = self.path(name, stage).relative_to(self.folder)
            self.notes.append(f"{changed} was changed, and put back; then ran {', '.join(ran)}")
            others = [one for one in ran if one != name]
            if len(ran) == 1 and others and others[0] not in self.failures:
                self.fail(others[0], f"it changed the frozen result of {name}")

    def _frozen(self, name: str, stage: str) -> Path:
        return self.folder / ".frozen" / name / f"{stage}.md"

    # -- what there is ----------------------------------------------------------------------------

    def path(self, name: str, stage: str) -> Path:
        """Give the file of a candidate's stage."""
        return self.folder / name / file_of(self.plan.artifact_layout, stage)

    def text(self, name: str, stage: str) -> str:
        """Give what a candidate wrote at a stage, cut to what a reviewer reads."""
        return self.whole(name, stage)[:QUOTED_CHARACTERS]

    def whole(self, name: str, stage: str) -> str:
        """Give all that was kept of what a candidate wrote at a stage: a vote stands at the end."""
        return (read_regular(self.path(name, stage)) or b"").decode("utf-8", "replace")

    def result_of(self, name: str) -> str:
        """Give the whole of a candidate's result as it stands."""
        done = {stage: one.sha256 for (who, stage), one in self.done.items() if who == name and not one.error}
        return self.whole(name, result_stage(done))

    def selection(
        self, oracle: Mapping[str, tuple[str, float | None]]
    ) -> tuple[dict[str, Evidence], Selection]:
        """Weigh the evidence and the votes, and choose."""
        evidence = {}
        for name in self.plan.candidate_ids:
            verified = self.done.get((name, _VERIFIED))
            verdict = verdict_of(self.whole(name, _VERIFIED)) if verified and not verified.error else ""
            unread = "no VERDICT line" if verified and not verdict else ""
            unread = f"the verifier failed: {verified.error}" if verified and verified.error else unread
            says, score = oracle.get(name, ("", None))
            evidence[name] = Evidence(name, self.failures.get(name, ""), verdict, says, score, unread)
        votes = {
            name: votes_in(self.whole(name, "peer_review_round_2"), self.plan.candidate_ids)
            for name in self.plan.candidate_ids
            if (name, "peer_review_round_2") in self.done
        }
        return evidence, select(self.plan, evidence, votes)

    def _read_progress(self) -> None:
        """Take up what was done before, as far as the files are still what they were."""
        data = read_regular(self.folder / "progress.jsonl") or b""
        for line in data.decode("utf-8", "replace").split("\n"):
            values = _object(line)
            if values is None or set(values) != set(Done._fields):
                continue  # the last line of a run that was killed may be half a line
            done = Done(**values)
            stands = read_regular(self.path(done.candidate, done.stage)) or b""
            if (
                done.candidate in self.plan.candidate_ids
                and hashlib.sha256(stands).hexdigest() == done.sha256
            ):
                self.done[done.candidate, done.stage] = done

    def clear(self) -> None:
        """Remove what only a run in progress needs."""
        shutil.rmtree(self.folder / ".frozen", ignore_errors=True)
        for name in self.plan.candidate_ids if self.limits.sources is not None else ():
            take_back(self.limits.sources, self.folder / name / WORK)  # type: ignore[arg-type]


def _within(data: bytes, cap: int) -> bytes:
    """Cut what grew over the cap when bytes that are not UTF-8 were replaced: each takes three then."""
    if len(data) <= cap:
        return data
    half = cap // 2
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    return f"{head}\n[... {len(data) - 2 * half} bytes were cut here ...]\n{tail}".encode()


def _object(line: str) -> dict[str, Any] | None:
    try:
        values = json.loads(line)
    except ValueError:
        return None
    return values if isinstance(values, dict) else None
