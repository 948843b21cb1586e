"""A batch on a local Ray cluster, in a process of its own: IN OUT KILLS DIES.

Kills so many workers; itself dies after DIES reports (0: lives). Prints what it did; goes on with what is there.
"""

import json
import os
import signal
import sys
from contextlib import suppress

from planner.evaluation import batch_ray
from planner.evaluation.batch_ray import run_on_ray
from tests.evaluation.batch_runs import job, unwatched

source, out = sys.argv[1:3]
kills, dies = map(int, sys.argv[3:5])
batch_ray.ROWS = 50
killed = []
reports = batch_ray._reports


def killing(*given):
    """Reports as they come; the worker that sent one is killed, while it plans another shard."""
    for number, report in enumerate(reports(*given)):
        if dies and number == dies:
            os.kill(os.getpid(), signal.SIGKILL)
        if len(killed) < kills and report["pid"] not in killed:
            with suppress(ProcessLookupError):
                os.kill(report["pid"], signal.SIGKILL)
                killed.append(report["pid"])
        yield report


batch_ray._reports = killing
summary = run_on_ray(job(source, out, dict(os.environ), workers=2, start="resume"), unwatched)
print(json.dumps({"killed": len(killed), "rows": summary.counts["rows"], "bad": summary.counts["bad"]}))
