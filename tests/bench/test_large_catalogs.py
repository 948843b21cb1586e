"""What a plan and a load may cost as a catalog grows: `pytest -n 0 -s -m bench tests/bench/test_large_catalogs.py`."""

import json
import subprocess
import sys

import pytest

from planner.catalog.importing.flow import import_catalog
from planner.catalog.importing.sources import read_source
from tests.bench.catalogs import cards, write_jsonl

pytestmark = [pytest.mark.bench, pytest.mark.filterwarnings("ignore")]

MEASURE = """
import json, resource, sys, time
from planner.catalog.loader import load_catalog
from planner.pipeline import Planner
from tests.bench.catalogs import cards, questions
folder, home, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
Planner(catalog=folder, env={"HOME": home})
began = time.perf_counter()
planner = Planner(catalog=folder, env={"HOME": home})
load = time.perf_counter() - began
times = []
for query, _ in questions(cards(count), 200):
    began = time.perf_counter()
    planner.select(query)
    times.append(time.perf_counter() - began)
times = sorted(times[50:])
print(json.dumps({"load_ms": load * 1000, "p50_ms": times[len(times) // 2] * 1000,
                  "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """leaves -> load_ms, p50_ms, mb (peak of a process that loads twice: first fills the cache)."""
    found = {}
    for count in (41, 1_000, 10_000):
        root = tmp_path_factory.mktemp(str(count))
        import_catalog(read_source(write_jsonl(root / "cards.jsonl", cards(count))), root / "catalog")
        line = [sys.executable, "-c", MEASURE, str(root / "catalog"), str(root), str(count)]
        found[count] = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
    print(found)
    return found


def test_ten_thousand_leaves_cost_little_more_than_41(measured):
    assert measured[10_000]["p50_ms"] <= 5
    assert measured[10_000]["p50_ms"] <= 6 * measured[41]["p50_ms"]


def test_ten_thousand_leaves_are_loaded_at_once_and_fit(measured):
    assert measured[10_000]["load_ms"] <= 150
    assert measured[10_000]["mb"] <= 300
