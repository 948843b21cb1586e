"""What to type into each source, in the language of the request. The subject is quoted as data. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable

from planner.sources.model import Freshness, Language, RoutingRequest, Source
from planner.sources.rules import Rules


def search_hints(
    source: Source, request: RoutingRequest, language: Language, freshness: Freshness, rules: Rules
) -> tuple[str, ...]:
    """Hints for one source (rules RTE-4.10 and RTE-4.11)."""

    def say(key: str, **values: object) -> str:
        return rules.say(f"hint.{key}", language, subject=quoted(request.primary_subject), **values)

    if source == "web":
        return _web(request, freshness, say)
    if source == "vector":
        return tuple(say("vector_gap", angle=quoted(gap)) for gap in request.information_gaps) or (say("vector_plain"),)
    keys = {"counter": ("counter", "counter_where"), "graph": ("graph_start", "graph_more")}
    return tuple(say(key) for key in keys.get(source, ("local_path", "local_type")))


def quoted(text: str) -> str:
    """The text as one quoted piece of data: on one line, quotes and backslashes escaped."""
    return json.dumps(text, ensure_ascii=False)


def _web(request: RoutingRequest, freshness: Freshness, say: Callable[..., str]) -> tuple[str, ...]:
    gaps = [say("web", angle=quoted(gap)[1:-1]) for gap in request.information_gaps]
    sites = [say("web_site", domain=domain) for domain in request.preferred_domains]
    return (*(gaps or [say(f"web_plain.{freshness}")]), *sites)
