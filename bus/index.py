"""The index: what can be told from the ledger, kept so that no command reads it whole; and the receipts.

One sqlite file under `.state/`. The cursor, blocks, sessions and mail are derived and can be rebuilt; the
receipts (who has read what) cannot. Commits are not synced: a crash of the machine costs a little
rebuilding, since the ledger alone is durable.
"""

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .database import Database
from .rows import BlockRow, Mail, Presence, Ring, Saved, SessionRow, Spent

_SCHEMA = 3
_TABLES = """
create table if not exists cursor (only_one integer primary key check (only_one = 1), version integer, data text);
create table if not exists blocks (id text primary key, start integer, size integer, author text) without rowid;
create table if not exists sessions (id text primary key, n integer, open integer, data text) without rowid;
create index if not exists sessions_open on sessions (n) where open = 1;
create table if not exists mail (
    agent text, id text, session text, read_at text, acknowledged_at text, notified_at text, held text,
    primary key (agent, id)
) without rowid;
create index if not exists mail_unread on mail (agent, id) where read_at is null and held is null;
create index if not exists mail_held on mail (agent, id) where held is not null;
create table if not exists rings (agent text, at text, kind text, outcome text, why text, block text);
create index if not exists rings_of on rings (agent, at);
create table if not exists presence (
    agent text primary key, doing text, pid integer, seen_at text, read_at text
) without rowid;
create table if not exists spent (
    session text, agent text, program text, conversation text,
    turns integer, cost_usd real, input_tokens integer, output_tokens integer,
    primary key (session, agent)
) without rowid;
"""
_MAIL = (
    "select agent, id, session, ifnull(read_at, ''), ifnull(acknowledged_at, ''), ifnull(notified_at, ''),"
    " ifnull(held, '') from mail"
)
# Told which index, since sqlite would rather walk through all mail of the agent, by the primary key.
_UNREAD = " indexed by mail_unread where agent = ? and read_at is null and held is null"
_COUNT_UNREAD = f"select count(*) from mail{_UNREAD}"  # noqa: S608 - no word of it comes from outside
_NEWEST_UNREAD = f"select ifnull(max(id), '') from mail{_UNREAD}"  # noqa: S608


