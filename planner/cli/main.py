"""The `planner` command: a table of commands, each imported only when it is used."""

from __future__ import annotations

import sys

try:
    import contextlib
    import gc
    import os
    import signal
    from importlib import import_module
    from typing import Any

    import click

    from planner.errors import PlannerError
except KeyboardInterrupt:  # Ctrl-C at once: there is nothing to say yet
    sys.exit(130)

COMMANDS = {  # name -> (module, short help); the short help is repeated here so that --help imports no command
    "select": ("select", "Which channels to search for a question."),
    "route": ("route", "Which kinds of sources to spend searches on."),
    "plan": ("plan", "Both: sources, and the channels behind the web searches."),
    "track": ("track", "Say the next step while a plan is carried out."),
    "mcp": ("mcp", "Serve the planner to agents over MCP."),
    "explore": ("explore", "Open a page that shows plans and why."),
    "ab": ("ab", "Compare ways of planning on a file of queries."),
    "catalog": ("catalog", "List, show, check and build the catalog."),
    "history": ("history", "Record what searches gave, look at it, delete it."),
    "experience": ("experience", "Make digests of what was recorded."),
    "prompt": ("prompt", "Show what a model would be sent."),
    "replay": ("replay", "Record model answers and replay them offline."),
    "batch": ("batch", "Plan a file of requests."),
    "tune": ("tune", "Search better numbers for a labelled set of queries."),
    "doctor": ("doctor", "What is configured, which keys are set, what is wrong."),
}

_INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group that imports a command's module when the command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"planner.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # before click answers it with an empty line
            ctx.exit(_INTERRUPTED)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from planner.errors import nearest

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = nearest(args[0], list(COMMANDS))
            suffix = f" Did you mean {hint}?" if hint else ' For a question: planner select "…"'
            raise click.UsageError(f"No such command {args[0]!r}.{suffix}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        click.echo(f"planner {version('search-planner')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version.")
def cli() -> None:
    """Decide where an AI research agent should search. It plans; it never searches."""


def main() -> None:
    """Entry point: errors of ours become one line on stderr and their exit code; Ctrl-C and closed pipes are quiet."""
    gc.set_threshold(100_000)  # loading makes many objects that stay: collecting between them is a tenth of the time
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us: what would go there is lost, the rest goes on
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif number and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except PlannerError as error:
        sys.stderr.write(f"planner: {error}\n")
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = _INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # keeps the interpreter from complaining about stdout when it shuts down
        code = 0
    except OSError as error:  # a full disk, a folder that cannot be written: the user's to mend, not a fault of ours
        where = f" {error.filename}:" if error.filename else ""
        _last_words(f"planner:{where} {error.strerror or type(error).__name__}\n")
        code = 1
    except (RecursionError, UnicodeError) as error:
        _last_words(f"planner: the input is nested too deeply or is not valid text ({type(error).__name__})\n")
        code = 2
    if code == _INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # once more ends it without a word while it tidies up
    sys.exit(code if isinstance(code, int) else 0)


def _last_words(text: str) -> None:
    """Says it, and drops what standard output still holds: it could not be written."""
    sys.stderr.write(text)
    sys.stderr.flush()
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
