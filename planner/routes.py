"""The public verb of the source routing: settings, environment, id and clock meet the pure rules here."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner import paths
from planner.settings import Settings, load_settings
from planner.sources.fallback import engines_with_keys
from planner.sources.loading import load_rules
from planner.sources.model import RoutingRequest, SourcePlan
from planner.sources.request import build_request
from planner.sources.routing import Routed
from planner.sources.routing import route_sources as route
from planner.sources.rules import Rules

SettingsSource = Settings | Mapping[str, Any] | str | Path | None


def route_sources(
    request: RoutingRequest | Mapping[str, Any],
    *,
    settings: SettingsSource = None,
    env: Mapping[str, str] | None = None,
) -> SourcePlan:
    """How to spend a budget of searches over kinds of sources: order, numbers, stop rule, fallback chain.

    `request`: see RoutingRequest; as a mapping its `available_engines` may be "auto" (those whose key is set in `env`,
    by default the process's). Raises InputError for a request, SettingsError for settings that cannot be used.
    """
    return explain_route(request, settings=settings, env=env).plan


def explain_route(
    request: RoutingRequest | Mapping[str, Any],
    *,
    settings: SettingsSource = None,
    env: Mapping[str, str] | None = None,
) -> Routed:
    """The plan and, for each of its numbers, the rule that set it and the weaker rule that yielded."""
    env = os.environ if env is None else env
    rules = rules_for(settings, env)
    built, notes = build_request(_with_engines(request, env, rules), rules)
    keys = frozenset(key for row in rules.chain for key in row.keys if env.get(key))
    return route(built, rules, task_id=f"SR-{uuid.uuid4().hex[:8]}", timestamp=utc_now(), keys=keys, notes=notes)


def rules_for(settings: SettingsSource, env: Mapping[str, str]) -> Rules:
    """The rules under these settings. The user's own file is read again only when it changed."""
    if settings is not None and not isinstance(settings, str | Path):
        return load_rules(load_settings(settings, env))
    variables = tuple(sorted((key, env[key]) for key in env if key.startswith("PLANNER_")))
    home = tuple((key, env.get(key, "")) for key in ("XDG_CONFIG_HOME", "HOME", "APPDATA"))
    path = str(settings or env.get("PLANNER_SETTINGS") or _own_file(home))
    return _remembered(str(settings) if settings else None, variables + home, _stamp(path))


def utc_now() -> str:
    """Now in UTC, ISO 8601 with Z, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache(maxsize=8)
def _remembered(source: str | None, env: tuple[tuple[str, str], ...], stamp: tuple[int, int] | None) -> Rules:
    return load_rules(load_settings(source, {key: value for key, value in env if value}))


@lru_cache(maxsize=8)
def _own_file(home: tuple[tuple[str, str], ...]) -> str:
    return str(paths.config_folder({key: value for key, value in home if value}) / "planner.yaml")


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - a Path costs more than the call
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _with_engines(request: object, env: Mapping[str, str], rules: Rules) -> object:
    if not isinstance(request, Mapping) or request.get("available_engines") not in ("auto", ["auto"], ("auto",)):
        return request
    return {**request, "available_engines": engines_with_keys(env, rules)}
