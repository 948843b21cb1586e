"""What a recording is made with, and which recordings no longer fit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner import prompts
from planner.replay import scrub
from planner.replay.form import load
from planner.settings import Settings

_CHANGED = {"prompt": "the prompt changed", "catalog": "the catalog changed"}


def made_with(catalog_version: str) -> dict[str, str]:
    """The versions a recording depends on."""
    return {"prompt": prompts.load().version, "catalog": catalog_version}


def notes_of(answered_by: str, catalog_version: str, settings: Settings) -> dict[str, Any]:
    """What a file says of its making, beside the answers: enough to replay it on another machine."""
    llm = settings.llm.model_dump(mode="json", exclude={"cache_file"})
    return {"answered_by": answered_by, "made_with": made_with(catalog_version), "settings": {"llm": llm}}


def stale(path: Path, now: Mapping[str, Any]) -> list[str]:
    """Why the recording at `path` does not fit `now` (prompt and catalog version); empty when it does."""
    text = path.read_text("utf-8", "replace")
    content = load(text)
    if "exchanges" not in content:
        return ["not a recording"]
    made = content.get("made_with") or {}
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
