"""A route takes at most .3 ms at the median when warm, settings, id and clock included."""

import statistics

import pytest

from planner.routes import route_sources

REQUEST = {
    "task_type": "deep_research", "primary_subject": "AI芯片", "goal_mode": "compare", "freshness_required": "medium",
    "available_sources": ["web", "local_file", "vector", "graph", "counter"], "need_counter_evidence": True,
    "information_gaps": ["最新的市场份额", "供应链"],
}  # fmt: skip


@pytest.mark.bench
def test_a_warm_route(benchmark):
    route_sources(REQUEST)
    benchmark.pedantic(route_sources, args=(REQUEST,), rounds=2000, warmup_rounds=50)
    assert statistics.median(benchmark.stats.stats.data) <= 0.0003
