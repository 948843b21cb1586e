"""A catalog folder → the catalog planning uses: from the compiled file when it is fresh, rebuilt in memory when not."""

from __future__ import annotations

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
    if record is None or record.get("stamp") != stamp(root):
        from planner.catalog.compiling import recompiled

        state = "missing" if record is None else "out of date"
        warning = f"{FILE} is {state}: rebuilt in memory; run `planner catalog build`"
        record = recompiled(root, record)
        record["warnings"] = [warning, *record["warnings"]]
    return catalog_from(record, root)


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
