"""The flat arm: one list of all leaves, no groups. What picking groups first is measured against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.channels.assembly import Outcome, assemble
from planner.channels.enforcement import enforce
from planner.channels.factors import Judgement
from planner.channels.model import ChannelPlan
from planner.channels.scoring import Context, score_groups, trusted
from planner.channels.selection import Boost
from planner.channels.stages import Stage1, candidates, pick_leaves, rank_key
from planner.evaluation.seeing import SeeingPlanner
from planner.job import Job


def select_flat(judgement: Judgement, context: Context, warnings: Sequence[str], boost: Boost) -> ChannelPlan:
    """A plan from the same judgement, weights, filters and guard, with no stage 1 and no cap on groups (rule EVA-1.2).

    Group scores neither filter nor order; each leaf is shown under its best group.
    """
    judged = trusted(judgement, context)
    groups = score_groups(judged, context)
    leaves = [leaf for leaf in context.catalog.leaves if leaf.is_channel]
    open_to_all = replace(context.limits, max_groups=len(groups))
    context = replace(context, limits=open_to_all, boosted=boost(leaves, context))
    stage1 = Stage1(kept=[], skipped_leaves=_refused(context))
    ranked = sorted(candidates(groups, judged, context, stage1), key=rank_key(context, {}))
    stage2 = pick_leaves(ranked, context, stage1)
    enforced = enforce(stage2.picks, ranked, {}, context)
    return assemble(Outcome(judged, groups, stage1, stage2, enforced, ranked), context, warnings)


def _refused(context: Context) -> dict[str, str]:
    natives, limits = context.catalog.natives, context.limits
    reasons = ((leaf.channel, limits.leaf_refusal(leaf, leaf.channel in natives)) for leaf in context.catalog.leaves)
    return {channel: reason for channel, reason in reasons if reason}


class FlatPlanner(SeeingPlanner):
    """A planner that picks from one list."""

    def _choose(self, judgement: Judgement, context: Context, warnings: Sequence[str], job: Job) -> ChannelPlan:
        self.seen = (judgement, context)
        return select_flat(judgement, context, warnings, job.boosted)
