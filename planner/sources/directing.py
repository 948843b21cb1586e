"""From the state of a tracked plan to the one thing to do next. Pure."""

from __future__ import annotations

from typing import NamedTuple

from planner.sources.events import Action, Directive, TrackState
from planner.sources.model import Source
from planner.sources.stopping import may_stop_early, stop_reason

CHAINED: tuple[Source, ...] = ("web", "counter")


class Target(NamedTuple):
    """Where a search goes: a channel of its own (engine None), or an engine of the chain; both None without a chain."""

    engine: str | None
    channel: str | None


def directed(state: TrackState) -> TrackState:
    """The state with its directive: stop, fall back, retry, the next search of the sweep, or the round's end."""
    if reason := stop_reason(state):
        return _said(state, "stop", None, None, reason)
    source = state.directive.source
    if state.searching and source:
        lower = Target(next_engine(state), state.directive.channel)
        return _said(state, "fall_back", source, lower, state.degradation_log[-1].reason)
    if (state.change_due or state.narrow_due) and source and (target := again(state, source)):
        action: Action = "change_strategy" if state.change_due else "retry_narrower"
        return _said(state.model_copy(update={"retrying": True}), action, source, target, _grades(action))
    return swept(state)


def next_engine(state: TrackState) -> str | None:
    """The first level that is closed neither for the session nor for this search."""
    shut = {*state.closed, *state.tried}
    return next((level.source for level in state.plan.fallback_chain if level.source not in shut), None)


def target_of(state: TrackState, source: Source) -> Target | None:
    """Where the next fresh search of this source goes; None where nothing is left that could answer it."""
    if source not in CHAINED:
        return Target(None, None)
    if source == "web" and state.channels:
        at = state.channel_at
        ring = [state.channels[(at + step) % len(state.channels)].channel for step in range(len(state.channels))]
        return next((target for channel in ring if (target := _channel_target(state, channel))), None)
    engine = next_engine(state)
    return Target(engine, None) if engine else None


def again(state: TrackState, source: Source) -> Target | None:
    """Where the same query goes once more; None where the source has no search left."""
    if not state.tallies[source].left:
        return None
    channel = state.directive.channel
    return _channel_target(state, channel) if channel else target_of(state, source)


def _channel_target(state: TrackState, channel: str) -> Target | None:
    own = next(known for known in state.channels if known.channel == channel)
    if not own.by_engine and channel_key(channel) not in state.closed:
        return Target(None, channel)
    engine = next_engine(state)
    return Target(engine, channel) if engine else None


def channel_key(channel: str) -> str:
    """A channel's name among the closed engines."""
    return f"channel:{channel}"


def swept(state: TrackState) -> TrackState:
    """The next search of the round's sweep over the sources, or the round's end (rule RTE-8.5)."""
    order = state.plan.search_order
    for place in range(state.cursor, len(order)):
        source = order[place]
        tally = state.tallies[source]
        quota = -(-tally.allocation // state.plan.stop_rule.max_rounds)
        if tally.left and tally.in_round < quota:
            action: Action = "change_strategy" if state.change_due else "search"
            at = state.model_copy(update={"cursor": place, "retrying": False})
            return _said(at, action, source, target_of(state, source), _grades(action))
    return _said(state, "end_round", None, None, None)


def _grades(action: Action) -> str | None:
    return {"change_strategy": "mostly_grade_c", "retry_narrower": "all_grade_c"}.get(action)


def _said(
    state: TrackState, action: Action, source: Source | None, target: Target | None, why: str | None
) -> TrackState:
    hints = next((s.search_hints for s in state.plan.selected_sources if s.source == source), ())
    engine = target.engine if target else None
    if source and source not in CHAINED:
        engine = next((s.engine for s in state.plan.selected_sources if s.source == source), None)
    directive = Directive(
        action=action,
        source=source,
        engine=engine,
        channel=target.channel if target else None,
        hints=hints,
        round=min(state.rounds_ended + 1, state.plan.stop_rule.max_rounds),
        why=why,
        may_stop_early=may_stop_early(state),
    )
    return state.model_copy(update={"directive": directive})
