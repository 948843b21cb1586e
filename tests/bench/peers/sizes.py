"""How much disk an installation takes: a distribution and everything it requires, without extras."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def installed_mb(names: Sequence[str]) -> float:
    """Megabytes of the files of these distributions and of all they need, as installed here."""
    seen: dict[str, Distribution] = {}
    todo = [*names]
    while todo:
        key = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if key in seen:
            continue
        try:
            seen[key] = found = distribution(key)
        except PackageNotFoundError:
            continue
        todo += [_NAME.match(r).group() for r in found.requires or () if _wanted(r)]
    return sum(_size(found) for found in seen.values()) / 1e6


def _wanted(requirement: str) -> bool:
    _, _, marker = requirement.partition(";")
    if not marker:
        return True
    from packaging.markers import Marker

    return Marker(marker).evaluate({"extra": ""})


def _size(found: Distribution) -> int:
    paths = (found.locate_file(file) for file in found.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")
