"""Which reader a source needs: by what lies at the path."""

from __future__ import annotations

from pathlib import Path

from planner.catalog.importing.found import Source
from planner.catalog.importing.jsonl import read_jsonl
from planner.catalog.importing.skills import read_skills
from planner.catalog.importing.tools import read_tools_file
from planner.catalog.importing.tree import read_tree, router_page
from planner.errors import InputError

ACCEPTED = (
    "a folder of SKILL.md files, a tree with router/SKILL.md and group indexes, a .jsonl of cards, "
    "a .json with a saved tools/list, the URL of an MCP server, or the command that starts one"
)


def read_source(path: Path) -> Source:
    """What a file or folder holds. Raises InputError when it is none of the kinds."""
    try:
        if path.is_dir():
            router = router_page(path)
            return read_tree(path, router) if router else read_skills(path)
        if path.suffix == ".jsonl":
            return read_jsonl(path)
        if path.suffix == ".json":
            return read_tools_file(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("SOURCE", str(path), f"{ACCEPTED} ({error})") from None
    raise InputError("SOURCE", str(path), ACCEPTED)
