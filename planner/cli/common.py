"""What commands share: options, reading a request, printing JSON, a console that is plain when piped."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from planner.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_UNBOUNDED = 2000  # columns of a pipe: nothing is wrapped or cut
F = TypeVar("F", bound=Callable[..., Any])

settings_option = click.option("--settings", metavar="FILE", help="A planner.yaml to use instead of your own.")
catalog_option = click.option("--catalog", metavar="DIR", help="Another catalog folder than the shipped one.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class FieldCommand(click.Command):
    """A command whose input errors name the option or argument that a field came from."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs it. Fields of a request file keep their names."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            error.call_fields(lambda field: option_of(field, ctx))
            raise


class FieldGroup(click.Group):
    """A group of such commands."""

    command_class = FieldCommand


def option_of(field: str, ctx: click.Context) -> str:
    """The option or argument of this call that a field came from; the field itself where it came from a file."""
    found = next((param for param in ctx.command.params if param.name == field.rpartition(".")[2]), None)
    if found is None or found.name is None:
        return field
    from_file = ctx.params.get("request_file") is not None and ctx.params[found.name] in (None, ())
    if from_file:
        return field
    return max(found.opts, key=len) if isinstance(found, click.Option) else found.human_readable_name


def print_json(value: Any) -> None:
    """JSON and a newline on stdout; escaped where the terminal's encoding cannot hold it."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(json.dumps(value, ensure_ascii=not utf8, indent=2) + "\n")


def note(text: str) -> None:
    """A remark on stderr."""
    sys.stderr.write(f"{text}\n")


def console() -> Console:
    """A console for tables: colour and box lines on a terminal, plain text when piped or with NO_COLOR."""
    from rich.console import Console

    piped = not sys.stdout.isatty()
    return Console(soft_wrap=piped, highlight=False, width=_UNBOUNDED if piped else None)


def print_table(out: Console, table: Table) -> None:
    """A table; when piped, whole lines without the padding at their ends."""
    with out.capture() as captured:
        out.print(table)
    for line in captured.get().splitlines():
        sys.stdout.write(line.rstrip() + "\n")


def read_json(source: str, field: str) -> Any:
    """JSON from a file, or from standard input for `-`."""
    try:
        text = sys.stdin.read().removeprefix("\ufeff") if source == "-" else Path(source).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(field, source, f"a readable UTF-8 file, or - ({type(error).__name__})") from None
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(field, source, f"a JSON value ({error})") from None
    except RecursionError:
        raise InputError(field, source, "a JSON value that is not nested so deeply") from None
