"""A catalog folder as text files, in the format of the shipped one: every file may be edited and built again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.catalog.importing.found import FoundGroup
from planner.catalog.importing.naming import Named
from planner.catalog.model import CUED, SKILL_PREFIX

_TIERS = ("Fast", "Standard", "Best")

# Beside one of these even a name that is an ordinary word is meant as a name.
_CUES = {
    "place_before": ["use", "using", "via", "call", "invoke", "用", "使用", "调用", "通过"],
    "place_after": ["tool", "plugin", "plug-in", "skill", "extension", "工具", "插件", "技能"],
    "excluded_before": [
        "not",
        "no",
        "except",
        "without",
        "avoid",
        "skip",
        "instead of",
        "不要",
        "别用",
        "不用",
        "除了",
    ],
}


def write_catalog(
    root: Path, cards: Sequence[Named], groups: Sequence[FoundGroup], members: Mapping[str, list[str]], label: str
) -> None:
    """Writes router, group indexes and leaf pages below an existing empty folder."""
    (root / "router" / "groups").mkdir(parents=True)
    _write(root / "router" / "SKILL.md", _router(groups, label), f"# Router\n\nImported from {label}.\n")
    (root / "router" / "cues.yaml").write_text(_yaml(_CUES), "utf-8")
    for group in groups:
        _write(root / "router" / "groups" / f"{group.name}.md", _group(group, members[group.name]), f"# {group.name}\n")
    for card in cards:
        page = root / "channels" / card.channel / "SKILL.md"
        page.parent.mkdir(parents=True)
        _write(page, _leaf(card), f"# {card.card.name}\n\nImported from {card.card.where}.\n")


def _write(path: Path, front: Mapping[str, Any], body: str) -> None:
    path.write_text(f"---\n{_yaml(front)}---\n{body}", "utf-8", newline="\n")


def _router(groups: Sequence[FoundGroup], label: str) -> dict[str, Any]:
    hints = {group.name: list(group.hints) for group in groups if group.hints}
    return {
        "name": "router",
        "description": f"Entry point of the catalog imported from {label}",
        "groups": [group.name for group in groups],
        "keyword_hints": hints,
    }


def _group(group: FoundGroup, members: Sequence[str]) -> dict[str, Any]:
    return {
        "name": group.name,
        "description": group.description or group.name,
        "domains": list(group.domains),
        "scenarios": list(group.scenarios),
        "surface": group.surface,
        "native": group.native,
        "fallback": False,
        "members": list(members),
        "families": {},
    }


def _leaf(named: Named) -> dict[str, Any]:
    card = named.card
    lists = {
        "domains": card.domains, "scenarios": card.scenarios, "trigger_keywords": card.triggers,
        "aliases": named.aliases, "examples": card.examples, "languages": card.languages,
    }  # fmt: skip
    auth = {key: list(getattr(card.auth, key)) for key in ("all_of", "any_of", "optional") if getattr(card.auth, key)}
    front: dict[str, Any] = {
        "name": SKILL_PREFIX + named.channel, "description": card.description, "kind": "channel", "mentions": CUED,
    }  # fmt: skip
    front |= {key: list(values) for key, values in lists.items() if values}
    if card.model_tier.capitalize() in _TIERS:
        front["model_tier"] = card.model_tier.capitalize()
    return front | ({"auth": auth} if auth else {}) | card.extra


def _yaml(value: Mapping[str, Any]) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(
        dict(value), Dumper=dumper, allow_unicode=True, sort_keys=False, width=1_000_000, default_flow_style=None
    )
    return text
