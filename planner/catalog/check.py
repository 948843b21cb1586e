"""Everything `planner catalog check` looks for, each with file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from planner.catalog.frontmatter import Page
from planner.catalog.index import group_path, stale_groups
from planner.catalog.model import Leaf, name_key
from planner.catalog.pages import Draft, Problem, text_list
from planner.errors import nearest


def check(draft: Draft) -> list[Problem]:
    """All problems of a catalog folder, those met while reading included."""
    found = [*draft.problems, *_vocabulary(draft), *_membership(draft), *_indexes(draft), *_digests(draft)]
    found += [*_names(draft), *_intents(draft), *_patterns(draft), *_descriptions(draft)]
    return sorted(dict.fromkeys(found), key=lambda p: (str(p.path), p.line, p.message))


def _vocabulary(draft: Draft) -> Iterator[Problem]:
    if not draft.vocabulary:
        return
    for leaf in draft.leaves:
        for field in ("domains", "scenarios"):
            yield from _unknown_terms(
                getattr(leaf, field), field, draft.leaf_pages[leaf.channel], draft.leaf_paths[leaf.channel], draft
            )
    for group in draft.groups:
        for field in ("domains", "scenarios"):
            yield from _unknown_terms(
                getattr(group, field), field, draft.group_pages[group.name], group_path(draft.root, group.name), draft
            )


def _unknown_terms(terms: Iterable[str], field: str, page: Page, path: Path, draft: Draft) -> Iterator[Problem]:
    known = draft.vocabulary.get(field, frozenset())
    for term in terms:
        if term not in known:
            hint = nearest(term, sorted(known))
            suffix = f"; did you mean {hint}?" if hint else ""
            yield Problem(path, page.line_of(field, term), f"{field}: {term!r} is not in the vocabulary{suffix}")


def _membership(draft: Draft) -> Iterator[Problem]:
    known = {leaf.channel for leaf in draft.leaves}
    for leaf in draft.leaves:
        if not leaf.groups:
            yield Problem(draft.leaf_paths[leaf.channel], 1, f"{leaf.channel} is in no group")
    for group in draft.groups:
        path, page = group_path(draft.root, group.name), draft.group_pages[group.name]
        for member in group.members:
            if member not in known:
                yield Problem(path, page.line_of("members", member), f"member {member!r} has no leaf page")
        for alias, members in group.families.items():
            for member in members:
                if member not in group.members:
                    where = page.line_of("families", alias)
                    yield Problem(
                        path, where, f"family {alias!r} names {member!r}, which is not a member of this group"
                    )


def _indexes(draft: Draft) -> Iterator[Problem]:
    for name in stale_groups(draft):
        message = "leaf metadata is out of date; run `planner catalog build`"
        yield Problem(group_path(draft.root, name), draft.group_pages[name].line_of("leaves"), message)


def _digests(draft: Draft) -> Iterator[Problem]:
    for leaf in draft.leaves:
        path, page = draft.leaf_paths[leaf.channel], draft.leaf_pages[leaf.channel]
        named = page.meta.get("experience_digest")
        if named and not (path.parent / str(named)).is_file():
            yield Problem(path, page.line_of("experience_digest"), f"dangling digest {named!r}")


def _names(draft: Draft) -> Iterator[Problem]:
    """A spelling that two leaves, or a leaf and a family, lay claim to."""
    owners: dict[str, str] = {}
    for leaf in draft.leaves:
        for key in dict.fromkeys(_keys(leaf.channel)):
            if (owner := owners.setdefault(key, leaf.channel)) != leaf.channel:
                yield Problem(draft.leaf_paths[leaf.channel], 1, f"the name {leaf.channel!r} is also {owner}'s")
    for leaf in draft.leaves:
        yield from _alias_clashes(leaf, owners, draft)
    for group in draft.groups:
        for alias in group.families:
            holder = owners.get(name_key(alias))
            if holder is not None:
                where = draft.group_pages[group.name].line_of("families", alias)
                yield Problem(group_path(draft.root, group.name), where, f"ambiguous family {alias!r}: also {holder}'s")


def _alias_clashes(leaf: Leaf, owners: dict[str, str], draft: Draft) -> Iterator[Problem]:
    path, page = draft.leaf_paths[leaf.channel], draft.leaf_pages[leaf.channel]
    seen: set[str] = set()
    for alias in text_list(page.meta.get("aliases")):
        key = name_key(alias)
        if key in seen:
            yield Problem(path, page.line_of("aliases", alias), f"duplicate alias {alias!r}")
        seen.add(key)
        owner = owners.setdefault(key, leaf.channel)
        if owner != leaf.channel:
            yield Problem(path, page.line_of("aliases", alias), f"ambiguous alias {alias!r}: also {owner}'s")


def _keys(name: str) -> tuple[str, str]:
    key = name_key(name)
    return key, key.replace("-", "")


def _intents(draft: Draft) -> Iterator[Problem]:
    path = draft.root / "router" / "intents.yaml"
    for section, known in draft.vocabulary.items():
        for intent in draft.intents.get(section) or ():
            if intent not in known:
                yield Problem(path, 1, f"{section}: {intent!r} is not in the vocabulary")


def _patterns(draft: Draft) -> Iterator[Problem]:
    for leaf in draft.leaves:
        for pattern in leaf.patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                page = draft.leaf_pages[leaf.channel]
                where = page.line_of("mention_patterns")
                yield Problem(draft.leaf_paths[leaf.channel], where, f"mention_patterns: {pattern!r}: {error}")


def _descriptions(draft: Draft) -> Iterator[Problem]:
    for leaf in draft.leaves:
        if not leaf.description:
            page = draft.leaf_pages[leaf.channel]
            yield Problem(draft.leaf_paths[leaf.channel], page.line_of("description"), "description is missing")
