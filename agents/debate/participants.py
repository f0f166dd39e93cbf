"""Who debates: read from `moot.toml`, or from the two JSON files that other tools left in the home folder.

    chatroom.json   {"participants": [{"preset", "model", "system_prompt"?}], "max_rounds": 3}
    presets.json    {"version": "2.0", "presets": {NAME: {"type": "subscription" | "api" | "cli", …}}}

Pure: values in, values out; a fault is a UsageError that says which key of which file.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...parsers.errors import UsageError
from ...parsers.names import check_name, did_you_mean, shown
from ..protocols.debate import DEFAULT_ROUNDS, MAX_DEBATERS, MAX_ROUNDS

KINDS = ("cli", "api", "agent", "human", "mock")
PROTOCOLS = ("openai", "anthropic")
# A model that answers through an API needs a minute or two, a coding agent that reads files many more.
TIMEOUTS_S = {"cli": 1200.0, "api": 300.0, "agent": 1200.0, "human": 86400.0, "mock": 60.0}
SUBSCRIPTION = ("claude", "-p", "--model", "{model}", "--permission-mode", "plan")
VARIABLES = ("model", "prompt", "reasoning_effort")
_CHATROOM = ("participants", "max_rounds")
_CHATROOM_PARTICIPANT = ("preset", "model", "system_prompt")
_PRESETS = ("version", "presets")
_PRESET = {
    "subscription": ("type", "name"),
    "api": ("type", "base_url", "api_key", "models", "protocol", "timeout_ms", "max_output_tokens"),
    "cli": (
        "type",
        "command",
        "args_template",
        "one_shot_args_template",
        "models",
        "reasoning_effort",
        "timeout_ms",
    ),
}
_NEEDED = {
    "subscription": (),
    "api": ("base_url", "api_key", "protocol"),
    "cli": ("command", "one_shot_args_template"),
}  # fmt: skip
_MAY_BE_EMPTY = ("one_shot_args_template",)  # of a program that takes no argument
_SETTINGS = ("participants", "max_rounds", "moderator", "anonymous")
_OWN = (
    "name", "kind", "command", "model", "reasoning_effort", "timeout_s", "system_prompt", "protocol", "base_url",
    "key_env", "key_file", "max_output_tokens",
)  # fmt: skip


class Participant(NamedTuple):
    """One debater and how it is asked. `key` says where an API's key is: `env:NAME`, `file:PATH`, `presets:NAME`."""

    name: str
    kind: str
    title: str = ""
    argv: tuple[str, ...] = ()
    model: str = ""
    reasoning_effort: str = ""
    timeout_s: float = 0.0
    system_prompt: str = ""
    protocol: str = ""
    base_url: str = ""
    key: str = ""
    max_output_tokens: int = 0


class Table(NamedTuple):
    """Everybody at the table, the rounds at most, and what was odd but harmless in the files."""

    participants: tuple[Participant, ...]
    max_rounds: int = DEFAULT_ROUNDS
    moderator: str = ""
    anonymous: bool = False
    warnings: tuple[str, ...] = ()


def from_files(chatroom: Any, presets: Any, config: str, preset_file: str) -> Table:
    """Read the two JSON files' values; `config` and `preset_file` are their paths, for errors.

    Raises UsageError for an unknown key or a wrong type in the first, an unknown preset, a preset that lacks what
    its type needs. Unknown keys of the second are warnings.
    """
    _object(chatroom, config, "the file")
    _known(chatroom, _CHATROOM, config)
    _object(presets, preset_file, "the file")
    known = presets.get("presets")
    _object(known, preset_file, "`presets`")
    warnings = [
        f"{preset_file}: `{key}` is not known, and was not used" for key in presets if key not in _PRESETS
    ]
    found = []
    for index, one in enumerate(_participants(chatroom, config)):
        at = f"participants[{index}]"
        _known(one, _CHATROOM_PARTICIPANT, config, f"{at}.")
        name, model = (
            _text(one, "preset", config, at, needed=True),
            _text(one, "model", config, at, needed=True),
        )
        if name not in known:
            raise UsageError(
                f"`{at}.preset` is {shown(name)}, and there is no such preset", where=config,
                then=did_you_mean(name, known),
            )  # fmt: skip
        preset = _preset(known[name], name, preset_file, warnings)
        listed = known[name].get("models")
        if isinstance(listed, list) and listed and model not in listed:
            warnings.append(f"{config}: preset {name} does not list the model {shown(model)}")
        title = " ".join(f"{name}/{model}".split())
        prompt = _text(one, "system_prompt", config, at)
        found.append(preset._replace(name=f"p{index}", title=title, model=model, system_prompt=prompt))
    return Table(tuple(found), _rounds(chatroom, config), warnings=tuple(warnings))


