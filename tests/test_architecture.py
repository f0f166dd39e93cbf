"""The house: no arrow runs up, protocols and parsers are pure, and the roof loads nothing it need not."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import moot

TOP = Path(moot.__file__).parent
FLOORS = {"parsers": 1, "workspace": 2, "bus": 3, "agents": 4}
PURE_OF_COMPETE = ("layout.py", "policy.py", "prompts.py", "records.py", "selection.py")
PURE_OF_DEBATE = ("participants.py", "prompts.py", "recap.py", "record.py", "report.py")
IMPURE = {
    "os", "io", "sys", "time", "datetime", "random", "secrets", "pathlib", "subprocess", "socket", "tempfile",
    "shutil",
    "sqlite3", "threading", "asyncio", "logging", "click", "rich", "filelock", "watchdog", "uuid", "signal", "glob",
}  # fmt: skip
IMPURE_CALLS = {"open", "print", "input"}
ROOMS = sorted(path for room in FLOORS for path in (TOP / room).rglob("*.py"))
PURE = [path for path in ROOMS if path.is_relative_to(TOP / "parsers") or path.parent.name == "protocols"]
PURE += [TOP / "bus" / name for name in ("chain.py", "messages.py", "rows.py", "verify.py")]
PURE_OF_AGENTS = ("asking.py", "book.py", "chains.py", "facts.py", "hands.py", "session.py")
PURE += [TOP / "agents" / name for name in PURE_OF_AGENTS]
PURE += [*sorted((TOP / "agents" / "programs").glob("*.py")), TOP / "agents" / "doorbells" / "policy.py"]
PURE += [TOP / "agents" / "compete" / name for name in PURE_OF_COMPETE]
PURE += [TOP / "agents" / "debate" / name for name in PURE_OF_DEBATE]


def imports(path: Path) -> list[tuple[str, int]]:
    """Give (dotted name, level of dots) of each import in a file, those inside functions too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.module or "", node.level))
    return found


def room_of(path: Path, name: str, level: int) -> str | None:
    """Give the room that an import leads to, None for one outside the package."""
    if level == 0:
        parts = name.split(".")
        return (parts[1] if len(parts) > 1 else "roof") if parts[0] == "moot" else None
    package = path.parent
    for _ in range(level - 1):
        package = package.parent
    target = [*package.relative_to(TOP).parts, *name.split(".")]
    return target[0] or "roof"


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: str(path.relative_to(TOP)))
def test_no_arrow_runs_up(path):
    own = FLOORS[path.relative_to(TOP).parts[0]]
    for name, level in imports(path):
        room = room_of(path, name, level)
        if room is not None:
            assert FLOORS.get(room, 9) <= own, f"{path.name} imports {name} from a floor above"


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(TOP)))
def test_a_pure_file_imports_no_io_no_clock_no_chance(path):
    taken = {name.split(".")[0] for name, level in imports(path) if level == 0}
    assert not taken & IMPURE
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & IMPURE_CALLS


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(TOP)))
def test_a_pure_file_imports_only_pure_files_of_ours(path):
    names = {
        "chain",
        "index",
        "verify",
        "messages",
        "programs",
        "protocols",
        "parsers",
        *(path.stem for path in PURE),
    }
    for name, level in imports(path):
        if level and path.parent.name != "parsers":
            steps = set(name.split(".")) | {path.parent.name}
            assert steps & names, f"{path.name} imports {name}"


def test_every_room_is_listed_in_the_package(tmp_path):
    import tomllib

    listed = set(tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {".".join(("moot", *path.parent.relative_to(TOP).parts)) for path in ROOMS}
    assert listed == found | {"moot"}


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_no_room():
    assert not {name for name in loaded_by("import moot") if name.startswith("moot.")}


def test_the_front_door_loads_no_command_before_one_is_called():
    loaded = loaded_by("import moot.__main__")
    assert not {name for name in loaded if name.startswith(("moot.bus", "moot.agents", "moot.workspace"))}
    assert not loaded & {"sqlite3", "markdown_it", "watchdog", "rich", "filelock", "asyncio", "subprocess"}


def test_a_plain_send_loads_no_heavy_library(shell):
    shell.ok("send", "--as", "CC", "--to", "CX", "hello")
    code = (
        "import sys; sys.argv = ['moot', 'send', '--as', 'CC', '--to', 'CX', 'hello']\n"
        "from moot.__main__ import main\n"
        "try: main()\nexcept SystemExit as stop: assert not stop.code\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=shell.top, env=shell.env, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "moot.agents.referee" in loaded
    assert not loaded & {
        "markdown_it",
        "watchdog",
        "rich",
        "asyncio",
        "subprocess",
        "importlib.metadata",
        "difflib",
    }


def test_the_public_names_are_all_there():
    for name in moot.__all__:
        assert getattr(moot, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        moot.nonsense  # noqa: B018
    assert set(moot.__all__) <= set(dir(moot))
