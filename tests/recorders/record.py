"""Writes the cassettes of this repository again.

python -m tests.recorders.record scripted
python -m tests.recorders.record smollm2 NAME URL      NAME: valid, asked-again or truncated (see cassettes/README.md)
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

from planner import Planner
from planner.replay import replay
from planner.replay.repeating import notes_of
from tests.recorders.fault_rows import CANARY, QUERY, ROWS
from tests.recorders.faults import serve

ROOT = Path(__file__).resolve().parents[2]
CASSETTES = ROOT / "cassettes"
# broken connections cannot be recorded, waiting is not worth it, and megabytes are not readable
UNRECORDED = re.compile(
    "refused|resolved|TLS|reset|drip|hang|date|Retry-After past|5 MB|10,000|nesting|surrogate|control"
)
SMOLLM2 = {
    "valid": ("transformer scaling law papers", {}),
    "asked-again": ("transformer scaling law papers", {}),
    "truncated": ("transformer scaling law papers", {"max_tokens": 60}),
}


def recorded_rows():
    """The rows of the fault table that have a cassette, by its name."""
    return {
        re.sub(r"[^a-z0-9]+", "-", row.name.lower()).strip("-"): row for row in ROWS if not UNRECORDED.search(row.name)
    }


def record(path: Path, query: str, answered_by: str, llm: dict) -> None:
    """One plan, one file."""
    planner = Planner(catalog=CASSETTES / "catalog", settings={"llm": llm}, env={"OPENAI_API_KEY": CANARY})
    with replay(path, record=True) as session:
        plan = planner.select(query, judge="standard")
        session.notes.update(notes_of(answered_by, path, planner.catalog, planner.settings, planner.env))
        session.notes["plans"] = [{"query": query, "judge": "standard", "plan": plan.core()}]
    print(
        f"{path.relative_to(ROOT)}: {session.requests} answers, {plan.judge.tier}, "
        f"{[step.reason for step in plan.degradations]}"
    )


def scripted() -> None:
    """All rows that can be recorded, from the local server that plays faults."""
    who = "scripted: a local server that plays a fault; no model judged anything here"
    for name, row in recorded_rows().items():
        with serve(_without_key(row.script)) as server:
            tier = {"model": "openai/scripted", "api_base": server.api_base}
            record(CASSETTES / "scripted" / f"{name}.yaml", QUERY, who, {"standard": tier, "backoff_s": 0.01})


def _without_key(script):
    # some rows send the key back, and a cassette that holds one is refused
    def safe(request, before):
        reply = script(request, before) if callable(script) else script
        return replace(reply, body=reply.body.replace(CANARY.encode(), b"(your key)"))

    return safe


def smollm2(name: str, url: str) -> None:
    """One answer of the small real model."""
    query, numbers = SMOLLM2[name]
    tier = {"model": "openai/smollm2-135m-instruct", "api_base": url}
    llm = {"standard": tier, "deadline_s": 900, **numbers}
    record(
        CASSETTES / "smollm2" / f"{name}.yaml",
        query,
        "SmolLM2-135M-Instruct Q4_1 by tests/recorders/grammar_server.py",
        llm,
    )


if __name__ == "__main__":
    smollm2(*sys.argv[2:4]) if sys.argv[1:2] == ["smollm2"] else scripted()
