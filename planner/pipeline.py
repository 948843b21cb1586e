"""The channel plan on one screen: request → reading → judge → stage 1 → stage 2 → enforcement → plan.

A job is the question with all that is known before it is judged (`job`: request, reading, limits). A ladder of judges
fills in the semantic factors (`judges`). Scoring, stages and enforcement turn them into a plan (`channels.selection`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner import paths
from planner.catalog.loader import load_catalog
from planner.catalog.model import Catalog
from planner.channels.factors import Judgement
from planner.channels.model import ChannelPlan, JudgeInfo
from planner.channels.scoring import Context
from planner.channels.selection import select, select_named
from planner.history.history import History
from planner.job import Held, Job, job_of
from planner.judges.base import Verdict
from planner.judges.heuristic import HeuristicJudge
from planner.judges.ladder import Way, aclimb, climb
from planner.judges.rungs import Ladders
from planner.settings import Settings, load_settings

if TYPE_CHECKING:
    from planner.judges.preview import Preview


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
        self._open(Path(catalog or self.settings.catalog or paths.shipped("skills")), paths.cache_folder(self.env))
        self._state = paths.state_folder(self.env)
        self.history = History(self.settings.history, self._state, lambda: self.catalog)
        self.ladders = Ladders(self.settings, self.env, HeuristicJudge())

    def select(
        self, query: object, clarify_result: object = None, scope: object = None, judge: str | None = None, **more: Any
    ) -> ChannelPlan:
        """The plan for one question. Raises InputError; nothing else goes wrong (rule SEL-1.1)."""
        job = self.job(query, clarify_result, scope, **more)
        (verdict,) = climb([self.way(job, judge)], self.settings.llm)
        return self.chosen(job, verdict)

    async def aselect(
        self, query: object, clarify_result: object = None, scope: object = None, judge: str | None = None, **more: Any
    ) -> ChannelPlan:
        """As `select`, on the caller's event loop."""
        job = self.job(query, clarify_result, scope, **more)
        (verdict,) = await aclimb([self.way(job, judge)], self.settings.llm)
        return self.chosen(job, verdict)

    def preview(
        self, query: object, clarify_result: object = None, scope: object = None, judge: str | None = None, **more: Any
    ) -> Preview:
        """What would be asked of which model, at which price; nothing is sent (rule JDG-1.5)."""
        from planner.judges.preview import preview

        job = self.job(query, clarify_result, scope, **more)
        return preview(self.way(job, judge), job.question)

    def job(self, query: object, clarify_result: object = None, scope: object = None, **more: Any) -> Job:
        """A question with all that is known before it is judged. Raises InputError."""
        return job_of(self._held(), query, clarify_result, scope, **more)

    def way(self, job: Job, judge: str | None) -> Way[Judgement]:
        """Who is asked to judge it, in which order. Raises InputError for an unknown judge."""
        return self.ladders.of("heuristic" if job.question.request.explicit_channels else judge).way(job.question)

    def chosen(self, job: Job, verdict: Verdict[Judgement], paid_usd: float = 0.0) -> ChannelPlan:
        """The plan for a judged question; `paid_usd`: what else was paid for planning, counted against the cap."""
        warnings = [*job.warnings, *verdict.warnings]
        paid_usd += (verdict.usage.cost_usd if verdict.usage else None) or 0.0
        context = job.context.after_paying(paid_usd)
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

    def _choose(self, judgement: Judgement, context: Context, warnings: Sequence[str], job: Job) -> ChannelPlan:
        return select(judgement, context, warnings, job.boosted)

    def _open(self, root: Path, cache: Path) -> None:
        self._catalog = load_catalog(root, cache / "catalogs")

    @property
    def catalog(self) -> Catalog:
        """The catalog in use."""
        return self._catalog

    def _trouble(self) -> list[str]:
        """What there is to say about the catalog besides its own warnings."""
        return []

    def _held(self) -> Held:
        catalog = self.catalog
        told = (*self.settings.notes, *self._trouble(), *catalog.warnings)
        digests = (self._state / "channels", catalog.root / "channels")
        return Held(catalog, self.settings, self.env, self.history, told, digests)
