"""A catalog of thousands of leaves: mapped instead of parsed, and planned over a shortlist a query.

Everything after the reading, the judge of whatever kind included, sees a small catalog: the leaves that the scorer
finds most relevant, those that query or request name, and what the guard and the fallback may need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Any

from planner.catalog.compiled import POSTINGS, groups_from, leaves_from
from planner.catalog.features import ends
from planner.catalog.intents import Intents
from planner.catalog.large_lexicon import ByChannel, LargeLexicon
from planner.catalog.lexicon import Names, host_rows, name_terms, soft_terms, typeable
from planner.catalog.lookup import beginnings
from planner.catalog.matcher import term_table
from planner.catalog.model import Catalog, Leaf, name_key, name_table
from planner.catalog.naming import Cues
from planner.catalog.pack import Pack, PackedLeaves, PackedTerms, packed
from planner.catalog.reading import Reading
from planner.catalog.shortlist import Shortlisted, SparseScorer

LARGE = 64  # leaves from which a catalog is packed and planned over a shortlist
POOL = 96  # relevant leaves looked at
BEST = 24  # of them kept
ENOUGH = 8  # leaves a plan can always choose from; leaves of a fallback or native group
MENTIONED = 96  # leaves named by query or request


def is_large(record: Mapping[str, Any]) -> bool:
    """Whether a compiled record is better packed: many leaves, and a scorer that finds few of them a query."""
    return len(record["leaves"]) >= LARGE and record["scorer"].get("kind") == POSTINGS


def pack_record(record: Mapping[str, Any]) -> bytes:
    """A compiled record as a pack: the tables that loading would work out are in it."""
    groups, leaves = groups_from(record["groups"]), leaves_from(record["leaves"])
    cues = Cues(**{key: tuple(terms) for key, terms in record["cues"].items()})
    names = name_terms(groups, leaves)
    terms = term_table(soft_terms(groups, leaves, cues))
    place = {leaf.channel: at for at, leaf in enumerate(leaves)}
    head = {key: value for key, value in record.items() if key not in ("leaves", "scorer")}
    head |= {
        "channels": [leaf.channel for leaf in leaves],
        "names": {term: place[n.channels[0]] for term, n in names.items() if _single(n) and not n.cued},
        "cued": {term: place[n.channels[0]] for term, n in names.items() if _single(n) and n.cued},
        "families": {term: [n.channels, n.group] for term, n in names.items() if not _single(n)},
        "soft": terms,
        "longest": beginnings((*names, *terms)),
        "hosts": host_rows(leaves),
        "patterns": [[pattern, leaf.channel] for leaf in leaves for pattern in leaf.patterns],
        "spellings": typeable(groups, leaves),
        "spelled": _places(name_table(groups, leaves), place),
    }
    return packed(head, record["leaves"], record["scorer"]["terms"])


def _single(names: Names) -> bool:
    return not names.family


def _places(table: Mapping[str, Sequence[str]], place: Mapping[str, int]) -> dict[str, int | list[int]]:
    """A name -> the place of its channel, or the places of several."""
    found: dict[str, int | list[int]] = {}
    for key, channels in table.items():
        known = [place[c] for c in channels if c in place]
        found[key] = known[0] if len(known) == 1 else known
    return found


@dataclass(frozen=True)
class LargeCatalog(Catalog):
    """See the module. `places`: place of each channel; `spelled`: name key -> places of the channels it means."""

    places: Mapping[str, int] = None  # type: ignore[assignment]
    spelled: Mapping[str, int | list[int]] = None  # type: ignore[assignment]

    @property
    def leaf_by_channel(self) -> Mapping[str, Leaf]:
        """Leaves by bare channel name, each made when it is asked for."""
        return ByChannel(self.leaves, self.places)

    @property
    def leaf_index(self) -> Mapping[str, int]:
        """Place in catalog order by bare channel name."""
        return self.places

    def channels_named(self, name: str) -> tuple[str, ...]:
        """See Catalog."""
        found = self.spelled.get(name_key(name), [])
        return tuple(self.leaves[at].channel for at in ([found] if isinstance(found, int) else found))

    def shortlist(self, reading: Reading, wanted: Iterable[str], allowed: Callable[[Leaf], bool]) -> Catalog:
        """See Catalog."""
        assert isinstance(self.scorer, SparseScorer)
        text = ends(reading.text)
        relevance = self.scorer.sparse(text)
        chosen = self._chosen(relevance, reading, wanted, allowed)
        leaves = tuple(self.leaves[at] for at in chosen)
        held: dict[str, list[str]] = {}
        for leaf in leaves:
            for group in leaf.groups:
                held.setdefault(group, []).append(leaf.channel)
        known = {leaf.channel for leaf in leaves}
        groups = tuple(
            replace(group, members=tuple(held[group.name]), families=_within(group.families, known))
            for group in self.groups
            if group.name in held
        )
        return Catalog(
            self.version, groups, leaves, self.lexicon, self.intents,
            Shortlisted(self.scorer, chosen, text, relevance), self.root, self.warnings,
        )  # fmt: skip

    def _chosen(
        self, relevance: Mapping[int, float], reading: Reading, wanted: Iterable[str], allowed: Callable[[Leaf], bool]
    ) -> list[int]:
        """Places of the shortlist in catalog order."""
        named = [*wanted, *reading.named, *(c for f in reading.families.values() for c in f), *reading.keywords]
        chosen = dict.fromkeys(self.places[c] for c in named[:MENTIONED] if c in self.places)
        found, held = 0, dict[str, int]()
        for at in _most_relevant(relevance):
            home = next(iter(self.leaves[at].groups), "")
            # a group is judged by its two best leaves, so the second one of a group that is in comes along
            if (found < BEST or held.get(home) == 1) and allowed(self.leaves[at]):
                chosen[at] = None
                found += 1
                held[home] = held.get(home, 0) + 1
        if found < ENOUGH:
            chosen |= dict.fromkeys(self._any(allowed, ENOUGH))
        for group in self.groups:
            if group.fallback or (group.native and reading.han):
                chosen |= dict.fromkeys(self._best_of(group.members, relevance, allowed))
        return sorted(chosen)

    def _any(self, allowed: Callable[[Leaf], bool], count: int) -> Iterator[int]:
        for at, leaf in enumerate(self.leaves):
            if count and leaf.is_channel and allowed(leaf):
                count -= 1
                yield at
            if not count:
                return

    def _best_of(
        self, members: Sequence[str], relevance: Mapping[int, float], allowed: Callable[[Leaf], bool]
    ) -> list[int]:
        places = sorted((self.places[m] for m in members if m in self.places), key=lambda at: -relevance.get(at, 0.0))
        return [at for at in places[:POOL] if allowed(self.leaves[at])][:ENOUGH]


def _most_relevant(relevance: Mapping[int, float]) -> list[int]:
    """Places of the POOL most relevant leaves, best first, equal ones in catalog order."""
    best = nlargest(POOL, relevance.values())
    floor = best[-1] if best else 0.0
    inside = [(-value, at) for at, value in relevance.items() if value >= floor]
    return [at for _, at in sorted(inside)[:POOL]]


def _within(families: Mapping[str, tuple[str, ...]], known: set[str]) -> dict[str, tuple[str, ...]]:
    return {alias: kept for alias, members in families.items() if (kept := tuple(m for m in members if m in known))}


def large_catalog(data: memoryview, root: Any) -> LargeCatalog:
    """The catalog a pack holds. Raises ValueError when it is none."""
    pack = Pack(data)
    head, leaves = pack.head, PackedLeaves(pack)
    cues = Cues(**{key: tuple(terms) for key, terms in head["cues"].items()})
    places = {channel: at for at, channel in enumerate(head["channels"])}
    return LargeCatalog(
        version=head["version"],
        groups=groups_from(head["groups"]),
        leaves=leaves,
        lexicon=LargeLexicon(head, ByChannel(leaves, places), cues),
        intents=Intents(head["intents"]),
        scorer=SparseScorer(PackedTerms(pack), len(leaves)),
        root=root,
        warnings=tuple(head["warnings"]),
        places=places,
        spelled=head["spelled"],
    )
