"""The inquiry of the intake: a model reads what a question asks for. What it says is data, checked field by field."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

from pydantic import BaseModel

from planner import prompts
from planner.judges.answer import answer_model
from planner.judges.inquiry import Inquiry
from planner.llm.failure import UnreadableError
from planner.llm.repair import read_json, unwrap
from planner.settings import LlmSettings
from planner.sources.model import Freshness, GoalMode, TaskType
from planner.text import clean, normalise

MAX_SUBJECT, MAX_GAP, MAX_GAPS = 80, 60, 5  # characters, characters, gaps
_COPIED = 0.5  # of a text's words, at least so many stand in the question
_NAMES = {  # field of a routing request -> the names models give it
    "task_type": ("t", "task_type"),
    "goal_mode": ("g", "goal_mode"),
    "freshness_required": ("f", "freshness_required", "freshness"),
    "need_counter_evidence": ("c", "need_counter_evidence"),
    "primary_subject": ("s", "primary_subject", "subject"),
    "information_gaps": ("n", "information_gaps", "gaps"),
}
INFERRED = frozenset(_NAMES)
_CHOICES = {
    "task_type": get_args(TaskType),
    "goal_mode": get_args(GoalMode),
    "freshness_required": get_args(Freshness),
}
_TRUTH: dict[object, bool] = {"true": True, "false": False, "yes": True, "no": False}
_WORD = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]")
_SPACES = re.compile(r"\s+")

Fields = dict[str, Any]  # of a routing request


class Sorted(BaseModel):
    """An answer's fields as they came, by their names in a routing request."""

    fields: Fields

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **_: Any) -> Sorted:
        """Reads what models really send. Raises NoJsonError, or UnreadableError when there is JSON of another shape."""
        text = json_data if isinstance(json_data, str) else bytes(json_data).decode("utf-8", "replace")
        value = unwrap(read_json(text), [name for names in _NAMES.values() for name in names])
        if not isinstance(value, Mapping):
            raise UnreadableError("an object with t, g, f, c, s and n was expected", text)
        return cls.model_construct(fields=_named(value))


def sorting(question: str, numbers: LlmSettings, env: Mapping[str, str], cap_usd: float | None) -> Inquiry[Fields]:
    """What a model is asked about a question in free text (rule RTE-9.6); `cap_usd`: what planning may cost at most."""
    prompt = prompts.render_intake(question, numbers.query_chars)
    return Inquiry(
        prompt,
        answer_model(prompt.schema, Sorted),
        lambda answer: fields_of(answer, question),
        (" ".join(normalise(question).split()),),
        json.dumps,
        partial(_loaded, question),
        env,
        cap_usd,
    )


def fields_of(answer: Sorted, question: str) -> Fields:
    """The fields that can be used; the heuristic's reading stands for the others (rule RTE-9.8).

    Raises UnreadableError where none can.
    """
    if found := _usable(answer.fields, question):
        return found
    raise UnreadableError("no field holds a value of the schema", json.dumps(answer.fields, default=str)[:400])


def _named(value: Mapping[Any, Any]) -> Fields:
    found = {field: next((value[name] for name in names if name in value), None) for field, names in _NAMES.items()}
    return {field: item for field, item in found.items() if item is not None}


def _usable(fields: Mapping[str, Any], question: str) -> Fields:
    words = frozenset(_WORD.findall(normalise(question)))
    read: Fields = {field: _choice(fields.get(field), known) for field, known in _CHOICES.items()}
    wish = fields.get("need_counter_evidence")
    read["need_counter_evidence"] = wish if isinstance(wish, bool) else _TRUTH.get(_plain(wish))
    read["primary_subject"] = _copied(fields.get("primary_subject"), words, MAX_SUBJECT)
    read["information_gaps"] = _gaps(fields.get("information_gaps"), words)
    return {field: value for field, value in read.items() if value is not None}


def _plain(value: object) -> str:
    return value[:80].strip().casefold() if isinstance(value, str) else ""


def _choice(value: object, known: tuple[str, ...]) -> str | None:
    word = re.sub(r"[\s-]+", "_", _plain(value))
    return word if word in known else None


def _copied(value: object, words: frozenset[str], most: int) -> str | None:
    """The text on one line and cut, if it is made of the question's words; else it is the model's invention."""
    if not isinstance(value, str):
        return None
    text = _SPACES.sub(" ", clean(value[: most * 4])).strip()[:most].strip()
    own = _WORD.findall(normalise(text))
    return text if own and sum(word in words for word in own) >= _COPIED * len(own) else None


def _gaps(value: object, words: frozenset[str]) -> list[str] | None:
    if not isinstance(value, list):
        return None
    copied = (_copied(item, words, MAX_GAP) for item in value[:MAX_GAPS])
    gaps = list(dict.fromkeys(gap for gap in copied if gap))
    return gaps if gaps or not value else None


def _loaded(question: str, text: str) -> Fields | None:
    try:
        return _usable(json.loads(text), question) or None
    except (ValueError, TypeError, AttributeError):  # another version wrote the file
        return None
