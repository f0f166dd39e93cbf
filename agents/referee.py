"""The referee: whoever holds its lease scans, asks the rules, appends rulings and delivers.

A shell over the book. All it knows is what the ledger says, so it can be killed anywhere and started
again. `moot up` holds the lease while it runs; otherwise each command that writes or waits takes it for
one pass of its own, so that a session gets on with no daemon at all.
"""

import hashlib
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ..bus.batch import PREVIOUS, Batch, Draft
from ..bus.inboxes import Inboxes
from ..bus.index import Index
from ..bus.ledger import Moved
from ..bus.messages import HUMAN, REFEREE, Message
from ..bus.rows import Mail
from ..parsers.attachment import private_stub
from ..parsers.errors import MootError, Refused, StoreError, TimeIsUp
from ..parsers.headers import Header, Vocabulary, read_header
from ..parsers.ids import RANDOM_BITS, mint
from ..parsers.seal import opened_body
from ..parsers.tokens import unclosed
from ..workspace.files import make_folder, write_whole
from ..workspace.folder import Workspace
from ..workspace.settings import Settings
from .asking import Judgment
from .book import Notice, Ruling
from .closing import close_session
from .delivery import count_as_read, deliver, save_news
from .hands import Unruled
from .presence import signs_of_work
from .protocols.events import Seal
from .reader import REST_S, Reader
from .session import Session

HANDS_PATIENCE_S = 3.0  # but somebody who never stops writing does not hold the others up
RULING_PATIENCE_S = 10.0  # a referee needs milliseconds; after ten seconds it is stopped


class Outcome(NamedTuple):
    """What became of a draft: its id, and the ruling on it if it was a move."""

    id: str
    ruling: Ruling | None


