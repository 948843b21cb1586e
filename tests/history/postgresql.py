"""A PostgreSQL server of the machine's own binaries, for the tests alone: on loopback, in a temporary folder."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

PASSWORD = "never-shown-5ecret"
# a server that is thrown away need not survive a power cut; clients are killed, the server is not
FAST = ["fsync=off", "full_page_writes=off", "max_connections=100"]


def binaries():
    """The folder of the newest server on this machine, or None."""
    found = [Path(p).parent for p in [shutil.which("initdb")] if p]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return next((path for path in reversed(found) if (path / "initdb").exists() and (path / "pg_ctl").exists()), None)


class Server:
    """A running server. `url(database)` for a client."""

    def __init__(self, bin_folder):
        self.bin, self.folder = bin_folder, Path(tempfile.mkdtemp(prefix="planner-pg-"))
        self.user = _unprivileged()  # initdb refuses root
        if self.user:
            shutil.chown(self.folder, self.user)
        (self.folder / "password").write_text(PASSWORD)
        if self.user:
            shutil.chown(self.folder / "password", self.user)
        self.port = _free_port()
        self._run("initdb", "-D", "data", "-U", "planner", "--auth=scram-sha-256", "--pwfile=password", "-E", "UTF8")
        options = [f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}", *FAST]
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", " ".join(f"-c {o}" for o in options), "start")

    def url(self, database="postgres", password=PASSWORD):
        return f"postgresql://planner:{password}@127.0.0.1:{self.port}/{database}"

    def run_sql(self, sql, database="postgres"):
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(sql)

    def stop(self):
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program, *arguments):
        with (self.folder / "control").open("w+") as out:  # not a pipe: the server inherits it and would keep it open
            done = subprocess.run(
                [self.bin / program, *arguments], cwd=self.folder, user=self.user, check=False,
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            )  # fmt: skip
            out.seek(0)
            assert done.returncode == 0, out.read()


def _unprivileged():
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
