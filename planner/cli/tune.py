"""`planner tune`: search better numbers for a labelled set of queries."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.common import FieldCommand, catalog_option, console, json_option, note, print_json, settings_option
from planner.errors import InputError
from planner.pipeline import Planner

if TYPE_CHECKING:
    from planner.evaluation.tuning import Tuned

_KEYS = ("all", "mine")


@click.command(cls=FieldCommand)
@click.argument("queries")
@click.option("--out", default="planner.tuned.yaml", metavar="FILE", help="The settings file (planner.tuned.yaml).")
@click.option("--report", metavar="FILE", help="The whole report as JSON, numbers of every fold.")
@click.option("--folds", type=int, default=5, metavar="N", help="Parts, each kept out of a search once (5).")
@click.option("--trials", type=int, default=60, metavar="N", help="Points tried in each of the searches (60).")
@click.option("--seed", type=int, default=0, metavar="N", help="The same seed gives the same file.")
@click.option("--keys", type=click.Choice(_KEYS), default="all", help="Channel keys that count as set (all).")
@click.option("--force", is_flag=True, help="Write over a settings file that is there.")
@settings_option
@catalog_option
@json_option
def command(
    queries: str, out: str, report: str | None, settings: str | None, catalog: str | None, as_json: bool, **given: Any
) -> None:
    """Search better numbers for labelled QUERIES (JSON Lines with gold or gold_groups), and say what they are worth.

    The shipped defaults stay as they are: use the file with --settings, or compare it by
    planner ab QUERIES --arms heuristic,FILE.
    """
    _check_out(out, given["force"])
    tuned = _tuned(queries, settings, catalog, given)
    result = tuned.report()
    _write(Path(out), _settings_text(tuned, result["verdict"]))
    if report:
        import json

        _write(Path(report), json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    if as_json:
        print_json(result)
    else:
        _print(result, out)


def _check_out(out: str, force: bool) -> None:
    path = Path(out).resolve()
    if path.is_relative_to(Path(__file__).parents[1]):
        raise InputError("--out", out, "a file outside the package: the shipped defaults stay as they are")
    if not path.parent.is_dir():
        raise InputError("--out", out, "a file in a folder that exists")
    if path.exists() and not force:
        raise InputError("--out", out, "a file that is not there yet, or --force")


def _tuned(queries: str, settings: str | None, catalog: str | None, given: dict[str, Any]) -> Tuned:
    _check_installed()
    from planner.evaluation.queries import read_queries
    from planner.evaluation.tuning import Effort, tune
    from planner.evaluation.tuning_examples import examples_of

    planner = Planner(catalog=catalog, settings=settings)
    lines, bad = read_queries(_content(queries))
    for line in bad:
        note(f"line {line.number} was skipped: {line.problem}")
    env: dict[str, str] = dict(planner.env)
    if given["keys"] == "all":  # labels say where the answer lives, whoever holds a key
        env |= {name: "set" for leaf in planner.catalog.leaves for name in leaf.auth.required}
    examples = examples_of(lines, planner.catalog, planner.settings, env)
    say = note if sys.stderr.isatty() else _silent
    return tune(examples, Effort(given["folds"], given["trials"], given["seed"]), say)


def _silent(_text: str) -> None:
    """Progress is for terminals."""


def _check_installed() -> None:
    from importlib.util import find_spec

    for name in ("optuna", "ir_measures", "scipy"):
        if find_spec(name) is None:
            raise InputError("planner tune", f"no {name}", "pip install 'search-planner[tune]'")


def _content(queries: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if queries == "-" else Path(queries).read_bytes()
    except OSError as error:
        raise InputError("QUERIES", queries, f"a readable JSON Lines file, or - ({type(error).__name__})") from None


def _settings_text(tuned: Tuned, verdict: str) -> str:
    import yaml

    effort = tuned.effort
    head = (
        f"# Tuned numbers: {verdict}.\n# {effort.folds} folds, {effort.trials} trials a search, seed {effort.seed}.\n"
    )
    return head + yaml.safe_dump({"selection": tuned.point}, sort_keys=False)


def _write(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_text(text, "utf-8")
        new.replace(path)
    except OSError as error:
        raise InputError("--out", str(path), f"a file that can be written ({error.strerror})") from None


def _print(result: dict[str, Any], out: str) -> None:
    from rich.table import Table

    screen = console()
    table = Table(box=None, pad_edge=False)
    for name in ("on queries not tuned on", "before", "after", "change"):
        table.add_column(name, justify="left" if name.startswith("on") else "right", no_wrap=True)
    for metric, before in result["before"].items():
        after = result["after"][metric]
        if before is not None and after is not None:
            table.add_row(metric, f"{before:.4f}", f"{after:.4f}", f"{after - before:+.4f}")
    screen.print(table)
    shares = ", ".join(f"{fold['share']:g}" for fold in result["folds"])
    screen.print(
        f"{result['queries']} queries; share of the way taken by fold {shares}, in the file {result['share']:g}"
    )
    screen.print(result["verdict"])
    screen.print(f"wrote {out}")
