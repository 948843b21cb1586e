"""The selected sources in words: why each is there with that number, and what to type into it. Pure."""

from __future__ import annotations

from planner.sources.branching import Counter, Reading
from planner.sources.budget import Allocation
from planner.sources.hints import search_hints
from planner.sources.model import Engine, Language, RoutingRequest, SelectedSource, Source
from planner.sources.rules import Rules


def selected_sources(
    request: RoutingRequest,
    reading: Reading,
    counter: Counter,
    allocation: Allocation,
    *,
    first_engine: Engine,
    language: Language,
    rules: Rules,
) -> tuple[SelectedSource, ...]:
    """One entry per source, in search order; each rationale names the rule that set its number (rule RTE-4.9)."""
    setters = {decision.what: decision.rule for decision in allocation.decisions}
    total = sum(allocation.numbers.values())

    def rationale(source: Source) -> str:
        key = f"role.{_role(source, setters[source], allocation)}"
        role = rules.say(key, language, branch=reading.branch, trigger=counter.trigger)
        rule, number = setters[source], allocation.numbers[source]
        name = rules.say(f"rule.{rule}", language)
        return rules.say("rationale", language, role=role, number=number, total=total, rule=rule, name=name)

    return tuple(
        SelectedSource(
            source=source,
            priority=priority,
            rationale=rationale(source),
            search_hints=search_hints(source, request, language, reading.freshness, rules),
            engine=first_engine if source in ("web", "counter") or setters[source] == "RTE-2.7" else None,
        )
        for priority, source in enumerate(allocation.order, start=1)
    )


def _role(source: Source, rule: str, allocation: Allocation) -> str:
    if source == "counter":
        return "counter"
    if source != allocation.primary:
        return "secondary"
    return "last_resort" if rule == "RTE-2.7" else "primary"