def _preset(preset: Any, name: str, path: str, warnings: list[str]) -> Participant:
    """Read one preset."""
    at = f"presets.{name}"
    _object(preset, path, f"`{at}`")
    kind = preset.get("type")
    if not isinstance(kind, str) or kind not in _PRESET:
        raise UsageError(
            f"`{at}.type` is {shown(str(kind))}", where=path, then=f"choose {', '.join(_PRESET)}"
        )
    warnings += [
        f"{path}: `{at}.{key}` is not known, and was not used" for key in preset if key not in _PRESET[kind]
    ]
    texts = {key: _text(preset, key, path, at, needed=True) for key in _NEEDED[kind]}
    if kind == "subscription":
        return Participant("", "cli", argv=SUBSCRIPTION, timeout_s=TIMEOUTS_S["cli"])
    timeout_ms = _number(preset, "timeout_ms", int(TIMEOUTS_S[kind] * 1000), 1, 10**10, path, f"{at}.")
    if kind == "cli":
        argv = (
            texts["command"],
            *_split(texts["one_shot_args_template"], path, f"{at}.one_shot_args_template"),
        )
        effort = _text(preset, "reasoning_effort", path, at)
        return Participant("", "cli", argv=argv, reasoning_effort=effort, timeout_s=timeout_ms / 1000)
    protocol = _choice(texts["protocol"], PROTOCOLS, path, f"{at}.protocol")
    tokens = _number(preset, "max_output_tokens", 0, 0, 10**9, path, f"{at}.")
    return Participant(
        "", "api", timeout_s=timeout_ms / 1000, protocol=protocol, base_url=texts["base_url"], key=f"presets:{name}",
        max_output_tokens=tokens,
    )  # fmt: skip


def from_settings(table: Mapping[str, Any], roster: Sequence[str], path: str) -> Table:
    """Read `[debate]` of `moot.toml`; UsageError for what is unknown, missing, of a wrong type, or given twice."""
    _known(table, _SETTINGS, path, "debate.")
    found: list[Participant] = []
    for index, one in enumerate(_participants(table, path, "debate.")):
        at = f"debate.participants[{index}]"
        _known(one, _OWN, path, f"{at}.")
        kind = _choice(_text(one, "kind", path, at, needed=True), KINDS, path, f"{at}.kind")
        name = _text(one, "name", path, at) or f"p{index}"
        try:
            check_name(name)
        except UsageError as error:
            raise UsageError(f"`{at}.name`: {error.what}", where=path, then=error.then) from None
        if kind == "agent" and name not in roster:
            raise UsageError(f"`{at}.name`: no agent {name}", where=path, then=did_you_mean(name, roster))
        if name in {other.name for other in found}:
            raise UsageError(f"`{at}.name`: {name} is there twice", where=path, then="name each once")
        found.append(_own(one, kind, path, at)._replace(name=name))
    moderator = _text(table, "moderator", path, "debate")
    anonymous = table.get("anonymous", False)
    if not isinstance(anonymous, bool):
        raise UsageError("`debate.anonymous` is neither true nor false", where=path, then="write one of them")
    return Table(tuple(found), _rounds(table, path, "debate."), moderator, anonymous)


def _own(one: Mapping[str, Any], kind: str, path: str, at: str) -> Participant:
    """Read one participant of `moot.toml`, of a kind."""
    model = _text(one, "model", path, at, needed=kind == "api")
    timeout_s = one.get("timeout_s", TIMEOUTS_S[kind])
    if not isinstance(timeout_s, int | float) or isinstance(timeout_s, bool) or not 0.1 <= timeout_s <= 10**7:
        raise UsageError(f"`{at}.timeout_s` is {timeout_s!r}", where=path, then="give seconds from 0.1 on")
    read = Participant(
        "", kind, model, model=model, timeout_s=float(timeout_s),
        reasoning_effort=_text(one, "reasoning_effort", path, at),
        system_prompt=_text(one, "system_prompt", path, at),
    )  # fmt: skip
    if kind == "cli":
        return read._replace(argv=_command(one.get("command"), path, f"{at}.command"))
    if kind != "api":
        return read
    keys = [f"{key[4:]}:{_text(one, key, path, at)}" for key in ("key_env", "key_file") if key in one]
    if len(keys) != 1:
        raise UsageError(
            f"`{at}` says {len(keys)} times where its key is", where=path, then="give key_env or key_file"
        )
    return read._replace(
        protocol=_choice(_text(one, "protocol", path, at, needed=True), PROTOCOLS, path, f"{at}.protocol"),
        base_url=_text(one, "base_url", path, at),
        key=keys[0],
        max_output_tokens=_number(one, "max_output_tokens", 0, 0, 10**9, path, f"{at}."),
    )


