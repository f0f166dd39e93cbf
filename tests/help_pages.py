"""The help pages of all commands, as `docs/commands.md`: `python -m moot.tests.help_pages` writes it anew."""

from pathlib import Path

import click

import moot as package
from moot.doors import COMMANDS, moot

HEAD = """\
# Commands

Made from the commands' own help pages. Every command has `--help`; those that print data have `--json`. Shell
completion: `eval "$(_MOOT_COMPLETE=bash_source moot)"` (or `zsh_source`, `fish_source`).
"""


def help_pages() -> str:
    """Give the text of the page."""
    parts = [HEAD]
    with click.Context(moot, info_name="moot") as parent:
        for name in COMMANDS:
            command = moot.get_command(parent, name)
            assert command is not None
            with click.Context(
                command, info_name=name, parent=parent, max_content_width=100, terminal_width=100
            ) as ctx:
                lines = [line.rstrip() for line in command.get_help(ctx).split("\n")]
            parts.append(f"## moot {name}\n\n```text\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    (Path(package.__file__).parent / "docs" / "commands.md").write_text(help_pages())
