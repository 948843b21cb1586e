"""The request most tests of this folder start from."""

EXAMPLE = {
    "task_type": "deep_research",
    "primary_subject": "AI芯片",
    "goal_mode": "analyze",
    "freshness_required": "medium",
    "available_sources": ["web", "local_file", "vector", "graph", "counter"],
    "need_counter_evidence": False,
}
