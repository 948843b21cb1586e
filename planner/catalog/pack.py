"""A large catalog as one file that is mapped, not parsed: loading it costs the same at 1,000 and at 10,000 leaves.

Layout: MAGIC, the length of the head (8 bytes, little-endian), the head as JSON, then sections of plain numbers or
UTF-8 text, each aligned to 8 bytes; the head says where. Leaves are lines of JSON that are read one at a time; a
scorer's term is found by its 64-bit hash in a sorted column.
"""

from __future__ import annotations

import json
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, overload

from planner.catalog.compiled import leaves_from
from planner.catalog.model import Leaf

MAGIC = b"planner pack 2\n\0"
_ALIGNED = 8
REMEMBERED = 1 << 15  # terms of queries whose place is kept: most words come again


def packed(head: Mapping[str, Any], leaves: Sequence[Mapping[str, Any]], terms: Mapping[str, Sequence[float]]) -> bytes:
    """The bytes of a pack. `terms`: term -> query weight, then leaf, share, leaf, share, …"""
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() for row in leaves]
    rows = sorted((term_hash(term), row) for term, row in terms.items())
    sections = {
        "leaf_ends": _column("Q", _ends([len(line) for line in lines])),
        "leaf_lines": b"".join(lines),
        "term_hashes": _column("Q", [key for key, _ in rows]),
        "term_weights": _column("d", [row[0] for _, row in rows]),
        "term_ends": _column("Q", _ends([len(row) - 1 for _, row in rows])),
        "postings": _column("I", [int(n) for _, row in rows for n in row[1:]]),
    }
    where, at = {}, 0
    for name, data in sections.items():
        where[name] = [at, len(data)]
        at += len(data) + -len(data) % _ALIGNED
    first = json.dumps({**head, "sections": where, "order": sys.byteorder}, ensure_ascii=False).encode()
    first += b" " * (-(len(MAGIC) + 8 + len(first)) % _ALIGNED)
    body = b"".join(data + b"\0" * (-len(data) % _ALIGNED) for data in sections.values())
    return MAGIC + len(first).to_bytes(8, "little") + first + body


def term_hash(term: str) -> int:
    """64 bits of a term; the same in every process and on every machine."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _column(kind: str, values: Sequence[float]) -> bytes:
    return array(kind, values).tobytes()


def _ends(sizes: Sequence[int]) -> list[int]:
    total, ends = 0, []
    for size in sizes:
        total += size
        ends.append(total)
    return ends


def mapped(path: Path) -> memoryview:
    """A pack's file in memory, read as it is needed. Raises OSError and ValueError."""
    import mmap

    if not path.is_file():  # opening a pipe could wait for ever
        raise FileNotFoundError(path)
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


class Pack:
    """The sections of a pack. Raises ValueError when these bytes are none, or another machine's."""

    def __init__(self, data: memoryview) -> None:
        start = len(MAGIC) + 8
        size = int.from_bytes(data[len(MAGIC) : start], "little")
        if bytes(data[: len(MAGIC)]) != MAGIC or len(data) < start + size:
            raise ValueError("not a pack")
        self.head: dict[str, Any] = json.loads(bytes(data[start : start + size]))
        self._body = data[start + size :]
        if self.head["order"] != sys.byteorder or sum(self.head["sections"]["postings"]) > len(self._body):
            raise ValueError("a damaged pack, or one of another machine")

    def section(self, name: str, kind: Any) -> memoryview[Any]:
        """A section as numbers of an array type code; `B` is bytes."""
        at, size = self.head["sections"][name]
        part: memoryview[Any] = self._body[at : at + size].cast(kind)
        return part


class PackedLeaves(Sequence[Leaf]):
    """The leaves of a pack, each made when it is first asked for."""

    def __init__(self, pack: Pack) -> None:
        self._ends = pack.section("leaf_ends", "Q")
        self._lines = pack.section("leaf_lines", "B")
        self._made: dict[int, Leaf] = {}

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, at: int) -> Leaf: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Leaf, ...]: ...
    def __getitem__(self, at: int | slice) -> Leaf | tuple[Leaf, ...]:
        if isinstance(at, slice):
            return tuple(self[n] for n in range(*at.indices(len(self))))
        leaf = self._made.get(at)
        if leaf is None:
            at = at + len(self) if at < 0 else at
            if not 0 <= at < len(self):
                raise IndexError(at)
            start = self._ends[at - 1] if at else 0
            leaf = self._made[at] = leaves_from([json.loads(bytes(self._lines[start : self._ends[at]]))])[0]
        return leaf

    def __iter__(self) -> Iterator[Leaf]:
        return (self[at] for at in range(len(self)))


class PackedTerms:
    """Where the postings of a term lie, and the postings: leaf, share, leaf, share, …"""

    def __init__(self, pack: Pack) -> None:
        self._hashes = pack.section("term_hashes", "Q")
        self._weights = pack.section("term_weights", "d")
        self._ends = pack.section("term_ends", "Q")
        self._postings = pack.section("postings", "I")
        self._asked: dict[str, tuple[float, range] | None] = {}

    def find(self, term: str) -> tuple[float, range] | None:
        """The query weight of a term and where its postings lie; None for an unknown one."""
        asked = self._asked  # held here: another thread may begin a new one
        if term not in asked:
            if len(asked) >= REMEMBERED:
                asked = self._asked = {}
            asked[term] = self._find(term)
        return asked[term]

    def _find(self, term: str) -> tuple[float, range] | None:
        key = term_hash(term)
        at = bisect_left(self._hashes, key)
        if at == len(self._hashes) or self._hashes[at] != key:
            return None
        return self._weights[at], range(self._ends[at - 1] if at else 0, self._ends[at])

    def postings(self, where: range) -> list[int]:
        """The numbers there."""
        found: list[int] = self._postings[where.start : where.stop].tolist()
        return found
