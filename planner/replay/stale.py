"""What a recording is made with, and which recordings no longer fit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner import prompts
from planner.errors import InputError
from planner.replay import scrub
from planner.replay.form import Exchanges, load

_CHANGED = {"prompt": "the prompt changed", "catalog": "the catalog changed"}


def made_with(catalog_version: str) -> dict[str, str]:
    """The versions a recording depends on."""
    return {"prompt": prompts.load().version, "catalog": catalog_version}


def notes_in(path: Path) -> dict[str, Any]:
    """What a file says beside its answers; nothing when it is no recording."""
    try:
        return load(path.read_text("utf-8", "replace"))
    except InputError:
        return {}


def stale(path: Path, now: Mapping[str, Any]) -> list[str]:
    """Why the recording at `path` does not fit `now` (prompt and catalog version); empty when it does."""
    text = path.read_text("utf-8", "replace")
    try:
        recording = load(text)
        Exchanges.deserialize(recording["exchanges"])
    except InputError:
        return ["not a recording, or not a whole one"]
    made = recording.get("made_with")
    made = made if isinstance(made, Mapping) else {}
    reasons = [
        f"{why} ({made.get(name, 'unknown')} → {now[name]})"
        for name, why in _CHANGED.items()
        if made.get(name) != now[name]
    ]
    try:
        scrub.refuse_keys(text, str(path))
    except scrub.KeyInCassette:
        reasons.append("it holds something that looks like a key")
    return reasons
