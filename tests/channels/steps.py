"""The steps as one call each, for tests."""

from planner.channels.scoring import score_groups, trusted
from planner.channels.selection import select, select_named
from planner.channels.stages import candidates, pick_groups, pick_leaves


def stage1(judgement, ctx):
    return pick_groups(score_groups(trusted(judgement, ctx), ctx), ctx)


def stage2(judgement, ctx):
    stage, judged = stage1(judgement, ctx), trusted(judgement, ctx)
    return pick_leaves(candidates(stage.kept, judged, ctx, stage), ctx, stage)


def plan(judgement, ctx, warnings=()):
    return select(judgement, ctx, warnings, lambda leaves, context: context.boosted)


def named_plan(names, judgement, ctx):
    return select_named(names, judgement, ctx, ())


def names(groups):
    return [g.name for g in groups]


def channels(picks):
    return [p.channel for p in picks]