def filled(participant: Participant, prompt: str) -> tuple[tuple[str, ...], str]:
    """Give the argument vector of a command with its variables put in, and what goes to its standard input.

    Each value stays within its own argument. The prompt goes to standard input where no argument holds it.
    """
    values = {"model": participant.model, "prompt": prompt, "reasoning_effort": participant.reasoning_effort}
    pattern = re.compile(r"\{(" + "|".join(VARIABLES) + r")\}")
    argv = tuple(pattern.sub(lambda found: values[found[1]], word) for word in participant.argv)
    return argv, "" if any("{prompt}" in word for word in participant.argv) else prompt


# -- values -------------------------------------------------------------------------------------------


def _participants(table: Mapping[str, Any], path: str, prefix: str = "") -> list[Mapping[str, Any]]:
    found = table.get("participants")
    if not isinstance(found, list):
        what = "is missing" if found is None else "is no list"
        raise UsageError(f"`{prefix}participants` {what}", where=path, then="list who debates")
    if not 1 <= len(found) <= MAX_DEBATERS:
        raise UsageError(
            f"`{prefix}participants` has {len(found)}",
            where=path,
            then=f"name 1 to {MAX_DEBATERS} who debate",
        )
    for index, one in enumerate(found):
        _object(one, path, f"`{prefix}participants[{index}]`")
    return found


def _rounds(table: Mapping[str, Any], path: str, prefix: str = "") -> int:
    return _number(table, "max_rounds", DEFAULT_ROUNDS, 1, MAX_ROUNDS, path, prefix)


def _object(value: Any, path: str, what: str) -> None:
    if not isinstance(value, Mapping):
        raise UsageError(
            f"{what} {'is missing' if value is None else 'is no object'}", where=path, then="write `{…}`"
        )


def _known(table: Mapping[str, Any], keys: tuple[str, ...], path: str, prefix: str = "") -> None:
    for key in table:
        if key not in keys:
            raise UsageError(f"unknown key `{prefix}{key}`", where=path, then=did_you_mean(str(key), keys))


def _text(table: Mapping[str, Any], key: str, path: str, at: str, *, needed: bool = False) -> str:
    value = table.get(key)
    if value is None and not needed:
        return ""
    is_lacking = needed and key not in _MAY_BE_EMPTY and not str(value).strip()
    if not isinstance(value, str) or is_lacking or "\0" in value:
        said = "no text" if key == "api_key" else shown(str(value))  # a key is in no error
        what = "is missing" if value is None else f"is {said}"
        raise UsageError(f"`{at}.{key}` {what}", where=path, then="give a text")
    return value


def _number(
    table: Mapping[str, Any], key: str, default: int, least: int, most: int, path: str, prefix: str
) -> int:
    value = table.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise UsageError(
            f"`{prefix}{key}` is {shown(str(value))}",
            where=path,
            then=f"give a whole number from {least} to {most}",
        )
    return value


def _choice(value: str, choices: tuple[str, ...], path: str, what: str) -> str:
    if value not in choices:
        raise UsageError(f"`{what}` is {shown(value)}", where=path, then=f"choose {', '.join(choices)}")
    return value


def _command(value: Any, path: str, what: str) -> tuple[str, ...]:
    """Read a command: a list of words, or one text that is split as a shell would."""
    if isinstance(value, list) and value and all(isinstance(word, str) and word for word in value[:1]):
        if all(isinstance(word, str) for word in value):
            return tuple(value)
    elif isinstance(value, str) and value.strip():
        return _split(value, path, what)
    raise UsageError(f"`{what}` is no command", where=path, then='write `["program", "argument"]`')


def _split(text: str, path: str, what: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"`{what}` cannot be split", where=path, then=str(error).lower()) from None
