"""`planner catalog build`: writes the generated part of the group indexes, then the compiled file; each atomically."""

from __future__ import annotations

from pathlib import Path

from planner.catalog.compiled import FILE, read_compiled, stamp, to_json
from planner.catalog.compiling import compiled_record
from planner.catalog.index import generated_text, group_path, stale_groups
from planner.catalog.pages import Problem, read_pages
from planner.errors import CatalogError
from planner.paths import PUBLIC, write_whole


def build(root: Path) -> list[str]:
    """Brings a catalog folder up to date; returns what was done, in words. Raises CatalogError."""
    draft = read_pages(root)
    if not draft.leaves:
        raise CatalogError(f"{root}: no leaf page could be read")
    done = [str(problem) for problem in draft.problems]
    leaves = {leaf.channel: leaf for leaf in draft.leaves}
    for name in stale_groups(draft):
        group = next(g for g in draft.groups if g.name == name)
        write_whole(group_path(root, name), generated_text(group, draft.group_pages[name], leaves), PUBLIC)
        done.append(f"wrote the leaf metadata of {name}")
    try:
        text = to_json(compiled_record(read_pages(root)))
    except ImportError as error:
        raise CatalogError(f"fitting the scorer needs {error.name}: pip install 'search-planner[build]'") from error
    if not (root / FILE).is_file() or (root / FILE).read_text("utf-8") != text:
        write_whole(root / FILE, text, PUBLIC)
        done.append(f"wrote {FILE} ({len(text.encode()) / 1e6:.2f} MB)")
    return done or ["nothing to do"]


def stale_compiled(root: Path) -> list[Problem]:
    """The problem that the compiled file is missing or was made from something else, if so."""
    record = read_compiled(root)
    if record is not None and record.get("stamp") == stamp(root):
        return []
    state = "missing" if record is None else "out of date"
    return [Problem(root / FILE, 1, f"{state}; run `planner catalog build`")]
