"""A tree of skills under a router with group indexes: the layout this planner's own format grew out of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from planner.catalog.frontmatter import FrontMatterError, Page, parse
from planner.catalog.importing.alternatives import auth_of
from planner.catalog.importing.found import Found, FoundGroup, Remark, Source, lines_of, one_line
from planner.catalog.importing.skills import skill_pages
from planner.catalog.model import name_key
from planner.catalog.pages import text_list
from planner.paths import content_of

_ROW = re.compile(r"^\|(.+)\|\s*$")
_NAMED = re.compile(r"`([^`]+)`")
_OTHER = "not-in-an-index"
_TIERS = ("fast", "standard", "best")


@dataclass(slots=True)
class _Tree:
    source: Source
    root: Path
    groups: dict[str, FoundGroup] = field(default_factory=dict)
    rows: dict[str, list[tuple[str, Found]]] = field(default_factory=dict)  # name key -> (group, the row as a card)


def router_page(root: Path) -> Path | None:
    """The router of such a tree, if there is one: router/SKILL.md with group indexes below it."""
    for path in sorted(root.rglob("router/SKILL.md")):
        if any(path.parent.rglob("groups/*.md")):
            return path
    return None


def read_tree(root: Path, router: Path) -> Source:
    """Groups from their indexes, leaves from their pages; a row or page without the other is told (rule CAT-1.2)."""
    tree = _Tree(Source(root.name), root)
    for path in sorted(router.parent.rglob("groups/*.md")):
        _read_index(path, tree)
    _read_hints(router, tree)
    pages = [p for p in skill_pages(root) if not p.is_relative_to(router.parent)]
    seen = {key for path in pages if (key := _read_leaf(path, tree))}
    for key, rows in tree.rows.items():
        if key not in seen:
            _from_row(rows, tree)
    _mark_native(tree)
    tree.source.groups = list(tree.groups.values())
    return tree.source


def _page(path: Path, tree: _Tree) -> Page | None:
    where = path.relative_to(tree.root).as_posix()
    try:
        return parse(content_of(path).decode("utf-8"))
    except (FrontMatterError, OSError, UnicodeDecodeError) as error:
        line = getattr(error, "line", None)
        tree.source.refused.append(Remark(f"{where}:{line}" if line else where, str(error)))
        return None


def _read_index(path: Path, tree: _Tree) -> None:
    page = _page(path, tree)
    if page is None:
        return
    name = one_line(page.meta.get("name")) or path.stem
    tree.groups[name] = FoundGroup(
        name,
        one_line(page.meta.get("description")),
        text_list(page.meta.get("domains")),
        text_list(page.meta.get("scenarios")),
    )
    where = path.relative_to(tree.root).as_posix()
    for at, cells in _rows(page.lines, page.end):
        if named := _NAMED.fullmatch(cells[0]):
            row = _row_card(named.group(1), cells, f"{where}:{at}")
            tree.rows.setdefault(name_key(row.name), []).append((name, row))


def _rows(lines: Iterable[str], start: int) -> Iterable[tuple[int, list[str]]]:
    for at, line in enumerate(lines, 1):
        if at > start and (row := _ROW.match(line)):
            yield at, [cell.strip() for cell in row.group(1).split("|")]


def _row_card(name: str, cells: list[str], where: str) -> Found:
    tier = next((cell for cell in cells[1:] if cell.lower() in _TIERS), "")
    return Found(name, one_line(cells[1]) if len(cells) > 1 else "", where, model_tier=tier)


def _read_hints(router: Path, tree: _Tree) -> None:
    """The table rows of the router whose last cell is a group: telling words, separated by slashes."""
    page = _page(router, tree)
    for _, cells in _rows(page.lines, page.end) if page else ():
        named = _NAMED.fullmatch(cells[-1])
        if named and named.group(1) in tree.groups and len(cells) > 1 and " / " in cells[0]:
            group = tree.groups[named.group(1)]
            terms = [one_line(term) for term in cells[0].split(" / ")]
            tree.groups[group.name] = replace(group, hints=(*group.hints, *filter(None, terms)))


def _read_leaf(path: Path, tree: _Tree) -> str | None:
    page = _page(path, tree)
    if page is None:
        return name_key(path.parent.name)
    where = path.relative_to(tree.root).as_posix()
    name = one_line(page.meta.get("name"))
    key = name_key(name or path.parent.name)
    if not _is_leaf(page.meta, key, tree):
        tree.source.notes.append(Remark(where, "neither in an index nor marked as a leaf: not imported"))
        return None
    auth, caveats = auth_of(page.meta)
    tree.source.notes += [Remark(where, caveat) for caveat in caveats]
    tree.source.add(_card(page.meta, name, where, _groups_of(page.meta, key, where, tree), auth))
    return key


def _is_leaf(meta: Mapping[str, Any], key: str, tree: _Tree) -> bool:
    return key in tree.rows or str(meta.get("layer") or "leaf") == "leaf"


def _groups_of(meta: Mapping[str, Any], key: str, where: str, tree: _Tree) -> tuple[str, ...]:
    if key in tree.rows:
        return tuple(dict.fromkeys(group for group, _ in tree.rows[key]))
    domains = set(text_list(meta.get("domains")))
    sharing = [g.name for g in tree.groups.values() if domains & set(g.domains)]
    group = sharing[0] if len(sharing) == 1 else _OTHER
    tree.source.notes.append(Remark(where, f"no index has a row for it; put into {group}"))
    tree.groups.setdefault(group, FoundGroup(group, "Leaves that no index of the source lists"))
    return (group,)


def _card(meta: dict[str, Any], name: str, where: str, groups: tuple[str, ...], auth: Any) -> Found:
    use = meta.get("when_to_use")
    use = use if isinstance(use, dict) else {}
    extra = {"avoid_for": list(text_list(use.get("avoid_for"))), "quality_hint": meta.get("quality_hint")}
    return Found(
        name=name,
        description=one_line(meta.get("description")),
        where=where,
        groups=groups,
        examples=lines_of(meta.get("examples")),
        aliases=lines_of(list(text_list(meta.get("aliases")))),
        triggers=lines_of(list(text_list(meta.get("trigger_keywords")))),
        domains=tuple(dict.fromkeys((*text_list(meta.get("domains")), *text_list(use.get("domain_hints"))))),
        scenarios=tuple(dict.fromkeys((*text_list(meta.get("scenarios")), *text_list(use.get("query_types"))))),
        languages=_languages((*text_list(meta.get("languages")), *text_list(use.get("query_languages")))),
        auth=auth,
        model_tier=one_line(meta.get("model_tier")),
        extra={key: value for key, value in extra.items() if value},
    )


def _languages(given: Iterable[str]) -> tuple[str, ...]:
    """`mixed` speaks of queries in two languages, not of a third one."""
    found: dict[str, None] = {}
    for language in given:
        found.update(dict.fromkeys(("zh", "en") if language == "mixed" else (language,)))
    return tuple(found)


def _from_row(rows: list[tuple[str, Found]], tree: _Tree) -> None:
    card = replace(rows[0][1], groups=tuple(dict.fromkeys(group for group, _ in rows)))
    if not card.description:
        tree.source.refused.append(Remark(card.where, f"{card.name} has no page, and its row does not describe it"))
        return
    tree.source.notes.append(Remark(card.where, f"{card.name} has no page: made from its row alone"))
    tree.source.add(card)


def _mark_native(tree: _Tree) -> None:
    """A group is native where every leaf of it that says anything about that says so."""
    said: dict[str, list[bool]] = {}
    for card in tree.source.found:
        hint = card.extra.get("quality_hint")
        if isinstance(hint, dict) and "chinese_native" in hint:
            for group in card.groups:
                said.setdefault(group, []).append(str(hint["chinese_native"]).lower() == "true")
    for name, votes in said.items():
        if all(votes):
            tree.groups[name] = replace(tree.groups[name], native=True, surface="zh")
