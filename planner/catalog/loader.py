"""A catalog folder → the catalog planning uses: from the cache, from the compiled file, or rebuilt in memory."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path
from typing import Any

from planner.catalog.compiled import FILE, groups_from, leaves_from, read_compiled, stamp
from planner.catalog.intents import Intents
from planner.catalog.lexicon import Lexicon
from planner.catalog.model import Catalog
from planner.catalog.naming import Cues
from planner.catalog.scorer import scorer_from
from planner.errors import CatalogError

_DAMAGE = (LookupError, ValueError, TypeError, AttributeError, zlib.error, struct.error, re.error)  # of a record


def load_catalog(root: Path, cache: Path | None = None) -> Catalog:
    """The catalog of a folder. Raises CatalogError where there is none; a broken leaf is left out with a warning.

    `cache`: a folder for what took time to make: a large catalog's mapped form, a rebuilt one's record.
    """
    if not (root / "router" / "SKILL.md").is_file():
        raise CatalogError(f"{root}: no catalog here (router/SKILL.md is missing)")
    content = stamp(root)
    kept = _kept(root, content, cache)
    return kept if kept is not None else _fresh(root, content, cache)


def _kept(root: Path, content: str, cache: Path | None) -> Catalog | None:
    if cache is None:
        return None
    from planner.catalog.cache import cache_key, cached

    found = cached(cache, cache_key(root, content), root)
    return catalog_from(found, root) if isinstance(found, dict) else found


def _fresh(root: Path, content: str, cache: Path | None) -> Catalog:
    record = read_compiled(root)
    if record is not None and record.get("stamp") == content:
        try:
            return _made(record, root, content, cache, rebuilt=False)
        except _DAMAGE:
            return _rebuilt(None, root, content, cache, "damaged")
    try:
        return _rebuilt(record, root, content, cache, "missing" if record is None else "out of date")
    except _DAMAGE:
        return _rebuilt(None, root, content, cache, "damaged")


def _rebuilt(old: dict[str, Any] | None, root: Path, content: str, cache: Path | None, state: str) -> Catalog:
    from planner.catalog.compiling import recompiled

    record = recompiled(root, old)
    warning = f"{FILE} is {state}: rebuilt in memory; run `planner catalog build`"
    record["warnings"] = [warning, *record["warnings"]]
    return _made(record, root, content, cache, rebuilt=True)


def _made(record: dict[str, Any], root: Path, content: str, cache: Path | None, *, rebuilt: bool) -> Catalog:
    if cache is not None:
        from planner.catalog.cache import cache_key, keep
        from planner.catalog.large import is_large

        if rebuilt or is_large(record):
            keep(cache, cache_key(root, content), record)
    return catalog_from(record, root)


def catalog_from(record: dict[str, Any], root: Path) -> Catalog:
    """The catalog a compiled record holds."""
    from planner.catalog.large import is_large, large_catalog, pack_record

    if is_large(record):
        return large_catalog(memoryview(pack_record(record)), root)
    groups, leaves = groups_from(record["groups"]), leaves_from(record["leaves"])
    if not groups or not isinstance(record["version"], str):
        raise ValueError("no groups, or no version")
    cues = Cues(**{key: tuple(terms) for key, terms in record["cues"].items()})
    return Catalog(
        version=record["version"],
        groups=groups,
        leaves=leaves,
        lexicon=Lexicon(groups, leaves, cues),
        intents=Intents(record["intents"]),
        scorer=scorer_from(record["scorer"], leaves),
        root=root,
        warnings=tuple(record["warnings"]),
    )
