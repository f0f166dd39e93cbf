"""What the checks of the real programs share: a scripted model, a repository, a program in it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from moot.tests.agents.real.model import Model
from moot.tests.agents.real.programs import PROGRAMS, Program, system_env
from moot.tests.conftest import Shell

AGENTS = {"claude": "CC", "codex": "CX", "gemini": "GM"}


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        yield model


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A git repository with a commit and a moot workspace for CC, CX and GM."""
    home, top = tmp_path / "human", tmp_path / "repository"
    home.mkdir()
    top.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = Someone\nemail = someone@example.invalid\n")
    shell = Shell(top, system_env(home))
    shell.git("init", "-q", "-b", "main")
    (top / "README.md").write_text("# A project\n")
    shell.git("add", "README.md")
    shell.git("commit", "-q", "-m", "Begin")
    shell.ok("init", "--agents", "CC,CX,GM")
    return shell


@pytest.fixture
def program(tmp_path: Path, shell: Shell, model: Model) -> Callable[[str], Program]:
    """Give a function that sets a program up by its name, for its usual agent."""

    def begin(name: str) -> Program:
        return PROGRAMS[name](tmp_path / f"home-{name}", shell.top, model.url(AGENTS[name]))

    return begin
