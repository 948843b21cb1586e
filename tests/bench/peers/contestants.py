"""The planner and its peers behind one call: rank(query) -> names, best first. Each imports its library when made."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.bench.peers.workloads import ROOT, Workload

Rank = Callable[[str], Sequence[str]]
_WORD = re.compile(r"[^\W_]+")


def _words(text: str) -> list[str]:
    """Latin words without stop words, CJK characters and pairs: as good a tokeniser as these peers are given."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    found = []
    for word in _WORD.findall(text.lower()):
        if word.isascii():
            found.append(word)
        else:
            found += [*word, *(word[at : at + 2] for at in range(len(word) - 1))]
    return [word for word in found if word not in ENGLISH_STOP_WORDS]


def _best(names: Sequence[str], scores: Any, depth: int) -> list[str]:
    import numpy as np

    return [names[at] for at in np.argsort(-np.asarray(scores), kind="stable")[:depth]]


def planner(work: Workload, folder: Path) -> Rank:
    """The planner, its judge the heuristic, over an imported catalog or its own."""
    from planner.pipeline import Planner

    env = {"HOME": str(folder.parent)}
    made = Planner(catalog=None if work.shipped else folder, env=env, settings={"judge": {"default": "heuristic"}})
    if work.shipped:
        env |= {name: "set" for leaf in made.catalog.leaves for name in leaf.auth.required}
    names = _source_names(work, folder)
    clarify = {"mode": "deep"} if work.shipped else None
    scope = {"budget": {"max_channels": work.depth}}
    return lambda query: [names[pick.channel] for pick in made.select(query, clarify, scope).channels]


def planner_flat(work: Workload, folder: Path) -> Rank:
    """The same relevances without groups, names or guard: what grouping costs or gains."""
    from planner.catalog.features import features_of
    from planner.catalog.loader import load_catalog

    catalog = load_catalog(ROOT / "skills" if work.shipped else folder)
    names = _source_names(work, folder)

    def rank(query: str) -> Sequence[str]:
        relevance = catalog.scorer.relevance(features_of(catalog.read(query)))
        order = sorted(range(len(relevance)), key=lambda at: -relevance[at])
        channels = (catalog.leaves[at] for at in order)
        return [names[leaf.channel] for leaf in channels if leaf.is_channel][: work.depth]

    return rank


def _source_names(work: Workload, folder: Path) -> dict[str, str]:
    if work.shipped:
        return {card.name: card.name for card in work.cards}
    import json

    names: dict[str, str] = json.loads((folder / "import.json").read_text("utf-8"))["names"]
    return names


def rank_bm25(work: Workload, folder: Path) -> Rank:
    from rank_bm25 import BM25Okapi

    names = [card.name for card in work.cards]
    index = BM25Okapi([_words(card.text) for card in work.cards])
    return lambda query: _best(names, index.get_scores(_words(query)), work.depth)


def bm25s(work: Workload, folder: Path) -> Rank:
    import bm25s as library

    names = [card.name for card in work.cards]
    index = library.BM25()
    index.index([_words(card.text) for card in work.cards], show_progress=False)

    def rank(query: str) -> Sequence[str]:
        found, _ = index.retrieve([_words(query)], k=min(work.depth, len(names)), show_progress=False)
        return [names[at] for at in found[0]]

    return rank


def tfidf(work: Workload, folder: Path) -> Rank:
    from sklearn.feature_extraction.text import TfidfVectorizer

    names = [card.name for card in work.cards]
    vectors = TfidfVectorizer(analyzer=_words, sublinear_tf=True)
    matrix = vectors.fit_transform(card.text for card in work.cards)
    return lambda query: _best(names, (matrix @ vectors.transform([query]).T).toarray().ravel(), work.depth)


def _local_model() -> Any:
    """Static embeddings that ship inside a package (wordllama, 256 dimensions): nothing is downloaded."""
    import wordllama

    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


def semantic_router(work: Workload, folder: Path) -> Rank:
    from semantic_router import IndexedRouter, Route
    from semantic_router.encoders import DenseEncoder

    model = _local_model()

    class Local(DenseEncoder):
        def __call__(self, docs: list[Any]) -> list[list[float]]:
            return [vector.tolist() for vector in model.embed(docs)]

    routes = [Route(name=card.name, utterances=[card.text, *card.examples]) for card in work.cards]
    router = IndexedRouter(encoder=Local(name="local"), routes=routes, aggregation="max", top_k=50)

    def rank(query: str) -> Sequence[str]:
        found = router(query, limit=work.depth)
        return [choice.name for choice in (found if isinstance(found, list) else [found]) if choice.name]

    return rank


def bigtool(work: Workload, folder: Path) -> Rank:
    """Retrieval as langgraph-bigtool does it: its own retriever over an in-memory store with an embedding index."""
    from langgraph.store.memory import InMemoryStore
    from langgraph_bigtool.tools import get_default_retrieval_tool

    model = _local_model()
    embed = lambda texts: [vector.tolist() for vector in model.embed(texts)]  # noqa: E731
    store = InMemoryStore(index={"embed": embed, "dims": 256, "fields": ["text"]})
    from langgraph.store.base import PutOp

    store.batch([PutOp(("tools",), str(at), {"text": card.text}) for at, card in enumerate(work.cards)])
    retrieve, _ = get_default_retrieval_tool(("tools",), limit=work.depth)
    names = [card.name for card in work.cards]
    return lambda query: [names[int(key)] for key in retrieve(query, store=store)]


def llama_index(work: Workload, folder: Path) -> Rank:
    """llama-index's selector in front of a model that answers at once, in the process: what is around the model."""
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.selectors import LLMMultiSelector
    from llama_index.core.tools import ToolMetadata

    answer = '[{"choice": 1, "reason": "x"}, {"choice": 2, "reason": "x"}, {"choice": 3, "reason": "x"}]'

    class Instant(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(context_window=1_000_000)

        def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
            return CompletionResponse(text=answer)

        def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
            raise NotImplementedError

    selector = LLMMultiSelector.from_defaults(llm=Instant(), max_outputs=work.depth)
    choices = [ToolMetadata(name=card.name, description=card.text) for card in work.cards]
    return lambda query: [work.cards[at].name for at in selector.select(choices, query).inds]


CONTESTANTS: dict[str, tuple[Callable[[Workload, Path], Rank], tuple[str, ...]]] = {  # name -> maker, distributions
    "planner": (planner, ("search-planner",)),
    "planner, flat": (planner_flat, ("search-planner",)),
    "rank_bm25": (rank_bm25, ("rank-bm25",)),
    "bm25s": (bm25s, ("bm25s",)),
    "scikit-learn TF-IDF": (tfidf, ("scikit-learn",)),
    "semantic-router": (semantic_router, ("semantic-router", "wordllama")),
    "langgraph-bigtool": (bigtool, ("langgraph-bigtool", "wordllama")),
    "llama-index selector": (llama_index, ("llama-index-core",)),
}
NO_QUALITY = frozenset(("llama-index selector",))  # what it picks is its model's choice
