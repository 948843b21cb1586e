"""Catalogs of thousands: mapped from the cache, planned over a shortlist."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.catalog.compiling import recompiled
from planner.catalog.importing.flow import import_catalog
from planner.catalog.importing.sources import read_source
from planner.catalog.large import LARGE, LargeCatalog, large_catalog, pack_record
from planner.catalog.loader import load_catalog
from planner.catalog.lookup import Lookup, beginnings
from planner.catalog.matcher import Matcher
from planner.catalog.model import Catalog
from planner.pipeline import Planner
from tests.bench.catalogs import cards, questions, write_jsonl

COUNT = LARGE + 88


@pytest.fixture(scope="module")
def found():
    return cards(COUNT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, found):
    root = tmp_path_factory.mktemp("large")
    import_catalog(read_source(write_jsonl(root / "cards.jsonl", found)), root / "catalog")
    return root / "catalog"


@pytest.fixture(scope="module")
def large(folder):
    return load_catalog(folder)


@pytest.fixture
def planner(folder, env):
    return Planner(catalog=folder, env=env)


def core(planner, query):
    return planner.select(query).core()


def packs(tmp_path):
    return sorted(tmp_path.rglob("*.pack"))


@pytest.mark.rule("CAT-4.1")
def test_the_cached_form_gives_the_same_plans(folder, env, found, tmp_path):
    first = Planner(catalog=folder, env=env)
    assert len(packs(tmp_path)) == 1
    second = Planner(catalog=folder, env=env)
    assert isinstance(second.catalog, LargeCatalog)
    for query, _ in questions(found, 10):
        assert core(first, query) == core(second, query)


@pytest.mark.rule("CAT-4.1")
@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_cache_costs_time_only(folder, env, tmp_path, damage):
    plan = core(Planner(catalog=folder, env=env), "export the invoice")
    pack = packs(tmp_path)[0]
    pack.write_bytes(pack.read_bytes()[: pack.stat().st_size // 2] if damage is None else damage)
    assert core(Planner(catalog=folder, env=env), "export the invoice") == plan


@pytest.mark.rule("CAT-4.1")
def test_a_cache_that_cannot_be_written_is_done_without(folder, env, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("", "utf-8")
    assert Planner(catalog=folder, env={**env, "XDG_CACHE_HOME": str(blocked)}).select("export the invoice").channels


@pytest.mark.rule("CAT-4.1")
def test_a_small_catalog_that_had_to_be_rebuilt_is_cached_too(env, tmp_path):
    from tests.catalog.folder import make

    root = make(tmp_path / "skills")
    first = Planner(catalog=root, env=env)
    assert [p.suffix for p in (tmp_path / "xdg_cache_home").rglob("*.*")] == [".json"]
    assert core(Planner(catalog=root, env=env), "ramen") == core(first, "ramen")


@pytest.mark.rule("CAT-4.2")
def test_the_shortlist_holds_what_the_scorer_finds(large, planner, found):
    hits = 0
    for query, _ in questions(found, 40):
        reading = large.read(query)
        short = large.shortlist(reading, (), lambda leaf: True)
        relevance = large.scorer.sparse(reading.text)
        best = large.leaves[max(relevance, key=lambda at: (relevance[at], -at))]
        assert best.channel in short.leaf_by_channel
        assert len(short.leaves) <= 160
        hits += planner.select(query).channels[0].channel == best.channel
    assert hits >= 38


@pytest.mark.rule("CAT-4.2")
def test_the_shortlist_holds_what_request_and_query_name(large, planner):
    last, middle = large.leaves[-1], large.leaves[COUNT // 2]
    plan = planner.select("weather forecast", {"channel_priority": [last.channel]})
    assert last.channel in [pick.channel for pick in plan.channels]
    named = planner.select(f"use {middle.aliases[0]} now")
    assert named.channels[0].channel == middle.channel
    explicit = planner.select("anything", explicit_channels=[last.channel, middle.channel])
    assert [pick.channel for pick in explicit.channels] == [last.channel, middle.channel]
    skipped = planner.select("weather forecast", {"channel_skip": [pick.channel for pick in plan.channels]})
    assert not {p.channel for p in plan.channels} & {p.channel for p in skipped.channels}
    assert len(skipped.channels) >= 3


@pytest.mark.rule("CAT-4.2")
@pytest.mark.parametrize("query", ["zzzz qqqq", "天气怎么样", "?", "a " * 1900])
def test_a_query_that_nothing_fits_still_gets_a_plan(planner, query):
    assert len(planner.select(query).channels) >= 3


@pytest.mark.rule("CAT-4.2")
def test_cheap_leaves_are_found_behind_dear_ones(folder, env, found):
    record = recompiled(folder, None)
    for leaf in record["leaves"][:-3]:
        leaf["cost_usd"] = 5.0
    catalog = large_catalog(memoryview(pack_record(record)), folder)
    short = catalog.shortlist(catalog.read("weather"), (), lambda leaf: leaf.cost_usd <= 1)
    assert sorted(leaf.cost_usd for leaf in short.leaves)[:3] == [0, 0, 0]


@pytest.mark.rule("CAT-4.2")
def test_natives_and_fallback_come_along(folder):
    record = recompiled(folder, None)
    native, fallback = record["groups"][0], record["groups"][1]
    native["native"], fallback["fallback"] = True, True
    catalog = large_catalog(memoryview(pack_record(record)), folder)
    short = catalog.shortlist(catalog.read("天气"), (), lambda leaf: True)
    assert len(short.natives) >= 2
    assert fallback["name"] in short.group_by_name


def test_a_small_catalog_is_its_own_shortlist(catalog):
    assert type(catalog) is Catalog
    assert catalog.shortlist(catalog.read("x"), (), lambda leaf: True) is catalog


def test_what_is_cached_is_no_pickle(folder, env, tmp_path):
    Planner(catalog=folder, env=env)
    data = packs(tmp_path)[0].read_bytes()
    assert data.startswith(b"planner pack")
    size = int.from_bytes(data[16:24], "little")
    assert json.loads(data[24 : 24 + size])["format"]


TERMS = ["hn", "hacker news", "news", "hacker-news", "c++", ".net", "知乎", "乎", "知乎 日报", "reddit", "it"]


@pytest.mark.rule("CAT-4.3")
@given(st.lists(st.sampled_from([*TERMS, *"sx.c+ 、的a_", "john", "news2"]), max_size=14).map("".join))
def test_looking_up_finds_what_the_automaton_finds(text):
    strong = {"hacker news", "知乎"}
    lookup = Lookup(set(TERMS), beginnings(TERMS), strong)
    assert lookup.find(text) == Matcher(TERMS, strong).find(text)


@pytest.mark.rule("CAT-4.1")
def test_processes_that_fill_the_cache_at_once_leave_one_good_file(folder, env, tmp_path):
    code = "import sys; from planner.pipeline import Planner; p = Planner(sys.argv[1], env={'HOME': sys.argv[2]});"
    code += "print([c.channel for c in p.select('export the invoice').channels])"
    line = [sys.executable, "-c", code, str(folder), str(tmp_path / "home")]
    started = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    plans = {process.communicate(timeout=60)[0] for process in started}
    kept = [path.name for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert len(plans) == 1
    assert "export-" in plans.pop()
    assert len(kept) == 1
    assert kept[0].endswith(".pack")
