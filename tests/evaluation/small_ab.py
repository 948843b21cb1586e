"""A small comparison for tests: queries in several languages with gold, two arms, no model."""

import json
from datetime import date

from planner.evaluation.ab import Inquiry, run
from planner.evaluation.arms import build_arms
from planner.evaluation.journal import Journal
from planner.evaluation.queries import read_queries

TODAY = date(2026, 1, 31)
TOPICS = ("rust async runtimes", "heart failure trials", "vector databases", "electric cars", "remote jobs", "tea")
ENGLISH = [
    {"id": f"en{n}", "query": f"what do people say about {topic} in {year}", "gold": {"reddit": 3, "exa": n % 4}}
    for n, (topic, year) in enumerate((topic, year) for topic in TOPICS for year in (2023, 2024, 2025, 2026))
]
CHINESE = [
    {"id": "zh1", "query": "小红书上有没有人测评扫地机器人", "gold": {"xiaohongshu": 3}, "query_shape": "product"},
    {"id": "zh2", "query": "大模型 推理 加速 论文", "gold": {"arxiv": 3}, "gold_groups": ["channels-academic"]},
    {"id": "zh3", "query": "北京明天的天气", "scope": {"budget": {"max_channels": 1}}, "lang": "zh-hant"},
]
ROWS = [*ENGLISH, *CHINESE, {"id": "other", "query": "mejores restaurantes para comer en Sevilla con niños"}]


def lines_of(rows):
    good, bad = read_queries("\n".join(map(json.dumps, rows)).encode())
    assert not bad
    return good


def compare(planner, folder, arms=("heuristic", "flat"), rows=ROWS):
    inquiry = Inquiry(lines_of(rows), [], build_arms(arms, planner), 8, 1)
    return run(inquiry, Journal(folder, inquiry.identity()), TODAY)
