"""Groups for cards whose source has none: k-means over TF-IDF, named by the words their members share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import sqrt
from typing import Any

from planner.catalog.importing.found import Found, FoundGroup
from planner.catalog.importing.naming import slug
from planner.errors import CatalogError

FEW = 8  # cards that one group holds well
MOST = 128  # groups at most
DIMENSIONS = 64
_TERMS = 3  # words in a group's name
_SPREAD = 0.5  # share of all cards above which a word says nothing about a group


def clustered(cards: Sequence[Found]) -> tuple[list[str], list[FoundGroup]]:
    """A group name for each card, and the groups: about √n of them (rule CAT-2.2). Needs the extra `build`.

    The same cards give the same groups: the seed is fixed, and cards are taken in the order given.
    """
    texts = [_text(card) for card in cards]
    try:
        matrix, terms = _vectors(texts)
    except ImportError as error:
        raise CatalogError(f"grouping needs {error.name}: pip install 'search-planner[build]'") from error
    count = min(MOST, round(sqrt(len(cards)))) if len(cards) > FEW else 1
    labels = _labels(matrix, count) if count > 1 else [0] * len(cards)
    names = _names(matrix, labels, terms)
    groups = [
        FoundGroup(name, _told(words, sum(n == name for n in [names[k][0] for k in labels]))) for name, words in names
    ]
    return [names[label][0] for label in labels], groups


def _told(words: Sequence[str], size: int) -> str:
    return f"{size} tools around {', '.join(words)}" if words else f"{size} tools"


def _text(card: Found) -> str:
    return " ; ".join((slug(card.name).replace("-", " "), card.description, *card.triggers, *card.examples))


def _vectors(texts: Sequence[str]) -> tuple[Any, list[str]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    common = _SPREAD if len(texts) > FEW else 1.0
    words = TfidfVectorizer(
        stop_words="english",
        sublinear_tf=True,
        max_df=common,
        token_pattern=r"(?u)\b[^\W\d_]{2,}\b",
        max_features=50_000,
    )
    try:
        return words.fit_transform(texts), list(words.get_feature_names_out())
    except ValueError:  # nothing but stop words
        from scipy.sparse import csr_matrix

        return csr_matrix((len(texts), 1)), [""]


def _labels(matrix: Any, count: int) -> list[int]:
    """Cluster of each card; clusters are numbered in the order their first card comes."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.preprocessing import normalize

    width = min(DIMENSIONS, min(matrix.shape) - 1)
    dense = normalize(TruncatedSVD(width, random_state=0).fit_transform(matrix)) if width > 1 else matrix.toarray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer clusters than asked for: some cards are alike
        raw = KMeans(count, n_init=4, random_state=0).fit_predict(dense)
    order = {label: place for place, label in enumerate(dict.fromkeys(raw.tolist()))}
    return [order[label] for label in raw.tolist()]


def _names(matrix: Any, labels: Sequence[int], terms: Sequence[str]) -> list[tuple[str, list[str]]]:
    """(name, words) of each cluster: words that several members share, heavy in it and rare outside."""
    import numpy as np

    where = np.asarray(labels)
    everywhere = np.asarray((matrix > 0).sum(axis=0)).ravel()
    found: list[tuple[str, list[str]]] = []
    for label in range(max(labels) + 1):
        inside = matrix[where == label]
        holders = np.asarray((inside > 0).sum(axis=0)).ravel()
        shared = (holders > 1) | (inside.shape[0] < _TERMS)  # what one member alone says is not the group's
        gain = np.round(np.asarray(inside.mean(axis=0)).ravel() * shared * holders / np.maximum(everywhere, 1), 9)
        best = sorted(range(len(terms)), key=lambda at: (-gain[at], terms[at]))
        words = [terms[at] for at in best if gain[at] > 0 and terms[at]]
        found.append((_fresh(words, [name for name, _ in found]), words[:_TERMS]))
    return found


def _fresh(words: Sequence[str], taken: Sequence[str]) -> str:
    base = slug("-".join(words[:_TERMS])) if words else "tools"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name
