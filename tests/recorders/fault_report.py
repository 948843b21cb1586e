"""Plays each row of the fault table against a real server, sync and async, and prints what happened.

python -m tests.recorders.fault_report       exit code 1 when a row is not as it must be
"""

from __future__ import annotations

import asyncio
import sys
import time

from planner import Planner
from planner.llm import libraries, state
from tests.recorders.fault_rows import CANARY, QUERY, ROWS, Row
from tests.recorders.faults import serve

SLACK_S = 0.5  # a busy machine's, on top of the deadline


def planner_for(row: Row, api_base: str) -> Planner:
    """A planner whose Standard model stands behind `api_base`, with the canary for its key."""
    tier = {"model": "openai/x", "api_base": api_base}
    numbers = {"standard": tier, "deadline_s": row.deadline_s, "backoff_s": 0.01}
    return Planner(settings={"llm": numbers}, env={"OPENAI_API_KEY": CANARY, "HOME": "/nonexistent"})


def play(row: Row, *, as_async: bool):
    """The row's plan, the requests the server saw, and the seconds it took."""
    libraries.load()
    state.forget()
    with serve(row.script) as server:
        planner = planner_for(row, row.at(server))
        began = time.perf_counter()
        if as_async:
            plan = asyncio.run(planner.aselect(QUERY, judge="standard"))
        else:
            plan = planner.select(QUERY, judge="standard")
        return plan, server.seen, time.perf_counter() - began


def problems(row: Row, plan, seen, seconds: float, catalog) -> list[str]:
    """Everything about the outcome that is not as the row says; empty when all is well."""
    known = {leaf.channel for leaf in catalog.leaves}
    natives = [pick for pick in plan.channels if pick.channel in catalog.natives]
    reasons = [step.reason for step in plan.degradations]
    expected = row.reason is None
    checks = {
        f"tier {plan.judge.tier}": (plan.judge.tier == "standard") == expected,
        f"degradations {reasons}": not reasons if expected else [r[: len(row.reason)] for r in reasons] == [row.reason],
        f"{len(seen)} requests": len(seen) == row.requests,
        f"{seconds:.2f} s": seconds <= row.deadline_s + SLACK_S,
        "1 to 5 channels": 1 <= len(plan.channels) <= 5,
        "known channels": {pick.channel for pick in plan.channels} <= known,
        "scores in 0..1": all(0 <= pick.score <= 1 for pick in (*plan.channels, *plan.groups)),
        "two natives": len(natives) >= 2 and plan.chinese_native_quota_met is True,
        "no key in the plan": CANARY not in plan.model_dump_json(),
        "the factors the answer gave": row.check(plan),
    }  # fmt: skip
    return [what for what, holds in checks.items() if not holds]


def main() -> int:
    """Prints the table."""
    bad = 0
    print("| fault | requests | tier | degradation | sync | async |\n| --- | --- | --- | --- | --- | --- |")
    for row in ROWS:
        cells = []
        for as_async in (False, True):
            plan, seen, seconds = play(row, as_async=as_async)
            wrong = problems(row, plan, seen, seconds, Planner(env={}).catalog)
            bad += bool(wrong)
            cells.append("; ".join(wrong) if wrong else f"ok, {seconds * 1000:.0f} ms")
        why = plan.degradations[0].reason if plan.degradations else "none"
        print(f"| {row.name} | {len(seen)} | {plan.judge.tier} | {why} | {cells[0]} | {cells[1]} |", flush=True)
    print(f"\n{len(ROWS)} rows × 2: {len(ROWS) * 2 - bad} green, {bad} red")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
