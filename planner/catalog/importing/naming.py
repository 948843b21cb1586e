"""Names of a foreign source → names of ours: one channel a card, the source's own name kept as an alias."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from planner.catalog.importing.found import Found, Remark, Source
from planner.catalog.model import name_key

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_APART = re.compile(r"[\W_]+")
_LONGEST = 64
_NAMELESS = "unnamed"


@dataclass(frozen=True, slots=True)
class Named:
    """A card with the channel name it gets and the aliases that are its own."""

    card: Found
    channel: str
    aliases: tuple[str, ...]


def slug(name: str) -> str:
    """A name as folders and front matter hold it: words, camel case too, in lower case with `-` between them."""
    words = [word for word in _APART.split(_CAMEL.sub(" ", name)) if word]
    return name_key("-".join(words))[:_LONGEST].strip("-") or _NAMELESS


def named(source: Source) -> list[Named]:
    """Each card with a channel of its own; what had to be renamed or dropped is noted (rule CAT-2.1)."""
    owners: dict[str, str] = {}
    channels = [_claim(card, owners, source) for card in source.found]
    return [
        Named(card, channel, _aliases(card, channel, owners, source))
        for card, channel in zip(source.found, channels, strict=True)
    ]


def _claim(card: Found, owners: dict[str, str], source: Source) -> str:
    wanted = slug(card.name)
    channel, number = wanted, 1
    while any(key in owners for key in _keys(channel)):
        number += 1
        channel = f"{wanted}-{number}"
    if number > 1:
        source.notes.append(Remark(card.where, f"{card.name}: the name {wanted} is taken; it became {channel}"))
    owners.update(dict.fromkeys(_keys(channel), channel))
    return channel


def _keys(channel: str) -> tuple[str, str]:
    key = name_key(channel)
    return key, key.replace("-", "")


def _aliases(card: Found, channel: str, owners: dict[str, str], source: Source) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for alias in (card.name, *card.aliases):
        key = name_key(alias)
        if not key or key in kept or "," in alias:
            continue
        if owners.setdefault(key, channel) == channel:
            kept[key] = alias
        else:
            source.notes.append(Remark(card.where, f"alias {alias!r} is {owners[key]}'s: dropped for {channel}"))
    return tuple(kept.values())


def by_group(cards: Sequence[Named], groups: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """Group -> its channels, both in the order they were met."""
    table: dict[str, list[str]] = {}
    for card, names in zip(cards, groups, strict=True):
        for name in names:
            table.setdefault(name, []).append(card.channel)
    return table
