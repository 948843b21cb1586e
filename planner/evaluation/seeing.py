"""A planner that can be asked, after a plan, how every leaf scored, picked or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.channels.assembly import rounded
from planner.channels.factors import Judgement
from planner.channels.model import ChannelPlan
from planner.channels.scoring import Context, score_leaf, trusted
from planner.job import Job
from planner.pipeline import Planner

Factors = Mapping[str, Mapping[str, float]]


class SeeingPlanner(Planner):
    """For one question at a time: it keeps the last judgement."""

    seen: tuple[Judgement, Context] | None = None

    def _choose(self, judgement: Judgement, context: Context, warnings: Sequence[str], job: Job) -> ChannelPlan:
        self.seen = (judgement, context)
        return super()._choose(judgement, context, warnings, job)

    def factors(self) -> dict[str, dict[str, float]]:
        """Channel -> its factors to 4 decimals in the last plan; experience is left at 0 (digests are not read)."""
        if self.seen is None:
            return {}
        judgement, context = self.seen
        leaves = trusted(judgement, context).leaves
        return {
            leaf.channel: rounded(score_leaf(leaf, "", leaves[leaf.channel], context).factors)
            for leaf in context.catalog.leaves
            if leaf.is_channel
        }
