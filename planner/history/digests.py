"""Experience digests: which leaves have a recent Active Rule that fits the query. Reading never fails."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

from planner.catalog.model import Catalog, Leaf
from planner.catalog.reading import Reading
from planner.text import normalise

_HEADING = re.compile(r"#{1,6}\s*(.*)")
_BULLET = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+(.*)")
_VERIFIED = re.compile(r"verified\D{0,12}(\d{4})-(\d{2})-(\d{2})", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_NOTHING = re.compile(r"none(?: yet)?\.?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ActiveRule:
    """A rule of a digest: its words, normalised, and when it was last verified (None: unknown)."""

    text: str
    verified: date | None


def parse_digest(text: str) -> tuple[ActiveRule, ...]:
    """Active Rules of a digest, whoever wrote it."""
    rules, inside = [], False
    for line in text.removeprefix("\ufeff").splitlines():
        if heading := _HEADING.match(line):
            inside = heading.group(1).strip().lower().startswith("active rules")
        elif inside and (bullet := _BULLET.match(line)) and not _NOTHING.match(bullet.group(1).strip()):
            rules.append(ActiveRule(normalise(bullet.group(1)), _verified(bullet.group(1))))
    return tuple(rules)


def _verified(line: str) -> date | None:
    found = _VERIFIED.search(line) or _DATE.search(line)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def boosted_channels(
    leaves: Iterable[Leaf], reading: Reading, catalog: Catalog, folders: tuple[Path, ...], today: date, days: int
) -> frozenset[str]:
    """Channels with an Active Rule verified within `days` that matches the query (rules SEL-4.3, SEL-8.4).

    `folders`: where digests are looked for, in order; the first that has one for a leaf decides.
    """
    oldest = today - timedelta(days=days)
    folders = tuple(folder for folder in folders if folder.is_dir())
    found = set()
    for leaf in leaves:
        for rule in _digest(leaf, folders):
            if rule.verified and oldest <= rule.verified <= today and _fits(rule, leaf, reading, catalog):
                found.add(leaf.channel)
                break
    return frozenset(found)


def _digest(leaf: Leaf, folders: tuple[Path, ...]) -> tuple[ActiveRule, ...]:
    for folder in folders:
        path = f"{folder}/{leaf.channel}/{leaf.digest}"  # a plan looks for dozens: Path objects would take longer
        try:
            return _parsed(path, os.stat(path).st_mtime_ns)  # noqa: PTH116
        except OSError:
            continue
    return ()


@lru_cache(maxsize=256)
def _parsed(path: str, _changed: int) -> tuple[ActiveRule, ...]:
    try:
        return parse_digest(Path(path).read_text("utf-8", "replace"))
    except OSError:
        return ()


def _fits(rule: ActiveRule, leaf: Leaf, reading: Reading, catalog: Catalog) -> bool:
    """The rule shares an intent, a name or a trigger with the query; the leaf's own name says nothing."""
    if any(intent in rule.text or intent.replace("-", " ") in rule.text for intent in reading.intents):
        return True
    words = {term for terms in reading.wanted.values() for term in terms}
    words |= {t for terms in reading.keywords.values() for t in terms} | {
        t for ts in reading.hints.values() for t in ts
    }
    own = {normalise(name) for name in (leaf.channel, *leaf.aliases)} - set(reading.keywords.get(leaf.channel, ()))
    return any(word in rule.text for word in words - own)
