"""Blocks for people's eyes: on a terminal rendered and coloured, in a pipe as plain lines."""

import sys

from ..bus.messages import Message
from ..parsers.screen import visible
from .views import block_lines


def show_block(message: Message, state: str = "", *, before: str = "") -> None:
    """Print one block; `before` stands in front of its header, as a number does in a list."""
    if not sys.stdout.isatty():
        print(before + "\n".join([*block_lines(message, state), ""]))
        return
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    colour = {"referee": "yellow", "hand": "magenta"}.get(message.origin, "cyan")
    facts = ", ".join(fact for fact in (message.at[:19].replace("T", " "), message.id, state) if fact)
    console.print(
        Text(f"{before}{visible(message.header)}", style=f"bold {colour}"), Text(facts, style="dim")
    )
    if message.body.strip():
        body = visible(message.body)
        console.print(Padding(Text(body) if message.origin == "referee" else Markdown(body), (0, 0, 0, 4)))
    console.print()
