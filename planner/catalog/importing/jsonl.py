"""Cards as JSON lines: {name, description, examples?, group?, aliases?}."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner.catalog.importing.found import Found, Remark, Source, lines_of, one_line
from planner.paths import content_of


def read_jsonl(path: Path) -> Source:
    """Every line that is a card; the others are refused with their line number (rule CAT-1.4)."""
    source = Source(path.name)
    for number, line in enumerate(content_of(path).splitlines(), 1):
        if not line.strip():
            continue
        where = f"{path.name}:{number}"
        try:
            row = json.loads(line.decode("utf-8-sig"))
        except ValueError as error:
            source.refused.append(Remark(where, f"not JSON: {error}"))
            continue
        if isinstance(row, dict):
            source.add(_card(row, where))
        else:
            source.refused.append(Remark(where, "not a JSON object"))
    return source


def _card(row: dict[str, Any], where: str) -> Found:
    return Found(
        name=one_line(row.get("name")),
        description=one_line(row.get("description")),
        where=where,
        groups=lines_of(row.get("group")),
        examples=lines_of(row.get("examples")),
        aliases=lines_of(row.get("aliases")),
    )
