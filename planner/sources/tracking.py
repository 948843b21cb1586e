"""A plan while it is carried out: a pure state machine. State and event in, state with its directive out.

A search is charged at its first engine call; falls down the chain are free. Time comes with the events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from planner.errors import InputError
from planner.sources.directing import CHAINED, channel_key, directed, next_engine, swept, target_of
from planner.sources.events import (
    Directive,
    Event,
    Needs,
    Quality,
    RoundEnd,
    SearchReport,
    Tally,
    TrackLimits,
    TrackState,
    WebChannel,
)  # fmt: skip
from planner.sources.model import DegradationEntry, Source, SourcePlan
from planner.sources.rules import Rules
from planner.sources.stopping import is_low

_Model = TypeVar("_Model", bound=BaseModel)


def start(plan: SourcePlan, rules: Rules, *, channels: Sequence[WebChannel] = (), has_gaps: bool = False) -> TrackState:
    """A plan about to be carried out (rule RTE-8.1). `has_gaps`: gaps were named, so their coverage must be reported.

    Raises InputError for a plan whose parts do not fit together.
    """
    _check_plan(plan)
    needs = rules.stop_rules[plan.branch]
    limits = rules.limits
    state = TrackState(
        plan=plan,
        channels=tuple(channels) if "web" in plan.search_order else (),
        has_gaps=has_gaps,
        needs=Needs(**needs.model_dump()),
        limits=TrackLimits(
            narrower_retries=limits.narrower_retries,
            judged_results=limits.judged_results,
            low_quality=limits.low_quality.as_integer_ratio(),
            high_quality=limits.high_quality.as_integer_ratio(),
            quiet_rounds=limits.quiet_rounds,
            passing_reasons=rules.passing_reasons,
        ),
        tallies={source: Tally(allocation=plan.budget_allocation[source]) for source in plan.search_order},
        degradation_log=plan.degradation_log,
        directive=Directive(action="search", round=1),
    )
    return swept(state)


def advance(state: TrackState, event: Event) -> TrackState:
    """The state after an event. Raises InputError for an event that makes no sense; the given state is unchanged."""
    _check(state, event)
    reported = event.progress.model_dump(exclude_none=True)
    heard = state.model_copy(
        update={"events": (*state.events, event), "progress": state.progress.model_copy(update=reported)}
    )
    if isinstance(event, RoundEnd):
        return directed(_round_ended(heard))
    charged = heard if heard.searching else _charged(heard)
    called = charged.model_copy(update={"calls_in_round": charged.calls_in_round + 1})
    if event.failure or not event.results:
        return directed(_retired(_fallen(called, event)))
    return directed(_answered(called, event))


def read(model: type[_Model], value: Any, what: str) -> _Model:
    """A model from a mapping or from JSON text; InputError names the field."""
    try:
        if isinstance(value, str | bytes):
            return model.model_validate_json(value)
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join([what, *(str(part) for part in first["loc"])])
        expected = first.get("ctx", {}).get("expected") or first["msg"].removeprefix("Input should be ").removeprefix(
            "Value error, "
        )
        raise InputError(field, first["input"], str(expected)) from None


def _check_plan(plan: SourcePlan) -> None:
    numbers = {key: number for key, number in plan.budget_allocation.items() if key != "total_budget"}
    if not plan.search_order or set(numbers) != set(plan.search_order):
        raise InputError("plan.budget_allocation", sorted(numbers), "a number for each source of search_order")
    if min(numbers.values()) < 1 or sum(numbers.values()) != plan.budget_allocation.get("total_budget"):
        raise InputError("plan.budget_allocation", plan.budget_allocation, "numbers from 1 that add up to total_budget")
    if not plan.fallback_chain:
        raise InputError("plan.fallback_chain", [], "at least one level")


def _check(state: TrackState, event: Event) -> None:
    asked = state.directive
    if asked.action == "stop":
        raise InputError("event", event.type, f"nothing more: the plan has stopped ({asked.why})")
    if isinstance(event, RoundEnd):
        if not state.calls_in_round:
            raise InputError("event", "round", "a search first; an empty round cannot be ended")
        return
    if event.source not in state.tallies:
        raise InputError("source", event.source, f"a source of the plan: {', '.join(state.tallies)}")
    if asked.source is None:
        raise InputError("event", "search", "the end of the round: its searches are made")
    if event.source != asked.source:
        raise InputError("source", event.source, f"the source that was asked for: {asked.source}")
    if event.engine is not None and event.engine != asked.engine:
        raise InputError("engine", event.engine, f"the engine that was asked for: {asked.engine or 'none'}")
    if event.failure and event.results:
        raise InputError("failure", event.failure, "either results or a failure")


def _charged(state: TrackState) -> TrackState:
    asked = state.directive
    source = _asked(state)
    tally = state.tallies[source]
    spent = tally.model_copy(update={"used": tally.used + 1, "in_round": tally.in_round + (not state.retrying)})
    names = [known.channel for known in state.channels]
    return state.model_copy(
        update={
            "tallies": {**state.tallies, source: spent},
            "retries": state.retries + 1 if asked.action == "retry_narrower" else 0,
            "change_due": False,  # the next search after it is due is the changed one
            "narrow_due": False,
            "channel_at": (names.index(asked.channel) + 1) % len(names) if asked.channel else state.channel_at,
        }
    )


def _answered(state: TrackState, report: SearchReport) -> TrackState:
    seen, new_high = _new(state, report)
    quality = state.quality.plus(report.results)
    since = state.since_change.plus(report.results) if state.since_change else None
    change = since is None and is_low(quality, state)
    source = _asked(state)
    all_low = source == "web" and all(result.grade == "C" for result in report.results)
    return state.model_copy(
        update={
            "searching": False,
            "tried": (),
            "quality": quality,
            "since_change": Quality() if change else since,
            "change_due": change or state.change_due,
            "narrow_due": all_low and state.retries < state.limits.narrower_retries,
            "seen": seen,
            "high_distinct": state.high_distinct + new_high,
            "high_in_round": state.high_in_round + new_high,
        }
    )


def _new(state: TrackState, report: SearchReport) -> tuple[tuple[str, ...], int]:
    seen, high = dict.fromkeys(state.seen), 0
    for result in report.results:
        if result.id is None or result.id not in seen:
            high += result.grade in "SA"
        if result.id is not None:
            seen[result.id] = None
    return tuple(seen), high


def _fallen(state: TrackState, report: SearchReport) -> TrackState:
    reason, asked, source = report.failure or "empty_results", state.directive, _asked(state)
    chained = source in CHAINED
    name = asked.engine or (channel_key(asked.channel) if asked.channel else "")
    field = "tried" if reason in state.limits.passing_reasons else "closed"
    shut = state.model_copy(update={field: (*getattr(state, field), name)}) if chained else state
    following = next_engine(shut) if chained else None
    entry = DegradationEntry(
        from_level=_level(state, asked.engine) if chained else None,
        to_level=_level(state, following),
        reason=reason,
        timestamp=report.at,
        query_affected=report.query or state.plan.primary_subject if chained else state.plan.primary_subject,
    )
    logged = shut.model_copy(update={"degradation_log": (*shut.degradation_log, entry)})
    if following:
        return logged.model_copy(update={"searching": True})
    return _failed(logged.model_copy(update={"searching": False, "tried": ()}), source)


def _level(state: TrackState, engine: str | None) -> int | None:
    return next((level.level for level in state.plan.fallback_chain if level.source == engine), None)


def _retired(state: TrackState) -> TrackState:
    """The state where chained sources that no engine can serve any more are spent."""
    for source in CHAINED:
        tally = state.tallies.get(source)
        if tally and tally.left and not state.searching and target_of(state, source) is None:
            state = _failed(state, source)
    return state


def _failed(state: TrackState, source: Source) -> TrackState:
    """The source is spent; what it had left passes to the next unspent one in the order, never to counter."""
    tallies = dict(state.tallies)
    tally = tallies[source]
    tallies[source] = tally.model_copy(update={"failed": True, "allocation": tally.used})
    order = state.plan.search_order
    place = order.index(source)
    heirs = (s for s in (*order[place + 1 :], *order[:place]) if s != "counter" and tallies[s].left)
    if tally.left and (heir := next(heirs, None)):
        tallies[heir] = tallies[heir].model_copy(update={"allocation": tallies[heir].allocation + tally.left})
    return state.model_copy(update={"tallies": tallies})


def _round_ended(state: TrackState) -> TrackState:
    return state.model_copy(
        update={
            "rounds_ended": state.rounds_ended + 1,
            "quiet_rounds": 0 if state.high_in_round else state.quiet_rounds + 1,
            "calls_in_round": 0,
            "high_in_round": 0,
            "cursor": 0,
            "searching": False,
            "narrow_due": False,
            "tried": (),
            "directive": Directive(action="end_round", round=state.rounds_ended + 1),
            "tallies": {s: tally.model_copy(update={"in_round": 0}) for s, tally in state.tallies.items()},
        }
    )


def _asked(state: TrackState) -> Source:
    return cast(Source, state.directive.source)  # _check has refused every event that was not asked for
