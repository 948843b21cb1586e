"""One question on its way to a plan: everything that is known about it before it is judged."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from planner.catalog.model import Catalog, Leaf
from planner.channels.limits import Limits, build_limits
from planner.channels.model import SelectionRequest
from planner.channels.request import build_request
from planner.channels.scoring import Context
from planner.history.digests import boosted_channels
from planner.judges.base import Question

if TYPE_CHECKING:
    from planner.history.history import History
    from planner.settings import Settings


@dataclass(frozen=True, slots=True)
class Held:
    """What a planner holds for all its questions. `told`: what every plan must say about it; `digests`: the folders
    that hold experience digests, the state folder's first (rule SEL-8.4).
    """

    catalog: Catalog
    settings: Settings
    env: Mapping[str, str]
    history: History
    told: tuple[str, ...]
    digests: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """See the module. `started`: on the performance counter; `today`: for the age of digest rules."""

    started: float
    question: Question
    context: Context
    warnings: tuple[str, ...]
    today: date
    digests: tuple[Path, ...]

    def capped(self, channels: int) -> Job:
        """With at most so many channels, all of them wanted; the user's own cap holds where it is lower."""
        limits = self.context.limits
        most = min(limits.max_channels, channels)
        return replace(self, context=replace(self.context, limits=replace(limits, target=most, max_channels=most)))

    def boosted(self, leaves: Sequence[Leaf], context: Context) -> frozenset[str]:
        """Leaves whose digest has a recent rule that fits."""
        days = context.settings.selection.experience_days
        return boosted_channels(leaves, context.reading, context.catalog, self.digests, self.today, days)


def job_of(
    held: Held,
    query: object,
    clarify_result: object = None,
    scope: object = None,
    explicit_channels: object = None,
    today: date | None = None,
) -> Job:
    """Request, reading, limits and history of one question. Raises InputError."""
    started = time.perf_counter()
    request, notes = build_request(query, clarify_result, scope, explicit_channels)
    reading = held.catalog.read(request.query)
    limits, warnings = build_limits(request, reading, held.catalog, held.settings, held.env)
    empty_sessions, unread = held.history.empty_sessions()
    catalog = held.catalog.shortlist(reading, _mentioned(request, limits, held.catalog), limits.allows)
    context = Context(reading, limits, catalog, held.settings, empty_sessions=empty_sessions)
    question = Question(request, reading, catalog, held.settings, held.env)
    return Job(
        started, question, context, (*held.told, *notes, *warnings, *unread), today or date.today(), held.digests
    )


def _mentioned(request: SelectionRequest, limits: Limits, catalog: Catalog) -> list[str]:
    """Channels the request speaks of; a shortlist of a large catalog must hold them."""
    named = (channel for name in request.explicit_channels for channel in catalog.channels_named(name))
    return [*limits.priority, *named, *limits.skip]
