"""The arguments of the tools: types with the few words a model needs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from planner.channels.model import Count, Dollars
from planner.sources.events import Progress, Result
from planner.sources.model import Engine, Source


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else [] if value is None else value


Names = Annotated[list[str], BeforeValidator(_as_list)]
Priority = Annotated[Names, Field(description="Channels to prefer")]
Skip = Annotated[Names, Field(description="Channels to leave out")]
Explicit = Annotated[Names, Field(description="Search exactly these")]
Rubrics = Annotated[Names, Field(description="What a good answer covers")]
Sources = Annotated[list[Source], BeforeValidator(_as_list)] | None
Engines = Annotated[list[Engine | Literal["auto"]], BeforeValidator(_as_list)] | None
OptionalCount = Count | None
OptionalDollars = Dollars | None
JudgeName = Literal["auto", "standard", "fast", "heuristic"] | None
Json = dict[str, Any] | None


class Strict(BaseModel):
    """An argument that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")


class TrackEvent(Strict):
    """One engine call (results, or a failure), or the end of a round."""

    type: Literal["search", "round"] = "search"
    source: str | None = None
    engine: str | None = None
    results: list[Result] = []
    failure: Annotated[str | None, Field(description="As quota_exhausted, timeout")] = None
    query: str | None = None
    progress: Progress | None = None
