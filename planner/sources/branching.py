"""Which branch a request takes, which sources are in play with what share, and whether counter is on. Pure."""

from __future__ import annotations

from typing import NamedTuple

from planner.sources.budget import Decision
from planner.sources.model import Branch, Freshness, RoutingRequest, Source
from planner.sources.rules import Rules
from planner.sources.terms import names


class Notice(NamedTuple):
    """A warning to be put into words: its key in wording.yaml and what fills it."""

    key: str
    values: dict[str, object]


class Reading(NamedTuple):
    """A request read by the rules. `shares`: sources in play, percent, in tie order; `row`: the branch's own shares."""

    branch: Branch
    row: dict[Source, int]
    shares: dict[Source, int]
    freshness: Freshness
    listed_web: bool
    notices: tuple[Notice, ...]
    decisions: tuple[Decision, ...]


class Counter(NamedTuple):
    """Whether counter is searched, and every condition that fired, joined by " + "."""

    on: bool
    trigger: str
    notices: tuple[Notice, ...]


def read_branch(request: RoutingRequest, usable: frozenset[Source], rules: Rules) -> Reading:
    """The branch, its shares with what joins, and the freshness as read (rules RTE-2.1 to RTE-2.8)."""
    fresh = request.freshness_required == "high" or request.task_type == "breaking_news"
    branch: Branch = "high_freshness" if fresh else request.task_type  # type: ignore[assignment]
    relations = names(rules.relation_terms, (request.task_description, *request.information_gaps))
    row = _row(branch, request, usable, relations, rules)
    listed_web, notices = "web" in row, []
    if not (usable & row.keys() - {"counter"}) or (fresh and "web" not in usable):
        notices.append(Notice("warning.default_shares", {"branch": branch}))
        branch, row = "default", _default_row(rules)
    elif fresh and request.task_type == "internal_knowledge":
        notices.append(Notice("warning.internal_fresh", {}))
    base = "RTE-2.7" if branch == "default" else "RTE-2.1"
    joined = _joins(branch, row, request, usable, relations=relations, rules=rules)
    shares = {**row, **joined}
    log = [Decision(f"share of {s}", shares[s], "RTE-2.4" if s in joined else base) for s in shares if s in usable]
    freshness: Freshness = "high" if branch == "high_freshness" else request.freshness_required
    if names(rules.recent_terms, request.information_gaps):
        freshness = "medium" if freshness == "low" else freshness
        _raise_web(shares, rules.floors.recent_gap_web, log)
    in_play = {source: shares[source] for source in _tie_order(request, row, rules) if _plays(source, shares, usable)}
    return Reading(branch, row, in_play, freshness, listed_web, tuple(notices), tuple(log))


def read_counter(request: RoutingRequest, total: int, usable: frozenset[Source], rules: Rules) -> Counter:
    """Whether the counter search is on (rules RTE-3.1 to RTE-3.5). `total`: the budget in searches."""
    fired = ["need_counter_evidence"] if request.need_counter_evidence else []
    for field in ("goal_mode", "task_type"):
        if (value := getattr(request, field)) in getattr(rules.counter_triggers, field):
            fired.append(f"{field}={value}")
    trigger = " + ".join(fired)
    if not fired:
        return Counter(False, "", ())
    if "counter" not in usable:
        return Counter(False, trigger, (Notice("warning.counter_missing", {"trigger": trigger}),))
    room = total > rules.limits.tight_budget or request.need_counter_evidence
    if not room or (total == 1 and usable != {"counter"}):
        return Counter(False, trigger, (Notice("warning.counter_small", {"trigger": trigger, "total": total}),))
    return Counter(True, trigger, ())


def _row(
    branch: Branch, request: RoutingRequest, usable: frozenset[Source], relations: bool, rules: Rules
) -> dict[Source, int]:
    row = dict(rules.shares[branch])
    share = row.pop("other", 0)
    known: dict[Source, int] = {source: percent for source, percent in row.items() if percent}  # type: ignore[misc]
    if share and (other := _other(request, usable, relations, rules)):
        known[other] = share
    return known


def _other(request: RoutingRequest, usable: frozenset[Source], relations: bool, rules: Rules) -> Source | None:
    promoted: tuple[Source, ...] = ("graph",) if relations else ()
    candidates = (*promoted, *rules.combinations[request.task_type], *rules.other_order)
    return next((source for source in candidates if source in usable and source not in ("web", "counter")), None)


def _default_row(rules: Rules) -> dict[Source, int]:
    row = {"graph": rules.limits.default_graph, **rules.shares["default"]}
    return {source: row[source] for source in (*rules.shares["default"], "graph") if row[source]}  # type: ignore[misc]


def _joins(
    branch: Branch,
    row: dict[Source, int],
    request: RoutingRequest,
    usable: frozenset[Source],
    *,
    relations: bool,
    rules: Rules,
) -> dict[Source, int]:
    slow, known = branch != "high_freshness", request.known_local_material
    wanted: dict[Source, bool] = {
        "graph": relations and slow,
        "local_file": slow and (known or not {"vector", "web"} <= usable),
        "vector": slow and (known or "web" not in usable),
    }
    return {s: rules.limits.join_share for s, joins in wanted.items() if joins and s in usable and s not in row}


def _raise_web(shares: dict[Source, int], least: int, log: list[Decision]) -> None:
    share = shares.get("web", 0)
    if share < least:
        shares["web"] = least
        log.append(Decision("share of web", least, "RTE-2.5", f"share {share} %"))


def _tie_order(request: RoutingRequest, row: dict[Source, int], rules: Rules) -> dict[Source, None]:
    return dict.fromkeys((*rules.combinations[request.task_type], *row, *rules.known_sources))


def _plays(source: Source, shares: dict[Source, int], usable: frozenset[Source]) -> bool:
    return source != "counter" and source in usable and shares.get(source, 0) > 0
