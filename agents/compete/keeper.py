"""What a run knows for certain: what was done, noted and frozen, and who ran when something was changed."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from ...parsers.errors import StoreError
from ...workspace.files import read_regular
from .errands import RESULTS
from .frozen import ASIDE, Frozen, read_kept, stands
from .layout import file_of
from .policy import Plan
from .progress import FILE, Done, Line, Noted, Struck, read_lines, write_line


class Keeper:
    """Keeps it, in memory, on disk and aside."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        """Take up what is known of the run in a folder."""
        self._folder, self._plan = folder, plan
        self.done: dict[tuple[str, str], Done] = {}
        self.notes: list[str] = []
        self.struck: dict[tuple[str, str], str] = {}  # (candidate, stage) -> why it is out
        self.frozen = Frozen(folder)
        self._progress = b""
        self._lock = Lock()
        self._at_work: set[str] = set()
        self._ran: set[str] = set()  # since files were last compared
        self._take_up()

    def where(self, name: str, stage: str) -> str:
        """Give the path of a candidate's file for a stage, relative to the run's folder."""
        return f"{name}/{file_of(self._plan.artifact_layout, stage)}"

    def keep(self, path: str) -> None:
        """Freeze a file of the run's own as it stands."""
        data = read_kept(self._folder, path)
        if data is not None:
            self.frozen.take(path, data)

    @contextmanager
    def running(self, who: str) -> Iterator[None]:
        """Know of somebody that runs, as long as it does."""
        with self._lock:
            self._at_work.add(who)
            self._ran.add(who)
        try:
            yield
        finally:
            with self._lock:
                self._at_work.discard(who)

    def compare(self, stage: str = "") -> None:
        """Put back what was changed since it was handed in, and name all that ran since the last comparison.

        One that ran alone then is out, unless what it changed was its own.
        """
        with self._lock:
            ran, running = sorted(self._ran), bool(self._at_work)
            self._ran = set(self._at_work)
        for path in self.frozen.put_back(patient=running):
            self.note(
                f"{path} was changed, and put back; then ran {', '.join(ran) or 'nobody that is known'}"
            )
            if len(ran) == 1 and ran[0] in self._plan.candidate_ids and not path.startswith(f"{ran[0]}/"):
                self.strike(ran[0], stage, f"it changed the frozen {path}")

    def strike(self, name: str, stage: str, why: str) -> None:
        """Put a candidate out when the stage is over, whatever it answers."""
        if (name, stage) not in self.struck:
            self.struck[name, stage] = why
            self.write(Struck(name, stage, why))

    def note(self, text: str) -> None:
        """Say something in the summary, also where another process writes it."""
        if text not in self.notes:
            self.notes.append(text)
            self.write(Noted(text))

    def write(self, line: Line) -> None:
        """Put a line on disk."""
        self._progress += write_line(line).encode()
        self.frozen.take(FILE, self._progress)

    def _take_up(self) -> None:
        """Take up what was done before, as far as the files are still there, be it aside."""
        known = [b""]
        for where in (FILE, f"{ASIDE}/{FILE}"):
            with suppress(StoreError):
                known.append(read_regular(self._folder / where) or b"")
        changed = []
        for line in read_lines(max(known, key=len), self._plan.candidate_ids):
            match line:
                case Noted():
                    self.notes.append(line.note)
                case Struck():
                    self.struck[line.struck, line.at] = line.why
                case Done():
                    path = self.where(line.candidate, line.stage)
                    stood = stands(self._folder, path, line.sha256, line.bytes)
                    if not self.frozen.recover(path, line.sha256, line.bytes):
                        continue  # it is asked again
                    if not stood:
                        changed.append(path)
                    self.done[line.candidate, line.stage] = line
                    if line.patch:
                        self.frozen.recover(worktree_file(line.candidate, line.stage), line.patch)
                    if line.patch and line.stage in RESULTS:
                        self.frozen.recover(f"{line.candidate}/patch.diff", line.patch)
            self._progress += write_line(line).encode()
        if self._progress:
            self.frozen.take(FILE, self._progress)
        for path in changed:
            self.note(f"{path} was changed before the run was killed, and put back")


def worktree_file(name: str, stage: str) -> str:
    """Name the file that says how a worktree stood when a stage's errand was over."""
    return f"{name}/worktree/{stage}.diff"