class Index(Database):
    """The file and what is asked of it. What says `inside changing` is whole or not at all."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Name the file; a `read_only` index that cannot be read is an empty one."""
        super().__init__(path, _TABLES, _SCHEMA, read_only=read_only)

    def load(self) -> Saved:
        """Give the cursor and the open sessions as they were saved last, both by the same writer."""
        db = self._db
        with self._transaction("deferred"):
            version, cursor = self.cursor()
            rows = self._rows("select id, n, open, data from sessions where open = 1 order by n")
        if db is not self._db:  # found damaged half-way: all of it is the empty one's
            return self.load()
        return Saved(version, cursor, [_session_row(row) for row in rows])

    def cursor(self) -> tuple[int, Mapping[str, Any]]:
        """Give the version and the cursor of what was saved last."""
        rows = self._rows("select version, data from cursor")
        return (rows[0][0], json.loads(rows[0][1])) if rows else (0, {})

    def save(self, version: int, cursor: Mapping[str, Any], sessions: Iterable[SessionRow]) -> None:
        """Save a cursor and the sessions that changed; inside `changing`."""
        data = json.dumps(cursor, separators=(",", ":"))
        self._db.execute("insert or replace into cursor values (1, ?, ?)", (version, data))
        rows = [(row.id, row.n, row.open, json.dumps(row.data, separators=(",", ":"))) for row in sessions]
        self._db.executemany("insert or replace into sessions values (?, ?, ?, ?)", rows)

    def add_blocks(self, blocks: Iterable[BlockRow]) -> None:
        """Note where blocks stand; inside `changing`."""
        self._db.executemany("insert or replace into blocks values (?, ?, ?, ?)", blocks)

    def add_mail(self, mail: Iterable[Mail]) -> None:
        """Note mail that was delivered, unless it is known already; inside `changing`."""
        at = now()
        rows = [
            (
                m.agent,
                m.id,
                m.session,
                m.read_at or None,
                None if m.held else m.notified_at or at,
                m.held or None,
            )
            for m in mail
        ]
        self._db.executemany("insert or ignore into mail values (?, ?, ?, ?, null, ?, ?)", rows)

    def has_mail(self) -> bool:
        """Tell whether any receipt is kept."""
        return bool(self._rows("select 1 from mail limit 1"))

    def block(self, block_id: str) -> BlockRow | None:
        """Give where a block stands, or None."""
        rows = self._rows("select id, start, size, author from blocks where id = ?", block_id)
        return BlockRow(*rows[0]) if rows else None

    def frame_ids(self) -> list[str]:
        """Give the ids of all frames that were ever read; blocks by hand are not among them."""
        return [row[0] for row in self._rows("select id from blocks where author = '' order by id")]

    def ids_like(self, beginning: str, limit: int = 5) -> list[str]:
        """Give ids that begin alike, for an error message."""
        query = "select id from blocks where id >= ? and id < ? order by id limit ?"
        return [row[0] for row in self._rows(query, beginning, beginning + "~", limit)]

    def count_blocks(self) -> int:
        """Give how many blocks the ledger holds, those by hand that were adopted included."""
        return int(self._rows("select count(*) from blocks")[0][0])

    def sessions(self) -> list[SessionRow]:
        """Give all sessions, closed ones too, in the order of their opening."""
        return [_session_row(row) for row in self._rows("select id, n, open, data from sessions order by n")]

    def session(self, session_id: str) -> SessionRow | None:
        """Give one session, or None."""
        rows = self._rows("select id, n, open, data from sessions where id = ?", session_id)
        return _session_row(rows[0]) if rows else None

    def unread(self, agent: str, limit: int = -1) -> list[Mail]:
        """Give an agent's unread mail, oldest first; what is held back is not among it."""
        query = f"{_MAIL}{_UNREAD} order by id limit ?"
        return [Mail(*row) for row in self._rows(query, agent, limit)]

    def count_unread(self, agent: str) -> int:
        """Give how much unread mail an agent has."""
        return int(self._rows(_COUNT_UNREAD, agent)[0][0])

    def newest_unread(self, agent: str) -> str:
        """Give the id of an agent's newest unread mail, "" where there is none."""
        return str(self._rows(_NEWEST_UNREAD, agent)[0][0])

    def held(self, limit: int = -1) -> list[Mail]:
        """Give the mail that is held back, by agent, oldest first."""
        where = "indexed by mail_held where held is not null"
        return [Mail(*row) for row in self._rows(f"{_MAIL} {where} order by agent, id limit ?", limit)]

    def count_held(self) -> list[tuple[str, int]]:
        """Give how much mail is held back, by agent."""
        query = "select agent, count(*) from mail indexed by mail_held where held is not null group by agent"
        return [(agent, count) for agent, count in self._rows(query)]

    def release(self, agent: str, ids: Iterable[str]) -> None:
        """Note that held mail has gone on its way; inside `changing`."""
        at = now()
        self._db.executemany(
            "update mail set held = null, notified_at = ? where agent = ? and id = ?",
            [(at, agent, block_id) for block_id in ids],
        )

    def mail(self, agent: str) -> list[Mail]:
        """Give all mail of an agent, oldest first."""
        return [Mail(*row) for row in self._rows(f"{_MAIL} where agent = ? order by id", agent)]

    def receipts(self, block_id: str) -> list[Mail]:
        """Give the receipts of a block, by agent."""
        return [Mail(*row) for row in self._rows(f"{_MAIL} where id = ? order by agent", block_id)]

    def mark_read(self, agent: str, ids: Iterable[str]) -> None:
        """Note that an agent has read blocks; inside `changing`."""
        at = now()
        self._db.executemany(
            "update mail set read_at = ifnull(read_at, ?) where agent = ? and id = ?",
            [(at, agent, block_id) for block_id in ids],
        )

    def mark_acknowledged(self, agent: str, block_id: str, at: str) -> None:
        """Note that an agent has acknowledged a block, and so read it; inside `changing`."""
        self._db.execute(
            "update mail set read_at = ifnull(read_at, ?), acknowledged_at = ifnull(acknowledged_at, ?)"
            " where agent = ? and id = ?",
            (at, at, agent, block_id),
        )

    # -- doorbells, presence and costs: what is known of the agents themselves -----------------------

    def add_ring(self, ring: Ring) -> None:
        """Note a ring; inside `changing`."""
        self._db.execute("insert into rings values (?, ?, ?, ?, ?, ?)", ring)

    def end_ring(self, ring: Ring, outcome: str, why: str) -> None:
        """Note how a ring went; inside `changing`."""
        query = "update rings set outcome = ?, why = ? where agent = ? and at = ?"
        self._db.execute(query, (outcome, why, ring.agent, ring.at))

    def rings(self, agent: str, since: str = "") -> list[Ring]:
        """Give an agent's rings after a time, oldest first."""
        query = "select * from rings where agent = ? and at > ? order by at"
        return [Ring(*row) for row in self._rows(query, agent, since)]

    def presence(self) -> dict[str, Presence]:
        """Give what was seen last of each agent."""
        query = (
            "select agent, ifnull(doing, ''), ifnull(pid, 0), ifnull(seen_at, ''), ifnull(read_at, '')"
            " from presence"
        )
        return {row[0]: Presence(*row) for row in self._rows(query)}

    def see(self, agent: str, doing: str | None = None, pid: int = 0) -> None:
        """Note a sign of life, and what the agent does where that is known; inside `changing`."""
        self._db.execute(
            "insert into presence (agent, doing, pid, seen_at) values (?1, ifnull(?2, ''), ?3, ?4)"
            " on conflict (agent) do update set seen_at = ?4,"
            " pid = case when ?2 is null then pid else ?3 end, doing = ifnull(?2, doing)",
            (agent, doing, pid, now()),
        )

    def see_reading(self, agent: str) -> None:
        """Note that an agent itself has read some of its mail just now; inside `changing`."""
        self.see(agent)
        self._db.execute("update presence set read_at = seen_at where agent = ?", (agent,))

    def spent(self, session: str = "") -> list[Spent]:
        """Give what agents' programs have cost, in one session or (without a name) in all."""
        query = "select * from spent where ? in ('', session) order by session, agent"
        return [Spent(*row) for row in self._rows(query, session)]

    def add_spent(self, spent: Spent) -> None:
        """Add one turn's cost to what an agent has cost in a session; inside `changing`."""
        self._db.execute(
            "insert into spent values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (session, agent) do update set"
            " program = excluded.program, conversation = excluded.conversation, turns = turns + excluded.turns,"
            " cost_usd = cost_usd + excluded.cost_usd, input_tokens = input_tokens + excluded.input_tokens,"
            " output_tokens = output_tokens + excluded.output_tokens",
            spent,
        )


def _session_row(row: tuple[str, int, int, str]) -> SessionRow:
    return SessionRow(row[0], row[1], bool(row[2]), json.loads(row[3]))


def now() -> str:
    """Give the time as blocks are stamped with it: UTC, milliseconds, `2026-11-30T19:22:11.123Z`."""
    return stamp_of(time.time_ns() // 1_000_000)


def stamp_of(ms: int) -> str:
    """Write milliseconds since 1970 as a stamp."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03}Z"
