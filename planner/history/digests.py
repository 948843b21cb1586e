"""Experience digests: which leaves have a recent Active Rule that fits the query. Reading never fails."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

from planner.catalog.model import Catalog, Leaf
from planner.catalog.reading import Reading
from planner.text import normalise

_HEADING = re.compile(r"(#{1,6})\s*(.*)")
_BULLET = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+(.*)")
# where the figures behind a rule begin: a dash or bracket and their first word
_FIGURES = re.compile(r"(?:\s(?:[—–―]|--?)\s*|\s*[(\[])(?=(seen|success|last[ _]verified|verified)\b)", re.IGNORECASE)
_VERIFIED = re.compile(r"verified\W{0,12}(\S*)", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_MOST = 65_536  # characters of a digest that are read
_NOTHING = re.compile(r"[\W_]*(?:none(?: yet)?|nothing(?: yet)?|n/?a|暂无|无)[\W_]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ActiveRule:
    """A rule of a digest: its words, normalised, and when it was last verified (None: unknown)."""

    text: str
    verified: date | None


def parse_digest(text: str) -> tuple[ActiveRule, ...]:
    """Active Rules of a digest, whoever wrote it (rule HIS-6.1)."""
    rules, level = [], 0  # level of the heading of the rules, while inside
    for line in text.removeprefix("\ufeff").splitlines():
        if heading := _HEADING.match(line):
            depth = len(heading.group(1))
            if not level or depth <= level:
                level = depth if heading.group(2).strip().lower().startswith("active rules") else 0
        elif level and (bullet := _BULLET.match(line)) and not _NOTHING.fullmatch(bullet.group(1)):
            rules.append(_rule(bullet.group(1)))
    return tuple(rules)


def _rule(line: str) -> ActiveRule:
    """The last `seen` begins the figures, because a rule may speak of such things itself."""
    marks = list(_FIGURES.finditer(line))
    seen = [mark for mark in marks if mark.group(1).lower() == "seen"]
    at = (seen or marks)[-1].start() if marks else len(line)
    return ActiveRule(normalise(line[:at]), _verified(line[at:] if marks else line))


def _verified(figures: str) -> date | None:
    stated = _VERIFIED.search(figures)
    found = _DATE.search(stated.group(1) if stated else figures)
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
    oldest = date.fromordinal(max(1, today.toordinal() - days))
    newest = date.fromordinal(min(date.max.toordinal(), today.toordinal() + 1))  # another time zone may be a day ahead
    folders = tuple(folder for folder in folders if folder.is_dir())
    found = set()
    for leaf in leaves:
        for rule in _digest(leaf, folders):
            if rule.verified and oldest <= rule.verified <= newest and _fits(rule, leaf, reading, catalog):
                found.add(leaf.channel)
                break
    return frozenset(found)


def _digest(leaf: Leaf, folders: tuple[Path, ...]) -> tuple[ActiveRule, ...]:
    for folder in folders:
        path = f"{folder}/{leaf.channel}/{leaf.digest}"  # a plan looks for dozens: Path objects would take longer
        try:
            found = os.stat(path)  # noqa: PTH116
        except OSError:
            continue
        return _parsed(path, found.st_mtime_ns) if S_ISREG(found.st_mode) else ()
    return ()


@lru_cache(maxsize=256)
def _parsed(path: str, _changed: int) -> tuple[ActiveRule, ...]:
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as stream:
            return parse_digest(stream.read(_MOST))
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
