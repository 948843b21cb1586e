"""Which store a snapshot was taken from, and whether the SQLite file looks usable; light, because plans ask."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

HEADER = 20  # bytes of a SQLite file that tell what it is
_MAGIC = b"SQLite format 3\0"


def identity(url: str | None) -> str:
    """What a snapshot says of its store: `sqlite`, or the tagged hash of a URL without user, password and options."""
    if url is None:
        return "sqlite"
    place = url.rpartition("@")[2].partition("?")[0]
    return f"sha256:{hashlib.sha256(place.encode()).hexdigest()}"


def file_problem(file: Path) -> str | None:
    """What is wrong with an existing SQLite file, as far as its first bytes and its permissions tell. Never raises."""
    try:
        head = read_head(file)
    except FileNotFoundError:
        return "is missing; the last snapshot is used"
    except OSError as error:
        return f"cannot be read ({type(error).__name__}); the last snapshot is used"
    if head and not head.startswith(_MAGIC):
        return "is not a usable database; the last snapshot is used"
    as_effective = os.access in os.supports_effective_ids
    writable = os.access(file, os.W_OK, effective_ids=as_effective)
    return None if writable else "is read-only; nothing new can be recorded"


def read_head(file: Path) -> bytes:
    """The first bytes. Raises OSError."""
    with file.open("rb") as stream:
        return stream.read(HEADER)
