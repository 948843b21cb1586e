"""The heuristic judge: pure, offline, always answers. Reading and scorer in, semantic factors out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.catalog.calibration import group_factors
from planner.catalog.features import Features, features_of
from planner.catalog.model import Catalog
from planner.catalog.reading import Reading
from planner.catalog.scorer import Evidence
from planner.channels.factors import GroupJudgement, Judgement, LeafJudgement
from planner.channels.model import ClarifyResult
from planner.judges.base import Question
from planner.text import has_han, normalise

SHOWN = 4  # pieces of evidence in a reason
_MARKS = ".,;:!?\"'()[]{}“”‘’"
_EMPTY = frozenset("的了吗呢吧啊是有没不么什怎哪个和与或在就都也很最想要我你他它这那")  # they hold no topic
_ASKED = 8  # pieces of evidence looked at; those a reader can do nothing with are left out


class HeuristicJudge:
    """Fills in the semantic factors from names, triggers, intents and the compiled scorer (rules SEL-4.1, SEL-4.2)."""

    def judge(self, question: Question) -> Judgement:
        """The semantic factors, each in 0..1, for every group and leaf."""
        catalog = question.catalog
        reading = with_clarified(question.reading, question.request.clarify_result, catalog)
        features = features_of(reading)
        relevance = catalog.scorer.relevance(features)
        leaves = {
            leaf.channel: LeafJudgement(r, float(leaf.channel in reading.keywords))
            for leaf, r in zip(catalog.leaves, relevance, strict=True)
        }
        groups = {
            group.name: GroupJudgement(factor, factor)
            for group, factor in zip(catalog.groups, group_factors(catalog, features, relevance), strict=True)
        }
        return Judgement(groups, leaves, _Explained(catalog, reading, features, relevance))


def with_clarified(reading: Reading, clarified: ClarifyResult, catalog: Catalog) -> Reading:
    """The reading with the intents of query type and rubrics added; a query type may be an intent's id."""
    if not clarified.query_type and not clarified.rubrics:
        return reading
    wanted = dict(reading.wanted)
    kind = clarified.query_type.strip().casefold().replace("_", "-").replace(" ", "-")
    if catalog.intents.knows(kind):
        wanted.setdefault(kind, (clarified.query_type,))
    text = " \n ".join(normalise(" ".join(part.split())) for part in (clarified.query_type, *clarified.rubrics))
    for name, terms in catalog.intents.wanted(text).items():
        wanted.setdefault(name, terms)
    return replace(reading, wanted=wanted)


class _Explained:
    """Works out a reason when one is asked for: the words that carried a channel, or a group's best channels."""

    def __init__(self, catalog: Catalog, reading: Reading, features: Features, relevance: Sequence[float]) -> None:
        self._catalog, self._reading, self._features, self._relevance = catalog, reading, features, relevance

    def __call__(self, name: str) -> str:
        at = self._catalog.leaf_index.get(name)
        return self._group(name) if at is None else self._leaf(at)

    def _leaf(self, at: int) -> str:
        found = self._catalog.scorer.evidence(at, self._features, _ASKED)
        if words := readable(found, self._reading):
            return f"relevance {self._relevance[at]:.2f} from {', '.join(words)}"
        return f"relevance {self._relevance[at]:.2f}"

    def _group(self, name: str) -> str:
        members = self._catalog.members.get(name, ())
        index = self._catalog.leaf_index
        best = sorted(members, key=lambda leaf: -self._relevance[index[leaf.channel]])[:2]
        return ", ".join(f"{leaf.channel} {self._relevance[index[leaf.channel]]:.2f}" for leaf in best)


def readable(found: Sequence[Evidence], reading: Reading) -> list[str]:
    """The best evidence in words a reader knows, SHOWN at most: intents with their terms, words of the query."""
    words: dict[str, None] = {}
    for feature, _ in found:
        if word := _in_words(feature, reading):
            words[word] = None
            if len(words) == SHOWN:
                break
    return list(words)


def _in_words(feature: str, reading: Reading) -> str | None:
    """The words of the query behind a feature; None where they would say nothing (shape flags, single characters)."""
    if terms := reading.wanted.get(feature):
        return f"{feature} ({'/'.join(terms[:2])})"
    if feature.startswith("~"):
        word = next((w for w in reading.text.split() if feature[1:].strip() in w), None)
        return f"“{word.strip(_MARKS)}”" if word else None
    if ":" in feature or len(feature) < 2:
        return None
    if has_han(feature) and (not _EMPTY.isdisjoint(feature) or _part_of_a_term(feature, reading)):
        return None
    return f"“{feature}”"


def _part_of_a_term(gram: str, reading: Reading) -> bool:
    return any(gram in term for terms in reading.wanted.values() for term in terms)
