"""Record what models answered and replay it: without a network, without keys, never with a silent stand-in.

    from planner.replay import replay

    with replay("cassettes/shoes.yaml"):
        plan = channel_selection(query="…")

Recording is of the whole process while it lasts. The only room that imports vcr.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from planner.errors import InputError, PlannerError, ReplayMiss
from planner.llm import state
from planner.paths import PUBLIC, write_whole
from planner.replay import explain, guard, scrub
from planner.replay.form import Exchanges, Form

Mode = Literal["replay", "record"]


@dataclass
class Session:
    """An open recording. `notes`: what the file says beside the answers (who answered, versions, plans)."""

    path: Path
    mode: Mode
    notes: dict[str, Any] = field(default_factory=dict)
    cassette: Any = None
    pending: str | None = None
    taken: int = 0

    @property
    def requests(self) -> int:
        """Requests recorded, or played so far."""
        return len(self.cassette) if self.mode == "record" else int(self.cassette.play_count)

    @property
    def played_to_end(self) -> bool:
        """Whether each recorded answer was given out."""
        return bool(self.cassette.all_played)

    def take(self) -> list[dict[str, Any]]:
        """The exchanges recorded since the last call, as JSON values. Raises KeyInCassette when one holds a key."""
        from vcr.serialize import serialize

        new = self.cassette.data[self.taken :]
        self.taken += len(new)
        parts = {"requests": [request for request, _ in new], "responses": [response for _, response in new]}
        values: list[dict[str, Any]] = serialize(parts, Exchanges)
        scrub.refuse_keys(json.dumps(values, ensure_ascii=False), str(self.path))
        return values

    def put_back(self, exchanges: Sequence[Mapping[str, Any]]) -> None:
        """Have what an earlier recording took recorded here."""
        from vcr.serialize import deserialize

        for request, response in zip(*deserialize(exchanges, Exchanges), strict=True):
            self.cassette.append(request, response)
        self.taken = len(self.cassette.data)

    @contextmanager
    def playing(self) -> Iterator[None]:
        """A stretch of a recording in which models are answered from what was recorded so far, and not asked."""
        recording, self.cassette.record_mode = self.cassette.record_mode, _vcr().mode.NONE
        self.cassette.rewound = True
        try:
            yield
        finally:
            self.cassette.record_mode = recording


@contextmanager
def replay(
    path: str | Path, *, record: bool = False, whole: bool = True, notes: Mapping[str, Any] | None = None
) -> Iterator[Session]:
    """All model calls inside are answered from `path`; with `record` they go out, and the file is written at the end.

    While answers are replayed, HTTP requests of the whole process that go through a client vcr knows (httpx, aiohttp,
    requests, urllib, …) must be recorded ones, and model calls open no connection by other means either. Other sockets,
    to a database of a test say, work as always.

    Raises ReplayMiss when a request fits no recording, or when a recording was not asked for (unless `whole` is off);
    InputError when there is no such file; KeyInCassette, with nothing written, when the file would hold a key.
    """
    session = Session(Path(path), "record" if record else "replay", dict(notes or {}))
    if not record and not session.path.is_file():
        raise InputError("cassette", str(path), "a recorded file; record it with `planner replay record`")
    watched = nullcontext(list[str]()) if record else guard.no_connections()
    with state.of_a_replay(without_keys=not record), watched as tried, _open(session):
        yield session
        if tried:
            raise ReplayMiss(f"{path}: a model call tried to reach {tried[0]} while recordings are replayed")
        if not record and whole and not session.played_to_end:
            raise ReplayMiss(explain.unplayed(session.path, session.cassette))
    if record and session.pending is None:
        raise PlannerError(f"{path}: nothing was recorded: no model answered")
    if session.pending is not None:
        scrub.refuse_keys(session.pending, str(session.path))
        write_whole(session.path, session.pending, PUBLIC)


@contextmanager
def _open(session: Session) -> Iterator[None]:
    vcr = _vcr()
    recorder = vcr.VCR(
        match_on=["method", "path", "parsed_body"],
        record_mode=vcr.mode.ALL if session.mode == "record" else vcr.mode.NONE,
        before_record_request=lambda request: _before(session, request),
        before_record_response=scrub.response,
        decode_compressed_response=True,
    )
    recorder.register_matcher("parsed_body", explain.same_body)
    recorder.register_serializer("planner", Form(session.notes))
    recorder.register_persister(_Persister(session))
    recorder.serializer = "planner"
    with recorder.use_cassette(str(session.path)) as cassette:
        session.cassette = cassette
        yield


def _vcr() -> Any:
    try:
        import vcr
    except ImportError:
        raise PlannerError("recording and replay need vcrpy: pip install 'search-planner[replay]'") from None
    return vcr


def _before(session: Session, request: Any) -> Any:
    # also called for each recording while the file is read: then there is no cassette yet
    if session.mode == "replay" and session.cassette is not None:
        explain.check(session.path, session.cassette, request)
    return scrub.request(request)


class _Persister:
    """Reads the file at once, and hands the text of a new one to the session, which writes it when all went well."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def load_cassette(self, cassette_path: str, serializer: Form) -> tuple[list[Any], list[Any]]:
        from vcr.persisters.filesystem import CassetteNotFoundError
        from vcr.serialize import deserialize

        if self._session.mode == "record":
            raise CassetteNotFoundError
        try:
            return deserialize(Path(cassette_path).read_text("utf-8", "replace"), serializer)  # type: ignore[no-any-return]
        except InputError as error:
            raise InputError("cassette", cassette_path, error.accepted) from None

    def save_cassette(self, _path: str, cassette: dict[str, Any], serializer: Form) -> None:
        from vcr.serialize import serialize

        if self._session.mode == "record":
            # judged later: an error in here would keep vcr from taking its patches back
            self._session.pending = serialize(cassette, serializer)
