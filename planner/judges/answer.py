"""What a model answered: read leniently, named by the catalog, numbers put into 0..1. Model output is data.

The wire names are short to save tokens: g groups, l leaves; i id, d domain, s scenario, k keyword, r reason.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from planner.catalog.model import Catalog, name_key
from planner.channels.factors import GroupJudgement, Judgement, LeafJudgement
from planner.llm.failure import UnreadableError
from planner.llm.repair import read_json, unwrap
from planner.text import clean

MAX_GROUPS, MAX_LEAVES = 4, 12
MAX_REASON = 120
_MAX_ENTRIES = 20_000  # read at all
_NAMES = {  # field -> the names models give it
    "g": ("g", "groups", "group"),
    "l": ("l", "leaves", "channels", "sources", "leaf"),
    "i": ("i", "id", "name", "channel", "group"),
    "d": ("d", "domain"),
    "s": ("s", "scenario", "score"),
    "k": ("k", "keyword"),
    "r": ("r", "reason", "rationale", "why"),
}
_NUMBER = re.compile(r"-?\d*\.?\d+(?:[eE][+-]?\d+)?")
_SPACES = re.compile(r"\s+")

Entry = dict[str, Any]
Shape = TypeVar("Shape", bound=BaseModel)


class Answer(BaseModel):
    """The answer's entries as they came, with canonical field names. Subclasses carry the schema that is sent."""

    g: list[Entry]
    l: list[Entry]  # noqa: E741 - the wire name

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **_: Any) -> Answer:
        """Reads what models really send. Raises NoJsonError, or UnreadableError when there is JSON of another shape."""
        text = json_data if isinstance(json_data, str) else bytes(json_data).decode("utf-8", "replace")
        groups, leaves = _entries(read_json(text), text)
        return cls.model_construct(g=groups, l=leaves)


@lru_cache(maxsize=64)
def answer_model(schema: str, base: type[Shape]) -> type[Shape]:
    """A `base` whose JSON schema is the given text; its name goes over the wire."""
    parsed = json.loads(schema)

    class Shaped(base):  # type: ignore[valid-type,misc]
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return parsed  # type: ignore[no-any-return]

    Shaped.__name__ = Shaped.__qualname__ = parsed["title"]
    Shaped.__doc__ = None
    return Shaped


def judgement_of(answer: Answer, catalog: Catalog) -> Judgement:
    """The answer by names of the catalog; unknown ids are dropped, a duplicate too (rules JDG-1.1, JDG-3.3).

    Raises UnreadableError when no id is known.
    """
    groups = _known(answer.g, _group_names(catalog), MAX_GROUPS)
    leaves = _known(answer.l, _leaf_names(answer.l, catalog), MAX_LEAVES)
    if not groups and not leaves:
        raise UnreadableError("no id is in the index", json.dumps(answer.model_dump(), ensure_ascii=True)[:400])
    return Judgement(
        {name: GroupJudgement(unit(e.get("d")), unit(e.get("s")), reason(e.get("r"))) for name, e in groups.items()},
        {name: LeafJudgement(unit(e.get("s")), unit(e.get("k")), reason(e.get("r"))) for name, e in leaves.items()},
    )


def unit(value: object) -> float:
    """A number in 0..1 out of a number, a numeral, a percentage; anything else is 0."""
    if isinstance(value, str):
        found = _NUMBER.search(value)
        value = float(found.group()) if found else 0.0
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, int | float):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    if not math.isfinite(number) or number <= 0:
        return 0.0
    return min(number / 100 if 1 < number <= 100 else number, 1.0)


def reason(value: object) -> str:
    """A reason on one line, without control characters, at most 120 characters (rule JDG-3.3)."""
    if not isinstance(value, str):
        return ""
    return _SPACES.sub(" ", clean(value[: MAX_REASON * 4])).strip()[:MAX_REASON]


def _entries(value: Any, text: str) -> tuple[list[Entry], list[Entry]]:
    if isinstance(value, list) and len(value) > 1:
        return _split(value, text)
    inner = unwrap(value, (*_NAMES["g"][:2], *_NAMES["l"][:4]))
    if not isinstance(inner, Mapping):
        raise UnreadableError("an object with g and l was expected", text)
    groups, leaves = (_list_of(_pick(inner, key)) for key in ("g", "l"))
    if not groups and not leaves:
        raise UnreadableError("g and l hold no rated id", text)
    return groups, leaves


def _split(value: list[Any], text: str) -> tuple[list[Entry], list[Entry]]:
    # a bare list of entries: those with a domain are groups
    entries = _list_of(value)
    if not entries:
        raise UnreadableError("an object with g and l was expected", text)
    return [e for e in entries if "d" in e], [e for e in entries if "d" not in e]


def _list_of(value: Any) -> list[Entry]:
    if isinstance(value, Mapping):  # keyed by id
        value = [{**v, "i": k} for k, v in value.items() if isinstance(v, Mapping)]
    if not isinstance(value, list):
        return []
    found = (_entry(item) for item in value[:_MAX_ENTRIES] if isinstance(item, Mapping))
    return [entry for entry in found if isinstance(entry.get("i"), str) and {"d", "s", "k"} & entry.keys()]


def _entry(item: Mapping[Any, Any]) -> Entry:
    found = {key: _pick(item, key) for key in ("i", "d", "s", "k", "r")}
    return {key: value for key, value in found.items() if value is not None}


def _pick(item: Mapping[Any, Any], key: str) -> Any:
    return next((item[name] for name in _NAMES[key] if name in item), None)


def _known(entries: Iterable[Entry], names: Mapping[str, str], most: int) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for entry in entries:
        name = names.get(name_key(entry["i"][:200]))
        if name is not None and name not in found:
            found[name] = entry
            if len(found) == most:
                break
    return found


def _group_names(catalog: Catalog) -> dict[str, str]:
    names = {name_key(group.name): group.name for group in catalog.groups}
    return {key.removeprefix("channels-"): name for key, name in names.items()} | names


def _leaf_names(entries: Iterable[Entry], catalog: Catalog) -> dict[str, str]:
    # only what was named is looked up: the whole table may be large
    found = {}
    for entry in entries:
        named = catalog.channels_named(entry["i"][:200])
        if len(named) == 1:
            found[name_key(entry["i"][:200])] = named[0]
            if len(found) > MAX_LEAVES * 4:
                break
    return found
