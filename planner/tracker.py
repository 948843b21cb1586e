"""Carrying out a source plan: the tracker in memory, and the same over a locked state file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from planner.errors import InputError, PlannerError
from planner.paths import content_of, write_whole
from planner.routes import SettingsSource, rules_for, utc_now
from planner.sources.events import Directive, Progress, Result, RoundEnd, SearchReport, TrackState, WebChannel
from planner.sources.model import SourcePlan
from planner.sources.tracking import advance, read, start

_LOCK_SECONDS = 30


class PlanTracker:
    """A plan while it is carried out. `directive` says what to do next; `record`, `end_round` report what came of it.

    `plan`: a SourcePlan, a combined plan, or either as a mapping or JSON text. `clock` gives the time of an event, UTC,
    ISO 8601. Raises InputError for a plan, a report or an event that makes no sense; the state stays as it was.
    """

    def __init__(
        self,
        plan: SourcePlan | BaseModel | Mapping[str, Any] | str,
        *,
        settings: SettingsSource = None,
        env: Mapping[str, str] | None = None,
        clock: Callable[[], str] = utc_now,
    ) -> None:
        rules = rules_for(settings, os.environ if env is None else env)
        source_plan, channels, has_gaps = _parts(plan)
        self.state = start(source_plan, rules, channels=channels, has_gaps=has_gaps)
        self._clock = clock

    @classmethod
    def resume(cls, state: TrackState | Mapping[str, Any] | str, clock: Callable[[], str] = utc_now) -> PlanTracker:
        """A tracker at a saved state (the model, its JSON value or its JSON text)."""
        tracker = cls.__new__(cls)
        tracker.state = state if isinstance(state, TrackState) else read(TrackState, state, "state")
        tracker._clock = clock
        return tracker

    @property
    def directive(self) -> Directive:
        """What to do next."""
        return self.state.directive

    def record(
        self,
        source: str,
        engine: str | None = None,
        *,
        results: Iterable[Result | Mapping[str, Any] | str] = (),
        failure: str | None = None,
        progress: Progress | Mapping[str, Any] | None = None,
        query: str | None = None,
        at: str | None = None,
    ) -> Directive:
        """Report one engine call. `results`: models, mappings {grade, id} or bare grades; none at all is a failure."""
        graded = [{"grade": item} if isinstance(item, str) else item for item in results]
        values = {"source": source, "engine": engine, "results": graded, "failure": failure, "query": query}
        report = read(SearchReport, {**values, "progress": progress or {}, "at": at or self._clock()}, "report")
        self.state = advance(self.state, report)
        return self.directive

    def end_round(self, *, progress: Progress | Mapping[str, Any] | None = None, at: str | None = None) -> Directive:
        """Report the end of a round; allowed before it is asked for, but not for a round without a search."""
        event = read(RoundEnd, {"progress": progress or {}, "at": at or self._clock()}, "round")
        self.state = advance(self.state, event)
        return self.directive

    def to_json(self) -> str:
        """The state as JSON text: the same plan and events give the same text."""
        return self.state.model_dump_json(indent=1) + "\n"


@contextmanager
def tracked(path: str | Path) -> Iterator[PlanTracker]:
    """The tracker of a state file, locked; what happened is written back whole, or not at all after an error."""
    file = Path(path)
    with locked(file):
        tracker = load(file)
        yield tracker
        write_whole(file, tracker.to_json())


def begin(path: str | Path, tracker: PlanTracker, *, replace: bool = False) -> None:
    """Write the first state. Raises InputError where a plan is being carried out there and is not to be replaced."""
    file = Path(path)
    with _writable(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    with locked(file):
        if file.exists() and not replace and load(file).directive.action != "stop":
            raise InputError("state", str(file), "a new file, or --replace: a plan is being carried out in this one")
        write_whole(file, tracker.to_json())


def load(file: Path) -> PlanTracker:
    """The tracker at the state that is in the file. Raises InputError where there is none."""
    try:
        text = content_of(file).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError("state", str(file), "a state file, as `planner track start` writes it") from None
    return PlanTracker.resume(text)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Nobody else reads and writes this state file meanwhile."""
    from filelock import FileLock, Timeout

    if not file.parent.is_dir():
        raise InputError("state", str(file), "a file in a folder that exists")
    with _writable(file):  # the lock would be waited for in vain
        Path(f"{file}.lock").open("ab").close()
    try:
        with FileLock(f"{file}.lock", timeout=_LOCK_SECONDS):
            yield
    except Timeout:
        raise PlannerError(f"{file}: another process has held its lock for {_LOCK_SECONDS} s") from None


@contextmanager
def _writable(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError("state", str(file), f"a file that can be written ({error.strerror})") from None


def _parts(plan: object) -> tuple[SourcePlan, tuple[WebChannel, ...], bool]:
    if isinstance(plan, SourcePlan):
        return plan, (), False
    value = json_value(plan)
    if not isinstance(value, Mapping):
        raise InputError("plan", plan, "a source plan or a combined plan")
    if "source_plan" not in value:
        return read(SourcePlan, value, "plan"), (), False
    served, request = value.get("web_channels") or (), value.get("request") or {}
    if not isinstance(served, list | tuple):
        raise InputError("plan.web_channels", served, "a list")
    if not isinstance(request, Mapping):
        raise InputError("plan.request", request, "an object")
    channels = tuple(read(WebChannel, item, "plan.web_channels") for item in served)
    gaps = request.get("information_gaps")
    return read(SourcePlan, value["source_plan"], "plan.source_plan"), channels, bool(gaps)


def json_value(plan: object) -> object:
    """A model or JSON text as a JSON value."""
    if isinstance(plan, BaseModel):
        return plan.model_dump(mode="json")
    if not isinstance(plan, str | bytes):
        return plan
    try:
        return json.loads(plan)
    except (ValueError, RecursionError):
        raise InputError("plan", plan, "a source plan as JSON") from None
