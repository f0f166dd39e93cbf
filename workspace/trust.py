"""Trust: what a workspace's settings would run or send, a person has seen once, and only that.

A clone or an agent can bring a `moot.toml`. Its commands run only while their hash is the one that `moot trust`
noted outside the repository, in the user's configuration folder.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from ..parsers.errors import NotFound
from .files import make_folder, read_regular, write_whole
from .settings import FILE, Settings

_TRUSTED = "trusted.json"


def check_trusted(folder: Path, settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
    """Raise NotFound (not available) where the settings would run or send what nobody has looked at."""
    if settings.risks and _trusted(environ).get(_key(folder)) != _hash(settings):
        then = "look at its commands, and allow them with `moot trust`"
        raise NotFound("these settings are not trusted", where=str(folder / FILE), then=then)


def trust(folder: Path, settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
    """Note that somebody has seen what the settings would run or send."""
    place = _place(environ)
    make_folder(place.parent, mode=0o700)
    known = {**_trusted(environ), _key(folder): _hash(settings)}
    write_whole(place, (json.dumps(known, indent=2, sort_keys=True) + "\n").encode(), mode=0o600)


def _hash(settings: Settings) -> str:
    return hashlib.sha256(json.dumps(settings.risks).encode("utf-8", "replace")).hexdigest()


def _key(folder: Path) -> str:
    return str(folder.resolve())


def _place(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_CONFIG_HOME", "")
    home = Path(base) if base.startswith("/") else Path(environ.get("HOME", "/")) / ".config"
    return home / "moot" / _TRUSTED


def _trusted(environ: Mapping[str, str]) -> dict[str, str]:
    """Read what was trusted; a file that is broken trusts nothing."""
    try:
        known = json.loads(read_regular(_place(environ)) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}
