"""What a tracked plan hears and says: reports of engine calls, ends of rounds, directives; and the state in between."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from planner.sources.model import Count, DegradationEntry, Record, Source, SourcePlan

Grade = Literal["S", "A", "B", "C"]
Action = Literal["search", "retry_narrower", "change_strategy", "fall_back", "end_round", "stop"]
StopReason = Literal["condition", "all_sources_failed", "budget_spent", "low_quality", "max_rounds", "no_new_high"]


class Strict(Record):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Result(Strict):
    """One result. S and A are high value. `id`: whatever tells it from others (a URL); without one it counts as new."""

    grade: Grade
    id: str | None = None


class Progress(Strict):
    """Counts so far, cumulative; a later report replaces an earlier one field by field. `gaps_covered`: 0 to 1."""

    independent_confirmations: Count | None = None
    entity_nodes: Count | None = None
    relation_types: Count | None = None
    local_hits: Count | None = None
    gaps_covered: Annotated[float, Field(ge=0, le=1)] | None = None
    benchmark_reports: Count | None = None
    supporting: Count | None = None
    opposing: Count | None = None


class SearchReport(Strict):
    """One engine call: results, or the reason why there are none (an empty list is `empty_results`).

    `engine`: the one the directive named; None takes it from there. `query`: what was searched, for the log.
    `at`: UTC, ISO 8601.
    """

    type: Literal["search"] = "search"
    source: str
    engine: str | None = None
    results: tuple[Result, ...] = ()
    failure: Annotated[str, Field(min_length=1)] | None = None
    progress: Progress = Progress()
    query: str | None = None
    at: str


class RoundEnd(Strict):
    """The caller ended a round."""

    type: Literal["round"] = "round"
    progress: Progress = Progress()
    at: str


Event = Annotated[SearchReport | RoundEnd, Field(discriminator="type")]


class WebChannel(Strict):
    """A channel that web searches, in rank order. `by_engine`: it has no search of its own, the chain serves it."""

    channel: str
    by_engine: bool = False


class Directive(Record):
    """What to do next. `why`: the stop reason, the failure fallen from, or the grades that call for a change.

    `engine` None with a `channel`: search the channel itself. `may_stop_early`: at least half of the results are high.
    """

    action: Action
    source: Source | None = None
    engine: str | None = None
    channel: str | None = None
    hints: tuple[str, ...] = ()
    round: int
    why: str | None = None
    may_stop_early: bool = False


class Tally(Record):
    """One source's searches. `allocation` may grow by what failed sources leave; `in_round` leaves retries out."""

    allocation: int
    used: int = 0
    in_round: int = 0
    failed: bool = False

    @property
    def left(self) -> int:
        """Searches it may still make; 0 means spent."""
        return 0 if self.failed else self.allocation - self.used


class Quality(Record):
    """Results by worth: `high` are S and A, `low` are C."""

    total: int = 0
    high: int = 0
    low: int = 0

    def plus(self, results: tuple[Result, ...]) -> Quality:
        """These results counted in."""
        high = sum(result.grade in "SA" for result in results)
        low = sum(result.grade == "C" for result in results)
        return Quality(total=self.total + len(results), high=self.high + high, low=self.low + low)


class Needs(Record):
    """The plan's stop condition as least counts, fixed at the start."""

    counts: dict[str, int] = Field(default_factory=dict)
    high_results: int = 0
    searches_each: int = 0
    gaps_covered: float = 0.0


class TrackLimits(Record):
    """The tracker's numbers, fixed at the start, so that replaying needs no settings. Ratios as [part, whole]."""

    narrower_retries: int
    judged_results: int
    low_quality: tuple[int, int]
    high_quality: tuple[int, int]
    quiet_rounds: int
    passing_reasons: tuple[str, ...]


class TrackState(Record):
    """A plan and all that has happened to it: a JSON value. The same plan and events give the same state byte for byte.

    `searching`: a search is falling down the chain. `tried`: closed for that search; `closed`: for the session.
    `since_change`: results since the strategy was changed; None: it was not.
    """

    version: Literal[1] = 1
    plan: SourcePlan
    channels: tuple[WebChannel, ...] = ()
    has_gaps: bool = False
    needs: Needs
    limits: TrackLimits
    rounds_ended: int = 0
    calls_in_round: int = 0
    tallies: dict[Source, Tally]
    cursor: int = 0
    searching: bool = False
    retrying: bool = False
    retries: int = 0
    narrow_due: bool = False
    tried: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    channel_at: int = 0
    quality: Quality = Quality()
    since_change: Quality | None = None
    change_due: bool = False
    seen: tuple[str, ...] = ()
    high_distinct: int = 0
    high_in_round: int = 0
    quiet_rounds: int = 0
    progress: Progress = Progress()
    degradation_log: tuple[DegradationEntry, ...] = ()
    directive: Directive
    events: tuple[Event, ...] = ()
