"""The fallback chain: which engines stand behind web and counter, in order. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from planner.sources.model import ChainLevel, Engine, Source
from planner.sources.rules import ChainRow, Rules


def build_chain(sources: frozenset[Source], engines: tuple[Engine, ...] | None, rules: Rules) -> tuple[ChainLevel, ...]:
    """The engines that can be used, renumbered from 1; `local_cache` alone where none can (rules RTE-6.1 to RTE-6.3).

    `engines` None: all of them.
    """
    rows = [row for row in rules.chain if row.needs in sources and (engines is None or row.engine in engines)]
    rows = rows or [rules.chain[-1]]
    return tuple(_level(number, row, len(rows)) for number, row in enumerate(rows, start=1))


def has_web_engine(engines: tuple[Engine, ...] | None, rules: Rules) -> bool:
    """Whether any engine that web needs can be used."""
    return engines is None or any(row.needs == "web" and row.engine in engines for row in rules.chain)


def engines_with_keys(env: Mapping[str, str], rules: Rules) -> tuple[Engine, ...]:
    """The engines that need no key or whose key is set (non-empty) in `env`; values are not looked at otherwise."""
    return tuple(row.engine for row in rules.chain if not row.keys or any(env.get(key) for key in row.keys))


def without_key(chain: tuple[ChainLevel, ...], keys: frozenset[str], rules: Rules) -> dict[Engine, tuple[str, ...]]:
    """The engines of a chain that need a key none of whose variables is among `keys` (those that are set)."""
    known = {row.engine: row.keys for row in rules.chain}
    return {x.source: known[x.source] for x in chain if known[x.source] and keys.isdisjoint(known[x.source])}


def _level(number: int, row: ChainRow, last: int) -> ChainLevel:
    return ChainLevel(
        level=number,
        source=row.engine,
        trigger_fallback=" | ".join(row.triggers) or None,
        fallback_to=None if number == last else number + 1,
    )
