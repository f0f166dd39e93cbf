"""Settings: command line over environment over `moot.toml` over defaults, merged here and nowhere else."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..parsers.errors import StoreError, UsageError
from ..parsers.names import check_name, did_you_mean
from .files import read_regular

FILE = "moot.toml"
WAKES = ("wait", "hook", "tmux", "command", "none")
PROGRAMS = ("", "claude", "codex", "gemini", "generic")
TRACKS = ("branch", "off")
MOST = 10_000_000  # seconds are four months then, and KiB more than any disk's file
_RISKY = ("command", "run", "pane", "base_url", "key_env", "key_file")


class Limits(NamedTuple):
    """What a session and a block may take."""

    turn_timeout_s: int = 900  # a coding agent thinks for minutes; after three of these a session ends
    max_body_kib: int = 256  # more is an attachment: no reader should scroll past it
    max_chain: int = 20  # messages by agents that answer each other, before a human is asked whether to go on
    ring_gap_s: int = 60  # from the first ring to the second; each gap after it is four times as long


class Agent(NamedTuple):
    """How one agent of the roster is woken and run."""

    wake: str = "wait"
    program: str = ""  # the agent program behind the name, where it is one that moot knows
    pane: str = ""  # of tmux, as tmux names it; else the pane that says so itself is looked for
    command: tuple[str, ...] = ()  # what rings, as an argument vector: no shell sees it
    run: tuple[str, ...] = ()  # what `moot run` starts for a turn, in the place of the program's usual vector


class Settings(NamedTuple):
    """The roster and the limits of one workspace."""

    agents: Mapping[str, Agent]
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


def _agents(agents: Mapping[str, Any], path: Path) -> dict[str, Agent]:
    roster: dict[str, Agent] = {}
    for name in agents:
        keys, prefix = _table(agents, name, path, "agents."), f"agents.{name}."
        _known(keys, Agent._fields, path, prefix)
        agent = Agent(
            wake=_choice(keys, "wake", WAKES, path, prefix),
            program=_choice(keys, "program", PROGRAMS, path, prefix),
            pane=_text(keys, "pane", path, prefix),
            command=_vector(keys, "command", path, prefix),
            run=_vector(keys, "run", path, prefix),
        )
        if agent.wake == "command" and not agent.command:
            then = f'write `command = ["program", "argument"]` into [agents.{name}]'
            raise UsageError(f"`{prefix}wake` is command, and there is none", where=str(path), then=then)
        roster[check_new_name(name, roster, str(path))] = agent
    return roster


def _text(table: Mapping[str, Any], key: str, path: Path, prefix: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str) or not value.isprintable():
        raise UsageError(f"`{prefix}{key}` is {value!r}", where=str(path), then="give a text of one line")
    return value


def _vector(table: Mapping[str, Any], key: str, path: Path, prefix: str) -> tuple[str, ...]:
    """Read an argument vector; a text is refused, since no shell would split it as its author thinks."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(word, str) and "\0" not in word for word in value):
        then = f'give a list of texts: `{key} = ["program", "argument"]`'
        raise UsageError(f"`{prefix}{key}` is no argument vector", where=str(path), then=then)
    return tuple(value)


def check_new_name(name: str, roster: Iterable[str], where: str = "") -> str:
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
        f"# max_chain = {Limits().max_chain}  # messages that agents answer each other with, before you are asked",
        f"# ring_gap_s = {Limits().ring_gap_s}  # from the first ring of a doorbell to the second",
        "",
        "[git]",
        '# track = "branch"  # commit the ledger to the branch `moot`; or "off"',
        "",
        "# The roster: one table an agent. `wake` says how it learns of mail:",
        '# "wait" (it runs `moot wait`), "hook" (`moot install` wrote hooks for its program), "tmux" (a line is',
        '# typed into its pane), "command" (a vector of yours is run) or "none" (it looks into its inbox).',
        '# `program` is "claude", "codex" or "gemini"; `run` is what `moot run --agent NAME` starts: docs/agents.md.',
        "#",
        "# [debate] says who debates, in tables [[debate.participants]]: docs/debate.md.",
    ]
    return "\n".join(lines) + "\n" + "".join(agent_table(name) for name in names)


def agent_table(name: str) -> str:
    """Give the lines that put an agent into the roster."""
    key = name if "." not in name else f'"{name}"'
    return f"\n[agents.{key}]\n"
