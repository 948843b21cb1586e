"""Where the lines of a batch come from: JSON Lines or Parquet, read in chunks from any place on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from io import UnsupportedOperation
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from planner.errors import InputError
from planner.evaluation.batch_rows import MAX_LINE, Item

_HEAD = 1 << 16


class Place(NamedTuple):
    """How far reading is. `offset`: in bytes (JSON Lines) or rows (Parquet); `number`: lines or rows so far."""

    offset: int = 0
    number: int = 0


class Chunk(NamedTuple):
    """Some lines, and the place behind them."""

    items: list[Item]
    end: Place


def is_parquet(path: str) -> bool:
    """Whether a path is taken for Parquet: by its name."""
    return path.lower().endswith((".parquet", ".pq"))


def check_source(path: str) -> None:
    """Raises InputError unless `path` is a file that can be read, or `-`."""
    if path == "-":
        return
    try:
        with Path(path).open("rb"):
            pass
    except OSError as error:
        raise InputError("IN", path, f"a readable .jsonl or .parquet file, or - ({type(error).__name__})") from None
    if is_parquet(path):
        _parquet(path).close()


def size_of(path: str) -> int | None:
    """Bytes or rows to be read, as `Place.offset` counts them; None for a pipe."""
    if path == "-":
        return None
    if not is_parquet(path):
        return Path(path).stat().st_size
    with _parquet(path) as table:
        return int(table.metadata.num_rows)


def fingerprint(path: str) -> str:
    """What tells one input from another, also when a log has grown since: a hash of its first 64 KiB."""
    import hashlib

    if path == "-":
        return "pipe"
    with Path(path).open("rb") as source:
        return f"sha256:{hashlib.sha256(source.read(_HEAD)).hexdigest()[:16]}"


def read_chunks(path: str, start: Place, rows: int) -> Iterator[Chunk]:
    """The lines behind `start`, `rows` at a time (rule EVA-2.1)."""
    return _table_chunks(path, start, rows) if is_parquet(path) else _line_chunks(path, start, rows)


def _line_chunks(path: str, start: Place, rows: int) -> Iterator[Chunk]:
    with _opened(path) as source:
        _skip(source, start.offset)
        yield from chunks_of(source, start, rows)


def _opened(path: str) -> AbstractContextManager[BinaryIO]:
    if path != "-":
        return Path(path).open("rb")
    try:
        # a reader of our own: a thread that waits in sys.stdin's would keep the interpreter from ending
        return open(sys.stdin.buffer.fileno(), "rb", closefd=False)
    except UnsupportedOperation:  # no file behind it
        return nullcontext(sys.stdin.buffer)


def _skip(source: BinaryIO, offset: int) -> None:
    if source.seekable():
        source.seek(offset)
        return
    while offset > 0 and (read := source.read(min(offset, _HEAD))):
        offset -= len(read)


def chunks_of(source: BinaryIO, start: Place, rows: int, stop: int | None = None) -> Iterator[Chunk]:
    """Chunks of an open file that stands at `start`; blank lines count, but are not planned. Up to byte `stop`."""
    offset, number = start
    items: list[Item] = []
    while (stop is None or offset < stop) and (line := source.readline(MAX_LINE + 2)):
        offset += len(line) + _rest_of_line(source, line)
        number += 1
        if line.strip():
            items.append(Item(number, line))
        if len(items) == rows:
            yield Chunk(items, Place(offset, number))
            items = []
    if items:
        yield Chunk(items, Place(offset, number))


def _rest_of_line(source: BinaryIO, line: bytes) -> int:
    skipped = 0
    while line and not line.endswith(b"\n"):
        line = source.readline(_HEAD)
        skipped += len(line)
    return skipped


def _table_chunks(path: str, start: Place, rows: int) -> Iterator[Chunk]:
    with _parquet(path) as table:
        yield from table_chunks(table, start, rows)


def table_chunks(table: Any, start: Place, rows: int) -> Iterator[Chunk]:
    """Chunks of an open Parquet file behind row `start.offset`; row groups before it are not read."""
    lengths = [table.metadata.row_group(n).num_rows for n in range(table.metadata.num_row_groups)]
    ends = list(accumulate(lengths))
    first = next((n for n, end in enumerate(ends) if end > start.offset), len(ends))
    at, number = (ends[first - 1] if first else 0), start.number
    for batch in table.iter_batches(batch_size=rows, row_groups=range(first, len(ends))):
        new = batch.slice(max(0, start.offset - at)).to_pylist()
        at += batch.num_rows
        items = [Item(number + n, _given(row)) for n, row in enumerate(new, 1)]
        number += len(items)
        if items:
            yield Chunk(items, Place(at, number))


def _given(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def _parquet(path: str) -> Any:
    parquet, lib = arrow("parquet"), arrow("lib")
    try:
        return parquet.ParquetFile(path)
    except lib.ArrowException as error:
        raise InputError("IN", path, f"a Parquet file ({type(error).__name__})") from None


def arrow(part: str) -> Any:
    """A module of pyarrow. Raises InputError when the extra is not installed."""
    from importlib import import_module

    try:
        return import_module(f"pyarrow.{part}")
    except ImportError:
        raise InputError("Parquet", "no pyarrow", "pip install 'search-planner[batch]', or JSON Lines") from None
