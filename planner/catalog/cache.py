"""Compiled catalogs in the user's cache folder: keyed by content and format, safe to delete, never executed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from planner.catalog.compiled import FILE, to_json
from planner.catalog.large import LargeCatalog, is_large, large_catalog, pack_record
from planner.catalog.pack import mapped
from planner.paths import content_of

VERSION = 2  # of what is cached; part of the key
KEPT = 16  # files; the ones unused longest go first


def cache_key(root: Path, content: str) -> str:
    """The file name, without ending, for a catalog folder with this content stamp."""
    try:
        compiled = (root / FILE).stat()
        state = f"{compiled.st_size} {compiled.st_mtime_ns}"
    except OSError:
        state = "missing"
    return hashlib.sha256(f"{VERSION} {content} {state}".encode()).hexdigest()[:32]


def cached(folder: Path, key: str, root: Path) -> LargeCatalog | dict[str, Any] | None:
    """The large catalog or the compiled record kept under a key; None where there is none that can be read."""
    with suppress(OSError, ValueError, KeyError):
        return large_catalog(mapped(folder / f"{key}.pack"), root)
    with suppress(OSError, ValueError):
        record = json.loads(content_of(folder / f"{key}.json"))
        return record if isinstance(record, dict) else None
    return None


def keep(folder: Path, key: str, record: Mapping[str, Any]) -> None:
    """Writes a compiled record to the cache; a cache that cannot be written is done without."""
    large = is_large(record)
    data = pack_record(record) if large else to_json(record).encode()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / f"{key}.{'pack' if large else 'json'}", data)
        for old in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
            old.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """The whole file or the old one."""
    import os
    from threading import get_ident

    partial = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}.tmp")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
