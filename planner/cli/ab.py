"""`planner ab`: compare ways of planning on a file of queries."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner import paths
from planner.cli.common import FieldCommand, catalog_option, json_option, note, print_json, settings_option
from planner.errors import InputError, PlannerError
from planner.evaluation.ab import Inquiry, run
from planner.evaluation.arms import build_arms
from planner.evaluation.journal import Journal
from planner.evaluation.queries import BadLine, Line, read_queries
from planner.paths import PUBLIC, write_whole

if TYPE_CHECKING:
    from planner.evaluation.answers import Answers

_MODES = ["fast", "deep", "comprehensive"]
_SHOWN_BAD = 10
_ARMS = "standard, fast, heuristic, flat or settings files; the first is compared with each other one."


@click.command(cls=FieldCommand)
@click.argument("queries", metavar="QUERIES.jsonl")
@click.option("--arms", default="standard,heuristic", show_default=True, metavar="LIST", help=_ARMS)
@click.option("--k", type=click.IntRange(1, 50), default=8, show_default=True, help="Cutoff of the metrics.")
@click.option("--mode", type=click.Choice(_MODES), help="For lines that name no mode.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the bootstrap and the permutations.")
@click.option("--resume", is_flag=True, help="Go on where the same comparison was interrupted.")
@click.option("--record", type=click.Path(path_type=Path, dir_okay=False), help="Record the models' answers in a file.")
@click.option("--replay", type=click.Path(path_type=Path, dir_okay=False), help="Take the answers from a recording.")
@click.option("--answered-by", metavar="TEXT", help="What answers, as the recording shall say.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the report as one page.")
@click.option("--allow-bad-lines", is_flag=True, help="Exit with 0 although lines were skipped.")
@settings_option
@catalog_option
@json_option
def command(
    queries: str, arms: str, resume: bool, record: Path | None, replay: Path | None, answered_by: str | None,
    html: Path | None, allow_bad_lines: bool, settings: str | None, catalog: str | None, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Compare ways of planning, query by query: agreement, quality where the file holds gold, cost, promises."""
    from planner.evaluation.answers import open_answers

    _check(record, replay, html)
    _check_libraries()
    lines, bad = _read(queries, given.pop("mode"))
    with open_answers(record, replay, answered_by, resume=resume) as answers:
        base = answers.planner(catalog, settings)
        chosen = build_arms(arms.split(","), base)
        inquiry = Inquiry(lines, bad, chosen, answers=answers.said(chosen), **given)
        journal = Journal(paths.state_folder(base.env) / "ab", inquiry.identity(), answers.take)
        if resume:
            _resume(inquiry, journal, answers)
        try:
            report = _run(inquiry, journal, answers)
        except KeyboardInterrupt:
            note("planner: interrupted; the finished queries are kept, --resume goes on")
            raise
    _print(report, html, as_json=as_json)
    if bad and not allow_bad_lines:
        sys.exit(1)


def _check(record: Path | None, replay: Path | None, html: Path | None) -> None:
    if record and replay:
        raise InputError("--replay", str(replay), "either --record or --replay")
    if html and not html.absolute().parent.is_dir():
        raise InputError("--html", str(html), "a file in a folder that exists")


def _check_libraries() -> None:
    missing = [name for name in ("ir_measures", "scipy", "numpy") if find_spec(name) is None]
    if missing:
        raise PlannerError(f"comparing needs {', '.join(missing)}: pip install 'search-planner[ab]'")


def _read(source: str, mode: str | None) -> tuple[list[Line], list[BadLine]]:
    try:
        content = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise InputError("QUERIES", source, f"a readable file, or - ({type(error).__name__})") from None
    lines, bad = read_queries(content, mode)
    for row in bad[:_SHOWN_BAD]:
        note(f"line {row.number} was skipped: {row.problem}")
    if len(bad) > _SHOWN_BAD:
        note(f"… and {len(bad) - _SHOWN_BAD} more")
    if not lines:
        raise InputError("QUERIES", source, "at least one line with an id and a query")
    return lines, bad


def _resume(inquiry: Inquiry, journal: Journal, answers: Answers) -> None:
    journal.resume()
    if journal.finished:
        answers.put_back(inquiry, journal)
        note(f"resuming: {len(journal.finished)} of {len(inquiry.lines)} queries are finished")
    else:
        note("nothing to resume for these queries, arms, catalog, settings and keys: starting with the first query")


def _run(inquiry: Inquiry, journal: Journal, answers: Answers) -> dict[str, Any]:
    for arm in inquiry.arms:
        if said := arm.planner.ladders.of(arm.judge).note:
            note(f"{arm.name}: {said}")
    with _progress(inquiry) as tick:
        report = run(inquiry, journal, date.today(), tick)
    answers.keep(inquiry, journal)
    return report


def _progress(inquiry: Inquiry) -> AbstractContextManager[Callable[[], None]]:
    """A bar on a terminal, with the count of bad lines; nothing in a pipe."""
    return _bar(inquiry) if sys.stderr.isatty() else nullcontext(lambda: None)


@contextmanager
def _bar(inquiry: Inquiry) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    skipped = f", bad lines skipped: {len(inquiry.bad)}" if inquiry.bad else ""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"planning{skipped}", total=len(inquiry.lines))
        yield lambda: progress.advance(task)


def _print(report: dict[str, Any], html: Path | None, *, as_json: bool) -> None:
    if html:
        from planner.evaluation.report import page

        write_whole(html, page(report), PUBLIC)
        note(f"report: {html}")
    if as_json:
        print_json(report)
        return
    from planner.cli.ab_tables import print_report

    print_report(report)
