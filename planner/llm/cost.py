"""Tokens and US dollars, by litellm's counter and price table. Unknown is None, never 0."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from planner.llm import libraries
from planner.llm.spec import ModelSpec

MOST_TOKENS, MOST_USD = 10_000_000, 1_000.0  # of one answer: more is a server's mistake


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
    """Tokens in, tokens out and cost of one answer; what a server does not say, or nobody can believe, is unknown."""
    usage = getattr(completion, "usage", None)
    into, out = (_tokens(getattr(usage, name, None)) for name in ("prompt_tokens", "completion_tokens"))
    if not into or out is None:  # litellm writes 0 for what was not said
        return None, None, None
    hidden = getattr(completion, "_hidden_params", None) or {}
    return into, out, _dollars(hidden.get("response_cost"))


def without_usage(body: object) -> Any:
    """The completion in the text of an answer that litellm refused for its usage alone; None when there is none."""
    try:
        value = json.loads(body) if isinstance(body, str) else {}
        if not isinstance(value, dict) or "usage" not in value or not value.get("choices"):
            return None
        del value["usage"]
        return libraries.litellm().ModelResponse(**value)
    except (ValueError, TypeError, RecursionError):
        return None


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= MOST_TOKENS else None


def _dollars(value: object) -> float | None:
    # NaN fails the comparison too
    return float(value) if isinstance(value, int | float) and 0 <= value <= MOST_USD else None
