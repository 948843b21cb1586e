"""Tokens and US dollars, by litellm's counter and price table. Unknown is None, never 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.llm import libraries
from planner.llm.spec import ModelSpec


def price(spec: ModelSpec, tokens_in: int, tokens_out: int) -> float | None:
    """What so many tokens cost."""
    try:
        into, out = libraries.litellm().cost_per_token(
            model=spec.name, prompt_tokens=tokens_in, completion_tokens=tokens_out
        )
    except Exception:  # its way of saying that the model is not in the table
        return None
    return float(into) + float(out)


def count_tokens(spec: ModelSpec, messages: Sequence[Mapping[str, Any]], extra: str = "") -> int:
    """Tokens of the messages and of what is sent beside them (the schema)."""
    counter = libraries.litellm().token_counter
    return int(counter(model=spec.name, messages=list(messages))) + (
        int(counter(model=spec.name, text=extra)) if extra else 0
    )


def used(completion: Any) -> tuple[int | None, int | None, float | None]:
    """Tokens in, tokens out and cost of one answer; a server that sends no usage leaves them unknown."""
    usage = getattr(completion, "usage", None)
    tokens_in, tokens_out = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    if not tokens_in and not tokens_out:
        return None, None, None
    hidden = getattr(completion, "_hidden_params", None) or {}
    cost = hidden.get("response_cost")
    return tokens_in, tokens_out, float(cost) if isinstance(cost, int | float) else None
