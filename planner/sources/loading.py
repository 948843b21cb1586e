"""The edge of this room: reads the shipped rule files and lays the user's settings over them."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner.settings import Settings
from planner.sources.failures import ErrorRow
from planner.sources.rules import Rules, build_rules


def load_rules(settings: Settings) -> Rules:
    """The rules under these settings. Raises SettingsError where the section `sources` cannot be used."""
    return _rules(json.dumps(settings.sources, sort_keys=False, default=str), settings.origin[-1])


@lru_cache(maxsize=32)
def _rules(own: str, where: str) -> Rules:
    shipped = {**_shipped("rules.yaml"), "wording": _shipped("wording.yaml")}
    return build_rules(shipped, json.loads(own), where)


@lru_cache(maxsize=1)
def load_error_table() -> tuple[ErrorRow, ...]:
    """The shipped table of engine errors."""
    return tuple(ErrorRow.model_validate(row) for row in _shipped("engine_errors.yaml"))


def _shipped(name: str) -> Any:
    import yaml

    text = (Path(__file__).parent / name).read_text("utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
