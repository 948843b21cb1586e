"""The single-call questions of the Berkeley function-calling data (Apache-2.0), read out of the package they ship in.

Nothing was tuned on them. The wheel is fetched once, pinned by version and hash, and only read: it is not installed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

PACKAGE = "bfcl-eval==2026.3.23"
SHA256 = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
CATEGORIES = ("simple_python", "multiple", "live_simple", "live_multiple")
LONGEST = 4000  # characters of a question the planner takes


def functions() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Name -> description of every function on offer, and (question, name of the one function called).

    Where one name has several descriptions the first stands.
    """
    cards: dict[str, str] = {}
    asked: dict[str, str] = {}
    with ZipFile(_wheel()) as wheel:
        for category in CATEGORIES:
            called = {
                row["id"]: next(iter(row["ground_truth"][0])) for row in _rows(wheel, category, "possible_answer/")
            }
            for row in _rows(wheel, category):
                for function in row["function"]:
                    cards.setdefault(function["name"], function["description"])
                asked.setdefault(row["question"][0][-1]["content"].strip(), called[row["id"]])
    return cards, [(query, name) for query, name in asked.items() if query and len(query) <= LONGEST]


def _rows(wheel: ZipFile, category: str, folder: str = "") -> list[dict]:
    text = wheel.read(f"bfcl_eval/data/{folder}BFCL_v4_{category}.json").decode()
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _wheel() -> Path:
    folder = Path(tempfile.gettempdir()) / "search-planner-bench"
    found = _unharmed(folder)
    if found is None:
        line = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", PACKAGE]
        subprocess.run([*line, "-d", str(folder)], check=True, stdout=sys.stderr)
        found = _unharmed(folder)
    if found is None:
        raise SystemExit(f"{PACKAGE}: not the file that was measured")
    return found


def _unharmed(folder: Path) -> Path | None:
    for path in folder.glob("bfcl_eval-*.whl"):
        if hashlib.sha256(path.read_bytes()).hexdigest() == SHA256:
            return path
    return None
