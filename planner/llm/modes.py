"""How a model is asked for structured output: the ways in order, and which one worked for which model."""

from __future__ import annotations

import threading
from functools import lru_cache

from planner.llm import libraries
from planner.llm.cache import Store
from planner.llm.spec import ModelSpec

JSON_SCHEMA, TOOLS, PROMPT = "json_schema", "tools", "prompt"
ORDER = (JSON_SCHEMA, TOOLS, PROMPT)
_NEEDS = {JSON_SCHEMA: "response_format", TOOLS: "tools"}
_INSTRUCTOR = {JSON_SCHEMA: "JSON_SCHEMA", TOOLS: "TOOLS", PROMPT: "MD_JSON"}


class ModeMemory:
    """The mode that worked, by model; kept in the store too when it is a file."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()

    def proven(self, spec: ModelSpec) -> str | None:
        """The mode that worked last, or None."""
        with self._lock:
            if (mode := self._known.get(spec.label)) is None:
                mode = self._store.get(f"mode {spec.label}")
        return mode if mode in ORDER else None

    def order(self, spec: ModelSpec) -> tuple[str, ...]:
        """Modes to try: the proven one first, then those after it, then the ones before."""
        usable = tuple(mode for mode in ORDER if _supported(spec, mode))
        proven = self.proven(spec)
        return (proven, *(mode for mode in usable if mode != proven)) if proven else usable

    def worked(self, spec: ModelSpec, mode: str) -> None:
        """Remember it."""
        with self._lock:
            if self._known.get(spec.label) != mode:
                self._known[spec.label] = mode
                self._store.put(f"mode {spec.label}", mode)

    def forget(self, spec: ModelSpec) -> None:
        """The proven mode was refused: the endpoint has changed."""
        with self._lock:
            self._known.pop(spec.label, None)
            self._store.drop(f"mode {spec.label}")


def instructor_mode(mode: str) -> object:
    """instructor's name for it."""
    return getattr(libraries.instructor().Mode, _INSTRUCTOR[mode])


@lru_cache(maxsize=256)
def _supported(spec: ModelSpec, mode: str) -> bool:
    # litellm drops a parameter the provider lacks, and the request would be spent for nothing
    if mode not in _NEEDS:
        return True
    module = libraries.litellm()
    try:
        model, provider, *_ = module.get_llm_provider(spec.name, api_base=spec.api_base)
        known = module.get_supported_openai_params(model=model, custom_llm_provider=provider)
    except Exception:
        return True
    return known is None or _NEEDS[mode] in known
