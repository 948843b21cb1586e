"""The compiled catalog: one JSON file that planning reads in milliseconds, keyed by the content it was made from."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from planner.catalog.model import Auth, Group, Leaf, leaf_record
from planner.paths import content_of

FILE = "compiled.json"
FORMAT = 1
LEARNED, POSTINGS = "learned", "postings 2"  # kinds of scorers; the number is that of what the weights mean


def stamp(root: Path) -> str:
    """What a compiled file must have been made from to be fresh.

    The content of L0 and L1, and the sizes of the leaf pages and examples, which planning never opens.
    """
    digest = hashlib.sha256(f"format {FORMAT}".encode())
    router = root / "router"
    for path in sorted([*router.glob("*.yaml"), *router.glob("*.md"), *(router / "groups").glob("*.md")]):
        digest.update(path.name.encode() + b"\0" + _readable(path).replace(b"\r\n", b"\n"))
    for name in (*_pages(root), "examples.jsonl"):
        digest.update(f"{name} {_size(f'{root}/{name}')}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def _readable(path: Path) -> bytes:
    """What is in a file; one that cannot be read is told about when the pages are read, and has no content here."""
    try:
        return content_of(path)
    except OSError:
        return b""


def _pages(root: Path) -> list[str]:
    """The leaf pages there may be, from the catalog's folder on. Strings: 10,000 paths would take .1 s."""
    try:
        return [f"channels/{name}/SKILL.md" for name in sorted(os.listdir(root / "channels"))]  # noqa: PTH208
    except OSError:
        return []


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - see _pages
    except OSError:
        return -1


def version_of(record: Mapping[str, Any]) -> str:
    """The catalog version: a hash over everything a plan depends on."""
    content = {key: value for key, value in record.items() if key not in ("stamp", "version")}
    return "sha256:" + hashlib.sha256(to_json(content).encode()).hexdigest()[:16]


def to_json(record: Mapping[str, Any]) -> str:
    """Canonical JSON: the same record gives the same bytes."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def read_compiled(root: Path) -> dict[str, Any] | None:
    """The compiled record, fresh or not; None where there is none that can be read."""
    try:
        record = json.loads(content_of(root / FILE))
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and _understood(record) else None


def _understood(record: Mapping[str, Any]) -> bool:
    scorer = record.get("scorer")
    foreign = isinstance(scorer, dict) and scorer.get("kind") not in (LEARNED, POSTINGS)
    return record.get("format") == FORMAT and not foreign


def group_records(groups: list[Group]) -> list[dict[str, Any]]:
    """Groups as the compiled file holds them."""
    return [asdict(group) for group in groups]


def groups_from(records: list[dict[str, Any]]) -> tuple[Group, ...]:
    """The groups of a compiled file."""
    return tuple(Group(**{key: _frozen(value) for key, value in record.items()}) for record in records)


def leaf_records(leaves: list[Leaf], priors: Mapping[str, float]) -> list[dict[str, Any]]:
    """Leaves as the compiled file holds them."""
    rows = []
    for leaf in leaves:
        row = leaf_record(leaf) | {"groups": list(leaf.groups)}
        rows.append(row | ({"prior": prior} if (prior := priors.get(leaf.channel)) else {}))
    return rows


def leaves_from(records: list[dict[str, Any]]) -> tuple[Leaf, ...]:
    """The leaves of a compiled file, in catalog order."""
    return tuple(_leaf(record) for record in records)


def _leaf(record: dict[str, Any]) -> Leaf:
    fields = {key: _frozen(value) for key, value in record.items() if key != "auth"}
    auth = {key: tuple(names) for key, names in record.get("auth", {}).items()}
    return Leaf(**fields, auth=Auth(**auth))


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict):
        return {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}
    return value
