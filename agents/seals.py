"""Sealed texts: a file each under `.state/sealed/`, for its owner's eyes, never indexed and never committed."""

import os
import secrets
from pathlib import Path

from ..parsers.seal import Opened, commitment, opened_body, read_opened
from ..workspace.files import make_folder, read_regular, write_whole

_SALT_BYTES = 16


class Seals:
    """The folder of sealed texts; a file is named by the hash that the ledger shows."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made with the first seal."""
        self._folder = folder

    def put(self, text: str) -> str:
        """Seal a text: keep it with a new salt, and give the hash. Raises StoreError."""
        opened = Opened(secrets.token_hex(_SALT_BYTES), text.strip("\n"))
        sealed = commitment(opened)
        make_folder(self._folder, mode=0o700)
        write_whole(self._folder / sealed, opened_body(opened).encode("utf-8", "replace"), mode=0o600)
        return sealed

    def get(self, sealed: str) -> Opened | None:
        """Give what a seal holds; None where it is gone, or is not what was sealed. Raises StoreError."""
        data = read_regular(self._folder / sealed)
        return read_opened(data.decode("utf-8", "replace"), sealed) if data is not None else None

    def has(self, sealed: str) -> bool:
        """Tell whether the text of a seal is there."""
        return os.path.exists(self._folder / sealed)

    def drop(self, sealed: str) -> None:
        """Forget a text whose block was not written."""
        (self._folder / sealed).unlink(missing_ok=True)
