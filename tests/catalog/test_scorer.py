"""The two scorers behind one interface: ranges, evidence, bounds, reproducible fits."""

import subprocess
import sys
from dataclasses import replace

import pytest

from planner.catalog.calibration import FITTED, UNFITTED, interpolated
from planner.catalog.features import BLOCKS, LIMIT, Features, features_of
from planner.catalog.learned import LearnedScorer, bucket
from planner.catalog.model import Leaf
from planner.catalog.postings import Card, PostingsScorer, postings_record
from planner.catalog.scorer import scorer_from
from tests.bench.catalogs import cards

QUERIES = [
    "小红书有没有人用 Cursor 做编程",
    "grapefruit amlodipine",
    "用python写爬虫报错 TypeError",
    "?",
    "𠀀 ﷽ 한국어 日本語の",
]


def features(catalog, query):
    return features_of(catalog.read(query))


@pytest.mark.parametrize("query", QUERIES)
def test_relevance_is_in_range_and_in_catalog_order(catalog, query):
    found = catalog.scorer.relevance(features(catalog, query))
    assert len(found) == len(catalog.leaves)
    assert all(0.0 <= r <= 1.0 for r in found)


@pytest.mark.parametrize("query", QUERIES)
def test_payoff_is_a_probability_and_nothing_for_groups_without_channels(catalog, query):
    seen = features(catalog, query)
    payoff = catalog.scorer.payoff(seen, catalog.scorer.relevance(seen))
    assert len(payoff) == len(catalog.groups)
    assert all(0.0 <= p <= 1.0 for p in payoff)
    assert all(p == 0.0 for p, group in zip(payoff, catalog.groups, strict=True) if not group.members)


def test_a_long_query_reads_a_bounded_number_of_n_grams_from_head_and_tail(catalog):
    words = [f"word{n}x" for n in range(700)]
    seen = features(catalog, " ".join(words)[:4000])
    assert len(seen.latin) + len(seen.cjk) <= LIMIT
    assert "word0x" in seen.latin
    both = features(catalog, "".join(chr(0x4E00 + n) for n in range(900)) + " ".join(words)[:3000])
    assert len(both.latin) + len(both.cjk) <= LIMIT


def test_features_are_distinct(catalog):
    seen = features(catalog, "compare compare compare 对比对比对比 compare")
    for block in BLOCKS:
        grams = getattr(seen, block)
        assert len(grams) == len(set(grams))


def test_evidence_speaks_for_the_leaf_heaviest_first(catalog):
    seen = features(catalog, "random forest preprint on single-cell gene expression")
    found = catalog.scorer.evidence(catalog.leaf_index["pubmed"], seen, 5)
    weights = [e.weight for e in found]
    assert 0 < len(found) <= 5
    assert weights == sorted(weights, reverse=True)
    assert min(weights) > 0


def test_buckets_are_the_same_in_every_process():
    told = "import sys; sys.path[:0] = ['.']; from planner.catalog.learned import bucket; print(bucket('论文', 32767))"
    other = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert int(other.stdout) == bucket("论文", 32767)


def test_an_error_message_goes_to_programmers_and_a_trial_to_medicine(catalog):
    def best(query):
        found = catalog.scorer.relevance(features(catalog, query))
        return catalog.leaves[max(range(len(found)), key=found.__getitem__)].channel

    assert best("TypeError: cannot read properties of undefined in my react app") == "stackoverflow"
    assert best("randomised controlled trials of statins in older patients") == "pubmed"


def leaf(name, description, **more):
    return Leaf(f"search-{name}", name, description, ("all",), **more)


CARDS = [
    Card(leaf("weather_now", "Current weather and forecasts for any city")),
    Card(leaf("TaxHelper", "Compute income taxes and deductions"), ("how much do I owe the tax office",)),
    Card(leaf("菜谱", "家常菜的做法和食材")),
]


def test_a_catalog_without_graded_examples_ranks_by_its_cards(catalog):
    scorer = PostingsScorer(postings_record(CARDS), len(CARDS))
    for query, right in [("forecast for Oslo", 0), ("what do I owe the taxman", 1), ("番茄家常菜怎么做", 2)]:
        seen = features(catalog, query)
        found = scorer.relevance(seen)
        assert max(range(3), key=found.__getitem__) == right
        assert all(0.0 <= r <= 1.0 for r in found)
        assert scorer.evidence(right, seen, 3)
    assert scorer.payoff(seen, found) is None


