"""What the tools answer where the planner's own records are not the shape that agents were promised."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from planner.channels.model import ChannelPlan, Degradation, JudgeInfo, Usage
from planner.sources.events import Directive, TrackState


class Answer(BaseModel):
    """A frozen answer."""

    model_config = ConfigDict(frozen=True)


class ChannelAnswer(Answer):
    """Where to search. `channels`: bare names in rank order; `lacking_keys`: picked ones that cannot run, and why."""

    groups: list[str]
    channels: list[str]
    rationale: str
    chinese_native_quota_met: bool | None
    skipped_groups: list[str]
    skipped_channels: list[str]
    lacking_keys: dict[str, str]
    total_cost_usd: float
    adjustments: list[str]
    warnings: list[str]
    judge: JudgeInfo
    degradations: list[Degradation]
    usage: Usage | None
    elapsed_ms: float
    warmup_ms: float
    catalog_version: str
    schema_version: str


class Step(Answer):
    """What to do next. `state`: hand it back with the next event, unchanged."""

    directive: Directive
    state: TrackState


class RecordedAnswer(Answer):
    """What was recorded. `session`: to go on with; `empty_sessions`: group to empty sessions in a row."""

    session: str
    recorded: int
    empty_sessions: dict[str, int]
    warnings: list[str]


def channel_answer(plan: ChannelPlan) -> ChannelAnswer:
    """A channel plan in the short shape (rule MCP-1.1)."""
    shared: dict[str, Any] = {name: getattr(plan, name) for name in ChannelAnswer.model_fields if hasattr(plan, name)}
    short = {
        "groups": [group.name for group in plan.groups],
        "channels": [pick.channel for pick in plan.channels],
        "rationale": "; ".join(f"{pick.channel} ({pick.score:.2f}): {pick.rationale}" for pick in plan.channels),
        "lacking_keys": {pick.channel: pick.auth for pick in plan.channels if not pick.runnable},
    }
    listed = {key: list(value) if isinstance(value, tuple) else value for key, value in shared.items()}
    return ChannelAnswer(**{**listed, **short})
