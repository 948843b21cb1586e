"""What a file says of how its plans were made, and the same on the machine that makes them again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner import paths
from planner.catalog.model import Catalog
from planner.errors import InputError
from planner.replay.stale import made_with
from planner.settings import Settings, default_settings, load_settings

_SECTIONS = ("selection", "guard", "history", "sources", "judge")
_OWN = {"history": {"store"}}  # never written: it may hold a password


def notes_of(
    answered_by: str, path: Path, catalog: Catalog, settings: Settings, env: Mapping[str, str]
) -> dict[str, Any]:
    """Who answered, versions, settings, names of the channel keys set, the catalog where it is not the shipped one."""
    notes = {
        "answered_by": answered_by,
        "made_with": made_with(catalog.version),
        "settings": _settings(settings),
        "channel_keys": sorted(name for name in _known(catalog) if env.get(name, "").strip()),
    }
    if catalog.root != paths.shipped("skills"):
        notes["catalog_folder"] = os.path.relpath(catalog.root, path.parent)
    return notes


def catalog_of(path: Path, notes: Mapping[str, Any]) -> Path:
    """The catalog folder that a recording was made with."""
    own = notes.get("catalog_folder")
    return path.parent / own if isinstance(own, str) else paths.shipped("skills")


def settings_of(notes: Mapping[str, Any]) -> Settings:
    """The settings that a recording was made with, whatever the user's own are. Raises SettingsError."""
    own = notes.get("settings")
    return load_settings(own if isinstance(own, Mapping) else {}, {})


def env_of(notes: Mapping[str, Any], catalog: Catalog, env: Mapping[str, str]) -> dict[str, str]:
    """`env` with exactly the channel keys set that were set for the recording, if it says. Raises InputError."""
    names = notes.get("channel_keys")
    if names is None:
        return dict(env)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("channel_keys", names, "a list of names")
    known = _known(catalog)
    kept = {name: value for name, value in env.items() if name not in known}
    return kept | dict.fromkeys(names, "set when recorded")


def _settings(settings: Settings) -> dict[str, Any]:
    # the whole of `llm`, which is most of a request, and of the rest what is not as it was shipped
    changed = {}
    for name in _SECTIONS:
        own, shipped = _dumped(settings, name), _dumped(default_settings(), name)
        if own != shipped:
            changed[name] = {key: value for key, value in own.items() if value != shipped.get(key)}
    return {"llm": settings.llm.model_dump(mode="json", exclude={"cache_file"}), **changed}


def _dumped(settings: Settings, section: str) -> dict[str, Any]:
    dumped: dict[str, Any] = settings.model_dump(mode="json", include={section})[section]
    return {key: value for key, value in dumped.items() if key not in _OWN.get(section, ())}


def _known(catalog: Catalog) -> set[str]:
    return {name for leaf in catalog.leaves for name in leaf.auth.required}
