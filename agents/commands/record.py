"""Commands that read the record: log, replay, verify, trace. None of them writes."""

import json
from typing import Any

import click

from ...bus.verify import verify_chain
from ...parsers.errors import IntegrityError
from ...parsers.screen import one_line
from ...workspace.options import as_json, here, in_session, in_workspace
from ..posting import find_block
from ..reader import Reader
from ..reading import check_session, read_whole, selected
from ..terminal import show_block
from ..views import message_json


@click.command(epilog="Example: moot log --in peer-7f3a --last 5")
@in_session
@click.option("--last", "last", type=click.IntRange(min=1), metavar="N", help="Only the last N blocks.")
@in_workspace
@as_json
def log(session: str | None, last: int | None, pinned: str | None, as_json: bool) -> None:
    """Show the blocks of the ledger in their order, with the rulings on them."""
    reading = read_whole(Reader(here(pinned)))
    for n, message, ruling, flags in selected(reading, session, last):
        if as_json:
            click.echo(json.dumps(message_json(message, n, ruling, flags)))
            continue
        extra = ", ".join(flag for flag in flags if flag not in ("edited", "unproven"))
        show_block(message, extra, before=f"{n}. ")


@click.command(epilog="Example: moot replay > before.txt")
@in_session
@in_workspace
@as_json
def replay(session: str | None, pinned: str | None, as_json: bool) -> None:
    """Fold the ledger anew and print each ruling: ordinal, block, verdict, code.

    Neither ids of rulings nor times are printed: the same blocks give the same lines. Exit 5 where the ledger
    holds a ruling that the rules do not give.
    """
    reading = read_whole(Reader(here(pinned)))
    if session:
        check_session(reading, session)
    rulings = [ruling for ruling in reading.book.rulings if session in (None, ruling.session)]
    for n, ruling in enumerate(rulings, 1):
        label = ruling.label or "-"
        if as_json:
            line: dict[str, Any] = {"n": n, "session": ruling.session or None, "block": label}
            click.echo(json.dumps({**line, "verdict": ruling.verdict, "code": ruling.code}))
        else:
            click.echo(f"{n}\t{label}\t{ruling.verdict}\t{ruling.code}")
    if reading.book.void:
        void = ", ".join(message.id for message in reading.book.void)
        raise IntegrityError(
            "the ledger holds rulings that the rules do not give", where=void, then="see `moot verify`"
        )


@click.command(epilog="Example: moot verify && echo the record is whole")
@in_workspace
@as_json
def verify(pinned: str | None, as_json: bool) -> None:
    """Follow the chain of hashes, and name each block that was changed, removed or moved (exit 5).

    Loose text that was inserted or edited later is reported, and is no fault.
    """
    reading = read_whole(Reader(here(pinned)))
    report = verify_chain(reading.linked, reading.tail, reading.quoted, reading.known)
    void = [message.id for message in reading.book.void]
    if as_json:
        click.echo(
            json.dumps(
                {
                    "ok": not report.faults,
                    "blocks": len(reading.linked),
                    "faults": [fault._asdict() for fault in report.faults],
                    "notes": [note._asdict() for note in report.notes],
                    "void": void,
                }
            )
        )
    else:
        for found in (*report.faults, *report.notes):
            click.echo(f"{found.kind}\t{found.block or '-'}\tbyte {found.offset}\t{found.why}")
        for block_id in void:
            click.echo(f"void\t{block_id}\t-\tlooks like a ruling, and the rules do not give it")
        if not report.faults:
            count = len(reading.linked)
            click.echo(f"{count} block{'s' if count != 1 else ''}, chain whole")
    if report.faults:
        first = report.faults[0]
        raise IntegrityError(
            f"{_count(len(report.faults), 'block')} changed, removed or moved",
            where=f"first {first.block}",
            then="compare with the branch: `git log -p moot`",
        )


def _count(number: int, word: str) -> str:
    return f"{number} {word} was" if number == 1 else f"{number} {word}s were"


@click.command(epilog="Example: moot trace 01JDK4T7Q2M9XK3A5B")
@click.argument("block_id", metavar="ID")
@in_workspace
@as_json
def trace(block_id: str, pinned: str | None, as_json: bool) -> None:
    """Show how far a block has come: stored, notified, read, acknowledged, each with its time."""
    reader = Reader(here(pinned))
    message = find_block(reader, block_id)
    receipts = reader.index.receipts(message.id)
    if as_json:
        click.echo(
            json.dumps({"id": message.id, "stored_at": message.at, "agents": [r._asdict() for r in receipts]})
        )
        return
    click.echo(f"{message.id}  {one_line(message.header)}")
    click.echo(f"  stored {message.at}")
    for receipt in receipts:
        steps = [
            f"{word} {at}"
            for word, at in (
                ("notified", receipt.notified_at),
                ("read", receipt.read_at),
                ("acknowledged", receipt.acknowledged_at),
            )
            if at
        ]
        click.echo(f"  {receipt.agent}: {', '.join(steps)}")
    if not receipts:
        click.echo("  for nobody's inbox")
