"""Finding terms in a text: Latin ones on word boundaries that also hold beside CJK, CJK ones anywhere. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from planner.sources.rules import Terms
from planner.text import normalise

_NEVER = re.compile(r"(?!)")


def names(terms: Terms, texts: Iterable[str]) -> bool:
    """Whether a text names one of the terms, after the exceptions are taken out of it."""
    return any(found(terms.terms, _without(terms.except_, normalise(text))) for text in texts if text)


def found(terms: tuple[str, ...], plain: str) -> list[str]:
    """What the text (normalised) holds of the terms, distinct, in order. A term ending in * matches its endings too."""
    return list(dict.fromkeys(match.group() for match in _pattern(terms).finditer(plain)))


def _without(terms: tuple[str, ...], plain: str) -> str:
    return _pattern(terms).sub(" ", plain)


@lru_cache(maxsize=256)
def _pattern(terms: tuple[str, ...]) -> re.Pattern[str]:
    parts = [_one(term) for term in sorted(map(normalise, terms), key=len, reverse=True)]
    return re.compile("|".join(parts)) if parts else _NEVER


def _one(term: str) -> str:
    if not term.isascii():
        return re.escape(term)
    stem = r"[\s-]+".join(map(re.escape, term.removesuffix("*").split()))
    return rf"(?<![a-z0-9_]){stem}" + ("" if term.endswith("*") else r"(?![a-z0-9_])")
