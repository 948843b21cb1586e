"""What every peer is given: the same cards, the same queries, the same gold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.bench.catalogs import cards, questions

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / "tests" / "data" / "tool-routing"
DEV = ROOT / "tests" / "data" / "channel-queries-dev.jsonl"
EXAMPLES = 5  # a card, at most, in the workload with examples


@dataclass(frozen=True)
class Card:
    """A tool as a peer may index it."""

    name: str
    description: str
    examples: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Name and description, the name split into its words, then the examples."""
        from planner.catalog.importing.naming import slug

        return " ; ".join((f"{self.name} {slug(self.name).replace('-', ' ')} {self.description}", *self.examples))


@dataclass(frozen=True)
class Workload:
    """Cards and queries; `gold`: name -> grade 1..3. `shipped`: the planner's own catalog, as it ships."""

    name: str
    cards: tuple[Card, ...]
    queries: tuple[tuple[str, dict[str, int]], ...]
    shipped: bool = False
    depth: int = 5


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def toole() -> Iterator[Workload]:
    """ToolE's 199 tools, name and description alone."""
    found = tuple(Card(row["name"], row["description"]) for row in _rows(TOOLS / "tools.jsonl"))
    queries = tuple((row["query"], dict.fromkeys(row["gold"], 3)) for row in _rows(TOOLS / "queries.jsonl"))
    yield Workload("toole", found, queries)


def functions() -> Iterator[Workload]:
    """The Berkeley function-calling data, name and description alone: the set that nothing was tuned on."""
    from tests.bench.peers.functions import functions as read

    described, asked = read()
    found = tuple(Card(name, description) for name, description in described.items())
    yield Workload("functions", found, tuple((query, {name: 3}) for query, name in asked))


def toole_examples() -> Iterator[Workload]:
    """The same with up to 5 example queries a card, never the query that is asked.

    Each tool's queries are numbered. Part 0 asks those from the 6th on, with the first 5 as examples; part k asks the
    k-th ones, with the other 4 and the 6th as examples.
    """
    plain = next(toole())
    asked: dict[str, list[str]] = {}
    number = {}
    for query, gold in plain.queries:
        mine = asked.setdefault(next(iter(gold)), [])
        number[query] = len(mine) + 1
        mine.append(query)
    for part in range(EXAMPLES + 1):
        held = {name: _without(queries, part) for name, queries in asked.items()}
        enriched = tuple(replace(card, examples=tuple(held.get(card.name, ()))) for card in plain.cards)
        queries = tuple(q for q in plain.queries if (number[q[0]] if number[q[0]] <= EXAMPLES else 0) == part)
        if queries:
            yield Workload("toole+examples", enriched, queries)


def _without(queries: list[str], part: int) -> list[str]:
    kept = [query for at, query in enumerate(queries, 1) if at != part]
    return kept[:EXAMPLES]


def shipped() -> Iterator[Workload]:
    """The shipped catalog: what its pages say, and the 142 development queries, which nothing was fitted on."""
    from planner.catalog.pages import read_pages

    draft = read_pages(ROOT / "skills")
    leaves = [leaf for leaf in draft.leaves if leaf.is_channel]
    found = tuple(
        Card(leaf.channel, leaf.description, (*leaf.aliases, *leaf.triggers, *draft.examples[leaf.channel]))
        for leaf in leaves
    )
    queries = tuple((row["query"], row["gold"]) for row in _rows(DEV))
    yield Workload("shipped", found, queries, shipped=True, depth=8)


def generated(count: int) -> Iterator[Workload]:
    """`count` generated cards and 300 questions made from them; for latency and memory, not for quality."""
    made = cards(count)
    found = tuple(Card(card["name"], card["description"]) for card in made)
    yield Workload(f"generated-{count}", found, tuple((q, {name: 3}) for q, name in questions(made, 300)))


WORKLOADS: dict[str, Callable[[], Iterator[Workload]]] = {
    "toole": toole,
    "toole+examples": toole_examples,
    "functions": functions,
    "shipped": shipped,
    "generated-41": lambda: generated(41),
    "generated-1000": lambda: generated(1_000),
    "generated-10000": lambda: generated(10_000),
}
