"""A batch in pieces that any machine can plan: where each begins and ends, and the files it leaves.

A shard is planned from its own bytes alone and written under its number in one step, so planning it twice, after a
machine was lost, leaves the same files as planning it once (rule EVA-2.10). Paths may be URIs that pyarrow knows.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO
from uuid import uuid4

from planner.errors import InputError
from planner.evaluation.batch_rows import Done, Item, Setup, joined, plan_items
from planner.evaluation.batch_sources import Place, arrow, chunks_of, is_parquet, table_chunks
from planner.evaluation.batch_table import schema_of, table_of
from planner.pipeline import Planner

ROWS = 2_000  # a shard: some seconds of planning
_BLOCK = 1 << 20
_INPUTS = (".jsonl", ".ndjson", ".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class Shard:
    """Lines of `path` from byte or row `start` to `stop`; `number` lines stand before them in the whole input."""

    shard: int
    path: str
    start: int
    stop: int
    number: int


def folder(path: str) -> tuple[Any, str]:
    """The file system of a path or URI, and the path on it."""
    fs = arrow("fs")
    if "://" in path:
        found: tuple[Any, str] = fs.FileSystem.from_uri(path)
        return found
    return fs.LocalFileSystem(), path


def inputs(path: str) -> list[str]:
    """The files of a folder in the order of their names, or the one file. Raises InputError when there is none."""
    system, place = folder(path)
    info = system.get_file_info(place)
    if info.is_file:
        return [path]
    listed = system.get_file_info(arrow("fs").FileSelector(place)) if info.type.name == "Directory" else []
    prefix = path[: len(path) - len(place)] if "://" in path else ""
    found = sorted(prefix + entry.path for entry in listed if entry.is_file and entry.path.endswith(_INPUTS))
    if not found:
        raise InputError("IN", path, f"a file, or a folder of files that end in {', '.join(_INPUTS)}")
    return found


def split(paths: list[str], rows: int) -> Iterator[Shard]:
    """The shards of some files, in order, about `rows` lines each."""
    shard, number = 0, 0
    for path in paths:
        for start, stop, count in _table_parts(path, rows) if is_parquet(path) else _line_parts(path, rows):
            yield Shard(shard, path, start, stop, number)
            shard, number = shard + 1, number + count


def _table_parts(path: str, rows: int) -> Iterator[tuple[int, int, int]]:
    with opened(path) as source:
        total = arrow("parquet").ParquetFile(source).metadata.num_rows
    for start in range(0, total, rows):
        yield start, min(total, start + rows), min(total - start, rows)


def _line_parts(path: str, rows: int) -> Iterator[tuple[int, int, int]]:
    start, offset, count = 0, 0, 0
    with opened(path) as source:
        while block := source.read(_BLOCK):
            at = -1
            while (at := block.find(b"\n", at + 1)) >= 0:
                count += 1
                if count == rows:
                    yield start, offset + at + 1, count
                    start, count = offset + at + 1, 0
            offset += len(block)
    if offset > start:
        yield start, offset, count + 1


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A file to read from, on any file system."""
    system, place = folder(path)
    with system.open_input_file(place) as raw, io.BufferedReader(raw, _BLOCK) as source:
        yield source


def read_shard(shard: Shard) -> list[Item]:
    """The lines of a shard."""
    with opened(shard.path) as source:
        if not is_parquet(shard.path):
            source.seek(shard.start)
            chunks = chunks_of(source, Place(shard.start, shard.number), ROWS, shard.stop)
            return [item for chunk in chunks for item in chunk.items]
        table = arrow("parquet").ParquetFile(source)
        found: list[Item] = []
        for chunk in table_chunks(table, Place(shard.start, shard.number), ROWS):
            found += chunk.items
            if chunk.end.offset >= shard.stop:
                break
        return found[: shard.stop - shard.start]


def plan_shard(planner: Planner, shard: Shard, setup: Setup, out: str, form: str) -> dict[str, Any]:
    """Plan a shard, leave its files in the folder `out`, and report what was counted."""
    done = joined([plan_items(planner, read_shard(shard), setup)])
    if done.bad:
        write(out, f"bad-{shard.shard:06}.jsonl", done.bad)
    write(out, f"part-{shard.shard:06}.{form}", encoded(done, setup.fields) if form == "parquet" else done.rows)
    return {"shard": shard.shard, "counts": json.dumps(done.counts), "ignored": sorted(done.ignored)}


def encoded(done: Done, fields: str) -> bytes:
    """Rows as a Parquet file."""
    sink = io.BytesIO()
    arrow("parquet").write_table(table_of(done.rows.splitlines(), schema_of(fields)), sink, compression="zstd")
    return sink.getvalue()


def write(out: str, name: str, content: bytes) -> None:
    """A file in a folder, there as a whole or not at all."""
    system, place = folder(out)
    new = f"{place}/.{name}.{uuid4().hex}"
    with system.open_output_stream(new) as sink:
        sink.write(content)
    system.move(new, f"{place}/{name}")


def as_row(shard: Shard) -> dict[str, Any]:
    """A shard as a row of a data set."""
    return asdict(shard)
