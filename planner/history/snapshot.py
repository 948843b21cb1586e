"""The small JSON file planning reads outcome history from: group → consecutive sessions that yielded nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

FILE = "outcomes.json"
FORMAT = 1


def read_empty_sessions(folder: Path) -> tuple[Mapping[str, int], tuple[str, ...]]:
    """Group -> consecutive empty sessions, and a warning when the file is there but unusable. Never raises."""
    try:
        raw = json.loads((folder / FILE).read_text("utf-8"))
        if raw["format"] != FORMAT:
            return {}, (f"outcome history has format {raw['format']!r}, not {FORMAT}; it was ignored",)
        return {str(group): int(count) for group, count in raw["empty_sessions"].items()}, ()
    except FileNotFoundError:
        return {}, ()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return {}, (f"outcome history cannot be read ({type(error).__name__}); it was ignored",)
