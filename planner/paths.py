"""Where data lives, in a checkout and in a wheel, where the user's own files live, and how one is written."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from errno import EINVAL
from pathlib import Path

PRIVATE, PUBLIC = 0o600, 0o644  # modes of files
_PACKAGE = Path(__file__).parent


def shipped(folder: str) -> Path:
    """The shipped data folder `skills` or `prompts`: beside the package in a checkout, inside it in a wheel."""
    inside = _PACKAGE / "_data" / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


def content_of(path: Path) -> bytes:
    """The bytes of a file. Raises OSError, also for what is no regular file: reading a pipe could wait for ever."""
    if not path.is_file() and path.exists():
        raise OSError(EINVAL, "not a regular file")  # without its path, which must not get into a compiled record
    return path.read_bytes()


def config_folder(env: Mapping[str, str]) -> Path:
    """The user's configuration folder (XDG on Unix, Library on macOS, APPDATA on Windows)."""
    return _user_folder(env, "XDG_CONFIG_HOME", ".config")


def state_folder(env: Mapping[str, str]) -> Path:
    """The user's state folder: outcome history, digests; `PLANNER_STATE_DIR` overrides it."""
    if own := env.get("PLANNER_STATE_DIR"):
        return Path(own)
    return _user_folder(env, "XDG_STATE_HOME", ".local/state")


def cache_folder(env: Mapping[str, str]) -> Path:
    """The user's cache folder; safe to delete at any time."""
    return _user_folder(env, "XDG_CACHE_HOME", ".cache")


def write_whole(path: Path, text: str, mode: int = PRIVATE) -> None:
    """A reader finds the old text or the new one, also after a power cut. Makes the folder; follows a link.

    Raises OSError, with the file's name; also for a device or a pipe, whose place the file would take.
    """
    try:
        _write_whole(path.resolve(), text, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _write_whole(path: Path, text: str, mode: int) -> None:
    import tempfile  # not needed to plan

    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "not a regular file")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _user_folder(env: Mapping[str, str], xdg: str, default: str) -> Path:
    if sys.platform == "win32" and (roaming := env.get("APPDATA")):
        return Path(roaming) / "search-planner"
    if root := env.get(xdg):
        return Path(root) / "search-planner"
    home = Path(env.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where HOME is unset
    return home / default / "search-planner"
