"""The lexicon: names, aliases, hosts, triggers and hints of a catalog, matched against a query in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple, Protocol

from planner.catalog.matcher import Match, Matcher, term_table
from planner.catalog.model import CUED, Group, Leaf
from planner.catalog.naming import EXCLUDED, PLACE, SUBJECT, Cues, roles
from planner.catalog.reading import Reading
from planner.text import KANA, MIXED_WORDS, has_han, language_of, latin_words, normalise

_URL = re.compile(r"(?:https?://|(?<![\w@.])(?:www\.)?)([a-z0-9-]+(?:\.[a-z0-9-]+)+)(/[^\s\"'<>()，。、）]*)?")
_WORD = re.compile(r"(?<![\w.@/-])[a-z][a-z.]{1,20}[a-z](?![\w@/-])")
_TWO_WORDS = re.compile(r"[a-z]{3,} [a-z]{4,}")
_SWALLOWED = ("swallow", "")


class Names(NamedTuple):
    """What a mention means: its channels, and the group it names. `cued`: only beside a cue is it a mention."""

    channels: tuple[str, ...]
    group: str | None
    family: bool
    cued: bool = False


class Finder(Protocol):
    """Finds terms in text."""

    def find(self, text: str) -> list[Match]:
        """Matches in text order, none overlapping another."""
        ...


class Lexicon:
    """All terms of a catalog. Immutable once built; safe to share."""

    def __init__(self, groups: Sequence[Group], leaves: Sequence[Leaf], cues: Cues) -> None:
        self._cues = cues
        self._groups_of: Mapping[str, tuple[str, ...]] = {leaf.channel: leaf.groups for leaf in leaves}
        self._names: Mapping[str, Names] = name_terms(groups, leaves)
        self._terms: Mapping[str, Sequence[Any]] = term_table(soft_terms(groups, leaves, cues))
        self._matcher: Finder = Matcher(dict.fromkeys([*self._names, *self._terms]), strong=self._names)
        self._hosts: Mapping[str, Sequence[Sequence[str]]] = host_rows(leaves)
        self._patterns = [(re.compile(p), leaf.channel) for leaf in leaves for p in leaf.patterns]
        self._spellings = by_start(typeable(groups, leaves))

    def read(self, query: str) -> Reading:
        """What the query says about where to look; intents are added by the caller."""
        text = " ".join(normalise(query).split())
        urls = list(_URL.finditer(text)) if "." in text else []
        matches = [m for m in self._matcher.find(text) if not any(u.start() <= m.start < u.end() for u in urls)]
        named = [m for m in matches if m.term in self._names and not self._everyday(m, text)]
        mentions = sorted(named + self._typos(text, matches, urls))
        role = roles(text, mentions, self._cues)
        placed = self._placed(text, [m for m in mentions if role[m] == PLACE], urls)
        keywords, hints = self._soft(matches, role)
        for channel, term in placed.terms:
            keywords.setdefault(channel, {})[term] = None
        return Reading(
            query=query,
            text=text,
            language=language_of(query, self._counted_words(query, mentions)),
            han=has_han(query),
            kana=KANA.search(query) is not None,
            named=tuple(placed.channels),
            named_groups=frozenset(placed.groups),
            families=placed.families,
            subjects=self._channels([m for m in mentions if role[m] == SUBJECT]),
            avoided=self._channels([m for m in mentions if role[m] == EXCLUDED]),
            keywords={c: tuple(terms) for c, terms in keywords.items()},
            hints={g: tuple(terms) for g, terms in hints.items()},
        )

    def _everyday(self, mention: Match, text: str) -> bool:
        """Whether it is only a word that some leaf happens to be called by (rule CAT-2.5)."""
        names = self._names[mention.term]
        return names.cued and not self._cues.beside(text, mention.start, mention.end)

    def keywords_of(self, text: str) -> Iterable[tuple[str, str]]:
        """(channel, term) of every name and trigger in a normalised text, whatever its role."""
        for match in self._matcher.find(text):
            if (names := self._names.get(match.term)) and not names.cued:
                yield from ((channel, match.term) for channel in names.channels)
            yield from ((target, match.term) for kind, target in self._terms.get(match.term, ()) if kind == "trigger")

    def hints_of(self, text: str) -> Iterable[tuple[str, str]]:
        """(group, term) of every hint in a normalised text."""
        for match in self._matcher.find(text):
            yield from ((target, match.term) for kind, target in self._terms.get(match.term, ()) if kind == "hint")

    def _channels(self, mentions: Sequence[Match]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(c for m in mentions for c in self._names[m.term].channels))

    def _soft(
        self, matches: Sequence[Match], role: Mapping[Match, str]
    ) -> tuple[dict[str, dict[str, None]], dict[str, dict[str, None]]]:
        keywords: dict[str, dict[str, None]] = {}
        hints: dict[str, dict[str, None]] = {}
        for match in matches:
            if role.get(match, PLACE) != PLACE:
                continue  # a platform that is only talked about, or to be avoided, is no reason to search anything
            for kind, target in self._terms.get(match.term, ()):
                if kind == "trigger":
                    keywords.setdefault(target, {})[match.term] = None
                elif kind == "hint":
                    hints.setdefault(target, {})[match.term] = None
        return keywords, hints

    def _placed(self, text: str, mentions: Sequence[Match], urls: Sequence[re.Match[str]]) -> _Placed:
        placed = _Placed([], set(), {}, [])
        spans = [(m.start, m.term, self._names[m.term]) for m in mentions]
        spans += [(at, term, self._single(c)) for at, term, c in self._by_pattern(text)]
        spans += [(at, host, names) for at, host, names in self._by_host(urls)]
        for _, term, names in sorted(spans, key=lambda s: s[0]):
            if names.group:
                placed.groups.add(names.group)
            if names.family and len(names.channels) > 1:
                placed.families[term] = names.channels
                continue
            for channel in names.channels:
                placed.groups.update(self._groups_of.get(channel, ()))
                placed.terms.append((channel, term))
                if channel not in placed.channels:
                    placed.channels.append(channel)
        return placed

    @staticmethod
    def _single(channel: str) -> Names:
        return Names((channel,), None, family=False)

    def _by_pattern(self, text: str) -> Iterable[tuple[int, str, str]]:
        for pattern, channel in self._patterns:
            if found := pattern.search(text):
                yield found.start(), found.group().strip(), channel

    def _by_host(self, urls: Sequence[re.Match[str]]) -> Iterable[tuple[int, str, Names]]:
        for url in urls:
            host, path = url.group(1), url.group(2) or ""
            if channels := _host_channels(self._hosts, host, path):
                yield url.start(), host, Names(channels, None, family=len(channels) > 1)

    def _typos(self, text: str, matches: Sequence[Match], urls: Sequence[re.Match[str]]) -> list[Match]:
        covered = {n for m in matches for n in range(m.start, m.end)}
        covered.update(n for u in urls for n in range(u.start(), u.end()))
        words = [w for w in _WORD.finditer(text) if w.start() not in covered and w.group() not in self._cues.not_typos]
        pairs = [(a.start(), b.end()) for a, b in pairwise(words) if b.start() == a.end() + 1]
        spans = [w.span() for w in words] + pairs
        meant = {typed: self._meant(typed) for typed in {text[start:end] for start, end in spans}}
        return [Match(start, end, name) for start, end in spans if (name := meant[text[start:end]])]

    def _meant(self, typed: str) -> str | None:
        near = self._spellings.get(_start(typed))
        return _one_slip_away(typed, near) if near and len(typed) >= 5 else None

    def _counted_words(self, query: str, mentions: Sequence[Match]) -> int:
        """Latin words that are not channel names, as far as it matters (rule SEL-3.5)."""
        named = {word for m in mentions for word in re.findall(r"[a-z0-9]+", m.term)}
        words = (word for word in latin_words(query) if normalise(word) not in named)
        return sum(1 for _ in islice(words, MIXED_WORDS))


class _Placed(NamedTuple):
    channels: list[str]
    groups: set[str]
    families: dict[str, tuple[str, ...]]
    terms: list[tuple[str, str]]


def name_terms(groups: Sequence[Group], leaves: Sequence[Leaf]) -> dict[str, Names]:
    table: dict[str, Names] = {}
    for group in groups:
        for alias, members in group.families.items():
            for term in _variants(alias):
                table[term] = Names(members, group.name, family=True)
    for leaf in leaves:
        for name in (leaf.channel, *leaf.aliases):
            for term in _variants(name):
                cued = leaf.mentions == CUED and not _unmistakable(term, leaf.channel)
                table[term] = Names((leaf.channel,), None, family=False, cued=cued)
    return table


def _unmistakable(term: str, channel: str) -> bool:
    """A spelling ordinary text does not have: with `_`, or the words of the name written as one."""
    return "_" in term or ("-" in channel and term == channel.replace("-", ""))


def _variants(name: str) -> set[str]:
    """`hacker news` is also typed hacker-news and hackernews."""
    spaced = " ".join(name.replace("_", " ").replace("-", " ").split())
    return {name, spaced, spaced.replace(" ", "-"), spaced.replace(" ", "")}


def soft_terms(groups: Sequence[Group], leaves: Sequence[Leaf], cues: Cues) -> Iterable[tuple[str, tuple[str, str]]]:
    for leaf in leaves:
        yield from ((term, ("trigger", leaf.channel)) for term in leaf.triggers)
    for group in groups:
        yield from ((term, ("hint", group.name)) for term in group.hints)
    yield from ((term, _SWALLOWED) for term in (*cues.not_places, *cues.swallow))


def host_rows(leaves: Sequence[Leaf]) -> dict[str, list[tuple[str, str]]]:
    rows: dict[str, list[tuple[str, str]]] = {}
    for leaf in leaves:
        for entry in leaf.hosts:
            host, _, path = entry.partition("/")
            rows.setdefault(host, []).append((path, leaf.channel))
    return rows


def _host_channels(rows: Mapping[str, Sequence[Sequence[str]]], host: str, path: str) -> tuple[str, ...]:
    """Channels of the longest known suffix of the host; those whose path segment is in the URL go first alone."""
    labels = host.split(".")
    for skip in range(len(labels) - 1):
        if found := rows.get(".".join(labels[skip:])):
            segments = set(path.split("/"))
            exact = [channel for segment, channel in found if segment and segment in segments]
            return tuple(dict.fromkeys(exact or [channel for segment, channel in found if not segment]))
    return ()


def typeable(groups: Sequence[Group], leaves: Sequence[Leaf]) -> tuple[str, ...]:
    """Names long enough that one slip in them is still recognisable: one word of 5 letters, or two words of 8."""
    plain = [leaf for leaf in leaves if leaf.mentions != CUED]
    names = [n for leaf in plain for n in (leaf.channel, *leaf.aliases)] + [n for g in groups for n in g.families]
    terms = dict.fromkeys(name.replace("-", " ") for name in names)
    return tuple(t for t in terms if (_WORD.fullmatch(t) and len(t) >= 5) or (_TWO_WORDS.fullmatch(t) and len(t) >= 9))


def by_start(names: Iterable[str]) -> Mapping[tuple[str, int], Sequence[str]]:
    """Names by first letter and number of words: nobody mistypes these."""
    found: dict[tuple[str, int], list[str]] = {}
    for name in names:
        found.setdefault(_start(name), []).append(name)
    return found


def _start(name: str) -> tuple[str, int]:
    return name[0], name.count(" ")


def _one_slip_away(words: str, spellings: Sequence[str]) -> str | None:
    """The platform name this is a typo of: one edit in up to 8 letters, two in longer ones."""
    near = [n for n in spellings if abs(len(n) - len(words)) <= 2]
    if not near or words in near:
        return None
    allowed = {n: 1 if len(n) <= 8 else 2 for n in near}
    letters = set(words)
    near = [n for n in near if len(letters ^ set(n)) <= 2 * allowed[n]]  # cheap, and right: an edit changes two at most
    if not near:
        return None
    from rapidfuzz.distance import OSA

    best = min(near, key=lambda n: (OSA.distance(words, n), n))
    return best if OSA.distance(words, best) <= allowed[best] else None
