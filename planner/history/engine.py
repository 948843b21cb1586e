"""Opening the database: SQLite in a file, PostgreSQL by URL; what goes wrong becomes a HistoryError without secrets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.errors import HistoryError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.exc import DBAPIError

WAIT_S = 30  # seconds to wait for another process to finish writing
CONNECT_S = 3
_UNREADABLE = "a URL that cannot be read"
_SQLITE = {  # SQLite's own words, in part -> ours
    "locked": "is locked by another process",
    "busy": "is locked by another process",
    "readonly": "is read-only",
    "read-only": "is read-only",
    "not a database": "is not a usable database; move it away to begin a new one",
    "malformed": "is not a usable database; move it away to begin a new one",
    "disk is full": "cannot grow, the disk is full",
    "unable to open": "cannot be opened",
}
_POSTGRESQL = {  # the beginning of an SQLSTATE -> our words; none at all means no connection
    "28": "refuses the user or the password",
    "3D": "has no such database",
    "25006": "is read-only",
    "42501": "does not permit it",
    "55P03": "is locked by another process",
    "57014": "is locked by another process",
    "53": "has run out of connections, memory or disk",
    "": "cannot be reached",
}


def sqlite_engine(path: Path, wait_s: float) -> Engine:
    """An engine on a file. `wait_s`: seconds to wait for another process to finish writing."""
    from sqlalchemy import URL, create_engine, event

    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": wait_s})

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        # a transaction that may write takes its lock at once: upgrading later fails instead of waiting
        mode = "DEFERRED" if connection.get_execution_options().get("only_reads") else "IMMEDIATE"
        connection.exec_driver_sql(f"BEGIN {mode}")

    return engine


def postgresql_engine(url: str) -> Engine:
    """An engine on a server. Raises HistoryError for an unusable URL or a missing driver."""
    from sqlalchemy import create_engine, make_url
    from sqlalchemy.exc import ArgumentError

    waits = f"-c lock_timeout={WAIT_S * 1000} -c statement_timeout={WAIT_S * 1000}"
    arguments = {"connect_timeout": CONNECT_S, "application_name": "search-planner", "options": waits}
    try:
        parsed = make_url("postgresql+psycopg://" + url.partition("://")[2])
        return create_engine(parsed, connect_args=arguments, pool_pre_ping=True, pool_size=2, hide_parameters=True)
    except (ArgumentError, ValueError):
        raise HistoryError(
            "outcome history: the URL of history.store cannot be read; accepted: postgresql://…"
        ) from None
    except ImportError:
        raise HistoryError("outcome history: PostgreSQL needs pip install 'search-planner[postgres]'") from None


def address(url: str) -> str:
    """Server, port and database of a URL: nothing of the user, the password or the options."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        return _UNREADABLE
    port = f":{parsed.port}" if parsed.port else ""
    place = f"{parsed.host or ''}{port}/{parsed.database or ''}"
    return _UNREADABLE if "@" in place else f"postgresql://{place}"  # else a piece of an unquoted password


@contextmanager
def explained(label: str) -> Iterator[None]:
    """Turns the library's errors, whose texts may hold addresses and values, into ours. `label`: the store in words."""
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    try:
        yield
    except DBAPIError as error:
        raise HistoryError(f"outcome history: {label} {_reason(error)}") from None
    except (SQLAlchemyError, OSError) as error:
        raise HistoryError(f"outcome history: {label} cannot be used ({type(error).__name__})") from None


def _reason(error: DBAPIError) -> str:
    if type(error.orig).__module__.startswith("psycopg"):
        state = getattr(error.orig, "sqlstate", None) or ""
        for length in (5, 2):
            if state[:length] in _POSTGRESQL:
                return _POSTGRESQL[state[:length]]
        return f"answers with error {state}"
    message = str(error.orig).lower()
    return next((words for part, words in _SQLITE.items() if part in message), f"fails ({type(error.orig).__name__})")
