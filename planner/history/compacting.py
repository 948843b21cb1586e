"""`planner experience compact`: digests of what was recorded, written into the state folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from planner.catalog.model import Catalog, Leaf
from planner.errors import HistoryError
from planner.history.experience import MARK, Digest, digest_of, digest_text
from planner.history.history import History
from planner.paths import write_whole

FOLDER = "channels"


@dataclass(frozen=True, slots=True)
class Compacted:
    """A channel's digest and where it stands; `written`: False where somebody else's digest stands there."""

    digest: Digest
    path: Path
    written: bool


def compact(
    history: History, catalog: Catalog, today: date, days: int, channels: Sequence[str] = ()
) -> Iterator[Compacted]:
    """Write the digest of each channel with events, or of these channels. `days`: how long a rule counts as verified.

    A digest that somebody else wrote is left as it is. Raises HistoryError.
    """
    events = sorted(history.events(tuple(channels)), key=itemgetter("channel"))
    for channel, own in groupby(events, key=itemgetter("channel")):
        if leaf := catalog.leaf_by_channel.get(channel):
            path = _place(history.folder, leaf)
            digest = digest_of(channel, own, today, days)
            yield Compacted(digest, path, _write(path, digest_text(digest, today)))


def remove_digests(folder: Path) -> int:
    """Delete the digests that were written here from a state folder; returns how many."""
    ours = [path for path in (folder / FOLDER).glob("*/*") if path.is_file() and not _foreign(path)]
    for path in ours:
        path.unlink()
    return len(ours)


def _place(folder: Path, leaf: Leaf) -> Path:
    if any(Path(part).name != part for part in (leaf.channel, leaf.digest)):  # a catalog may be a stranger's
        raise HistoryError(f"{leaf.channel}: its digest {leaf.digest!r} must be a plain file name")
    return folder / FOLDER / leaf.channel / leaf.digest


def _write(path: Path, text: str) -> bool:
    try:
        if _foreign(path):
            return False
        write_whole(path, text)
    except OSError as error:
        raise HistoryError(f"{path}: the digest cannot be written ({type(error).__name__})") from None
    return True


def _foreign(path: Path) -> bool:
    try:
        return MARK not in path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return False
