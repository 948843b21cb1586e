"""Free text → a routing request: by cues, and where a model is asked, by what it read. Options that are given win."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from planner.errors import InputError
from planner.judges.inquiry import Inquiry
from planner.judges.intake import INFERRED, Fields, sorting
from planner.judges.ladder import Ladder, Way
from planner.settings import LlmSettings
from planner.sources.model import Freshness, GoalMode, TaskType
from planner.sources.terms import found
from planner.text import clean, has_han, normalise

MAX_QUESTION = 4_000
_QUOTED = re.compile(r"《([^》]{1,80})》|「([^」]{1,80})」|“([^”]{2,80})”|\"([^\"]{2,80})\"")
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.(?=\s|$)")
_CLAUSE_END = re.compile(
    r"[，：]|[,:]\s|\s[–—-]\s|\sand\s(?=(?:how|why|what|who|when|where|which|is|are|does|did)\s)", re.I
)
_LIST_SEPARATOR = re.compile(r"[、，,;；]|\s+(?:and|or)\s+|以及|和(?=[\u4e00-\u9fff]{2})")
_SUBJECT_COLUMNS = 60
_JOINT = re.compile(r"[的和与或在是把被让对从到，、,;；]|\s")
_EDGES = " \t\n,，。.?？!！:：;；、\"'“”"


class TaskCues(BaseModel):
    """Cues of one kind of task. `fresh`, `goal`: points that a fresh question or a goal adds once a cue is there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strong: tuple[str, ...]
    weak: tuple[str, ...]
    fresh: int = 0
    goal: dict[GoalMode, int] = {}


