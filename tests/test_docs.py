"""What the pages show is what happens: each command in them is run, and its output compared."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import moot

TOP = Path(moot.__file__).parent
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
ANYTHING = "…"


def steps(page: Path) -> list[tuple[str, list[str]]]:
    """Give each command of a page's console blocks with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def pattern(lines: list[str], names: dict[str, str]) -> str:
    """Turn expected lines into a pattern: `…` stands for anything, and sessions have their real names."""
    parts = []
    for line in lines:
        if line == ANYTHING:
            parts.append(r"(?:.*\n)*?")
            continue
        said = line
        for shown, real in names.items():
            said = said.replace(shown, real)
        parts.append(".*".join(re.escape(part) for part in said.split(ANYTHING)) + r"\n")
    return "".join(parts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_command_on_the_page_prints_what_the_page_says(bare, page, tmp_path):
    commands = steps(page)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "moot").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m moot "$@"\n')
    (bin_folder / "moot").chmod(0o755)
    env = {**bare.env, "PATH": f"{bin_folder}:{bare.env['PATH']}"}
    names: dict[str, str] = {}
    for command, expected in commands:
        done = subprocess.run(
            ["sh", "-c", f"{command} 2>&1"], cwd=bare.top, env=env, capture_output=True, text=True, timeout=60
        )
        opened = re.match(r"(\w+-[0-9a-f]{4,}) open, ", done.stdout)
        if opened and expected:
            names[expected[0].split(" ")[0]] = opened.group(1)
        assert re.fullmatch(pattern(expected, names), done.stdout), (command, done.stdout)


def test_the_pages_show_commands():
    assert sum(len(steps(page)) for page in PAGES) > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_link_between_pages_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_help_pages_in_the_docs_are_those_of_the_commands():
    from moot.tests.help_pages import help_pages

    assert (TOP / "docs" / "commands.md").read_text() == help_pages(), "run `python -m moot.tests.help_pages`"


def test_the_readme_has_two_commands_each_complete():
    commands = re.findall(r"^```sh\n(.*?)^```$", (TOP / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    first, second = (command.strip() for command in commands)
    assert first.startswith("python3 -m venv .venv && ")
    assert first.endswith("moot demo")
    assert second.startswith("python3 -m venv .venv && ")
    assert "pytest" in second


def test_nothing_in_the_project_names_a_machine_or_its_workplace():
    listed = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True).stdout.split()
    for name in listed:
        text = (TOP / name).read_text()
        for word in ("/work/" + "main", "../sha" + "red", "pypi" + ".org", "farm-" + "studio"):
            assert word not in text, name
