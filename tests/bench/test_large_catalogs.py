"""What a plan and a load may cost as a catalog grows: `pytest -n 0 -s -m bench tests/bench/test_large_catalogs.py`."""

import json
import subprocess
import sys

import pytest

from tests.bench.catalogs import cards, questions, write_jsonl

pytestmark = [pytest.mark.bench, pytest.mark.filterwarnings("ignore")]

IMPORT = """
import sys
from pathlib import Path
from planner.catalog.importing.flow import import_catalog
from planner.catalog.importing.sources import read_source
from tests.bench.memory import peak_mb
import_catalog(read_source(Path(sys.argv[1])), Path(sys.argv[2]))
print(peak_mb())
"""
FILL = """
import sys
from planner.pipeline import Planner
from tests.bench.memory import peak_mb
Planner(catalog=sys.argv[1], env={"HOME": sys.argv[2]})
print(peak_mb())
"""
MEASURE = """
import json, sys, time
from planner.pipeline import Planner
from tests.bench.memory import peak_mb
queries = json.load(sys.stdin)
began = time.perf_counter()
planner = Planner(catalog=sys.argv[1], env={"HOME": sys.argv[2]})
load = time.perf_counter() - began
times = []
for query in queries:
    began = time.perf_counter()
    planner.select(query)
    times.append(time.perf_counter() - began)
times = sorted(times[50:])
print(json.dumps({"load_ms": load * 1000, "p50_ms": times[len(times) // 2] * 1000, "mb": peak_mb()}))
"""


def run(code, *given, stdin=None):
    line = [sys.executable, "-c", code, *map(str, given)]
    return json.loads(subprocess.run(line, capture_output=True, text=True, check=True, input=stdin).stdout)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """leaves -> load_ms, p50_ms and mb of a process that only loads from the cache and plans.

    Beside them, for they are paid once: import_mb and fill_mb, the peaks of importing and of filling the cache.
    """
    found = {}
    for count in (41, 1_000, 10_000):
        root = tmp_path_factory.mktemp(str(count))
        made = cards(count)
        catalog = root / "catalog"
        once = {"import_mb": run(IMPORT, write_jsonl(root / "cards.jsonl", made), catalog)}
        once["fill_mb"] = run(FILL, catalog, root)
        queries = json.dumps([query for query, _ in questions(made, 200)])
        found[count] = run(MEASURE, catalog, root, stdin=queries) | once
    print(json.dumps(found))
    return found


def test_ten_thousand_leaves_cost_little_more_than_41(measured):
    assert measured[10_000]["p50_ms"] <= 5
    assert measured[10_000]["p50_ms"] <= 6 * measured[41]["p50_ms"]


def test_ten_thousand_leaves_are_loaded_at_once_and_fit(measured):
    assert measured[10_000]["load_ms"] <= 150
    assert measured[10_000]["mb"] <= 300
