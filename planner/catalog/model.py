"""What a catalog is once loaded: groups, leaves, and the order they stand in. Plain frozen records, cheap to make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.catalog.intents import Intents
    from planner.catalog.lexicon import Lexicon
    from planner.catalog.reading import Reading
    from planner.catalog.scorer import Scorer

SKILL_PREFIX = "search-"
PLAIN, CUED = "plain", "cued"


@dataclass(frozen=True, slots=True)
class Auth:
    """Environment variables a leaf needs: all of `all_of`, and one of `any_of`; `optional` ones raise its limits."""

    all_of: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """Names of all variables that can be required."""
        return self.all_of + self.any_of

    def satisfied(self, env: Mapping[str, str]) -> bool:
        """Whether every required variable is set and not blank."""
        for name in self.all_of:
            if not _set(env, name):
                return False
        return not self.any_of or any(_set(env, v) for v in self.any_of)

    def label(self, env: Mapping[str, str]) -> str:
        """`free`, `paid (NAME set)` or `paid (NAME missing)`; names only, never a value."""
        if not self.required:
            return "free"
        missing = [v for v in self.all_of if not _set(env, v)]
        chosen = [v for v in self.any_of if _set(env, v)]
        if self.any_of and not chosen:
            missing.append(" or ".join(self.any_of))
        if missing:
            return f"paid ({', '.join(missing)} missing)"
        return f"paid ({', '.join([*self.all_of, *chosen[:1]])} set)"


def _set(env: Mapping[str, str], name: str) -> bool:
    return bool(env.get(name, "").strip())


@dataclass(frozen=True, slots=True)
class Leaf:
    """One skill. `name` is the skill (`search-zhihu`), `channel` the bare name; `prior` in 0..1 breaks ties.

    `mentions`: `plain`, its name in a query names it; `cued`, only beside a cue ("use chess", "chess plugin") or in a
    spelling that no ordinary text has (`what_to_watch`, `MapTool`), for names that may be everyday words.
    """

    name: str
    channel: str
    description: str
    groups: tuple[str, ...]
    kind: str = "channel"
    domains: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    mentions: str = PLAIN
    languages: tuple[str, ...] = ("any",)
    model_tier: str = "Fast"
    auth: Auth = Auth()
    cost_usd: float = 0.0
    digest: str = "experience.md"
    prior: float = 0.0

    @property
    def is_channel(self) -> bool:
        """Whether it can be searched."""
        return self.kind == "channel"

    def speaks(self, language: str) -> bool:
        """Whether its content is in `language`, or in any."""
        return language in self.languages or "any" in self.languages


@dataclass(frozen=True, slots=True)
class Group:
    """One entry of the router index. `members` are bare channel names, most useful first."""

    name: str
    description: str
    domains: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    surface: str = "neutral"
    native: bool = False
    fallback: bool = False
    recency_sensitive: bool = False
    requires_domain_match: bool = False
    members: tuple[str, ...] = ()
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Catalog:
    """A loaded catalog: everything planning reads, and nothing of the leaf pages."""

    version: str
    groups: tuple[Group, ...]
    leaves: Sequence[Leaf]
    lexicon: Lexicon
    intents: Intents
    scorer: Scorer
    root: Path
    warnings: tuple[str, ...] = ()

    @cached_property
    def group_by_name(self) -> Mapping[str, Group]:
        """Groups by name."""
        return {group.name: group for group in self.groups}

    @cached_property
    def leaf_by_channel(self) -> Mapping[str, Leaf]:
        """Leaves by bare channel name."""
        return {leaf.channel: leaf for leaf in self.leaves}

    @cached_property
    def leaf_index(self) -> Mapping[str, int]:
        """Place in catalog order by bare channel name."""
        return {leaf.channel: n for n, leaf in enumerate(self.leaves)}

    @cached_property
    def tie_breaks(self) -> Mapping[str, tuple[float, int]]:
        """What decides between equal scores, by bare channel name: the higher prior, then catalog order."""
        return {leaf.channel: (-leaf.prior, n) for n, leaf in enumerate(self.leaves)}

    @cached_property
    def native_groups(self) -> tuple[Group, ...]:
        """Groups flagged native; none means the guard is off."""
        return tuple(g for g in self.groups if g.native)

    @cached_property
    def natives(self) -> frozenset[str]:
        """Bare names of the leaves of native groups, wherever else they sit."""
        return frozenset(m for g in self.native_groups for m in g.members if m in self.leaf_by_channel)

    @cached_property
    def members(self) -> Mapping[str, tuple[Leaf, ...]]:
        """Searchable leaves by group name, in the group's order."""
        known = self.leaf_by_channel
        return {g.name: tuple(known[m] for m in g.members if m in known and known[m].is_channel) for g in self.groups}

    @cached_property
    def _spelled(self) -> Mapping[str, tuple[str, ...]]:
        return name_table(self.groups, self.leaves)

    def channels_named(self, name: str) -> tuple[str, ...]:
        """Bare channel names meant by a name, skill name, alias or family alias; empty when unknown."""
        return self._spelled.get(name_key(name), ())

    def shortlist(self, reading: Reading, wanted: Iterable[str], allowed: Callable[[Leaf], bool]) -> Catalog:
        """The catalog to plan a query over: itself, or of a large one the leaves that may matter.

        `wanted`: channels the request names; `allowed`: whether the request's own limits let a leaf be picked.
        """
        return self

    def read(self, query: str) -> Reading:
        """The query as every later step sees it: what it names, what it wants."""
        reading = self.lexicon.read(query)
        return replace(reading, **self.intents.read(reading))


@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """The form names are compared in: normalised, `_` and spaces read as `-`, without the `search-` prefix."""
    from planner.text import normalise

    key = "-".join(normalise(name).replace("_", " ").replace("-", " ").split())
    return key.removeprefix(SKILL_PREFIX)


def name_table(groups: Sequence[Group], leaves: Sequence[Leaf]) -> dict[str, tuple[str, ...]]:
    """Every accepted spelling of a channel or family, by `name_key`; a bare name beats an alias, an alias a family."""
    table: dict[str, tuple[str, ...]] = {}
    for group in groups:
        for alias, members in group.families.items():
            for key in _spellings(alias):
                table[key] = members
    for leaf in leaves:
        for alias in leaf.aliases:
            for key in _spellings(alias):
                table[key] = (leaf.channel,)
    for leaf in leaves:
        for key in (*_spellings(leaf.channel), *_spellings(leaf.name)):
            table[key] = (leaf.channel,)
    return table


def _spellings(name: str) -> tuple[str, str]:
    key = name_key(name)
    return key, key.replace("-", "")


def leaf_record(leaf: Leaf) -> dict[str, Any]:
    """The leaf as the compiled file and the group indexes hold it: defaults left out."""
    record: dict[str, Any] = {"name": leaf.name, "channel": leaf.channel, "description": leaf.description}
    for key in ("kind", "mentions", "model_tier", "cost_usd", "digest"):
        if getattr(leaf, key) != getattr(_PLAIN, key):
            record[key] = getattr(leaf, key)
    for key in ("domains", "scenarios", "triggers", "aliases", "hosts", "patterns", "languages"):
        if getattr(leaf, key) != getattr(_PLAIN, key):
            record[key] = list(getattr(leaf, key))
    auth = {k: list(getattr(leaf.auth, k)) for k in ("all_of", "any_of", "optional") if getattr(leaf.auth, k)}
    return record | ({"auth": auth} if auth else {})


_PLAIN = Leaf(name="", channel="", description="", groups=())