class Referee(Reader):
    """One process's hold on a workspace, with the lease when nobody else has it."""

    def __init__(self, workspace: Workspace, settings: Settings | None = None) -> None:
        """Open a workspace; StoreError where its `.state/` cannot be made."""
        make_folder(workspace.state, mode=0o700)
        super().__init__(workspace, settings, index=Index(workspace.state / "index.db"))
        self.inboxes = Inboxes(workspace.inbox)
        self.rulings: list[Ruling] = []
        self._ended: list[str] = []

    def _read_anew(self) -> None:
        self._save(receipts_lost=True)

    def _reopen_if_gone(self) -> None:
        """Begin anew where the folder was moved and made again, or `.state` was deleted."""
        if not (self.index.is_gone() or self.lease.is_lost()):
            return
        was_ours = self.lease.is_ours
        self.close()
        self._forget()
        make_folder(self.workspace.state, mode=0o700)
        if was_ours:
            self.lease.take()

    def put_aside(self, body: str) -> str:
        """Keep a private text out of the ledger; give the stub that stands there for it."""
        data = body.encode("utf-8", "replace")
        sha256 = hashlib.sha256(data).hexdigest()
        make_folder(self.private_folder, mode=0o700)
        write_whole(self.private_folder / sha256, data, mode=0o600)
        return private_stub(body, sha256)

    # -- writing ----------------------------------------------------------------------------------

    def post(self, *drafts: Draft) -> Outcome:
        """Ask the rules, append blocks in one write, and return when the first is durable and ruled on.

        Raises Refused where the rules say no (nothing is written), TimeIsUp where another process is the
        referee and does not answer.
        """
        self._let_hands_finish()
        for _ in range(20):
            try:
                outcome = self._post(drafts)
            except Moved:
                self._forget()
                continue
            if outcome is not None:
                return outcome
            self._await(lambda: not self._session_waits(drafts[0].session))
        raise StoreError("the ledger is being written anew again and again", where=str(self.workspace.ledger))

    def _post(self, drafts: tuple[Draft, ...]) -> Outcome | None:
        """Append once; None where a block before ours waits for another process's ruling."""
        with self._whole(), self.ledger.locked():
            self.refresh()
            with self.lease.for_one_pass() as ours:
                batch = self._batch()
                if ours:
                    self._rule_all(batch)
                elif self._session_waits(drafts[0].session):
                    return None
                try:
                    ids: list[str] = []
                    for draft in drafts:
                        re = ids[-1] if draft.re == PREVIOUS else draft.re
                        ids.append(self._ask_and_add(batch, draft._replace(re=re)))
                finally:  # rulings on what stood before are due whether the rules take this block or not
                    if ours:
                        self._rule_all(batch)
                    self._flush(batch)
        if held := next((one.held for one in self.book.notices if one.message.id == ids[0] and one.held), ""):
            self.notes.append(f"kept back until a human says something ({held}); stop, and wait for that")
        with _already_written(ids[0]):
            self.ledger.sync()
        if not ours and drafts[0].session:
            self._await(lambda: not self._waits(ids[0]))
        with _already_written(ids[0]):
            self._settle_down()
        ruling = next((r for r in self.rulings if r.block == ids[0]), None)
        return Outcome(ids[0], ruling)

    def _ask_and_add(self, batch: Batch, draft: Draft) -> str:
        ms = time.time_ns() // 1_000_000
        block_id = mint(ms, secrets.randbits(RANDOM_BITS), batch.head.id if batch.head else "")
        if draft.session and draft.sender != REFEREE:
            self._ask(draft, block_id, ms)
        self._add(batch, draft, block_id, ms)
        return block_id

    def _ask(self, draft: Draft, block_id: str, ms: int) -> None:
        """Raise Refused where the rules would refuse a draft."""
        header = from_header(draft._replace(body=draft.secret or draft.body))
        judgment = self.book.judge(Unruled(header._replace(id=block_id)), ms)
        if judgment.rule.verdict == "refused":
            raise Refused(judgment.rule.why)

    def _add(self, batch: Batch, draft: Draft, block_id: str, ms: int) -> None:
        if draft.sender != REFEREE and (closer := unclosed(draft.body)):
            self.notes.append(f"your text left something open, so it was closed with {closer}")
        linked = batch.add(draft, block_id, ms)
        book = self.book
        book.take(linked)
        book.take_tail(batch.tail)

    def _batch(self) -> Batch:
        assert self._stamp is not None
        return Batch(self._head, self._tail, self._tail.start + len(self._tail.raw))

    def _flush(self, batch: Batch) -> None:
        if not batch.data:
            return
        start = self.ledger.append(bytes(batch.data), batch.size)
        if start != batch.size:
            # A hand wrote between our look and our write: the offsets of what we made are other ones.
            self._forget()
            self.refresh()
            return
        self._head, self._tail = batch.head, batch.tail
        self._standing = batch.head.hash if batch.head else ""
        stamp = self.ledger.stamp()
        # A hand may have written since our write: only a file of the size that we made has been read.
        self._stamp = stamp if stamp.size == batch.size + len(batch.data) else None
        self._seen_at = time.monotonic()

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Forget what was made in memory when it did not reach the disk."""
        try:
            yield
        except Refused:
            raise
        except (MootError, OSError):
            self._forget()
            raise

    # -- ruling -----------------------------------------------------------------------------------

    def rule(self) -> list[Ruling]:
        """Make one pass: rule on what waits, on time that ran out, and deliver. Gives the new rulings.

        Does nothing but deliver where another process is the referee.
        """
        self._reopen_if_gone()
        before = len(self.rulings)
        for _ in range(20):
            self.refresh()
            if not self._has_work():
                break
            try:
                with self._whole(), self.ledger.locked():
                    self.refresh()
                    with self.lease.for_one_pass() as ours:
                        if ours:
                            batch = self._batch()
                            self._rule_all(batch)
                            self._rule_time(batch)
                            self._flush(batch)
                self.ledger.sync()
                break
            except Moved:
                self._forget()
        self._settle_down()
        return self.rulings[before:]

    def _has_work(self) -> bool:
        if self.book.pending(rested=self.rested) is not None or self._tail.torn:
            return True
        if self.book.seal_due() is not None or self._lost_seals() or self.book.chain_to_tell():
            return True
        return self._due(time.time_ns() // 1_000_000) is not None

    def _due(self, now_ms: int) -> Session | None:
        """Give a session in which time has run out for agents that nothing is seen of, or None."""
        late = self.book.due(now_ms)
        return late and self.book.due(now_ms, signs_of_work(self.index.presence(), now_ms))

    def next_due_ms(self) -> int | None:
        """Give the time at which the first session will be due, as far as can be told now."""
        if self.book.next_due_ms() is None:
            return None
        return self.book.next_due_ms(signs_of_work(self.index.presence(), time.time_ns() // 1_000_000))

    def _rule_all(self, batch: Batch) -> None:
        """Rule on everything that waits, in its order."""
        batch.close_torn()
        while True:
            if (sealed := self.book.seal_due()) is not None:
                session, seal = sealed
                lost = next((one for owner, one in self._lost_seals() if owner.name == session.name), None)
                self._open_seal(batch, session, lost or seal)  # none opens while one of them is missing
                continue
            if (item := self.book.pending(rested=self.rested)) is None:
                break
            ms = time.time_ns() // 1_000_000
            ruling_id, item = self._stamped(batch, item, ms)
            judgment = self.book.judge(item, ms)
            self._rule(batch, judgment, item, ruling_id, ms)
        if line := self.book.chain_to_tell():
            ms = time.time_ns() // 1_000_000
            self._add(batch, to_human(line, "chain", re=self.book.chain.first), *self._next_id(batch, ms))

    def _next_id(self, batch: Batch, ms: int) -> tuple[str, int]:
        last = batch.head.id if batch.head else ""
        return mint(ms, secrets.randbits(RANDOM_BITS), last), ms

    def _open_seal(self, batch: Batch, session: Session, seal: Seal) -> None:
        """Append the ruling that opens a sealed text, or says that it is lost."""
        opened = self.seals.get(seal.sealed)
        body = opened_body(opened) if opened is not None else ""
        ms = time.time_ns() // 1_000_000
        ruling_id = mint(ms, secrets.randbits(RANDOM_BITS), batch.head.id if batch.head else "")
        judgment = self.book.judge_seal(session, seal, body, ruling_id, ms)
        facts = (("seal", seal.sealed),)
        self._rule(batch, judgment, None, ruling_id, ms, re=seal.block, body=body, facts=facts)

    def _lost_seals(self) -> list[tuple[Session, Seal]]:
        return [(session, seal) for session, seal in self.book.seals() if not self.seals.has(seal.sealed)]

    def _stamped(self, batch: Batch, item: Unruled, ms: int) -> tuple[str, Unruled]:
        """Give the ruling's id, and a block by hand the one below it."""
        last = batch.head.id if batch.head else ""
        if item.pin:
            last = mint(ms, secrets.randbits(RANDOM_BITS), last)
            item = item._replace(message=item.message._replace(id=last))
        return mint(ms, secrets.randbits(RANDOM_BITS), last), item

    def _rule_time(self, batch: Batch) -> None:
        """Rule on sessions whose time has run out, each once a pass."""
        now_ms = time.time_ns() // 1_000_000
        while lost := self._lost_seals():
            self._open_seal(batch, *lost[0])
        done: set[str] = set()
        while (session := self._due(now_ms)) is not None and session.opening.session not in done:
            done.add(session.opening.session)
            last = batch.head.id if batch.head else ""
            ruling_id = mint(now_ms, secrets.randbits(RANDOM_BITS), last)
            judgment = self.book.judge_tick(session, now_ms)
            self._rule(batch, judgment, None, ruling_id, now_ms)

    def _rule(
        self,
        batch: Batch,
        judgment: Judgment,
        item: Unruled | None,
        ruling_id: str,
        ms: int,
        *,
        re: str = "",
        body: str = "",
        facts: tuple[tuple[str, str], ...] = (),
    ) -> None:
        """Append one ruling; it counts because the book, taking it, asks the rules again."""
        rule, session, close = judgment.rule, judgment.session, judgment.close

        def find(block_id: str) -> Message | None:  # what is ruled on now, a hand's, is not in the book yet
            is_this = item is not None and item.message.id == block_id
            return item.message if is_this and item is not None else self.message(block_id)

        if session is not None and close is not None:
            self._ended.append(f"{session.opening.session} {close.state.upper()}")
            body = close_session(self.workspace, session, judgment.state, close, find)
        name = session.opening.session if session else ""
        block_id = item.message.id if item is not None else re or (session.last if session else "")
        facts = (("ruling", f"{rule.verdict}/{rule.code}"), ("next", ",".join(rule.next)), *facts)
        if item is not None and item.pin:
            facts += (("text", item.pin), ("by", "" if item.prose else item.message.sender or "?"))
        draft = Draft(REFEREE, f"[{REFEREE}] {rule.why}", body, session=name, re=block_id, facts=facts)
        ruled = len(self.book.rulings)
        self._add(batch, draft, ruling_id, ms)
        if len(self.book.rulings) == ruled:
            raise AssertionError(f"the rules do not give their own ruling {rule.verdict}/{rule.code} again")

    # -- afterwards -------------------------------------------------------------------------------

    def _settle_down(self) -> None:
        """Deliver, save, and commit what ended; the ledger's lock is not held any more."""
        self.rulings.extend(self.book.rulings)
        self.book.rulings = []
        faults = self._save()
        if self._ended:
            self._commit(self._ended)
            self._ended = []
        if faults:
            then = "mend that file: the next delivery brings it; `moot inbox` shows the block all the same"
            raise StoreError(f"an inbox copy is missing: {faults[0].what}", where=faults[0].where, then=then)

    def _save(self, *, receipts_lost: bool = False) -> list[StoreError]:
        """Write inbox copies, mail, blocks and the cursor; nothing if another process got further."""
        book, head = self.book, self._head
        if head is None or not (book.messages or book.notices or book.touched):
            return []
        faults: list[StoreError] = []
        with self.index.changing():
            version, known = self.index.cursor()
            if not version or head.id >= known["head"][0]:
                receipts_lost = receipts_lost and not self.index.has_mail()
                released = self.index.held() if book.released else []
                for mail in released:
                    self.index.release(mail.agent, [mail.id])
                owed, faults = deliver(
                    self.inboxes, self._copies(released), known.get("owed", ()), self._unsealed
                )
                cursor = {"head": list(head), "standing": self._standing, "owed": owed, "book": book.dump()}
                save_news(self.index, book, version + 1, cursor)
                if receipts_lost:
                    count_as_read(self.index, self.settings.names, book.sessions.values())
        book.forget_news()
        return faults

    def _copies(self, released: list[Mail]) -> list[Notice]:
        """Give what goes to inboxes now, as its readers see it: what was kept back first."""
        found = [(self._unsealed(mail.id), mail) for mail in released]
        late = [
            Notice(message, (mail.agent,), mail.session) for message, mail in found if message is not None
        ]
        new = [notice for notice in self.book.notices if not notice.held]
        return [*late, *(notice._replace(message=self.unsealed(notice.message)) for notice in new)]

    def _unsealed(self, block_id: str) -> Message | None:
        message = self.message(block_id)
        return None if message is None else self.unsealed(message)

    def _commit(self, ended: list[str]) -> None:
        """Commit the workspace at the end of sessions; a repository that refuses is named, no more."""
        try:
            self.commit(", ".join(ended))
        except MootError as error:
            self.notes.append(f"not committed to the branch `moot`: {error}")

    def commit(self, message: str) -> str | None:
        """Commit the workspace to its branch; None where nothing is new or git does not keep it."""
        if self.workspace.repository is None or self.settings.track == "off":
            return None
        from ..workspace.git import commit_workspace

        return commit_workspace(self.workspace.repository, self.workspace.folder, message)

    def _waits(self, block_id: str) -> bool:
        return any(item.message.id == block_id for item in self.book.waiting)

    def _session_waits(self, session: str) -> bool:
        return bool(session) and any(item.message.session == session for item in self.book.waiting)

    def _let_hands_finish(self) -> None:
        """Do not write into the middle of a block that somebody is writing by hand."""
        deadline = time.monotonic() + HANDS_PATIENCE_S
        self.refresh()
        while self.has_loose_tail and not self.rested and time.monotonic() < deadline:
            assert self._stamp is not None
            left = REST_S - (time.time() - self._stamp.modified_ns / 1e9)
            time.sleep(min(max(left, 0.005), REST_S))
            self.refresh()

    def _await(self, done: Callable[[], bool]) -> None:
        """Wait for the referee in another process, or become the referee where it is gone.

        Raises TimeIsUp where it holds its lease and does not answer.
        """
        deadline = time.monotonic() + RULING_PATIENCE_S
        pause = 0.0005
        self.refresh()
        while not done():
            if self.lease.is_vacant():
                self.rule()
            elif time.monotonic() > deadline:
                holder = self.lease.holder() or "unknown"
                raise TimeIsUp(
                    f"the block is in the ledger, and the referee (process {holder}) does not answer",
                    where=str(self.workspace.folder),
                    then="do not send it again; see what stops `moot up`",
                )
            else:
                # An answer takes milliseconds; loading a library that reports file events takes longer.
                time.sleep(pause)
                pause = min(pause * 1.5, 0.02)
            self.refresh()


@contextmanager
def _already_written(block_id: str) -> Iterator[None]:
    """Say of a fault after the append that the block is there: sent again, it would be there twice."""
    try:
        yield
    except StoreError as error:
        then = f"do not send it again; {error.then}"
        raise StoreError(
            f"the ledger holds the block {block_id}, but {error.what}", where=error.where, then=then
        ) from error


def to_human(line: str, about: str, *, re: str = "") -> Draft:
    """Give the referee's one line to the human about what is held back, or whom nobody can wake."""
    return Draft(REFEREE, f"[{REFEREE}] {line}", "", to=(HUMAN,), re=re, facts=(("about", about),))


def from_header(draft: Draft) -> Message:
    """Give a draft as the message that it will be, before it is written."""
    header = read_header(draft.header, Vocabulary((), (draft.sender,))) or Header("", draft.sender)
    return Message(
        "", "", draft.sender, draft.to, draft.session, draft.re, draft.header, header.tag, header.role,
        draft.body, "tool", 0, 0,
    )  # fmt: skip
