"""A server process of ours on a free port."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from tests.server.running import child_env


@contextmanager
def serving(env, *options, command=("mcp", "--http", "127.0.0.1:0")):
    """The address it says on standard error, and the process."""
    line = [sys.executable, "-m", "planner.cli.main", *command, *options]
    with subprocess.Popen(line, env=child_env(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            said = process.stderr.readline().decode()
            found = re.search(r"http://\S+", said)
            assert found, said + process.stderr.read().decode()
            yield found.group(), process
        finally:
            process.kill()


def ended(process, number=signal.SIGTERM):
    """Its exit code after the signal, and all it said."""
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    return process.returncode, out, err


def refused(env, *options):
    """Exit code and words of a server that does not start."""
    line = [sys.executable, "-m", "planner.cli.main", "mcp", *options]
    done = subprocess.run(line, env=child_env(env), capture_output=True, timeout=60, check=False)
    return done.returncode, done.stderr.decode()


def resident_mb(process):
    """Megabytes of memory the process holds now."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
