"""moot: a message bus and a referee, in files, for coding agents that share a repository.

Every command is one call of what stands here:

    workspace = moot.find_workspace(Path.cwd())
    referee = moot.Referee(workspace)
    moot.start_session(referee, "Build a todo API spec. Use peer-collaboration. CC + CX.")
    moot.take_turn(referee, "CC", "A first draft …")
    moot.wait_for(referee, "CX", timeout_s=60)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents.driving import drive
    from .agents.posting import acknowledge, say_done, send_message, take_turn
    from .agents.reader import Reader
    from .agents.reading import entries, read_whole
    from .agents.referee import Referee
    from .agents.starting import start_session
    from .agents.waiting import next_for, wait_for
    from .bus.verify import verify_chain
    from .parsers.errors import (
        IntegrityError,
        MootError,
        NotFound,
        Refused,
        StoreError,
        TimeIsUp,
        UsageError,
    )
    from .workspace.folder import find_workspace
    from .workspace.init import add_agents, init_workspace

# name -> the module that holds it; loaded when it is asked for
_HOMES = {
    "find_workspace": "workspace.folder",
    "init_workspace": "workspace.init",
    "add_agents": "workspace.init",
    "Reader": "agents.reader",
    "Referee": "agents.referee",
    "start_session": "agents.starting",
    "take_turn": "agents.posting",
    "say_done": "agents.posting",
    "send_message": "agents.posting",
    "acknowledge": "agents.posting",
    "wait_for": "agents.waiting",
    "next_for": "agents.waiting",
    "drive": "agents.driving",
    "read_whole": "agents.reading",
    "entries": "agents.reading",
    "verify_chain": "bus.verify",
    "MootError": "parsers.errors",
    "UsageError": "parsers.errors",
    "Refused": "parsers.errors",
    "NotFound": "parsers.errors",
    "StoreError": "parsers.errors",
    "IntegrityError": "parsers.errors",
    "TimeIsUp": "parsers.errors",
}

__all__ = [
    "IntegrityError",
    "MootError",
    "NotFound",
    "Reader",
    "Referee",
    "Refused",
    "StoreError",
    "TimeIsUp",
    "UsageError",
    "acknowledge",
    "add_agents",
    "drive",
    "entries",
    "find_workspace",
    "init_workspace",
    "next_for",
    "read_whole",
    "say_done",
    "send_message",
    "start_session",
    "take_turn",
    "verify_chain",
    "wait_for",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
