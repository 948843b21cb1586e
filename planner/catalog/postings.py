"""The scorer of a catalog without graded examples: closed-form sparse weights, TF-IDF like, in pure Python.

relevance = s / (s + HALF), where s = Σ_t v_t w_tl / |v| over the query's terms t, v_t = k_t idf_t,
w_tl = (idf_t / idf_1) ^ RARITY k_t (c_tl + x_t e_tl) / |k (c + e)|, c_tl = Σ_fields f (1 + ln tf),
e_tl = EXAMPLES (Σ_examples (1 + ln tf)) ^ REPEATED, idf_t = ln((N + 1) / df_t), and k_t the weight of the kind of term
(Salton and Buckley 1988; weights chosen on ToolE's 199 tools and on generated catalogs). The length of a leaf counts
every term alike, and rarity less than twice: else, in a catalog of thousands, one rare pair of words outweighs all
others together. The root keeps a card with many examples from being about nothing but their wording; what pairs say
there, PHRASES times as much, is how people ask. |v| = Σ_t v_t² / |v of the terms that some card holds|, and a word
that none holds counts like the rarest one: a match is worth the share of the question that it answers (rule CAT-4.4).
Each term keeps its LONGEST best leaves only, so that a query costs nearly the same in a catalog of 10,000 leaves.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log, sqrt
from typing import Any, NamedTuple, TypeVar

from planner.catalog.compiled import POSTINGS
from planner.catalog.features import Features
from planner.catalog.model import Leaf
from planner.catalog.scorer import Evidence
from planner.text import normalise

HALF = 0.12  # the cosine at which relevance is one half
LONGEST = 1024  # leaves kept per term
LIMIT = 512  # distinct terms of a query that are looked up
UNIT = 10_000  # a stored weight is an integer share of 1 / UNIT
RARITY = 0.75
EXAMPLES, REPEATED = 0.5, 0.2  # a card's examples, beside 1 for its description
PHRASES = 8.0
BUDGET = 8000  # leaves touched per query, those of the weightiest terms first
KINDS = {"w": 0.7, "s": 1.2, "b": 0.5, "3": 0.35, "4": 0.5, "c": 0.5, "d": 1.5}
_SPOKEN = "wsd"  # kinds of terms of which a catalog may know nothing
_REPEATS = {"w": 0.8, "3": 0.6, "4": 0.8}  # kinds that mostly repeat what a stem says: later in line for the budget
_SHOWN = "wsbd"  # kinds of terms a reader understands
_WORD = re.compile(r"[^\W_\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ingly", "edly", "ings", "ing", "ies", "ied", "es", "ed", "s", "ly", "er", "or")
_SAY_NOTHING = """
a an the and or but if of to in on at by for with from as into about over after than then so that this these those
there here it its is are was were be been being am do does did doing done has have had having can could will would
shall should may might must i me my mine we us our you your yours he him his she her they them their what which who
whom whose when where why how not no nor only also just very more most some any each every all both few other best
better good great another such same own too up out off down again please help need want like looking look find give
get tell know let make sure able way using use used provide one two new
"""
_EMPTY_WORDS = frozenset(_SAY_NOTHING.split())

Rows = TypeVar("Rows", bound=Sequence[float])


class Card(NamedTuple):
    """A leaf with the example queries of its page."""

    leaf: Leaf
    examples: Sequence[str] = ()

    def fields(self) -> Iterable[tuple[float, Sequence[str]]]:
        """(weight, texts) of what it says of itself. The name counts as written and split into its words."""
        name = self.leaf.channel
        split = f"{_CAMEL.sub(' ', name).replace('_', ' ').replace('-', ' ')} {name}"
        yield 0.5, (split, " ; ".join((*self.leaf.aliases, *self.leaf.triggers)))
        yield 1.0, (self.leaf.description,)


def postings_record(cards: Sequence[Card]) -> dict[str, Any]:
    """The compiled record of a PostingsScorer over these cards, in catalog order."""
    places: dict[str, array[int]] = defaultdict(lambda: array("I"))
    shares: dict[str, array[float]] = defaultdict(lambda: array("d"))
    for leaf, card in enumerate(cards):
        for term, share in _shares(card).items():
            places[term].append(leaf)
            shares[term].append(share)
    whole, numbers = rarest(len(cards)), range(max(len(cards), UNIT) + 1)
    known = list(numbers)  # one object a number: there are millions
    terms_out = {}
    for term in sorted(places):
        idf = log((len(cards) + 1) / len(places[term]))
        weight = (idf / whole) ** RARITY * UNIT
        best = sorted(zip(shares[term], places[term], strict=True), key=lambda sp: (-sp[0], sp[1]))[:LONGEST]
        rows = [n for share, leaf in best if (step := round(share * weight)) for n in (known[leaf], known[step])]
        if rows:
            terms_out[term] = [round(idf * KINDS[term[0]], 3), *rows]
    return {"kind": POSTINGS, "terms": terms_out}


def rarest(leaves: int) -> float:
    """idf of a term that one leaf holds."""
    return log(leaves + 1)


def _shares(card: Card) -> dict[str, float]:
    """term -> k (c + x e) / |k (c + e)|."""
    said = _counted(card.fields())
    asked = {
        term: EXAMPLES * count**REPEATED
        for term, count in _counted((1.0, (example,)) for example in card.examples).items()
    }
    both = {term: KINDS[term[0]] * (said.get(term, 0.0) + asked.get(term, 0.0)) for term in {**said, **asked}}
    length = sqrt(sum(w * w for w in both.values())) or 1.0
    for term, count in asked.items():
        if term[0] == "b":
            both[term] += KINDS["b"] * (PHRASES - 1.0) * count
    return {term: weight / length for term, weight in both.items()}


def _counted(fields: Iterable[tuple[float, Sequence[str]]]) -> dict[str, float]:
    """term -> Σ over fields of weight x (1 + ln tf)."""
    total: dict[str, float] = defaultdict(float)
    for weight, texts in fields:
        terms = Counter(term for text in texts for term in terms_of(" ".join(normalise(text).split())))
        for term, count in terms.items():
            total[term] += weight * (1 + log(count))
    return total


def terms_of(text: str) -> Iterable[str]:
    """Terms of a normalised text, each led by the letter of its kind: words, stems, pairs, letter and CJK n-grams."""
    words = [w for w in _WORD.findall(text) if w not in _EMPTY_WORDS]
    stems = [_stem(word) for word in words]
    yield from (f"w{word}" for word in words)
    yield from (f"s{stem}" for stem in stems)
    yield from (f"b{first} {second}" for first, second in pairwise(stems))
    for word in words:
        edged = f" {word} "
        for size in (3, 4):
            yield from (f"{size}{edged[at : at + size]}" for at in range(len(edged) - size + 1))
    for run in _CJK.findall(text):
        yield from (f"c{char}" for char in run)
        yield from (f"d{run[at : at + 2]}" for at in range(len(run) - 1))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


class PostingsScorer:
    """See the module. Immutable."""

    def __init__(self, record: Mapping[str, Any], leaves: int) -> None:
        self._terms: Mapping[str, list[float]] = record.get("terms", {})
        self._n = leaves

    def relevance(self, features: Features) -> list[float]:
        """See Scorer."""
        found, norm = self._found(features)
        total = [0.0] * self._n
        for _, query_weight, rows in found:
            for at in range(1, len(rows), 2):
                total[int(rows[at])] += query_weight * rows[at + 1]
        scale = HALF * UNIT * norm
        return [s / (s + scale) if s else 0.0 for s in total]

    def payoff(self, features: Features, relevance: Sequence[float]) -> list[float] | None:
        """See Scorer: nothing was fitted."""
        return None

    def evidence(self, leaf: int, features: Features, limit: int) -> list[Evidence]:
        """Terms by their share of the cosine."""
        found, norm = self._found(features)
        shares = [
            Evidence(term[1:].strip(), query_weight * rows[at + 1] / (UNIT * norm))
            for term, query_weight, rows in found
            for at in range(1, len(rows), 2)
            if rows[at] == leaf and term[0] in _SHOWN
        ]
        best: dict[str, Evidence] = {}
        for share in sorted(shares, key=lambda e: (-e.weight, e.feature)):
            best.setdefault(share.feature, share)
        return list(best.values())[:limit]

    def _found(self, features: Features) -> tuple[list[tuple[str, float, list[float]]], float]:
        known, asked = self._terms, looked_up(features.text)
        found = [(term, rows[0], rows) for term in asked if (rows := known.get(term))]
        return affordable(found), length_of(asked, {term: weight for term, weight, _ in found}, self._n)


def length_of(asked: Iterable[str], known: Mapping[str, float], leaves: int) -> float:
    """|v| of a query, see the module; `known`: the weights of its terms that some leaf holds."""
    whole = rarest(leaves)
    unheard = (whole * KINDS[term[0]] for term in asked if term[0] in _SPOKEN and term not in known)
    heard = sum(weight * weight for weight in known.values())
    return (heard + sum(weight * weight for weight in unheard)) / sqrt(heard) if heard else 1.0


def looked_up(text: str) -> list[str]:
    """The distinct terms of a query, at most LIMIT: from the head of a long one, and from its tail."""
    terms = list(dict.fromkeys(terms_of(text)))
    return terms if len(terms) <= LIMIT else terms[: LIMIT * 3 // 4] + terms[-LIMIT // 4 :]


def affordable(found: list[tuple[str, float, Rows]]) -> list[tuple[str, float, Rows]]:
    """All of them when they touch few leaves, else the weightiest that fit the budget, and always one."""
    if sum(len(rows) for _, _, rows in found) <= 2 * BUDGET:
        return found
    kept: list[tuple[str, float, Rows]] = []
    room = 2 * BUDGET
    for entry in sorted(_merged(found), key=lambda e: (-e[1] * _REPEATS.get(e[0][0], 1.0), e[0])):
        if not kept or len(entry[2]) <= room:
            room -= len(entry[2])
            kept.append(entry)
    return kept


def _merged(found: list[tuple[str, float, Rows]]) -> Iterable[tuple[str, float, Rows]]:
    """A word that stands in all the leaves of its stem speaks for both: they would add the same twice."""
    sizes = {term: len(rows) for term, _, rows in found}
    spoken_for = set()
    for term, weight, rows in found:
        stem = f"s{_stem(term[1:])}" if term[0] == "w" else ""
        if sizes.get(stem) == len(rows) < 2 * LONGEST:
            spoken_for.add(stem)
            yield term, weight * (1 + (KINDS["s"] / KINDS["w"]) ** 2), rows
        elif term not in spoken_for:
            yield term, weight, rows
