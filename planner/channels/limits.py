"""What the user allows: hard caps, the target count, names resolved against the catalog, the language of the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.catalog.model import Catalog, Group, Leaf
from planner.catalog.reading import Reading
from planner.channels.model import SelectionRequest
from planner.settings import Settings

OVER_COST = "over max_cost_usd"
_NARROW = {"en_only": "en", "zh_only": "zh"}
_CLAMPED = {"max_channels": "channels", "max_groups": "groups"}


@dataclass(frozen=True, slots=True)
class Limits:
    """The request against this catalog and environment.

    `priority`, `skip`: bare channel names, in the order given. `languages`: those that count as the query's.
    `target`: channels wanted, 1 to 8; `max_cost_usd`: what is left for channels, None when uncapped.
    `guard`: natives the result must hold (0: the guard does not apply).
    """

    target: int
    max_channels: int
    max_groups: int
    max_cost_usd: float | None
    priority: tuple[str, ...]
    skip: frozenset[str]
    languages: frozenset[str]
    scope: str
    fresh: bool
    guard: int
    env: Mapping[str, str]

    @property
    def refuse_leaves(self) -> bool:
        """Whether anything here can keep a leaf out."""
        return bool(self.skip) or self.scope in _NARROW or self.max_cost_usd is not None

    def leaf_refusal(self, leaf: Leaf, native: bool) -> str | None:
        """Why the user's own words keep this leaf out, whatever else is picked, or None (rules SEL-5.2, SEL-7.2)."""
        if leaf.channel in self.skip:
            return "in channel_skip"
        if native and self.scope == "en_only":
            return "native channel, and only English is wanted"
        if self.scope == "zh_only" and not leaf.speaks("zh"):
            return "holds no Chinese, and only Chinese is wanted"
        if not self.affordable(leaf.cost_usd):
            return OVER_COST
        return None

    def allows(self, leaf: Leaf) -> bool:
        """Whether the leaf can be picked at all, as far as it can be told without its groups."""
        return self.leaf_refusal(leaf, False) is None

    def affordable(self, cost: float) -> bool:
        """Whether channels that cost so much together stay under the cap."""
        return self.max_cost_usd is None or cost <= self.max_cost_usd + 1e-9


def build_limits(
    request: SelectionRequest, reading: Reading, catalog: Catalog, settings: Settings, env: Mapping[str, str]
) -> tuple[Limits, list[str]]:
    """The limits, and warnings about unknown names and clamped caps (rules SEL-1.4, SEL-3.2)."""
    warnings: list[str] = []
    budget, mode, chosen = request.scope.budget, request.clarify_result.mode, settings.selection
    max_channels = _capped(budget.max_channels, chosen.max_channels, "max_channels", warnings)
    max_groups = _capped(budget.max_groups, chosen.max_groups, "max_groups", warnings)
    wanted = max_channels if budget.max_channels else getattr(chosen.targets, mode)
    limits = Limits(
        target=min(wanted, max_channels),
        max_channels=max_channels,
        max_groups=max_groups,
        max_cost_usd=budget.max_cost_usd,
        priority=_resolved(request.clarify_result.channel_priority, "channel_priority", catalog, warnings),
        skip=frozenset(_resolved(request.clarify_result.channel_skip, "channel_skip", catalog, warnings)),
        languages=_languages(reading, request.scope.languages),
        scope=request.scope.languages,
        fresh=request.scope.recency in ("7d", "30d"),
        guard=_guard(reading, catalog, settings),
        env=env,
    )
    return limits, warnings


def _capped(asked: int | None, ceiling: int, name: str, warnings: list[str]) -> int:
    if asked is not None and asked > ceiling:
        warnings.append(f"{name} {asked} is above the ceiling and was lowered to {ceiling} {_CLAMPED[name]}")
    return min(asked or ceiling, ceiling)


def _resolved(names: tuple[str, ...], field: str, catalog: Catalog, warnings: list[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in names:
        channels = [c for c in catalog.channels_named(name) if catalog.leaf_by_channel[c].is_channel]
        if not channels:
            warnings.append(f"{field}: no channel is called {name!r}; it was ignored")
        found.update(dict.fromkeys(channels))
    return tuple(found)


def _languages(reading: Reading, scope: str) -> frozenset[str]:
    only = _NARROW.get(scope)
    return frozenset((only,)) if only else reading.languages


def _guard(reading: Reading, catalog: Catalog, settings: Settings) -> int:
    exempt = settings.guard.exempt_kana and reading.kana
    return settings.guard.native_minimum if reading.han and catalog.native_groups and not exempt else 0


def speaks(group: Group, limits: Limits) -> float:
    """The language factor of a group: 1 right surface, .5 neutral, else 0 (rule SEL-4.1)."""
    if limits.scope == "mixed" or group.surface in limits.languages:
        return 1.0
    return 0.5 if group.surface == "neutral" else 0.0
