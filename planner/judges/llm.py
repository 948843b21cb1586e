"""A model as a judge. Standard and Fast are two instances (or more: a tier may list several models)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from planner.channels.factors import GroupJudgement, Judgement, LeafJudgement
from planner.channels.model import SelectionRequest
from planner.judges.answer import answer_model, judgement_of
from planner.judges.base import Question
from planner.llm import cost, state
from planner.llm.client import Ask, Conversation, Patience
from planner.llm.failure import OF_THE_QUESTION, CallError
from planner.llm.limits import Limits
from planner.llm.spec import ModelSpec
from planner.prompts import Prompt
from planner.settings import LlmSettings
from planner.text import normalise

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

    def recall(self, question: Question, prompt: Prompt) -> Judgement | None:
        """The judgement of an earlier, equal question (rule JDG-2.8)."""
        kept = state.judgements(self.settings).get(self._key(question, prompt))
        return _loaded(kept) if kept else None

    async def judge(self, question: Question, prompt: Prompt, limits: Limits, ends: float) -> Judgement:
        """One call, and what it takes to get an answer. Raises CallError; ReplayMiss and cancellation pass through."""
        self._check_cost(question, prompt, limits)
        breaker = state.breaker_of(self.spec, self.settings)
        if not breaker.admits():
            raise CallError("breaker_open")
        try:
            judgement = await self._conversation(question, prompt, limits, ends).answer()
        except CallError as failed:
            (breaker.succeeded if failed.kind in OF_THE_QUESTION else breaker.failed)()
            raise
        except BaseException:
            breaker.abandoned()
            raise
        breaker.succeeded()
        state.judgements(self.settings).put(self._key(question, prompt), _dumped(judgement))
        return judgement

    def estimate(self, prompt: Prompt) -> tuple[int, float | None]:
        """Tokens in, and the cost in US dollars of the longest answer allowed; None when the price is unknown."""
        tokens = cost.count_tokens(self.spec, prompt.messages, prompt.schema)
        return tokens, cost.price(self.spec, tokens, self.settings.max_tokens)

    def _check_cost(self, question: Question, prompt: Prompt, limits: Limits) -> None:
        cap = question.request.scope.budget.max_cost_usd
        if cap is None:
            return
        _, estimate = self.estimate(prompt)
        spent = limits.cost_usd or 0.0
        if (estimate is None and cap == 0) or (estimate is not None and spent + estimate > cap + 1e-12):
            raise CallError("cost_cap")

    def _conversation(self, question: Question, prompt: Prompt, limits: Limits, ends: float) -> Conversation[Judgement]:
        numbers = self.settings
        ask = Ask(
            self.spec,
            prompt.messages,
            answer_model(prompt.schema),
            lambda answer: judgement_of(answer, question.catalog),
            self.spec.key(question.env) or (NO_KEY if self.spec.api_base or state.keyless() else None),
            numbers.max_tokens,
            numbers.deadline_s,
        )
        patience = Patience(numbers.retries, numbers.backoff_s, numbers.backoff_max_s)
        return Conversation(ask, limits, ends, patience, state.modes_of(numbers))

    def _key(self, question: Question, prompt: Prompt) -> str:
        parts = [self.spec.label, prompt.version, question.catalog.version, prompt.schema, *_asked(question.request)]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


def _asked(request: SelectionRequest) -> list[object]:
    # all that reaches the prompt, in the form that matching uses
    clarify = request.clarify_result
    rubrics = [normalise(text) for text in clarify.rubrics]
    return [" ".join(normalise(request.query).split()), normalise(clarify.query_type), rubrics, request.scope.recency]


def _dumped(judgement: Judgement) -> str:
    return json.dumps([dict(judgement.groups), dict(judgement.leaves)], ensure_ascii=True)


def _loaded(text: str) -> Judgement | None:
    try:
        groups, leaves = json.loads(text)
        return Judgement(
            {name: GroupJudgement(*entry) for name, entry in groups.items()},
            {name: LeafJudgement(*entry) for name, entry in leaves.items()},
        )
    except (ValueError, TypeError, AttributeError):  # another version wrote the file
        return None
