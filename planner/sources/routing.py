"""Source routing on one screen: request → branch, shares → counter → whole searches → order, stop rule, chain → plan.

Pure: the rules, the id and the timestamp are arguments.
"""

from __future__ import annotations

from typing import NamedTuple

from planner.sources.branching import Counter, Notice, Reading, read_branch, read_counter
from planner.sources.budget import Allocation, Case, Decision, allocate
from planner.sources.describing import selected_sources
from planner.sources.fallback import build_chain, has_web_engine, without_key
from planner.sources.model import ChainLevel, DegradationEntry, Language, RoutingRequest, SourcePlan
from planner.sources.rules import Rules
from planner.sources.stopping import stop_rule
from planner.text import language_of


class Routed(NamedTuple):
    """A plan, and which rule set each of its numbers."""

    plan: SourcePlan
    decisions: tuple[Decision, ...]


def route_sources(
    request: RoutingRequest,
    rules: Rules,
    *,
    task_id: str,
    timestamp: str,
    keys: frozenset[str] = frozenset(),
    notes: tuple[str, ...] = (),
) -> Routed:
    """Plan how to spend the budget. `timestamp`: UTC, ISO 8601, for the degradation log; `notes` lead the warnings.

    `keys`: variables of the environment that are set; an engine nobody said is usable, without its key, is a warning.
    """
    given = frozenset(rules.available if request.available_sources is None else request.available_sources)
    no_engine = "web" in given and not has_web_engine(request.available_engines, rules)
    usable = given - {"web"} if no_engine else given
    total = request.budget_limit or rules.limits.default_budget
    language = request.language or _language(request.primary_subject)

    reading = read_branch(request, usable, rules)
    counter = read_counter(request, total, usable, rules)
    chain = build_chain(given, request.available_engines, rules)
    allocation = _allocation(request, reading, counter, total, rules)

    lost = (["web_unavailable"] if "web" not in usable and reading.listed_web else []) + (
        ["no_sources_available"] if not (reading.shares or counter.on) else []
    )
    keyless = _keyless(chain, keys, rules) if request.available_engines is None and _chained(allocation) else []
    notices = (*_lost(no_engine, "no_sources_available" in lost), *reading.notices, *counter.notices, *keyless)
    plan = SourcePlan(
        task_id=task_id,
        task_type=request.task_type,
        primary_subject=request.primary_subject,
        selected_sources=selected_sources(
            request, reading, counter, allocation, first_engine=chain[0].source, language=language, rules=rules
        ),
        search_order=allocation.order,
        counter_search_enabled=counter.on,
        counter_trigger=counter.trigger if counter.on else None,
        stop_rule=stop_rule(reading.branch, total, language, rules),
        budget_allocation={"total_budget": total, **{s: allocation.numbers[s] for s in allocation.order}},
        fallback_chain=chain,
        degradation_log=tuple(_logged(reason, timestamp, request.primary_subject) for reason in lost),
        branch=reading.branch,
        warnings=(*notes, *(rules.say(notice.key, language, **notice.values) for notice in notices)),
    )
    rounds = Decision("max_rounds", plan.stop_rule.max_rounds, *_rounds_rule(reading, total, rules))
    return Routed(plan, (*reading.decisions, *allocation.decisions, rounds))


def _rounds_rule(reading: Reading, total: int, rules: Rules) -> tuple[str, str]:
    usual = rules.limits.max_rounds[reading.branch]
    tight = total <= rules.limits.tight_budget and usual > rules.limits.tight_rounds
    return ("RTE-4.8", f"RTE-5.1: {usual}") if tight else ("RTE-5.1", "")


def _language(subject: str) -> Language:
    return "zh" if language_of(subject, 0) == "zh" else "en"


def _allocation(request: RoutingRequest, reading: Reading, counter: Counter, total: int, rules: Rules) -> Allocation:
    if not reading.shares and not counter.on:
        decision = Decision("local_file", total, "RTE-2.7")
        return Allocation("local_file", {"local_file": total}, ("local_file",), (decision,))
    case = Case(
        total=total,
        branch=reading.branch,
        freshness=reading.freshness,
        shares=reading.shares,
        counter_on=counter.on,
        counter_share=reading.row.get("counter", 0),
        known_local=request.known_local_material,
        rules=rules,
    )
    return allocate(case)


def _lost(no_engine: bool, no_sources: bool) -> list[Notice]:
    keys = {"warning.web_no_engine": no_engine, "warning.no_sources": no_sources}
    return [Notice(key, {}) for key, holds in keys.items() if holds]


def _chained(allocation: Allocation) -> bool:
    return not {"web", "counter"}.isdisjoint(allocation.order)


def _keyless(chain: tuple[ChainLevel, ...], keys: frozenset[str], rules: Rules) -> list[Notice]:
    missing = without_key(chain, keys, rules)
    named = ", ".join(f"{engine} ({' / '.join(names)})" for engine, names in missing.items())
    return [Notice("warning.no_key", {"engines": named})] if missing else []


def _logged(reason: str, timestamp: str, subject: str) -> DegradationEntry:
    return DegradationEntry(from_level=None, to_level=None, reason=reason, timestamp=timestamp, query_affected=subject)
