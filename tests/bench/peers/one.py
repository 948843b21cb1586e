"""One contestant on one workload in a process of its own: `python -m tests.bench.peers.one NAME WORKLOAD FOLDER`.

Prints JSON: start_s (from the start of this process to the first answer), p50_ms, p99_ms, memory_mb (peak resident),
and sums of top1, recall, ndcg over the queries with their count.
"""

import time

BEGAN = time.perf_counter()

import json  # noqa: E402
import sys  # noqa: E402
from math import log2  # noqa: E402
from pathlib import Path  # noqa: E402

from tests.bench.memory import peak_mb  # noqa: E402


def main(name: str, workload: str, folder: str) -> None:
    from tests.bench.peers.contestants import CONTESTANTS
    from tests.bench.peers.workloads import WORKLOADS

    parts = list(WORKLOADS[workload]())
    given = time.perf_counter()  # reading the workload is nobody's cost
    started = None
    sums = {"top1": 0.0, "recall": 0.0, "ndcg": 0.0, "queries": 0}
    for number, part in enumerate(parts):
        rank = CONTESTANTS[name][0](part, Path(folder) / str(number))
        rank(part.queries[0][0])
        if started is None:
            started = time.perf_counter() - given
        for query, gold in part.queries:
            _add(sums, rank(query), gold, part.depth)
    warm = _latencies(rank, [query for query, _ in part.queries])
    print(json.dumps({"start_s": started, **warm, "memory_mb": peak_mb(), **sums}))


def _add(sums: dict, ranked: list, gold: dict, depth: int) -> None:
    best = max(gold.values())
    wanted = [name for name, grade in gold.items() if grade == best]
    found = list(dict.fromkeys(ranked))[:depth]
    gain = sum(gold.get(name, 0) / log2(at + 2) for at, name in enumerate(found))
    ideal = sum(grade / log2(at + 2) for at, grade in enumerate(sorted(gold.values(), reverse=True)[:depth]))
    sums["top1"] += bool(found) and found[0] in wanted
    sums["recall"] += sum(name in found for name in wanted) / min(len(wanted), depth)
    sums["ndcg"] += gain / ideal
    sums["queries"] += 1


def _latencies(rank, queries: list) -> dict:
    times = []
    for query in (queries * 3)[:400]:
        began = time.perf_counter()
        rank(query)
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return {"p50_ms": times[len(times) // 2], "p99_ms": times[len(times) * 99 // 100]}


if __name__ == "__main__":
    main(*sys.argv[1:])
