"""A reading → the distinct features a scorer reads: cues of the lexicons, shape flags, word and character n-grams."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from planner.catalog.reading import Reading

LIMIT = 512  # distinct n-grams read, as the specification bounds it
_HEAD = 384  # of these from the head of a long query; the rest from its tail
_LONG = 1200  # characters read from the head, and half as many from the tail
_GRAM = 5  # letters in a character n-gram of a word with its edges
_SIZES = 6

_WORD = re.compile(r"[^\W_\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+(?:[.+#'_-][a-z0-9+#]+)*[+#]*")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+")
_SHAPES = tuple(
    (f"shape:{name}", re.compile(pattern))
    for name, pattern in {
        "question": r"[?？]",
        "url": r"https?://|www\.",
        "version": r"\d\.\d",
        "year": r"(?<!\d)(?:19|20)\d\d(?!\d)",
        "quote": r"[\"“”]",
        "code": r"[`{}();=]|::|->|_[a-z]",
        "digit": r"\d",
        "money": r"[$€¥]",
        "bracket": r"[()]",
        "colon": r"[;:]",
    }.items()
)
_ACRONYM = re.compile(r"(?<![A-Za-z])[A-Z]{2,}")


class Features(NamedTuple):
    """Distinct features by block, and the normalised text they come from, cut where it is long.

    `cues` count in full; `wanted` and the n-gram blocks are scaled by 1 / sqrt(their number).
    """

    cues: tuple[str, ...]
    wanted: tuple[str, ...]
    latin: tuple[str, ...]
    cjk: tuple[str, ...]
    text: str = ""


BLOCKS = ("cues", "wanted", "latin", "cjk")


def features_of(reading: Reading) -> Features:
    """All features of a reading."""
    text = ends(reading.text)
    words = _WORD.findall(text)
    runs = _CJK.findall(text)
    return Features(
        cues=tuple(dict.fromkeys([*_shape(reading, words, runs), *_lexical(reading)])),
        wanted=tuple(reading.wanted),
        **_grams(words, runs),
        text=text,
    )


def _grams(words: list[str], runs: list[str]) -> dict[str, tuple[str, ...]]:
    """N-grams of both scripts, LIMIT together; where both are many each has half."""
    latin, cjk = tuple(dict.fromkeys(_latin(words))), tuple(dict.fromkeys(_cjk(runs)))
    room = max(LIMIT - len(cjk), LIMIT // 2)
    latin = _bounded(latin, room)
    return {"latin": latin, "cjk": _bounded(cjk, LIMIT - len(latin))}


def ends(text: str) -> str:
    """The text, or the head and the tail of a long one."""
    return text if len(text) <= _LONG * 3 // 2 else f"{text[:_LONG]} {text[-_LONG // 2 :]}"


def _bounded(grams: tuple[str, ...], room: int) -> tuple[str, ...]:
    if len(grams) <= room:
        return grams
    head = room * _HEAD // LIMIT
    return (*grams[:head], *grams[len(grams) - (room - head) :])


def _latin(words: list[str]) -> Iterable[str]:
    """Words, pairs of neighbours, and the letter 5-grams of each word with a space at its edges."""
    yield from words
    yield from (f"{first} {second}" for first, second in pairwise(words))
    for word in words:
        edged = f" {word} "
        for start in range(len(edged) - _GRAM + 1):
            yield "~" + edged[start : start + _GRAM]


def _cjk(runs: list[str]) -> Iterable[str]:
    for run in runs:
        yield from run
        for start in range(len(run) - 1):
            yield run[start : start + 2]


def _shape(reading: Reading, words: list[str], runs: list[str]) -> Iterable[str]:
    yield f"language:{reading.language}"
    if reading.han:
        yield "language:han"
    size = len(words) + sum(map(len, runs)) / 1.6  # a Chinese word is about 1.6 characters
    yield f"size:{min(_SIZES, int(math.log2(max(size, 1.0)) * 1.3))}"
    for name, pattern in _SHAPES:
        if pattern.search(reading.text):
            yield name
    if words:
        yield f"first:{words[0]}"
    if _ACRONYM.search(reading.query):
        yield "shape:acronym"
    if reading.query[:1].islower():
        yield "shape:lower"
    if "\n" in reading.query:
        yield "shape:lines"


def _lexical(reading: Reading) -> Iterable[str]:
    """What names, aliases, triggers and hints say; a family counts for its group."""
    named = (*reading.named, *sorted(reading.named_groups))
    yield from (f"named:{name}" for name in named)
    yield "named:any" if named else "named:none"
    yield from (f"family:{alias}" for alias in reading.families)
    yield from (f"subject:{channel}" for channel in reading.subjects)
    if not named:
        yield from (f"keyword:{channel}" for channel in reading.keywords)
        yield from (f"hint:{group}" for group in reading.hints)
