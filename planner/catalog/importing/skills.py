"""A folder of SKILL.md files in the Agent Skills format, at any depth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner.catalog.frontmatter import FrontMatterError, parse
from planner.catalog.importing.found import Found, Remark, Source, lines_of, one_line
from planner.catalog.model import Auth
from planner.catalog.pages import text_list
from planner.paths import content_of

_VENDORS = ("openclaw", "clawdbot", "clawdis")  # one runtime, three names of its section in `metadata`
_PAGE = "skill.md"


def read_skills(root: Path) -> Source:
    """Every skill below the folder (rule CAT-1.1). A folder between the root and the skill's own names its group."""
    source = Source(root.name)
    for path in skill_pages(root):
        where = path.relative_to(root).as_posix()
        try:
            meta = parse(content_of(path).decode("utf-8")).meta
        except (FrontMatterError, OSError, UnicodeDecodeError) as error:
            line = getattr(error, "line", None)
            source.refused.append(Remark(f"{where}:{line}" if line else where, str(error)))
            continue
        source.add(_card(meta, where, path.relative_to(root).parts[:-2], source))
    return source


def skill_pages(root: Path) -> list[Path]:
    """All SKILL.md files below a folder, whatever their case, hidden folders left out."""
    found = [path for path in root.rglob("*.md") if path.name.lower() == _PAGE]
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(root).parts))


def _card(meta: dict[str, Any], where: str, folders: tuple[str, ...], source: Source) -> Found:
    vendor = vendor_section(meta.get("metadata"))
    requires = vendor.get("requires")
    requires = requires if isinstance(requires, dict) else {}
    needed = text_list(requires.get("env"))
    primary = [v for v in text_list(vendor.get("primaryEnv")) if v not in needed]
    programs = [*text_list(requires.get("bins")), *text_list(requires.get("anyBins"))]
    if programs:
        source.notes.append(Remark(where, f"needs programs, which planning does not look for: {', '.join(programs)}"))
    return Found(
        name=one_line(meta.get("name")),
        description=one_line(meta.get("description")),
        where=where,
        groups=("-".join(folders),) if folders else (),
        aliases=lines_of(list(text_list(meta.get("aliases")))),
        triggers=lines_of(list(text_list(meta.get("trigger_keywords")))),
        auth=Auth(all_of=needed, optional=tuple(primary)),
    )


def vendor_section(metadata: object) -> dict[str, Any]:
    """The runtime's section of `metadata`, under any of its names; metadata may be JSON in a string."""
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            return {}
    if not isinstance(metadata, dict):
        return {}
    for vendor in _VENDORS:
        if isinstance(section := metadata.get(vendor), dict):
            return section
    return {}
