"""The one seam: a judge reads a question and fills in the semantic factors; all else is code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from planner.catalog.model import Catalog
from planner.catalog.reading import Reading
from planner.channels.factors import Judgement
from planner.channels.model import Degradation, SelectionRequest, Usage
from planner.settings import Settings

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge may look at. `env` is looked up for key names only."""

    request: SelectionRequest
    reading: Reading
    catalog: Catalog
    settings: Settings
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Verdict(Generic[Result]):
    """A judgement and how it came about: which tier and model, what was tried before, what it cost."""

    judgement: Result
    tier: str
    model: str | None = None
    degradations: tuple[Degradation, ...] = ()
    usage: Usage | None = None
    warmup_ms: float = 0.0
    cached: bool = False
    warnings: tuple[str, ...] = field(default=())


class Judge(Protocol):
    """A judge that needs no network. Always answers."""

    def judge(self, question: Question) -> Judgement:
        """The semantic factors, each in 0..1; what is left out is 0."""
        ...
