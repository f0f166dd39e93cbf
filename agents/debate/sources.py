"""Where a debate's participants, their roles and their keys are read from."""

import json
import os
import stat
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from ...parsers.errors import NotFound, UsageError
from ...parsers.names import did_you_mean, shown
from ...workspace.files import read_regular
from ...workspace.folder import Workspace
from ...workspace.settings import FILE, Settings
from ...workspace.trust import check_trusted
from .participants import Participant, Table, from_files, from_settings

CONFIG = ".vcp/dev-buddy-chatroom.json"
PRESETS = ".vcp/ai-presets.json"
ROLES = "roles"  # the workspace's folder of system prompts


def find_table(
    workspace: Workspace,
    settings: Settings,
    config: str | None,
    presets: str | None,
    environ: Mapping[str, str] = os.environ,
) -> tuple[Table, str]:
    """Give who debates, and the file of presets ("" where none is used).

    The two files that are named; or the workspace's settings, which must be trusted; or the files in the home folder.
    Raises UsageError for what is wrong in them, NotFound where there is nobody.
    """
    home = Path(environ.get("HOME", "/"))
    if config is None and presets is None and settings.debate.get("participants"):
        check_trusted(workspace.folder, settings, environ)
        return from_settings(settings.debate, settings.names, str(workspace.folder / FILE)), ""
    chatroom_file, preset_file = config or str(home / CONFIG), presets or str(home / PRESETS)
    if config is None and presets is None and read_regular(Path(chatroom_file)) is None:
        then = (
            "give --agent NAME=mock, list them under [debate] in moot.toml (docs/debate.md), or give --config"
        )
        raise NotFound("nobody is there to debate", where=str(workspace.folder / FILE), then=then)
    chatroom, known = _read_json(chatroom_file, "--config"), _read_json(preset_file, "--presets")
    return from_files(chatroom, known, chatroom_file, preset_file), preset_file


def _read_json(path: str, option: str) -> Any:
    data = read_regular(Path(path))
    if data is None:
        raise NotFound("there is no such file", where=path, then=f"correct {option}")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}", where=path, then="correct that line") from None


def role_text(workspace: Workspace, name: str) -> str:
    """Give a system prompt by its name: the workspace's own, or one that comes with moot.

    Raises UsageError with the nearest one where there is none.
    """
    file = f"{name}.md"
    if "/" not in name and not name.startswith("."):
        own = read_regular(workspace.folder / ROLES / file)
        built_in = resources.files(__package__).joinpath(ROLES, file)
        if own is not None:
            return own.decode("utf-8", "replace")
        if built_in.is_file():
            return built_in.read_text("utf-8")
    raise UsageError(
        f"no role {shown(name)}",
        where=str(workspace.folder / ROLES),
        then=did_you_mean(name, role_names(workspace)),
    )


def role_names(workspace: Workspace) -> tuple[str, ...]:
    """Give the names of all roles, the workspace's own and those that come with moot."""
    own = (path.stem for path in (workspace.folder / ROLES).glob("*.md"))
    built_in = (
        Path(entry.name).stem
        for entry in resources.files(__package__).joinpath(ROLES).iterdir()
        if entry.name.endswith(".md")
    )
    return tuple(sorted({*own, *built_in}))


def read_key(participant: Participant, preset_file: str, environ: Mapping[str, str] = os.environ) -> str:
    """Give an API's key, from where its participant says that it is; it is kept nowhere else.

    Raises NotFound where it is not there, UsageError for a file that others may read.
    """
    kind, _, place = participant.key.partition(":")
    if kind == "presets":
        presets = _read_json(preset_file, "--presets").get("presets", {})
        found = presets.get(place, {}).get("api_key", "")
    elif kind == "env":
        found = environ.get(place, "")
    else:
        found = _key_in(Path(place).expanduser())
    if not found:
        raise NotFound(f"no key for {participant.name}", where=participant.key, then="put it there")
    return str(found)


def _key_in(path: Path) -> str:
    data = read_regular(path)
    if data is None:
        raise NotFound("there is no such file", where=str(path), then="write the key to it, with mode 0600")
    if is_open_to_others(path):
        raise UsageError("others may read this key", where=str(path), then=f"run `chmod 600 {path}`")
    return data.decode("utf-8", "replace").strip()


def is_open_to_others(path: Path) -> bool:
    """Tell whether anybody but its owner may read or write a file."""
    return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