class Cues(BaseModel):
    """intake.yaml, typed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_type: dict[TaskType, TaskCues]
    goal_mode: dict[GoalMode, tuple[str, ...]]
    freshness_required: dict[Freshness, tuple[str, ...]]
    freshness_of: dict[TaskType, Freshness]
    freshness_bound: dict[TaskType, Freshness]
    fillers: frozenset[str]
    counter: tuple[str, ...]
    local: tuple[str, ...]
    gaps: tuple[str, ...]
    subject: dict[str, tuple[str, ...]]


class Reading(NamedTuple):
    """A routing request read from free text, as a mapping, and per field the cues that spoke for it.

    `text`: the question; `given`: fields that the caller named; `sure`: cues speak for one kind of task alone.
    """

    request: dict[str, Any]
    cues: dict[str, tuple[str, ...]]
    text: str
    given: frozenset[str]
    sure: bool

    def with_fields(self, fields: Fields) -> Reading:
        """With what a model read in place of what the cues said; what was given stays (rule RTE-9.7)."""
        read = {field: value for field, value in fields.items() if field not in self.given}
        cues = {field: words for field, words in self.cues.items() if field not in read}
        return self._replace(request={**self.request, **read}, cues=cues)


def read_question(question: object, options: Mapping[str, Any] | None = None) -> Reading:
    """The routing request of a question in free text (rules RTE-9.1 and RTE-9.2). `options` win over what is read.

    Raises InputError for a question that is no text, blank, or longer than 4,000 characters.
    """
    text = _question(question)
    plain, cues = normalise(text), load_cues()
    goal, goal_cues = _first(cues.goal_mode, plain, "analyze")
    fresh, fresh_cues = _first(cues.freshness_required, plain, None)
    ranked = _tasks(cues, plain, goal, fresh)
    task, task_cues = ranked[0] if ranked else ("breaking_news" if fresh == "high" else "deep_research", [])
    counter, local = _cued(cues.counter, plain), _cued(cues.local, plain)
    request = {
        "task_type": task,
        "primary_subject": subject_of(text, cues),
        "goal_mode": goal,
        "freshness_required": _freshness(fresh, task, cues),
        "need_counter_evidence": bool(counter),
        "information_gaps": gaps_of(text, cues),
        "known_local_material": bool(local),
        "task_description": text,
        "language": "zh" if has_han(text) else "en",
    }
    spoke = {"task_type": task_cues, "goal_mode": goal_cues, "freshness_required": fresh_cues}
    spoke |= {"need_counter_evidence": counter, "known_local_material": local}
    given = {key: value for key, value in (options or {}).items() if value is not None}
    read = {field: tuple(words) for field, words in spoke.items() if words and field not in given}
    return Reading({**request, **given}, read, text, frozenset(given), len(ranked) == 1)


def reading_way(
    reading: Reading, ladder: Ladder, numbers: LlmSettings, env: Mapping[str, str], cap_usd: float | None
) -> Way[Fields]:
    """Which models are asked to read the question; none where every field they could fill in is given (RTE-9.7)."""

    def inquiry() -> Inquiry[Fields]:
        return sorting(reading.text, numbers, env, cap_usd)

    if reading.given >= INFERRED:
        return Way((), inquiry, dict)
    return ladder.way_of(inquiry, dict, lambda: reading.sure)


@lru_cache(maxsize=1)
def load_cues() -> Cues:
    """The shipped cues."""
    import yaml

    text = Path(__file__).with_name("intake.yaml").read_text("utf-8")
    return Cues.model_validate(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def subject_of(text: str, cues: Cues) -> str:
    """What the question is about: what it quotes, else its first clause without the asking words at its ends."""
    if quoted := _QUOTED.search(text):
        return next(part for part in quoted.groups() if part).strip()
    lead, tail = _ends(cues.subject["lead"], cues.subject["tail"])
    asked = _shortened(_SENTENCE_END.split(text.strip(), maxsplit=1)[0], lead)
    clause = _CLAUSE_END.split(asked, maxsplit=1)[0].strip(_EDGES)
    clause = _whose(cues.task_type["entity_analysis"].strong).sub("", clause)
    return _within(_shortened(_shortened(clause, tail), lead) or text.strip(), cues.fillers)


def gaps_of(text: str, cues: Cues) -> tuple[str, ...]:
    """What the question says is missing or matters most, as a list."""
    marker = _gap_marker(cues.gaps)
    gaps: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        if match := marker.search(sentence):
            gaps += [part.strip(_EDGES) for part in _LIST_SEPARATOR.split(sentence[match.end() :])]
    return tuple(dict.fromkeys(gap for gap in gaps if gap))


def _question(question: object) -> str:
    if not isinstance(question, str):
        raise InputError("question", question, f"text of 1 to {MAX_QUESTION} characters")
    text = clean(question).strip()
    if not text or len(text) > MAX_QUESTION:
        raise InputError("question", text[:40], f"text of 1 to {MAX_QUESTION} characters after trimming")
    return text


def _first(table: Mapping[Any, tuple[str, ...]], plain: str, default: Any) -> tuple[Any, list[str]]:
    for value, terms in table.items():
        if hits := _cued(terms, plain):
            return value, hits
    return default, []


def _freshness(found_in_text: Freshness | None, task: TaskType, cues: Cues) -> Freshness:
    if found_in_text == "high":
        return "high"
    return cues.freshness_bound.get(task) or found_in_text or cues.freshness_of[task]


def _cued(cues: tuple[str, ...], plain: str) -> list[str]:
    """What the text holds of the cues, distinct."""
    terms, expressions = _sorted_out(cues)
    matches = (match for expression in expressions if (match := expression.search(plain)))
    return list(dict.fromkeys([*found(terms, plain), *(match.group().strip() for match in matches)]))


@lru_cache(maxsize=64)
def _sorted_out(cues: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[re.Pattern[str], ...]]:
    expressions = tuple(re.compile(cue[1:]) for cue in cues if cue.startswith("~"))
    return tuple(cue for cue in cues if not cue.startswith("~")), expressions


def _tasks(cues: Cues, plain: str, goal: GoalMode, fresh: Freshness | None) -> list[tuple[TaskType, list[str]]]:
    """Kinds of task with two points or more, the best first; ties by the order of the file."""
    ranked = []
    for task, own in cues.task_type.items():
        strong, weak = _cued(own.strong, plain), _cued(own.weak, plain)
        points = 2 * len(strong) + len(weak)
        if points:
            points += own.goal.get(goal, 0) + (own.fresh if fresh == "high" else 0)
        if points > 1:
            ranked.append((points, task, [*strong, *weak]))
    return [(task, words) for _, task, words in sorted(ranked, key=lambda one: -one[0])]


def _shortened(text: str, ends: re.Pattern[str]) -> str:
    """The text without what it starts (or ends) with, as often as something is left."""
    while (shorter := ends.sub("", text, count=1).strip(_EDGES)) not in ("", text):
        text = shorter
    return text


def _within(subject: str, fillers: frozenset[str]) -> str:
    """A long subject as what one would type: without filler words, and cut between words (rule RTE-9.10)."""
    if _columns(subject) <= _SUBJECT_COLUMNS:
        return subject
    words = [word for word in subject.split() if word.casefold().strip(_EDGES) not in fillers] or subject.split()
    kept = words[:1]
    for word in words[1:]:
        if _columns(" ".join([*kept, word])) > _SUBJECT_COLUMNS:
            break
        kept.append(word)
    return _cut(" ".join(kept))


def _cut(text: str) -> str:
    """Where one run of characters is too long: its beginning, up to a word that joins parts."""
    columns, end = 0, len(text)
    for at, character in enumerate(text):
        columns += _columns(character)
        if columns > _SUBJECT_COLUMNS:
            end = at
            break
    if end == len(text):
        return text
    joint = max((match.start() for match in _JOINT.finditer(text[:end])), default=0)
    return (text[:joint] if joint > end // 3 else text[:end]).strip(_EDGES)


def _columns(text: str) -> int:
    """The width of a text; a Han character counts two."""
    return sum(2 if character > "\u2e7f" else 1 for character in text)


@lru_cache(maxsize=4)
def _whose(terms: tuple[str, ...]) -> re.Pattern[str]:
    """某公司的股东: what follows the 的 is asked about the entity, and is not its name."""
    return re.compile(
        rf"(?<=..)的[^的]*(?:{'|'.join(term for term in terms if not term.isascii() and not term.startswith('~'))}).*$"
    )


@lru_cache(maxsize=4)
def _ends(lead: tuple[str, ...], tail: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    def either(terms: tuple[str, ...], latin: str) -> str:
        return "|".join(latin.format(re.escape(t)) if t.isascii() else re.escape(t) for t in terms)

    ordered = [tuple(sorted(terms, key=len, reverse=True)) for terms in (lead, tail)]
    first = re.compile(rf"^(?:{either(ordered[0], '{}(?![a-z0-9_])')})\s*", re.IGNORECASE)
    last = re.compile(rf"\s*(?:{either(ordered[1], '(?<![a-z0-9_]){}')})$", re.IGNORECASE)
    return first, last


@lru_cache(maxsize=4)
def _gap_marker(terms: tuple[str, ...]) -> re.Pattern[str]:
    parts = [rf"(?<![a-z]){re.escape(t)}(?![a-z])" if t.isascii() else re.escape(t) for t in terms]
    return re.compile(rf"(?:{'|'.join(parts)})\s*(?:on|about|are|is|是|有|包括)?\s*[:：]?\s*", re.IGNORECASE)
