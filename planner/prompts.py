"""Prompts: files with a version, filled with an index of the catalog and with the query as data.

A catalog that does not fit the budget is cut to the groups and leaves that a heuristic judgement ranks highest.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from planner.catalog.model import Catalog, Group, Leaf
from planner.channels.factors import NO_GROUP, NO_LEAF, Judgement
from planner.channels.model import SelectionRequest
from planner.errors import SettingsError
from planner.paths import shipped
from planner.text import clean

CURRENT = "score.v1"
INTAKE = "intake.v1"
# characters of a group's and a leaf's line, widest first
WIDTHS = ((100, 80), (80, 60), (70, 52), (64, 48), (60, 44), (56, 41), (52, 38), (48, 35), (44, 31), (40, 28))
_SHORTLIST_WIDTH = 4
_TOP_GROUPS = 8
_PREFIX = "channels-"
_RUBRICS, _RUBRIC_CHARS = 6, 100
_DATA_TOKENS = 60  # set aside for the query of an ordinary length
_WHOLE_KEPT = 8
_whole: dict[tuple[int, int], tuple[Sequence[Leaf], Index | None]] = {}
_PIECE = re.compile(r" ?[A-Za-z]+|\d{1,3}|[!-/:-@\[-`{-~]{1,3}|[^\s!-~]")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt file: `version` is its name and a hash of all its text."""

    version: str
    system: str
    user: str
    schema: str


@dataclass(frozen=True, slots=True)
class Index:
    """The catalog, or the best of it, as the model sees it. `note` says what was left out."""

    text: str
    schema: str
    groups: int
    leaves: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent: the messages, and the schema of the answer as JSON text."""

    version: str
    system: str
    user: str
    schema: str
    note: str | None = None
    messages: list[dict[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "messages", [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]
        )


def render(
    request: SelectionRequest, catalog: Catalog, base: Callable[[], Judgement], tokens: int, query_chars: int
) -> Prompt:
    """The prompt for one request, at most about `tokens` tokens for an ordinary query (rules JDG-1.2, JDG-1.3).

    `base` ranks what a catalog over the budget is cut to; `query_chars`: a longer query keeps its head and tail.
    """
    template = load()
    index = _whole_index(catalog, tokens) or _shortlist(catalog, base(), tokens)
    return Prompt(
        template.version,
        template.system.replace("{index}", index.text),
        template.user.replace("{data}", as_data(request, query_chars)),
        index.schema,
        index.note,
    )


def render_intake(question: str, query_chars: int) -> Prompt:
    """The prompt that has a question in free text sorted; a longer one keeps its head and tail (rule RTE-9.6)."""
    template = load(INTAKE)
    data = _enclosed({"question": clipped(clean(question), query_chars)})
    return Prompt(template.version, template.system, template.user.replace("{data}", data), template.schema)


@lru_cache(maxsize=4)
def load(name: str = CURRENT) -> Template:
    """A prompt file. Raises SettingsError when it is not there or is not a prompt."""
    folder = shipped("prompts")
    try:
        text = (folder / f"{name}.md").read_text("utf-8")
        _, head, body = text.split("---\n", 2)
        system, user = body.split("\n=== user\n")
        schema_file = re.search(r"^schema: (\S+)$", head, re.MULTILINE)
        schema = (folder / schema_file.group(1)).read_text("utf-8") if schema_file else ""
        schema = json.dumps(json.loads(schema), separators=(",", ":"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{folder / name}.md: not a usable prompt ({type(error).__name__})") from error
    digest = hashlib.sha256((text + schema).encode()).hexdigest()[:8]
    return Template(f"{name}-{digest}", system, user.strip(), schema)


def as_data(request: SelectionRequest, query_chars: int) -> str:
    """The request as JSON that cannot close the tag it stands in (rule JDG-1.4)."""
    clarify, scope = request.clarify_result, request.scope
    data: dict[str, Any] = {"query": clipped(clean(request.query), query_chars)}
    if clarify.query_type:
        data["query_type"] = clipped(clean(clarify.query_type), _RUBRIC_CHARS)
    if clarify.rubrics:
        data["rubrics"] = [clipped(clean(text), _RUBRIC_CHARS) for text in clarify.rubrics[:_RUBRICS]]
    if scope.recency != "any":
        data["recency"] = scope.recency
    return _enclosed(data)


def _enclosed(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")


def clipped(text: str, chars: int) -> str:
    """Head and tail of a long text: two thirds and one third."""
    if len(text) <= chars:
        return text
    head = chars * 2 // 3
    return f"{text[:head]} … {text[-(chars - head) :]}"


def group_id(name: str) -> str:
    """A group's name as the model sees it."""
    return name.removeprefix(_PREFIX)


