"""Settings: command line over environment over `moot.toml` over defaults, merged here and nowhere else."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..parsers.errors import StoreError, UsageError
from ..parsers.names import check_name, did_you_mean
from .files import read_regular

FILE = "moot.toml"
WAKES = ("wait", "none")
TRACKS = ("branch", "off")
MOST = 10_000_000  # seconds are four months then, and KiB more than any disk's file
_AGENT_KEYS = ("wake",)
_RISKY = ("command", "base_url", "key_env", "key_file")


class Limits(NamedTuple):
    """What a session and a block may take."""

    turn_timeout_s: int = 900  # a coding agent thinks for minutes; after three of these a session ends
    max_body_kib: int = 256  # more is an attachment: no reader should scroll past it


class Settings(NamedTuple):
    """The roster (name to how it is woken) and the limits of one workspace."""

    agents: Mapping[str, str]
    limits: Limits = Limits()
    track: str = "branch"
    debate: Mapping[str, Any] = {}  # as it stands: its rules are the debate's own
    risks: tuple[tuple[str, str], ...] = ()  # (key, value) of what runs a program or sends a secret

    @property
    def names(self) -> tuple[str, ...]:
        """The roster's names, in the order of the file."""
        return tuple(self.agents)


def read_settings(folder: Path, environ: Mapping[str, str] = os.environ) -> Settings:
    """Read `moot.toml` in a workspace's folder, and the environment over it.

    Raises UsageError for what is not TOML, an unknown key (with the nearest one) or a wrong value.
    """
    path = folder / FILE
    data = read_regular(path)
    if data is None:
        raise StoreError(
            "the settings are missing", where=str(path), then="run `moot init` to make them anew"
        )
    table = _parse(data, path)
    _known(table, ("agents", "limits", "git", "debate"), path)
    agents = _table(table, "agents", path)
    limits = _table(table, "limits", path)
    git = _table(table, "git", path)
    _known(limits, Limits._fields, path, "limits.")
    _known(git, ("track",), path, "git.")
    return Settings(
        agents=_agents(agents, path),
        limits=Limits(**{key: _number(limits, key, path, environ) for key in Limits._fields}),
        track=_choice(git, "track", TRACKS, path, "git."),
        debate=_table(table, "debate", path),
        risks=tuple(_risks(table, "")),
    )


def _risks(value: Any, at: str) -> Iterator[tuple[str, str]]:
    """Give every key that names a program, or where a secret is and where it is sent, with its value as text."""
    pairs: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        pairs = ((f"{at}.{key}".removeprefix("."), inner) for key, inner in value.items())
    elif isinstance(value, list):
        pairs = ((f"{at}[{number}]", inner) for number, inner in enumerate(value))
    for key, inner in pairs:
        if key.rpartition(".")[2] in _RISKY:
            yield key, str(inner)
        else:
            yield from _risks(inner, key)


def _parse(data: bytes, path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"not TOML: {error}", where=str(path), then="correct that line") from error


def _agents(agents: Mapping[str, Any], path: Path) -> dict[str, str]:
    roster: dict[str, str] = {}
    for name, keys in agents.items():
        _known(_table(agents, name, path, "agents."), _AGENT_KEYS, path, f"agents.{name}.")
        roster[check_new_name(name, roster, str(path))] = _choice(
            keys, "wake", WAKES, path, f"agents.{name}."
        )
    return roster


def check_new_name(name: str, roster: Mapping[str, str], where: str = "") -> str:
    """Give a legal name back; UsageError where it is none, or differs from one in the roster by case alone."""
    try:
        check_name(name)
    except UsageError as error:
        raise UsageError(error.what, where=where, then=error.then) from None
    same = next((known for known in roster if known.casefold() == name.casefold()), None)
    if same is not None:
        raise UsageError(
            f"{name} is in the roster already, as {same}", where=where, then="choose another name"
        )
    return name


def _known(table: Mapping[str, Any], keys: tuple[str, ...], path: Path, prefix: str = "") -> None:
    for key in table:
        if key not in keys:
            raise UsageError(f"unknown key `{prefix}{key}`", where=str(path), then=did_you_mean(key, keys))


def _table(parent: Mapping[str, Any], key: str, path: Path, prefix: str = "") -> Mapping[str, Any]:
    value = parent.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(f"`{prefix}{key}` must be a table", where=str(path), then=f"write `[{prefix}{key}]`")
    return value


def _number(table: Mapping[str, Any], key: str, path: Path, environ: Mapping[str, str]) -> int:
    variable = f"MOOT_{key.upper()}"
    if variable in environ:
        text = environ[variable]
        value: Any = int(text) if text.isascii() and text.isdecimal() else text
        where = f"the environment's {variable}"
    else:
        value, where = table.get(key, Limits._field_defaults[key]), str(path)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST:
        raise UsageError(
            f"`limits.{key}` is {value!r}", where=where, then=f"give a whole number from 1 to {MOST}"
        )
    return value


def _choice(table: Mapping[str, Any], key: str, choices: tuple[str, ...], path: Path, prefix: str) -> str:
    value = table.get(key, choices[0])
    if value not in choices:
        raise UsageError(
            f"`{prefix}{key}` is {value!r}", where=str(path), then=f"choose {' or '.join(choices)}"
        )
    return str(value)


def first_settings(names: tuple[str, ...]) -> str:
    """Give the text of a new `moot.toml`."""
    lines = [
        "# The settings of this moot. Each key is shown with its default.",
        "",
        "[limits]",
        f"# turn_timeout_s = {Limits().turn_timeout_s}  # a silent agent is reminded, then the human, then it ends",
        f"# max_body_kib = {Limits().max_body_kib}  # a longer body becomes an attachment",
        "",
        "[git]",
        '# track = "branch"  # commit the ledger to the branch `moot`; or "off"',
        "",
        "# The roster: one table an agent. `wake` says how it learns of mail:",
        '# "wait" (it runs `moot wait`) or "none" (it looks into its inbox).',
        "#",
        "# [debate] says who debates, in tables [[debate.participants]]: docs/debate.md.",
    ]
    return "\n".join(lines) + "\n" + "".join(agent_table(name) for name in names)


def agent_table(name: str) -> str:
    """Give the lines that put an agent into the roster."""
    key = name if "." not in name else f'"{name}"'
    return f"\n[agents.{key}]\n"
