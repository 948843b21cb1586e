"""`python -m tests.bench.peers.table [WORKLOAD …]`: every contestant on every workload, one run, one machine.

Needs the extra `peers`. Prints Markdown; the figures as JSON go to the file named by --json. A contestant that fails
has its row say so. Speed and memory are of processes that run one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

from tests.bench.peers.contestants import CONTESTANTS, NO_QUALITY
from tests.bench.peers.sizes import installed_mb
from tests.bench.peers.workloads import ROOT, WORKLOADS, Workload

COMMAND = "python -m tests.bench.peers.table"


def main() -> None:
    """Runs what the command line asks for and prints the tables."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("workloads", nargs="*", default=list(WORKLOADS), metavar="WORKLOAD", help=", ".join(WORKLOADS))
    ask.add_argument("--json", type=Path, metavar="FILE")
    ask.add_argument("--only", action="append", choices=list(CONTESTANTS))
    asked = ask.parse_args()
    found = {name: run_workload(name, asked.only or list(CONTESTANTS)) for name in asked.workloads}
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print("\n\n".join(_table(name, rows) for name, rows in found.items()))
    print(f"\n{date.today()}, `{COMMAND}`, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}")


def run_workload(name: str, contestants: list[str]) -> dict[str, dict]:
    """contestant -> its figures, or {"error": …}."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "catalogs"
        for number, part in enumerate(WORKLOADS[name]()):
            if not part.shipped:
                import_cards(part, folder / str(number))
        return {who: _measured(who, name, folder) for who in contestants}


def import_cards(work: Workload, to: Path) -> None:
    """The planner's form of the cards, made and cached before anything is measured, as a user would."""
    from planner.catalog.importing.flow import import_catalog
    from planner.catalog.importing.sources import read_source
    from planner.pipeline import Planner

    to.parent.mkdir(parents=True, exist_ok=True)
    path = to.parent / "cards.jsonl"
    rows = ({"name": c.name, "description": c.description, "examples": list(c.examples)} for c in work.cards)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    import_catalog(read_source(path), to)
    Planner(catalog=to, env={"HOME": str(to.parent)})


def _measured(who: str, workload: str, folder: Path) -> dict:
    line = [sys.executable, "-W", "ignore", "-m", "tests.bench.peers.one", who, workload, str(folder)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": done.stderr.strip().rsplit("\n", 1)[-1][:120]}
    figures = json.loads(done.stdout.strip().rsplit("\n", 1)[-1])
    count = figures.pop("queries")
    quality = {key: figures.pop(key) / count for key in ("top1", "recall", "ndcg")}
    size = installed_mb(CONTESTANTS[who][1])
    return {**({} if who in NO_QUALITY else quality), **figures, "installed_mb": size, "queries": count}


def _table(name: str, rows: dict[str, dict]) -> str:
    heads = ("nDCG", "top-1", "recall", "p50 ms", "p99 ms", "start s", "memory MB", "installed MB")
    keys = ("ndcg", "top1", "recall", "p50_ms", "p99_ms", "start_s", "memory_mb", "installed_mb")
    digits = (3, 3, 3, 2, 2, 2, 0, 0)
    lines = [f"**{name}**", "", f"| | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(heads)}"]
    for who, row in rows.items():
        cells = [f"{row[k]:.{d}f}" if k in row else "-" for k, d in zip(keys, digits, strict=True)]
        lines.append(f"| {who} | {' | '.join(cells)} |" if "error" not in row else f"| {who} | {row['error']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
