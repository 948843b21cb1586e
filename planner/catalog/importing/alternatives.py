"""`methods[].requires`: each method is another way in, so one of them satisfied is enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.catalog.model import Auth
from planner.catalog.pages import text_list

_ENV = "env:"


def auth_of(meta: Mapping[str, Any]) -> tuple[Auth, list[str]]:
    """What a leaf needs, and in words where our all-of and one-of cannot say it exactly."""
    raw = meta.get("methods")
    methods = [m for m in raw if isinstance(m, dict)] if isinstance(raw, list) else []
    if not methods:
        methods = [{"requires": meta.get("requires")}]
    needs = [_variables(method) for method in methods]
    others = sorted({r for m in methods for r in text_list(m.get("requires")) if not r.startswith(_ENV)})
    caveats = [f"needs what planning does not look for: {', '.join(others)}"] if others else []
    every = tuple(dict.fromkeys(name for need in needs for name in need))
    if any(not need for need in needs):
        return Auth(optional=every), caveats
    common = tuple(name for name in needs[0] if all(name in need for need in needs))
    rest = [[name for name in need if name not in common] for need in needs]
    if any(not part for part in rest):
        return Auth(all_of=common, optional=tuple(n for n in every if n not in common)), caveats
    first = tuple(dict.fromkeys(part[0] for part in rest))
    more = tuple(name for name in every if name not in (*common, *first))
    if more:
        caveats.append(f"one way in needs several keys together; only {' or '.join(first)} is looked for")
    return Auth(all_of=common, any_of=first, optional=more), caveats


def _variables(method: Mapping[str, Any]) -> list[str]:
    return [r.removeprefix(_ENV) for r in text_list(method.get("requires")) if r.startswith(_ENV)]
