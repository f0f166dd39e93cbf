"""What the person sees who convened a debate: on a terminal a live table of a round, in a pipe nothing of it."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ...parsers.screen import visible
from .recap import verdict_rows
from .record import Debate

if TYPE_CHECKING:
    from rich.live import Live


class Screen:
    """Prints recaps; with `live` also who is thinking, who has answered what, and for how long."""

    def __init__(self, *, live: bool, quiet: bool) -> None:
        """Say whether there is a terminal to draw on, and whether recaps are wanted at all."""
        self._is_live, self._quiet = live, quiet
        self._live: Live | None = None
        self._title, self._began = "", 0.0
        self._rows: dict[str, str] = {}

    @property
    def is_interactive(self) -> bool:
        """Tell whether a person can be asked here."""
        return self._is_live and sys.stdin.isatty()

    def round_begins(self, number: int, most: int, names: tuple[str, ...]) -> None:
        """Begin the table of a round."""
        self._title, self._began = f"Round {number} of {most}", time.monotonic()
        self._rows = dict.fromkeys(names, "")
        if self._is_live and self._live is None:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), refresh_per_second=4, get_renderable=self._table)
            self._live.start()

    def answered(self, name: str, elapsed_s: float, what: str) -> None:
        """Note what came of one participant, and after how long where that says something."""
        self._rows[name] = f"{what} ({elapsed_s:.1f} s)" if elapsed_s else what

    def moderates(self, name: str) -> None:
        """Note who writes the synthesis."""
        self.say(f"{name} writes the synthesis")

    def recap(self, debate: Debate, number: int, text: str) -> None:
        """Print the recap of a round that is over."""
        self.end()
        if self._quiet:
            return
        if not self._is_live:
            click.echo(visible(text) + "\n")
            return
        from rich.console import Console
        from rich.markdown import Markdown

        console = Console()
        console.print(self._verdicts(debate, number))
        console.print(Markdown(visible(text)))

    def say(self, line: str) -> None:
        """Say one line beside the table; in a pipe on standard error."""
        if self._live is not None:
            self._live.console.print(visible(line), markup=False, highlight=False)
        elif not self._quiet:
            click.echo(f"moot: {visible(line)}", err=True)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to an editor."""
        self.end()
        yield

    def end(self) -> None:
        """Leave the table as it stands."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _table(self) -> Any:
        """Draw the round as it stands now."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self._title, title_justify="left")
        table.add_column("who")
        table.add_column("what")
        for name, what in self._rows.items():
            thinking = f"thinking, {time.monotonic() - self._began:.0f} s"
            table.add_row(Text(visible(name)), Text(visible(what or thinking), style="" if what else "dim"))
        return table

    def _verdicts(self, debate: Debate, number: int) -> Any:
        """Draw how the verdicts have moved, round by round."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title="Verdicts", title_justify="left")
        for heading in ("who", *(f"round {at}" for at in range(1, number + 1))):
            table.add_column(heading)
        for who, *words in verdict_rows(debate):
            table.add_row(Text(visible(who)), *words)
        return table
