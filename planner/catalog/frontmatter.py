"""Front matter as real files have it: a BOM, CRLF, a comment header before the first `---`. Terms are read as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class FrontMatterError(ValueError):
    """The page has no usable front matter. `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page: its front matter (all scalars are text), the lines of the file, where the front matter ends."""

    meta: dict[str, Any]
    lines: tuple[str, ...]
    start: int
    end: int

    def line_of(self, key: str, term: str | None = None) -> int:
        """The line (from 1) where a field stands, or a term of it; the first line when not found."""
        at = next((n for n in range(self.start, self.end) if self.lines[n].startswith(f"{key}:")), self.start)
        if term is not None:
            at = next((n for n in range(at, self.end) if term in self.lines[n]), at)
        return at + 1


def parse(text: str) -> Page:
    """The page's front matter. Raises FrontMatterError with the line."""
    lines = tuple(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    fences = [n for n, line in enumerate(lines) if line.rstrip() == "---"]
    if len(fences) < 2:
        raise FrontMatterError("no front matter between two lines of ---", 1)
    start, end = fences[0] + 1, fences[1]
    return Page(_mapping("\n".join(lines[start:end]), start), lines, start, end)


def parse_yaml(text: str) -> dict[str, Any]:
    """A whole YAML file, all scalars as text. Raises FrontMatterError with the line."""
    return _mapping(text.removeprefix("\ufeff"), 0)


def _mapping(text: str, offset: int) -> dict[str, Any]:
    import yaml

    # BaseLoader leaves every scalar as text, so that 2025, no or 1e3 stay the terms they are
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        value = yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise FrontMatterError(f"not valid YAML: {problem}", offset + (mark.line + 1 if mark else 1)) from error
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise FrontMatterError("must be a mapping of fields", offset + 1)
    return value
