"""Is a platform named as the place to search, as the subject, or as a place to avoid? (rules SEL-4.4, SEL-4.5)"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from planner.catalog.matcher import Match, Matcher

PLACE, SUBJECT, EXCLUDED = "place", "subject", "excluded"
_NEAR = 40  # characters around a name in which a subject cue counts; a short query is read whole
_TOGETHER = re.compile(r"[\s\"'”’」』》】)]*(?:and|or|vs|&|/|,|，|、|和|与|及|跟|或|以及|还有)[\s\"'“‘「『《【(]*")
_GAP = re.compile(r"[\s\"'“”‘’「」『』《》【】():：/\-]*")


@dataclass(frozen=True)
class Cues:
    """The words that tell the roles apart; data of the catalog, normalised."""

    place_before: tuple[str, ...] = ()
    place_after: tuple[str, ...] = ()
    subject_near: tuple[str, ...] = ()
    excluded_before: tuple[str, ...] = ()
    not_places: tuple[str, ...] = ()
    not_typos: tuple[str, ...] = ()
    swallow: tuple[str, ...] = ()

    @cached_property
    def _subject(self) -> Matcher:
        return Matcher(self.subject_near)

    def role(self, text: str, start: int, end: int) -> str:
        """The role of the name at text[start:end]."""
        before, after = text[:start], text[end:]
        if _ends_with(before, self.excluded_before):
            return EXCLUDED
        # 小红书上市 is about a listing, not a search on it: the longer cue decides
        placed = _longest_start(after, self.place_after)
        if _ends_with(before, self.place_before) or placed > _longest_start(after, self.subject_near):
            return PLACE
        window = text[max(0, start - _NEAR) : end + _NEAR]
        return SUBJECT if self._subject.find(window) else PLACE

    def beside(self, text: str, start: int, end: int) -> bool:
        """Whether a cue stands right beside text[start:end]: "use it", "it plugin", "not it"."""
        before, after = text[:start], text[end:]
        led = _ends_with(before, (*self.place_before, *self.excluded_before))
        return led or _longest_start(after, self.place_after) > 0


def _ends_with(before: str, cues: Sequence[str]) -> bool:
    stripped = before.rstrip(" \"'“‘「『《【(:：/")
    for word in ("the ", "a ", "my ", "your "):
        if (stripped + " ").endswith(" " + word):
            stripped = stripped[: -len(word)].rstrip()
    return any(stripped.endswith(cue) and _free(stripped, len(stripped) - len(cue), cue) for cue in cues)


def _longest_start(after: str, cues: Sequence[str]) -> int:
    gap = _GAP.match(after)
    rest = after[gap.end() :] if gap else after
    return max((len(cue) for cue in cues if rest.startswith(cue) and _closed(rest, cue)), default=0)


def _free(text: str, start: int, cue: str) -> bool:
    return not cue[0].isascii() or start == 0 or not text[start - 1].isascii() or not text[start - 1].isalnum()


def _closed(rest: str, cue: str) -> bool:
    return not cue[-1].isascii() or len(rest) == len(cue) or not (rest[len(cue)].isascii() and rest[len(cue)].isalnum())


def roles(text: str, mentions: Sequence[Match], cues: Cues) -> Mapping[Match, str]:
    """The role of each mention. A name that is a place once is one throughout, and so is what is listed beside it."""
    found = {m: cues.role(text, m.start, m.end) for m in mentions}
    for pair in (*pairwise(mentions), *pairwise(list(reversed(mentions)))):
        first, second = sorted(pair)
        if (
            _TOGETHER.fullmatch(text[first.end : second.start])
            and found[pair[0]] == PLACE
            and found[pair[1]] == SUBJECT
        ):
            found[pair[1]] = PLACE
    places = {m.term for m, role in found.items() if role == PLACE}
    return {m: PLACE if m.term in places and role == SUBJECT else role for m, role in found.items()}
