"""What an engine really returned → the reason the fallback chain knows, by a table. Pure; nothing is searched here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import Field

from planner.sources.rules import Row

UNKNOWN = "api_error"
_DEPTH = 8  # of a cause chain


class ErrorRow(Row):
    """A row of the table; all conditions that are given must hold."""

    engines: tuple[str, ...] = ()
    status: tuple[int, ...] = ()
    body: tuple[str, ...] = ()
    exception: tuple[str, ...] = ()
    reason: str = Field(min_length=1)


class Failure(NamedTuple):
    """A failed call: the HTTP status, the error body or message, the exception or its class name; what is known."""

    engine: str
    status: int | None = None
    body: str = ""
    exception: BaseException | str | None = None


def reason_of(failure: Failure, table: tuple[ErrorRow, ...]) -> str:
    """The reason to report for it (rule RTE-6.6); what no row knows is `api_error`."""
    names = frozenset(_class_names(failure.exception))
    message = "" if isinstance(failure.exception, str | None) else str(failure.exception)
    text = f"{failure.body}\n{message}".casefold()
    return next((row.reason for row in table if _fits(row, failure, names, text)), UNKNOWN)


def _fits(row: ErrorRow, failure: Failure, names: frozenset[str], text: str) -> bool:
    return (
        (not row.engines or failure.engine in row.engines)
        and (not row.status or failure.status in row.status)
        and (not row.body or any(phrase in text for phrase in row.body))
        and (not row.exception or not names.isdisjoint(row.exception))
    )


def _class_names(exception: BaseException | str | None) -> Iterator[str]:
    if isinstance(exception, str):
        yield exception.rpartition(".")[2]
        return
    for _ in range(_DEPTH):
        if exception is None:
            return
        yield from (parent.__name__ for parent in type(exception).__mro__)
        exception = exception.__cause__ or exception.__context__
