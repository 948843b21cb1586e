"""Request and plan of the source routing: frozen pydantic models, field for field what JSON shows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Source = Literal["web", "local_file", "vector", "graph", "counter"]
Engine = Literal["tavily_search", "bailian_web_search", "web_search", "web_fetch_direct", "local_cache"]
TaskType = Literal["breaking_news", "deep_research", "entity_analysis", "internal_knowledge", "tech_evaluation"]
GoalMode = Literal["analyze", "evaluate", "compare", "investigate"]
Freshness = Literal["high", "medium", "low"]
Language = Literal["zh", "en"]
Branch = Literal[
    "high_freshness", "internal_knowledge", "entity_analysis", "deep_research", "tech_evaluation", "default"
]


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a whole number")
    return value


Searches = Annotated[int, Field(ge=0, strict=True), BeforeValidator(_no_bool)]
Count = Annotated[int, Field(ge=0), BeforeValidator(_no_bool)]


class Record(BaseModel):
    """A frozen value."""

    model_config = ConfigDict(frozen=True)


class RoutingRequest(Record):
    """What is to be found out, and with what (rule RTE-1.1).

    `budget_limit`: searches, 1 to 1,000; None stands for the default (10). `available_sources` None: the setting
    `sources.available`. `available_engines` None: all five. `language` None: that of the subject.
    """

    task_type: TaskType
    primary_subject: str
    goal_mode: GoalMode
    freshness_required: Freshness
    need_counter_evidence: bool = Field(strict=True)
    available_sources: tuple[Source, ...] | None = None
    information_gaps: tuple[str, ...] = ()
    budget_limit: Annotated[int, Field(strict=True), BeforeValidator(_no_bool)] | None = None
    preferred_domains: tuple[str, ...] = ()
    known_local_material: bool = Field(default=False, strict=True)
    available_engines: tuple[Engine, ...] | None = None
    task_description: str = ""
    language: Language | None = None


class SelectedSource(Record):
    """A source that has searches. `priority`: 1 is searched first. `engine`: the first of the chain, if it has one."""

    source: Source
    priority: int
    rationale: str
    search_hints: tuple[str, ...]
    engine: Engine | None = None


class StopRule(Record):
    """When to stop: the condition as text, and the most rounds (sweeps over the sources)."""

    condition: str
    max_rounds: Annotated[int, Field(ge=1)]


class ChainLevel(Record):
    """A level of the fallback chain. `source` is the engine; `trigger_fallback` None: any failure."""

    level: int
    source: Engine
    trigger_fallback: str | None
    fallback_to: int | None


class DegradationEntry(Record):
    """One step down. Both levels are None where no chain is involved. `timestamp`: UTC, ISO 8601, with Z."""

    from_level: int | None
    to_level: int | None
    reason: str
    timestamp: str
    query_affected: str


class SourcePlan(Record):
    """The plan (rule RTE-7.1). `budget_allocation`: `total_budget` and whole searches per selected source."""

    task_id: str
    task_type: TaskType
    primary_subject: str
    selected_sources: tuple[SelectedSource, ...]
    search_order: tuple[Source, ...]
    counter_search_enabled: bool
    counter_trigger: str | None
    stop_rule: StopRule
    budget_allocation: dict[str, Searches]
    fallback_chain: tuple[ChainLevel, ...]
    degradation_log: tuple[DegradationEntry, ...] = ()
    branch: Branch
    warnings: tuple[str, ...] = ()

    def core(self) -> dict[str, Any]:
        """The plan without its id and timestamps: what equality and replay compare."""
        return self.model_dump(mode="json", exclude={"task_id": True, "degradation_log": {"__all__": {"timestamp"}}})
