"""What the lexicon read out of a query: its language, what it names, which terms matched, what the asker wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reading:
    """A query as every later step sees it. Terms are in normalised form.

    `named`: bare channel names that the query names as the place to search, in order of mention.
    `named_groups`: groups of those channels, and groups named by a family alias.
    `families`: family alias -> its leaves, where a family was named.
    `subjects`: channels that the query is about, which is not naming them.
    `avoided`: channels that the query does not want.
    `keywords`: channel -> trigger keywords, names and aliases that matched.
    `hints`: group -> terms of the hint map that matched.
    `intents`: scenario id -> strength in 0..1.
    `wanted`: intent -> terms that showed it.
    """

    query: str
    text: str
    language: str
    han: bool
    kana: bool
    named: tuple[str, ...] = ()
    named_groups: frozenset[str] = frozenset()
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    subjects: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()
    keywords: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    intents: Mapping[str, float] = field(default_factory=dict)
    wanted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def languages(self) -> frozenset[str]:
        """Languages that count as the query's: both for a mixed one."""
        return frozenset(("zh", "en")) if self.language == "mixed" else frozenset((self.language,))
