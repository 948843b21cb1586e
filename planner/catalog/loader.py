"""A catalog folder → the catalog planning uses: from the compiled file when it is fresh, rebuilt in memory when not."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.catalog.compiled import FILE, groups_from, leaves_from, read_compiled, stamp
from planner.catalog.intents import Intents
from planner.catalog.lexicon import Lexicon
from planner.catalog.model import Catalog
from planner.catalog.naming import Cues
from planner.catalog.scorer import scorer_from
from planner.errors import CatalogError


def load_catalog(root: Path) -> Catalog:
    """The catalog of a folder. Raises CatalogError where there is none; a broken leaf is left out with a warning."""
    if not (root / "router" / "SKILL.md").is_file():
        raise CatalogError(f"{root}: no catalog here (router/SKILL.md is missing)")
    record = read_compiled(root)
    if record is None:
        return _rebuilt(root, None, "missing")
    if record.get("stamp") != stamp(root):
        return _rebuilt(root, record, "out of date")
    try:
        return catalog_from(record, root)
    except (KeyError, ValueError, TypeError, AttributeError, zlib.error):
        return _rebuilt(root, None, "damaged")


def _rebuilt(root: Path, record: dict[str, Any] | None, state: str) -> Catalog:
    from planner.catalog.compiling import recompiled

    warning = f"{FILE} is {state}: rebuilt in memory; run `planner catalog build`"
    try:
        fresh = catalog_from(recompiled(root, record), root)
    except (KeyError, ValueError, TypeError, AttributeError, zlib.error):
        fresh = catalog_from(recompiled(root, None), root)
    return replace(fresh, warnings=(warning, *fresh.warnings))


def catalog_from(record: dict[str, Any], root: Path) -> Catalog:
    """The catalog a compiled record holds."""
    groups, leaves = groups_from(record["groups"]), leaves_from(record["leaves"])
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
