"""Where a batch goes. A file is written under another name beside a journal, so that a killed run can go on.

While it runs: OUT.part (rows, always JSON Lines), OUT.bad.part, OUT.journal (how far both are sound), OUT.lock.
In the end: OUT, and the side file when a line was refused.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from planner.errors import InputError, PlannerError
from planner.evaluation.batch_rows import Done, json_line
from planner.evaluation.batch_sources import Place

FORMAT = 1
START = Place()
_SHOWN_BAD = 5


@dataclass(frozen=True, slots=True)
class Journal:
    """How far a run is. `out`, `bad`: bytes of the part files that are sound; `run` tells one run from another."""

    run: Mapping[str, str]
    today: date
    place: Place = START
    out: int = 0
    bad: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    finished: bool = False

    def as_json(self) -> dict[str, Any]:
        """What stands in the file."""
        return {
            "format": FORMAT, "run": dict(self.run), "today": self.today.isoformat(), "place": list(self.place),
            "out": self.out, "bad": self.bad, "counts": dict(self.counts), "finished": self.finished,
        }  # fmt: skip


def read_journal(path: Path) -> Journal | None:
    """The journal of an unfinished run, or None. Raises InputError for one that cannot be used."""
    try:
        raw = json.loads(path.read_text("utf-8"))
        if raw["format"] != FORMAT:
            raise InputError("--resume", f"format {raw['format']!r}", f"a journal of format {FORMAT}, or --force")
        return Journal(
            raw["run"], date.fromisoformat(raw["today"]), Place(*raw["place"]), raw["out"], raw["bad"],
            Counter(raw["counts"]), raw["finished"],
        )  # fmt: skip
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError("--resume", str(path), f"a sound journal, or --force ({type(error).__name__})") from None


class Output(Protocol):
    """What takes the results of a batch, in order. `journal` says how far it is."""

    journal: Journal

    def add(self, done: Done, place: Place) -> None:
        """The results of the lines before `place`."""

    def finish(self) -> None:
        """All lines are planned."""


class FileOutput:
    """Results in a file; after a crash only what came after the last entry of the journal is planned again."""

    def __init__(self, out: Path, bad: Path, journal: Journal, every_s: float) -> None:
        self.out, self.bad, self.journal, self.every_s = out, bad, journal, every_s
        with writing(out):
            self._rows = _opened(beside(out, "part"), journal.out)
            self._bad = _opened(beside(bad, "part"), journal.bad)
        self._saved_at = 0.0
        self.save()

    def add(self, done: Done, place: Place) -> None:
        """Append, and write the journal when `every_s` seconds have passed since it was last written."""
        with writing(self.out):
            self._rows.write(done.rows)
            self._bad.write(done.bad)
        journal = self.journal
        self.journal = replace(  # in one step: an interrupt must not leave it half changed
            journal,
            place=place,
            out=journal.out + len(done.rows),
            bad=journal.bad + len(done.bad),
            counts=journal.counts + done.counts,
        )
        if time.monotonic() - self._saved_at >= self.every_s:
            self.save()

    def save(self) -> None:
        """Put the results on the disk, then the journal that vouches for them, in one step."""
        with writing(self.out):
            for file in (self._rows, self._bad):
                file.flush()
                os.fsync(file.fileno())
            _replace(beside(self.out, "journal"), json_line(self.journal.as_json()))
        self._saved_at = time.monotonic()

    def finish(self) -> None:
        """Give the files their names; killed in between, a resumed run does the rest (rule EVA-2.5)."""
        self.journal = replace(self.journal, finished=True)
        self.save()
        with writing(self.out):
            settle(self.out, self.bad, self.journal)

    def close(self) -> None:
        """Keep what there is, unless the run is finished."""
        if not self.journal.finished:
            self.save()
        self._rows.close()
        self._bad.close()


def _replace(path: Path, content: bytes) -> None:
    new = beside(path, "new")
    with new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def beside(path: Path, ending: str) -> Path:
    """A file beside another: out.jsonl → out.jsonl.part."""
    return path.with_name(f"{path.name}.{ending}")


def _opened(path: Path, length: int) -> BinaryIO:
    there = path.stat().st_size if path.exists() else 0
    if there < length:
        raise InputError("--resume", f"{path}, {there} bytes", f"the {length} the journal vouches for, or --force")
    file = path.open("r+b" if length else "wb")
    file.truncate(length)
    file.seek(length)
    return file


def settle(out: Path, bad: Path, journal: Journal) -> None:
    """The last steps of a finished run; each may already have been taken."""
    from planner.evaluation.batch_sources import is_parquet

    with suppress(FileNotFoundError):
        part = beside(bad, "part")
        if part.stat().st_size:
            part.replace(bad)
        else:
            part.unlink()
            bad.unlink(missing_ok=True)  # of an earlier run, which --force replaces
    part = beside(out, "part")
    if part.exists():
        if is_parquet(out.name):
            from planner.evaluation.batch_table import write_table

            write_table(part, beside(out, "new"), journal.run)
            beside(out, "new").replace(out)
            part.unlink()
        else:
            part.replace(out)
    beside(out, "journal").unlink(missing_ok=True)


class PipeOutput:
    """Rows on standard output, refused lines in a file or, the first of them, as notes; nothing can be resumed."""

    def __init__(self, bad: Path | None, journal: Journal) -> None:
        self.journal = journal
        self._bad = bad.open("wb") if bad else None

    def add(self, done: Done, place: Place) -> None:
        """Pass on."""
        sys.stdout.buffer.write(done.rows)
        sys.stdout.buffer.flush()
        self.journal = replace(self.journal, place=place, counts=self.journal.counts + done.counts)
        if self._bad:
            self._bad.write(done.bad)
        elif done.bad and self.journal.counts["bad"] <= _SHOWN_BAD:
            sys.stderr.write(done.bad.decode())

    def finish(self) -> None:
        """Close the side file."""
        if self._bad:
            self._bad.close()


@contextmanager
def opened(out: str, bad: str | None, journal: Journal, every_s: float, start: str) -> Iterator[Output]:
    """The output for a path or `-`. `start`: "new", "force" (over what is there) or "resume". Raises InputError."""
    if out == "-":
        if bad and start == "new":
            _refuse_existing("--bad", Path(bad))
        yield PipeOutput(Path(bad) if bad else None, journal)
        return
    path = Path(out)
    side = Path(bad) if bad else beside(path, "bad.jsonl")
    with _locked(path):
        found = None if start == "force" else read_journal(beside(path, "journal"))
        if found is not None:
            check_unfinished(path, found, journal, start)
        elif start != "force":
            _refuse_existing("OUT", path)
            _refuse_existing("--bad", side)
        if found and found.finished:
            settle(path, side, found)
            yield PipeOutput(None, found)
            return
        output = FileOutput(path, side, found or journal, every_s)
        try:
            yield output
        finally:
            output.close()


def check_unfinished(path: Path, found: Journal, journal: Journal, start: str) -> None:
    """Raises InputError unless the unfinished run is to be resumed, and with the setup it was begun with."""
    if start != "resume":
        raise InputError("OUT", str(path), "--resume, to go on with the unfinished run, or --force, to begin again")
    differ = [name for name in journal.run if found.run.get(name) != journal.run[name]]
    if differ:
        given = ", ".join(f"{name} {journal.run[name]}" for name in differ)
        begun = ", ".join(f"{name} {found.run.get(name)}" for name in differ)
        raise InputError("--resume", given, f"the same as when the run was begun ({begun}), or --force")


def _refuse_existing(field: str, path: Path) -> None:
    if path.exists():
        raise InputError(field, str(path), "a file that is not there yet, or --force")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    if not path.parent.is_dir():
        raise InputError("OUT", str(path), "a file in a folder that exists")
    lock = FileLock(beside(path, "lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError("OUT", str(path), "a file that no other run is writing") from None
    try:
        yield
    finally:
        with suppress(OSError):  # before the release: afterwards it may be another run's
            beside(path, "lock").unlink()
        lock.release()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Says what to do when the disk is full or the folder is not ours."""
    try:
        yield
    except OSError as error:
        raise PlannerError(f"{path}: cannot be written ({error.strerror}); --resume goes on from here") from error
