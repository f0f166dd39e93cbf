"""Seals: a text that the ledger holds as a salted hash until it is opened, and how anybody can check it.

    Sealed: 5d41…            what stands in a block while its text is secret
    SALT: 9e1f…              what the ruling that opens it holds
    TEXT: the text

The hash is SHA-256 over the salt, a newline and the text, less what formatters change: CRs and blanks at the
ends of lines, blank lines around it.
"""

import hashlib
import re
from typing import NamedTuple

from .fields import read_fields, write_fields


class Opened(NamedTuple):
    """A seal's salt and text."""

    salt: str
    text: str


def commitment(opened: Opened) -> str:
    """Give the hash that a seal shows: 64 hexadecimal digits."""
    lines = [line.rstrip() for line in opened.text.split("\n")]
    text = "\n".join(lines).strip("\n")
    return hashlib.sha256(f"{opened.salt}\n{text}".encode("utf-8", "replace")).hexdigest()


def sealed_body(sealed: str, shown: str = "") -> str:
    """Write the body of a block whose text is sealed; the lines `shown` stand openly above the hash."""
    line = f"Sealed: {sealed}"
    return f"{shown}\n\n{line}" if shown else line


def sealed_hash(body: str) -> str:
    """Give the hash of a body that is sealed, or nothing."""
    found = re.search(r"(?m)^Sealed: ([0-9a-f]{64})[ \t\r]*$", body) if "Sealed: " in body else None
    return found[1] if found else ""


def opened_body(opened: Opened) -> str:
    """Write the body of the ruling that opens a seal."""
    return write_fields([("SALT", opened.salt), ("TEXT", opened.text)])


def read_opened(body: str, sealed: str = "") -> Opened | None:
    """Read what a ruling opens; None where it opens nothing, or not the seal with the hash `sealed`."""
    fields = read_fields(body, last="TEXT")
    if "SALT" not in fields or "TEXT" not in fields:
        return None
    opened = Opened(fields["SALT"], fields["TEXT"])
    return opened if not sealed or commitment(opened) == sealed else None
