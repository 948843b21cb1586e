"""The inquiry of the channel selection: a model rates groups and channels of the catalog."""

from __future__ import annotations

import json
from collections.abc import Callable

from planner import prompts
from planner.channels.factors import GroupJudgement, Judgement, LeafJudgement
from planner.channels.model import SelectionRequest
from planner.judges.answer import Answer, answer_model, judgement_of
from planner.judges.base import Question
from planner.judges.inquiry import Inquiry
from planner.text import normalise


def rating(question: Question, base: Callable[[], Judgement]) -> Inquiry[Judgement]:
    """What a model is asked about a question; `base` ranks what a large catalog is cut to (rule JDG-1.3)."""
    numbers, catalog = question.settings.llm, question.catalog
    prompt = prompts.render(question.request, catalog, base, numbers.prompt_tokens, numbers.query_chars)
    return Inquiry(
        prompt,
        answer_model(prompt.schema, Answer),
        lambda answer: judgement_of(answer, catalog),
        (catalog.version, *_asked(question.request)),
        _dumped,
        _loaded,
        question.env,
        question.request.scope.budget.max_cost_usd,
    )


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
