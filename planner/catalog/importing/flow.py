"""The import on one screen: source → names → groups → folder → build → check → report."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from planner.catalog.build import build
from planner.catalog.check import check
from planner.catalog.importing.found import Found, FoundGroup, Remark, Source
from planner.catalog.importing.grouping import clustered
from planner.catalog.importing.naming import by_group, named, slug
from planner.catalog.importing.writing import write_catalog
from planner.catalog.pages import Problem, read_pages
from planner.errors import CatalogError, InputError

REPORT = "import.json"


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did. `groups`: group -> its channels; `names`: channel -> the source's name.

    `clustered`: groups made here because the source has none for their members. `refused`: what is not in the
    catalog, and why. `notes`: what is in it, with a caveat. `problems`: what `planner catalog check` finds.
    """

    source: str
    groups: dict[str, list[str]]
    names: dict[str, str]
    clustered: tuple[str, ...]
    refused: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    problems: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return asdict(self)


def import_catalog(source: Source, to: Path) -> Report:
    """Writes the catalog folder, whole or not at all (rule CAT-2.4). Raises InputError and CatalogError."""
    if not source.found:
        reasons = "; ".join(f"{r.where}: {r.reason}" for r in source.refused[:3])
        raise CatalogError(f"{source.label}: nothing could be imported" + (f" ({reasons})" if reasons else ""))
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise InputError("--to", str(to), "a folder that does not exist yet, or an empty one")
    partial = to.with_name(f".{to.name}.importing")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        report = _written(source, partial)
        if to.exists():
            to.rmdir()
        partial.replace(to)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return report


def _written(source: Source, root: Path) -> Report:
    placed, groups, made = _grouped(source)
    source = replace(source, found=placed)
    cards = named(source)
    members = by_group(cards, [card.card.groups for card in cards])
    write_catalog(root, cards, [group for group in groups if members.get(group.name)], members, source.label)
    build(root)
    problems = [_relative(problem, root) for problem in check(read_pages(root))]
    report = Report(
        source.label, members, {card.channel: card.card.name for card in cards}, made,
        tuple(source.refused), tuple(source.notes), tuple(problems),
    )  # fmt: skip
    (root / REPORT).write_text(json.dumps(report.as_json(), ensure_ascii=False, indent=1) + "\n", "utf-8")
    return report


def _relative(problem: Problem, root: Path) -> str:
    return str(replace(problem, path=problem.path.relative_to(root)))


def _grouped(source: Source) -> tuple[list[Found], list[FoundGroup], tuple[str, ...]]:
    """Every card with groups: the source's own, or clustered where it has none for a card."""
    given = {group.name: group for group in source.groups}
    spelled = {name: slug(name) for card in source.found for name in card.groups} | {n: slug(n) for n in given}
    groups = {slug(name): replace(group, name=slug(name)) for name, group in given.items()}
    for name, key in spelled.items():
        groups.setdefault(key, FoundGroup(key, name))
    loose = [card for card in source.found if not card.groups]
    names, made = clustered(loose) if loose else ([], [])
    fresh = {group.name: _unlike(group.name, groups) for group in made}
    groups |= {fresh[group.name]: replace(group, name=fresh[group.name]) for group in made}
    rest = iter(names)
    placed = [replace(c, groups=_keys(c, spelled) or (fresh[next(rest)],)) for c in source.found]
    return placed, list(groups.values()), tuple(fresh.values())


def _keys(card: Found, spelled: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spelled[name] for name in card.groups))


def _unlike(name: str, taken: dict[str, FoundGroup]) -> str:
    return f"{name}-2" if name in taken else name


def sizes(report: Report) -> Sequence[tuple[str, int]]:
    """Groups with how many leaves each holds, largest first."""
    return Counter({name: len(members) for name, members in report.groups.items()}).most_common()