def test_a_scorer_fitted_on_other_leaves_is_not_used(catalog):
    record = {"kind": "learned", "channels": ["another"]}
    assert isinstance(scorer_from(record, catalog.leaves), PostingsScorer)
    assert isinstance(catalog.scorer, LearnedScorer)


def test_an_empty_catalog_of_terms_scores_nothing(catalog):
    assert PostingsScorer({}, 2).relevance(features(catalog, "anything")) == [0.0, 0.0]


@pytest.mark.parametrize("knots", [FITTED, UNFITTED])
def test_the_calibration_rises_from_0_to_1(knots):
    values = [interpolated(n / 100, knots) for n in range(101)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0.0, 1.0)


def test_the_same_examples_give_the_same_bytes_and_a_scorer_that_learned(catalog):
    from planner.catalog.fit import Example, fit

    rows = [
        ("paper on protein folding", "pubmed"),
        ("npm install fails", "stackoverflow"),
        ("红烧肉做法", "xiaohongshu"),
    ]
    examples = [
        Example(features(catalog, f"{query} {n}"), {channel: 3}, [catalog.leaf_by_channel[channel].groups[0]])
        for n in range(8)
        for query, channel in rows
    ]
    first, again = (fit(examples, catalog.leaves, catalog.groups) for _ in range(2))
    assert first == again
    scorer = scorer_from(first, catalog.leaves)
    for query, channel in rows:
        found = scorer.relevance(features(catalog, query))
        assert max(range(len(found)), key=found.__getitem__) == catalog.leaf_index[channel]


def test_query_type_and_rubrics_add_their_intents(catalog):
    from planner.channels.model import ClarifyResult
    from planner.judges.heuristic import with_clarified

    plain = catalog.read("blue whales")
    told = with_clarified(
        plain, ClarifyResult(query_type="academic_search", rubrics=("cites peer-reviewed papers",)), catalog
    )
    assert "academic-search" in told.wanted
    assert with_clarified(plain, ClarifyResult(), catalog) is plain
    unknown = with_clarified(plain, ClarifyResult(query_type="which papers"), catalog)
    assert "academic-search" in unknown.wanted


def test_code_terms_count_in_code_context_only(catalog):
    assert "tech-release" not in catalog.intents.wanted("bird migration in spring")
    assert "tech-release" in catalog.intents.wanted("django migration of a large table")
    assert "recruiting-jobs" not in catalog.intents.wanted("steve jobs last words")
    assert "academic-search" not in catalog.intents.wanted("研究一下哪款好用")


def test_a_cut_text_is_judged_like_any_other(catalog):
    reading = catalog.read("x" * 4000)
    assert features_of(replace(reading, text=reading.text)).latin


def postings(found):
    """A scorer over (name, description) pairs, and a function: query -> relevance by name."""
    leaves = [Leaf(name=f"search-{name}", channel=name, description=text, groups=("g",)) for name, text in found]
    scorer = PostingsScorer(postings_record([Card(leaf) for leaf in leaves]), len(leaves))

    def relevance(query):
        found = scorer.relevance(Features((), (), (), (), query))
        return dict(zip((leaf.channel for leaf in leaves), found, strict=True))

    return relevance


def test_a_rare_pair_of_words_does_not_outweigh_all_the_others():
    relevance = postings(
        [
            ("estimate-street", "Quickly estimate your street. Supports traffic, parking, and developers."),
            ("estimate-elevation", "Estimate elevation and street for local businesses, with results from Orbralo."),
            *((card["name"], card["description"]) for card in cards(1500)),
        ]
    )("what is the best way to estimate my street and elevation for local businesses?")
    assert max(relevance, key=relevance.get) == "estimate-elevation"


@pytest.mark.rule("CAT-4.4")
def test_words_that_no_card_knows_make_every_match_weaker():
    relevance = postings([("git-log", "Shows the history of a repository"), ("build", "Builds a container image")])
    asked = [relevance(query)["git-log"] for query in ("history", "history of Hanoi", "history of pho in Hanoi", "pho")]
    assert asked == sorted(asked, reverse=True)
    assert len(set(asked)) == 4
    assert asked[0] > 0.5
    assert asked[-1] == 0.0
