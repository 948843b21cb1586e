"""The rules as typed, frozen rows. The data is rules.yaml; `build_rules` lays a user's numbers over it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from planner.errors import SettingsError, nearest, shown
from planner.sources.model import Branch, Engine, Freshness, Language, Source, TaskType

OPEN_TO_SETTINGS = ("available", "shares", "floors", "limits")
_SHORT = {"primary_floor": ("floors", "primary")}  # the name users know it by


def _exact(value: object) -> object:
    """A decimal as it was written, so that .15 is 3/20 and not its binary neighbour."""
    return Fraction(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


Ratio = Annotated[Fraction, BeforeValidator(_exact), Field(ge=0, le=1)]
Percent = Annotated[int, Field(ge=0, le=100, strict=True)]
Whole = Annotated[int, Field(ge=1, strict=True)]
Slot = Literal["web", "local_file", "vector", "graph", "counter", "other"]


class Row(BaseModel):
    """A frozen row of the rules; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Floors(Row):
    """Least shares. `primary`, `web_high`: of the budget, above 0; `recent_gap_web`: percent."""

    primary: Annotated[Ratio, Field(gt=0)]
    web_high: Annotated[Ratio, Field(gt=0)]
    recent_gap_web: Percent


class WebCap(Row):
    """Most of the budget that web may take, by freshness."""

    high: Ratio
    medium: Ratio
    low: Ratio


class Band(Row):
    """Least and most of the budget, as ratios."""

    low: Ratio
    high: Ratio

    @model_validator(mode="after")
    def _in_order(self) -> Band:
        if self.low > self.high:
            raise ValueError("low must not be above high")
        return self


class Limits(Row):
    """Numbers a user may change; see rules.yaml for what each one is."""

    default_budget: Whole
    max_budget: Whole
    tight_budget: Annotated[int, Field(ge=0, strict=True)]
    tight_rounds: Whole
    join_share: Percent
    default_graph: Percent
    web_cap: WebCap
    web_cap_medium_from: Whole
    counter_band: Band
    max_rounds: dict[Branch, Whole]
    narrower_retries: Annotated[int, Field(ge=0, strict=True)]
    judged_results: Whole
    low_quality: Ratio
    high_quality: Ratio
    quiet_rounds: Whole


class CounterTriggers(Row):
    """Values of the request that turn the counter search on."""

    goal_mode: tuple[str, ...]
    task_type: tuple[str, ...]


class Terms(Row):
    """Terms looked for in a text, after the exceptions are taken out of it."""

    terms: tuple[str, ...]
    except_: tuple[str, ...] = Field(alias="except")


class StopNeeds(Row):
    """A stop condition as least counts; all must hold. `searches_each`: of every source, or all it has, or spent."""

    counts: dict[str, int] = Field(default_factory=dict)
    high_results: int = 0
    searches_each: int = 0
    gaps_covered: float = 0.0


class ChainRow(Row):
    """An engine of the fallback chain, in order. `keys`: environment variables, one of which must be set, if any."""

    engine: Engine
    needs: Source
    keys: tuple[str, ...]
    triggers: tuple[str, ...]


class Rules(Row):
    """All rules of the source routing."""

    available: tuple[Source, ...]
    known_sources: tuple[Source, ...]
    shares: dict[Branch, dict[Slot, Percent]]
    combinations: dict[TaskType, tuple[Source, ...]]
    other_order: tuple[Source, ...]
    local_first: tuple[Source, ...]
    local_first_extra: dict[Branch, tuple[Source, ...]]
    front: tuple[Source, ...]
    counter_triggers: CounterTriggers
    floors: Floors
    limits: Limits
    relation_terms: Terms
    recent_terms: Terms
    stop_rules: dict[Branch, StopNeeds]
    chain: tuple[ChainRow, ...]
    passing_reasons: tuple[str, ...]
    wording: dict[str, dict[Language, str]]

    @model_validator(mode="after")
    def _shares_add_up(self) -> Rules:
        for branch, row in self.shares.items():
            if sum(row.values()) != 100:
                raise ValueError(f"shares.{branch}: must add up to 100, they add up to {sum(row.values())}")
            if "other" in row and branch != "high_freshness":
                raise ValueError(f"shares.{branch}: only high_freshness has an 'other'")
        return self

    def web_cap(self, freshness: Freshness) -> Fraction:
        """Most of the budget that web may take."""
        return getattr(self.limits.web_cap, freshness)  # type: ignore[no-any-return]

    def say(self, key: str, language: Language, **values: object) -> str:
        """A text of wording.yaml, filled in."""
        return self.wording[key][language].format(**values)


def build_rules(shipped: Mapping[str, Any], own: Mapping[str, Any], where: str) -> Rules:
    """The shipped rules with a user's numbers laid over them (rule RTE-7.3).

    `own` may hold `available`, `shares`, `floors`, `limits` (and `primary_floor`, short for `floors.primary`).
    Raises SettingsError that names the field, the value and where it came from.
    """
    values = dict(shipped)
    for key, value in _spelled_out(own).items():
        if key not in OPEN_TO_SETTINGS:
            hint = nearest(key, [*OPEN_TO_SETTINGS, *_SHORT])
            tail = f"; did you mean {hint}?" if hint else f"; accepted: {', '.join(OPEN_TO_SETTINGS)}"
            raise SettingsError(f"{where}: sources.{key}: not open to settings{tail}")
        values[key] = _laid_over(values[key], value)
    try:
        return Rules.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(["sources", *(str(part) for part in first["loc"])])
        given = f": got {shown(first['input'])}" if first["loc"] else ""
        raise SettingsError(f"{where}: {field}{given}; {first['msg'].removeprefix('Value error, ')}") from error


def _spelled_out(own: Mapping[str, Any]) -> dict[str, Any]:
    spelled = {str(key): value for key, value in own.items() if key not in _SHORT}
    for short, (section, field) in _SHORT.items():
        if short in own:
            spelled[section] = _laid_over({field: own[short]}, spelled.get(section, {}))
    return spelled


def _laid_over(base: Any, value: Any) -> Any:
    if not isinstance(base, Mapping) or not isinstance(value, Mapping):
        return value
    return {**base, **{key: _laid_over(base.get(key), below) for key, below in value.items()}}
