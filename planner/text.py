"""Normalisation and script detection: what every matcher in the house agrees on. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MIXED_WORDS = 3  # Latin words from which a text with Han is mixed
# Unicode Han: radicals, iteration mark and zero, unified and compatibility ideographs, planes 2 and 3 whole
HAN = re.compile(
    "[\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00016fe2\U00016fe3\U00016ff0-\U00016ff6\U00020000-\U0003ffff]"
)
KANA = re.compile("[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\uff66-\uff9d]")
HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff][A-Za-z\u00c0-\u024f\u1e00-\u1eff'’+#.\-]*")
_OTHER_SCRIPT = re.compile("[\u0370-\u05ff\u0600-\u06ff\u0900-\u0e7f]")
# invisible characters that split words without being seen: zero-width, joiners, bidi marks, soft hyphen, BOM
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufe00-\ufe0f]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# Function words that English lacks, of the Latin-script languages users write; one alone in a long text is a quotation.
_FOREIGN_WORDS = frozenset(
    """el los las del para por qué que con una como cómo dónde cuál más está son hay según sobre entre desde mejores
    der das und nicht ist für mit auf ein eine wie wird sind von zum zur bei oder auch nach über einer eines kann gibt
    was welche
    le les des une est dans pour sur avec qui quelle quels quel comment où pas aux cette ses plus meilleurs
    o os dos uma não são para com mais como qual quais onde melhores é
    il lo gli che per della delle dei sono nel con come più quale quali dove migliori di
    het een niet voor van met zijn welke hoe
    ve için bir ile nasıl nedir hangi
    dan yang untuk di dari dengan apa bagaimana
    và của là cho không những các
    jest nie się na jak czy oraz który""".split()
)
_ENGLISH_WORDS = frozenset(
    """the of and to in is for on with how what why when where which who does do are was were best vs a an from it
    can should at by about my me i you near after between best top your has have be or""".split()
)


@lru_cache(maxsize=1)
def _simplifier() -> object:
    import opencc

    return opencc.OpenCC("t2s")


def clean(text: str) -> str:
    """Text without control characters, invisible characters and lone surrogates; line breaks and tabs stay."""
    return _INVISIBLE.sub("", _CONTROL.sub(" ", _LONE_SURROGATE.sub("\ufffd", text)))


def normalise(text: str) -> str:
    """The form all matching happens on: NFKC, case-folded, Traditional Chinese made Simplified, invisibles removed."""
    folded = unicodedata.normalize("NFKC", clean(text)).casefold()
    if HAN.search(folded):
        folded = _simplifier().convert(folded)  # type: ignore[attr-defined]
    return folded


def has_han(text: str) -> bool:
    """Whether any Han character of any Unicode block is in the text."""
    return HAN.search(text) is not None


def latin_words(text: str) -> list[str]:
    """Latin words in order, case kept."""
    return LATIN_WORD.findall(text)


def language_of(text: str, latin_words_that_count: int) -> str:
    """`zh`, `en`, `mixed`, `ja`, `ko` or `other` (rule SEL-3.3).

    `latin_words_that_count`: Latin words in the text that are not channel names.
    """
    if KANA.search(text):
        return "ja"
    if len(HANGUL.findall(text)) >= 2:
        return "ko"
    if HAN.search(text):
        return "mixed" if latin_words_that_count >= MIXED_WORDS else "zh"
    return _latin_language(text)


def _latin_language(text: str) -> str:
    words = [w.casefold() for w in latin_words(text)]
    letters = sum(map(len, words))
    if len(_OTHER_SCRIPT.findall(text)) > letters or not words:
        return "other"
    foreign = sum(w in _FOREIGN_WORDS for w in words) + sum(any(c > "\u00bf" for c in w) for w in words)
    english = sum(w in _ENGLISH_WORDS for w in words)
    return "other" if foreign > english and foreign * 8 >= len(words) else "en"
