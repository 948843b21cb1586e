"""The channel plan on one screen: request → reading → judge → stage 1 → stage 2 → enforcement → plan."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner import paths
from planner.catalog.loader import load_catalog
from planner.catalog.model import Catalog, Leaf
from planner.channels.factors import Judgement
from planner.channels.limits import Limits, build_limits
from planner.channels.model import ChannelPlan, JudgeInfo, SelectionRequest
from planner.channels.request import build_request
from planner.channels.scoring import Context
from planner.channels.selection import select, select_named
from planner.errors import InputError
from planner.history.digests import boosted_channels
from planner.history.history import History
from planner.judges.base import Question, Verdict
from planner.judges.heuristic import HeuristicJudge
from planner.judges.ladder import Ladder
from planner.judges.rungs import build_ladder
from planner.settings import Settings, load_settings

if TYPE_CHECKING:
    from planner.judges.preview import Preview

JUDGES = ("auto", "standard", "fast", "heuristic")


def channel_selection(
    query: object, clarify_result: object = None, scope: object = None, **options: Any
) -> ChannelPlan:
    """Which channels to search for a question, by the shipped catalog and the user's settings. Raises InputError.

    `query`: text of 1 to 4,000 characters. `clarify_result`: mode, query_type, rubrics, channel_priority, channel_skip.
    `scope`: languages, recency, budget {max_channels, max_groups, max_cost_usd}. Options: `explicit_channels`, `judge`.
    """
    return shared().select(query, clarify_result, scope, **options)


async def achannel_selection(
    query: object, clarify_result: object = None, scope: object = None, **options: Any
) -> ChannelPlan:
    """As `channel_selection`, on the caller's event loop."""
    return await shared().aselect(query, clarify_result, scope, **options)


@cache
def shared() -> Planner:
    """The planner behind the plain functions: made on first use, kept for the process."""
    return Planner()


class Planner:
    """Catalog, settings and judges, held once; thread- and task-safe. `env` stands in for the process environment."""

    def __init__(
        self,
        catalog: str | Path | None = None,
        settings: Settings | Mapping[str, Any] | str | Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.env: Mapping[str, str] = os.environ if env is None else env
        self.settings = load_settings(settings, self.env)
        root = Path(catalog or self.settings.catalog or paths.shipped("skills"))
        self._open(root, paths.cache_folder(self.env) / "catalogs")
        self.history = History(self.settings.history, paths.state_folder(self.env), lambda: self.catalog)
        self._ladders: dict[str | None, Ladder] = {}

    def _open(self, root: Path, cache: Path) -> None:
        self._catalog = load_catalog(root, cache)

    @property
    def catalog(self) -> Catalog:
        """The catalog in use."""
        return self._catalog

    def _trouble(self) -> list[str]:
        """What there is to say about the catalog besides its own warnings."""
        return []

    def select(self, query: object, clarify_result: object = None, scope: object = None, **options: Any) -> ChannelPlan:
        """The plan for one question. Raises InputError; nothing else goes wrong (rule SEL-1.1)."""
        job = self._prepare(query, clarify_result, scope, **options)
        return self._conclude(job, job.ladder.climb(job.question))

    async def aselect(
        self, query: object, clarify_result: object = None, scope: object = None, **options: Any
    ) -> ChannelPlan:
        """As `select`, on the caller's event loop."""
        job = self._prepare(query, clarify_result, scope, **options)
        return self._conclude(job, await job.ladder.aclimb(job.question))

    def preview(self, query: object, clarify_result: object = None, scope: object = None, **options: Any) -> Preview:
        """What would be asked of which model, at which price; nothing is sent (rule JDG-1.5)."""
        from planner.judges.preview import preview

        job = self._prepare(query, clarify_result, scope, **options)
        return preview(job.ladder, job.question)

    def judge_note(self, judge: str | None = None) -> str | None:
        """Why no model would ever be asked, when that was not the caller's choice."""
        return self._ladder(judge).note

    def asks_models(self, judge: str | None = None) -> bool:
        """Whether a plan may ask a model: one is configured, or a known provider's key is set."""
        return bool(self._ladder(judge).rungs)

    def warm_up(self) -> None:
        """Load what the models need, in the background; for servers."""
        self._ladder(None).warm_up()

    def _prepare(
        self,
        query: object,
        clarify_result: object,
        scope: object,
        explicit_channels: object = None,
        judge: str | None = None,
        today: date | None = None,
    ) -> Job:
        started = time.perf_counter()
        request, notes = build_request(query, clarify_result, scope, explicit_channels)
        whole = self.catalog
        reading = whole.read(request.query)
        limits, warnings = build_limits(request, reading, whole, self.settings, self.env)
        history, unread = self.history.empty_sessions()
        catalog = whole.shortlist(reading, _wanted(request, limits, whole), limits.allows)
        context = Context(reading, limits, catalog, self.settings, empty_sessions=history)
        noted = [*self.settings.notes, *self._trouble(), *whole.warnings, *notes, *warnings, *unread]
        ladder = self._ladder("heuristic" if request.explicit_channels else judge)
        question = Question(request, reading, catalog, self.settings, self.env)
        return Job(started, question, context, tuple(noted), ladder, today or date.today())

    def _ladder(self, judge: str | None) -> Ladder:
        if judge not in self._ladders:
            if judge is not None and judge not in JUDGES:
                raise InputError("judge", judge, ", ".join(JUDGES))
            self._ladders[judge] = build_ladder(self.settings, self.env, HeuristicJudge(), judge)
        return self._ladders[judge]

    def _choose(self, judgement: Judgement, context: Context, warnings: Sequence[str], job: Job) -> ChannelPlan:
        return select(judgement, context, warnings, job.boosted)

    def _conclude(self, job: Job, verdict: Verdict) -> ChannelPlan:
        warnings = [*job.warnings, *verdict.warnings]
        context = job.context.after_paying(verdict.usage.cost_usd if verdict.usage else None)
        if names := job.question.request.explicit_channels:
            plan = select_named(names, verdict.judgement, context, warnings)
        else:
            plan = self._choose(verdict.judgement, context, warnings, job)
        return plan.model_copy(
            update={
                "judge": JudgeInfo(tier=verdict.tier, model=verdict.model),
                "degradations": verdict.degradations,
                "usage": verdict.usage,
                "cached": verdict.cached,
                "warmup_ms": verdict.warmup_ms,
                "elapsed_ms": round((time.perf_counter() - job.started) * 1000, 3),
            }
        )


def _wanted(request: SelectionRequest, limits: Limits, catalog: Catalog) -> list[str]:
    named = (channel for name in request.explicit_channels for channel in catalog.channels_named(name))
    return [*limits.priority, *named, *limits.skip]


@dataclass(frozen=True, slots=True)
class Job:
    """One question on its way to a plan."""

    started: float
    question: Question
    context: Context
    warnings: tuple[str, ...]
    ladder: Ladder
    today: date

    def boosted(self, leaves: Sequence[Leaf], context: Context) -> frozenset[str]:
        """Leaves whose digest has a recent rule that fits; the state folder's digests come first."""
        catalog = context.catalog
        folders = (paths.state_folder(self.question.env) / "channels", catalog.root / "channels")
        days = context.settings.selection.experience_days
        return boosted_channels(leaves, context.reading, catalog, folders, self.today, days)
