"""Request and plan of the channel selection: frozen pydantic models, the shapes every door shares."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

SCHEMA_VERSION = "1.0"
MEASURED = frozenset({"elapsed_ms", "warmup_ms", "usage", "cached"})

Mode = Literal["fast", "deep", "comprehensive"]
Languages = Literal["all", "en_only", "zh_only", "mixed"]
Recency = Literal["any", "7d", "30d", "90d"]
Tier = Literal["standard", "fast", "heuristic"]


_MANY = 10**9


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a number")
    if isinstance(value, int):
        return min(value, _MANY)  # far above every ceiling; Python refuses to print numbers of thousands of digits
    return value


Count = Annotated[int, Field(ge=1), BeforeValidator(_no_bool)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False), BeforeValidator(_no_bool)]


class Record(BaseModel):
    """A frozen value."""

    model_config = ConfigDict(frozen=True)


class ClarifyResult(Record):
    """What the clarifier found out. `channel_priority` and `channel_skip` take any accepted spelling of a channel."""

    mode: Mode = "fast"
    query_type: str = ""
    rubrics: tuple[str, ...] = ()
    channel_priority: tuple[str, ...] = ()
    channel_skip: tuple[str, ...] = ()


class Budget(Record):
    """Hard caps. `max_channels` None: by mode; at least 1. `max_cost_usd` None: no cap; at least 0, in US dollars."""

    max_channels: Count | None = None
    max_groups: Count | None = None
    max_cost_usd: Dollars | None = None


class Scope(Record):
    """Limits on where to search."""

    languages: Languages = "all"
    recency: Recency = "any"
    budget: Budget = Budget()


class SelectionRequest(Record):
    """A question to be planned. `query`: 1 to 4,000 characters after trimming."""

    query: str
    clarify_result: ClarifyResult = ClarifyResult()
    scope: Scope = Scope()
    explicit_channels: tuple[str, ...] = ()


class GroupPick(Record):
    """A picked group; `factors` are those of rule SEL-4.1, `score` their weighted sum, to 4 decimals."""

    name: str
    score: float
    rationale: str
    factors: dict[str, float]


class ChannelPick(Record):
    """A picked channel. `name` is the skill, `channel` the bare name; `runnable`: every required key is set."""

    name: str
    channel: str
    group: str
    score: float
    model_tier: str
    auth: str
    rationale: str
    factors: dict[str, float]
    cost_usd: float
    runnable: bool


class RunnerUp(Record):
    """A channel that was not picked, and what kept it out."""

    name: str
    channel: str
    group: str
    score: float
    kept_out_by: str
    factors: dict[str, float]


class JudgeInfo(Record):
    """Who filled in the semantic factors."""

    tier: Tier
    model: str | None = None


class Degradation(Record):
    """One step down the ladder. `from`: the rung left, `to`: the next; `after_ms` since the plan began."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True)

    from_: str = Field(alias="from")
    to: str
    reason: str
    after_ms: float | None = None


class Usage(Record):
    """Tokens and cost of the planning call itself; None where unknown."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class ChannelPlan(Record):
    """The answer: where to search, in rank order, and why. `core()` is it without measurements."""

    groups: tuple[GroupPick, ...]
    channels: tuple[ChannelPick, ...]
    chinese_native_quota_met: bool | None
    skipped_groups: tuple[str, ...] = ()
    skipped_channels: tuple[str, ...] = ()
    skip_reasons: dict[str, str] = Field(default_factory=dict)
    runners_up: tuple[RunnerUp, ...] = ()
    adjustments: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    total_cost_usd: float = 0.0
    judge: JudgeInfo = JudgeInfo(tier="heuristic")
    degradations: tuple[Degradation, ...] = ()
    usage: Usage | None = None
    cached: bool = False
    elapsed_ms: float = 0.0
    warmup_ms: float = 0.0
    catalog_version: str = ""
    schema_version: str = SCHEMA_VERSION

    def core(self) -> dict[str, Any]:
        """The plan as JSON values without measurements: what equality, batch rows and replay compare."""
        plan = self.model_dump(mode="json", exclude=set(MEASURED))
        for step in plan["degradations"]:
            step.pop("after_ms")
        return plan