def estimate(text: str) -> int:
    """Tokens, about: one a word of up to nine letters, one for three digits or signs, one an ideograph."""
    return sum(1 + (len(piece) - 1) // 9 for piece in _PIECE.findall(text)) + text.count("\n")


def _whole_index(catalog: Catalog, tokens: int) -> Index | None:
    # catalogs cannot be hashed; the leaves' tuple stays alive in the entry, so its identity is a safe key
    key = (id(catalog.leaves), tokens)
    if key not in _whole:
        while len(_whole) >= _WHOLE_KEPT:
            _whole.pop(next(iter(_whole)), None)
        _whole[key] = (catalog.leaves, _widest(catalog.groups, catalog.leaves, tokens))
    return _whole[key][1]


def _widest(groups: Sequence[Group], leaves: Sequence[Leaf], tokens: int) -> Index | None:
    room = tokens - _fixed()
    if (len(groups) + len(leaves)) * 8 > room:  # cannot fit at any width
        return None
    for width in WIDTHS:
        index = _index(groups, leaves, width, None)
        if estimate(index.text) + _enums(groups, leaves) <= room:
            return index
    return None


def _fixed() -> int:
    template = load()
    return estimate(template.system) + estimate(template.user) + estimate(template.schema) + _DATA_TOKENS


def _enums(groups: Sequence[Group], leaves: Sequence[Leaf]) -> int:
    return sum(estimate(group_id(g.name)) + 1 for g in groups) + sum(estimate(x.channel) + 1 for x in leaves)


def _index(groups: Sequence[Group], leaves: Sequence[Leaf], width: tuple[int, int], note: str | None) -> Index:
    homes: dict[str, list[Leaf]] = {}
    names = [group.name for group in groups]
    shown = [leaf for leaf in leaves if leaf.is_channel]
    for leaf in shown:
        homes.setdefault(next((g for g in leaf.groups if g in names), ""), []).append(leaf)
    lines = []
    for group in groups:
        lines.append(f"{group_id(group.name)}: {_cut(group.description, width[0])}")
        lines += (f" {leaf.channel}: {_cut(leaf.description, width[1])}" for leaf in homes.get(group.name, ()))
    schema = load().schema.replace('"{groups}"', _names([group_id(name) for name in names]))
    schema = schema.replace('"{leaves}"', _names([leaf.channel for leaf in shown]))
    return Index("\n".join(lines), schema, len(groups), len(shown), note)


def _names(names: Sequence[str]) -> str:
    return json.dumps(names, ensure_ascii=False, separators=(",", ":"))


def _cut(text: str, chars: int) -> str:
    flat = " ".join(clean(text).split())
    if len(flat) <= chars:
        return flat.rstrip(". ")
    cut = flat[:chars]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(",;:. ")


def _shortlist(catalog: Catalog, base: Judgement, tokens: int) -> Index:
    width = WIDTHS[_SHORTLIST_WIDTH]
    leaves = sorted((leaf for leaf in catalog.leaves if leaf.is_channel), key=lambda x: _leaf_rank(x, base))
    ranked = sorted(catalog.groups, key=lambda g: _group_rank(g, base))
    chosen = {group.name: group for group in ranked[:_TOP_GROUPS]}
    room = tokens - _fixed() - sum(_cost(g.description, group_id(g.name), width[0]) for g in chosen.values())
    kept: list[Leaf] = []
    for leaf in leaves:
        home = _home(leaf, catalog, chosen)
        price = _cost(leaf.description, leaf.channel, width[1])
        price += _cost(home.description, group_id(home.name), width[0]) if home else 0
        if price > room:
            break
        room -= price
        kept.append(leaf)
        if home:
            chosen[home.name] = home
    note = (
        f"the catalog is over the prompt's budget: {len(chosen)} of {len(catalog.groups)} groups and "
        f"{len(kept)} of {len(leaves)} leaves, the heuristic's best, were judged"
    )
    return _index(list(chosen.values()), kept, width, note)


def _leaf_rank(leaf: Leaf, base: Judgement) -> tuple[float, float]:
    judged = base.leaves.get(leaf.channel, NO_LEAF)
    return -(judged.scenario + judged.keyword), -leaf.prior


def _group_rank(group: Group, base: Judgement) -> float:
    judged = base.groups.get(group.name, NO_GROUP)
    return -(judged.domain + judged.scenario)


def _home(leaf: Leaf, catalog: Catalog, chosen: dict[str, Group]) -> Group | None:
    # the group line a leaf still needs; None when one of its groups is there already
    if any(name in chosen for name in leaf.groups):
        return None
    return next((catalog.group_by_name[name] for name in leaf.groups if name in catalog.group_by_name), None)


def _cost(description: str, name: str, width: int) -> int:
    return estimate(f"{name}: {_cut(description, width)}") + estimate(name) + 2
