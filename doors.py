"""The command line's doors: it lists the rooms' commands, and loads one only when it is called."""

import os
import sys
from importlib import import_module

import click

from .parsers.errors import MootError

# command -> the module of its room; the function has the command's name, with `_` for `-`
COMMANDS = {
    "init": "workspace.commands",
    "trust": "workspace.commands",
    "agents": "agents.commands.roster",
    "sync": "workspace.commands",
    "start": "agents.commands.sessions",
    "status": "agents.commands.sessions",
    "log": "agents.commands.record",
    "replay": "agents.commands.record",
    "verify": "agents.commands.record",
    "trace": "agents.commands.record",
    "send": "agents.commands.talk",
    "done": "agents.commands.talk",
    "entry": "agents.commands.competition",
    "score": "agents.commands.competition",
    "winner": "agents.commands.competition",
    "ack": "agents.commands.talk",
    "inbox": "agents.commands.talk",
    "wait": "agents.commands.talk",
    "up": "agents.commands.running",
    "run": "agents.commands.running",
    "compete": "agents.commands.compete",
    "debate": "agents.commands.debate",
    "hook": "agents.commands.hook",
    "demo": "agents.commands.running",
}


class Doors(click.Group):
    """A group that imports a command's module when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Give the commands in the order of a session's life."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load one command."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = getattr(import_module(f".{module}", __package__), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command where there is none of that name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from .parsers.names import did_you_mean, shown

            raise click.UsageError(
                f"no command {shown(args[0])}: {did_you_mean(args[0], COMMANDS)}"
            ) from None


@click.group(cls=Doors, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="moot", prog_name="moot")
def moot() -> None:
    """Let coding agents that share a repository talk, take turns and agree, in one markdown file.

    \b
    Begin:     moot init
               moot start "Build X. Use peer-collaboration. CC + CX."
    An agent:  moot wait --as CX
               moot send --as CX -

    Exit codes: 0 done, 1 a fault of ours or of the disk, 2 usage, 3 refused by the rules, 4 no such agent,
    session or block, or not available, 5 integrity, 6 time is up, 130 interrupted.
    """  # noqa: D301 - click takes this character for "do not rewrap"


def run() -> int:
    """Run one command and give its exit code; a fault becomes one line."""
    try:
        code = moot.main(prog_name="moot", standalone_mode=False) or 0
        sys.stdout.flush()
    except click.exceptions.Exit as asked:
        code = asked.exit_code
    except click.Abort:
        code = 130
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else error.format_message(), err=True)
        code = 2
    except click.ClickException as error:
        help_of = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "moot"
        _complain(f"{error.format_message().rstrip('.')} (see `{help_of} --help`)")
        code = 2
    except MootError as error:
        _complain(str(error))
        code = error.exit_code
    except BrokenPipeError:
        _stop_printing()
        code = 141  # as of a program that the signal ends
    except OSError as error:
        _stop_printing()
        _complain(f"cannot print or read: {error.strerror or error}")
        code = 1
    except KeyboardInterrupt:
        code = 130
    except Exception as error:  # a traceback shown to a user is a bug of ours as well
        if os.environ.get("MOOT_DEBUG"):
            raise
        _complain(f"a fault of moot's own, {type(error).__name__}: {error} (MOOT_DEBUG=1 shows where)")
        code = 1
    return code


def _stop_printing() -> None:
    """Drop what is left to print, or the interpreter complains when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _complain(line: str) -> None:
    from .parsers.screen import one_line

    click.echo(f"moot: {one_line(line, 600)}", err=True)
