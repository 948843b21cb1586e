"""A model as a judge. Standard and Fast are two instances (or more: a tier may list several models)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from planner.judges.inquiry import Inquiry, Result
from planner.llm import cost, state
from planner.llm.client import Ask, Conversation, Patience
from planner.llm.failure import OF_THE_QUESTION, CallError
from planner.llm.limits import Limits
from planner.llm.spec import ModelSpec
from planner.prompts import Prompt
from planner.settings import LlmSettings

NO_KEY = "none"  # a client without any key refuses to start


@dataclass(frozen=True, slots=True)
class LlmJudge:
    """One model of one tier."""

    tier: str
    spec: ModelSpec
    settings: LlmSettings

    @property
    def name(self) -> str:
        """How degradations name this rung."""
        return f"{self.tier}:{self.spec.name}"

    def barred(self, env: Mapping[str, str]) -> CallError | None:
        """What makes a call pointless before anything is loaded: no key (rule JDG-2.2)."""
        if state.keyless() or not self.spec.lacks_key(env):
            return None
        return CallError("no_key", cause=" or ".join(self.spec.key_names()))

    def recall(self, inquiry: Inquiry[Result]) -> Result | None:
        """What it said to an earlier, equal inquiry (rule JDG-2.8)."""
        kept = state.judgements(self.settings).get(self._key(inquiry))
        return inquiry.loaded(kept) if kept else None

    async def judge(self, inquiry: Inquiry[Result], limits: Limits, ends: float) -> Result:
        """One call, and what it takes to get an answer. Raises CallError; ReplayMiss and cancellation pass through."""
        promise = self._within_cap(inquiry, limits)
        breaker = state.breaker_of(self.spec, self.settings)
        if not breaker.admits():
            raise CallError("breaker_open")
        try:
            with limits.allowance.promised(promise):
                result = await self._conversation(inquiry, limits, ends).answer()
        except CallError as failed:
            (breaker.succeeded if failed.kind in OF_THE_QUESTION else breaker.failed)()
            raise
        except BaseException:
            breaker.abandoned()
            raise
        breaker.succeeded()
        state.judgements(self.settings).put(self._key(inquiry), inquiry.dumped(result))
        return result

    def estimate(self, prompt: Prompt) -> tuple[int, float | None]:
        """Tokens in, and the cost in US dollars of the longest answer allowed; None when the price is unknown."""
        tokens = cost.count_tokens(self.spec, prompt.messages, prompt.schema)
        return tokens, cost.price(self.spec, tokens, self.settings.max_tokens)

    def _within_cap(self, inquiry: Inquiry[Result], limits: Limits) -> float | None:
        """What the call may cost; raises CallError where that is more than is left."""
        cap, allowance = inquiry.cap_usd, limits.allowance
        if cap is None:
            return None
        _, estimate = self.estimate(inquiry.prompt)
        taken = allowance.spent_usd + allowance.promised_usd
        if (estimate is None and cap == 0) or (estimate is not None and taken + estimate > cap + 1e-12):
            raise CallError("cost_cap")
        return estimate

    def _conversation(self, inquiry: Inquiry[Result], limits: Limits, ends: float) -> Conversation[Result]:
        numbers, prompt = self.settings, inquiry.prompt
        ask = Ask(
            self.spec,
            prompt.messages,
            inquiry.answer,
            inquiry.accept,
            self.spec.key(inquiry.env) or (NO_KEY if self.spec.api_base or state.keyless() else None),
            numbers.max_tokens,
            numbers.deadline_s,
        )
        patience = Patience(numbers.retries, numbers.backoff_s, numbers.backoff_max_s)
        return Conversation(ask, limits, ends, patience, state.modes_of(numbers))

    def _key(self, inquiry: Inquiry[Result]) -> str:
        parts = [self.spec.label, inquiry.prompt.version, inquiry.prompt.schema, *inquiry.asked]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
