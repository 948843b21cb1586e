"""What would be asked of which model, without asking: the prompt, its tokens, its price."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from planner import prompts
from planner.channels.factors import Judgement
from planner.judges.base import Question
from planner.judges.ladder import FLOOR, Way

_ANY_MODEL = "openai/gpt-4.1"  # whose counter is used when no model is configured


@dataclass(frozen=True, slots=True)
class Rung:
    """A model that would be asked; `tokens_in` with the schema, `cost_usd` of the longest answer allowed."""

    tier: str
    model: str
    api_base: str | None
    tokens_in: int
    tokens_out_max: int
    cost_usd: float | None
    barred: str | None


@dataclass(frozen=True, slots=True)
class Preview:
    """`rungs` in the order they would be tried; none means that the heuristic answers and nothing is sent."""

    rungs: tuple[Rung, ...]
    prompt: prompts.Prompt
    tokens_in: int
    tokens_schema: int
    model: str

    @property
    def tier(self) -> str:
        """The tier that would be asked first."""
        return next((rung.tier for rung in self.rungs if rung.barred is None), FLOOR)

    def request(self) -> dict[str, Any]:
        """The parts of the request body that the prompt decides, as an OpenAI-compatible endpoint gets them."""
        schema = json.loads(self.prompt.schema)
        form = {"type": "json_schema", "json_schema": {"name": schema["title"], "schema": schema}}
        return {"messages": self.prompt.messages, "response_format": form}

    def summary(self) -> dict[str, Any]:
        """What `--dry-run` prints as JSON."""
        return {
            "tier": self.tier,
            "rungs": [asdict(rung) for rung in self.rungs],
            "prompt_version": self.prompt.version,
            "tokens_in": self.tokens_in,
            "note": self.prompt.note,
        }


def preview(way: Way[Judgement], question: Question) -> Preview:
    """What would be done with `question`. Loads litellm for its counter; opens no connection."""
    from planner.llm import cost
    from planner.llm.spec import ModelSpec

    prompt, longest = way.inquiry().prompt, question.settings.llm.max_tokens
    rungs = []
    for judge in way.rungs:
        tokens, price = judge.estimate(prompt)
        bar = judge.barred(question.env)
        reason = bar.reason if bar else None
        rungs.append(Rung(judge.tier, judge.spec.name, judge.spec.api_base, tokens, longest, price, reason))
    spec = ModelSpec(rungs[0].model if rungs else _ANY_MODEL)
    whole = cost.count_tokens(spec, prompt.messages, prompt.schema)
    return Preview(tuple(rungs), prompt, whole, whole - cost.count_tokens(spec, prompt.messages), spec.name)
