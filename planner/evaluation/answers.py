"""Where a comparison's model answers come from: the models themselves, a recording being made, or one made before."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.catalog.loader import load_catalog
from planner.errors import ReplayMiss
from planner.evaluation.arms import Arm
from planner.evaluation.seeing import SeeingPlanner

if TYPE_CHECKING:
    from planner.evaluation.ab import Inquiry
    from planner.evaluation.journal import Journal
    from planner.replay import Session

_LLM_JUDGES = ("standard", "fast", "auto", None)


class Answers:
    """The models themselves."""

    env: Mapping[str, str] = os.environ

    def planner(self, catalog: str | None, settings: str | None) -> SeeingPlanner:
        """The planner whose catalog, environment and settings the arms share."""
        return SeeingPlanner(catalog=catalog, settings=settings, env=self.env)

    def said(self, _arms: Sequence[Arm]) -> dict[str, Any]:
        """What the report says of the answers."""
        return {"source": "live"}

    def take(self) -> Sequence[Mapping[str, Any]]:
        """What models answered since the last call, where that is recorded."""
        return ()

    def put_back(self, inquiry: Inquiry, journal: Journal) -> None:
        """Called when an interrupted run goes on."""

    def keep(self, inquiry: Inquiry, journal: Journal) -> None:
        """Called when every query is planned."""


class Recording(Answers):
    """The models, with every answer written to a file, and what it takes to repeat the run elsewhere."""

    def __init__(self, session: Session, answered_by: str | None) -> None:
        self._session, self._answered_by = session, answered_by

    def said(self, arms: Sequence[Arm]) -> dict[str, Any]:
        """The recording, and who answers into it."""
        return {"source": "recorded", "file": self._session.path.name, "answered_by": self._who(arms)}

    def take(self) -> Sequence[Mapping[str, Any]]:
        """What models answered since the last call. Raises KeyInCassette when it holds a key."""
        return self._session.take()

    def put_back(self, inquiry: Inquiry, journal: Journal) -> None:
        """The answers so far; equal questions to come find them in the cache, as in a run that was not interrupted."""
        self._session.put_back(journal.exchanges)
        with self._session.playing():
            for at, line in enumerate(inquiry.lines):
                for arm in inquiry.taking_turns(at) if line.id in journal.finished else ():
                    with suppress(ReplayMiss):  # where nothing had answered
                        arm.plan(line.request, date.fromisoformat(journal.today or ""))

    def keep(self, inquiry: Inquiry, journal: Journal) -> None:
        """Notes of the file: who answered, versions, models, catalog, names of the channel keys set, plans."""
        from planner.replay.repeating import notes_of

        base, path = inquiry.arms[0].planner, self._session.path
        self._session.notes.update(notes_of(self._who(inquiry.arms), path, base.catalog, base.settings, base.env))
        self._session.notes["plans"] = [
            {
                "query": line.request.model_dump(mode="json"),
                "judge": arm.judge,
                "plan": journal.finished[line.id][arm.name].core(),
            }
            for arm in inquiry.arms
            if arm.judge in ("standard", "fast")
            for line in inquiry.lines
        ]

    def _who(self, arms: Sequence[Arm]) -> str:
        asked = [arm for arm in arms if arm.judge in _LLM_JUDGES]
        tiers = [getattr(arm.planner.settings.llm, tier).model for arm in asked for tier in ("standard", "fast")]
        return self._answered_by or ", ".join(dict.fromkeys(m for m in tiers if m)) or "no model"


class Replayed(Answers):
    """A recording: its models, its channel keys, its answers."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def planner(self, catalog: str | None, settings: str | None) -> SeeingPlanner:
        """With the catalog, settings and channel keys of whoever recorded; a catalog or settings given beat theirs."""
        from planner.replay.repeating import catalog_of, env_of, settings_of

        notes = self._session.notes
        used = load_catalog(Path(catalog) if catalog else catalog_of(self._session.path, notes))
        return SeeingPlanner(
            catalog=used.root, settings=settings or settings_of(notes), env=env_of(notes, used, self.env)
        )

    def said(self, _arms: Sequence[Arm]) -> dict[str, Any]:
        """Whose answers those are, and from which file."""
        path = self._session.path
        return {
            "source": "replayed",
            "file": path.name,
            "answered_by": str(self._session.notes.get("answered_by", "unknown")),
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }


@contextmanager
def open_answers(
    record: Path | None, replay: Path | None, answered_by: str | None, *, resume: bool
) -> Iterator[Answers]:
    """The answers of a run. A resumed replay need not play what was finished before (rule EVA-1.11)."""
    path = record or replay
    if path is None:
        yield Answers()
        return
    from planner.replay import replay as cassette

    with cassette(path, record=record is not None, whole=not resume) as session:
        yield Recording(session, answered_by) if record else Replayed(session)
