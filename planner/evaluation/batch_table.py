"""Rows of a batch as a Parquet table, converted piece by piece."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from planner.evaluation.batch_sources import arrow

_PIECE = 20_000  # rows a row group: some 10 MB of memory


def write_table(rows: Path, table: Path, run: Mapping[str, str]) -> None:
    """JSON Lines → Parquet. Columns of core rows are typed; a full plan is one column of JSON text.

    `run` (catalog, settings, version, …) becomes the table's metadata.
    """
    parquet = arrow("parquet")
    schema = schema_of(run["fields"]).with_metadata({f"planner.{key}": value for key, value in run.items()})
    with rows.open("rb") as lines, parquet.ParquetWriter(table, schema, compression="zstd") as writer:
        while piece := list(islice(lines, _PIECE)):
            writer.write_table(table_of(piece, schema))
    with table.open("rb") as written:
        os.fsync(written.fileno())


def table_of(lines: Iterable[bytes], schema: Any) -> Any:
    """Some rows as a table."""
    return arrow("lib").Table.from_pylist(list(_columns(lines)), schema=schema)


def _columns(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        row = json.loads(line)
        if "plan" in row:
            row["plan"] = json.dumps(row["plan"], ensure_ascii=False, separators=(",", ":"))
        yield row


def schema_of(fields: str) -> Any:
    """The columns of core or full rows."""
    lib = arrow("lib")
    text, texts = lib.string(), lib.list_(lib.string())
    if fields == "full":
        return lib.schema([("id", text), ("plan", text)])
    scores = lib.list_(lib.float64())
    return lib.schema(
        [("id", text), ("channels", texts), ("scores", scores), ("groups", texts), ("flags", texts), ("tier", text)]
    )
