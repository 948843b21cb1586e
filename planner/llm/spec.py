"""Which model, where it is served and which variable holds its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model by its litellm name. `key_env` None: the provider's own variable."""

    name: str
    api_base: str | None = None
    key_env: str | None = None

    @property
    def label(self) -> str:
        """What breaker, mode memory and cache key it by."""
        return f"{self.name}@{self.api_base}" if self.api_base else self.name

    def key_names(self) -> tuple[str, ...]:
        """Variables that may hold its key; empty when the provider is not one of ours or needs none."""
        if self.key_env:
            return (self.key_env,)
        known = next((row for row in providers() if self._is_of(row)), None)
        return tuple(known["keys"]) if known else ()

    def key(self, env: Mapping[str, str]) -> str | None:
        """The key, or None when no variable holds one."""
        found = (env.get(name, "").strip() for name in self.key_names())
        return next((value for value in found if value), None)

    def lacks_key(self, env: Mapping[str, str]) -> bool:
        """Whether a call cannot succeed for want of a key. A server of one's own may do without."""
        return self.api_base is None and bool(self.key_names()) and self.key(env) is None

    def _is_of(self, row: Mapping[str, Any]) -> bool:
        bare = "/" not in self.name and self.name.startswith(tuple(row.get("bare", ())))
        return bare or self.name.startswith(f"{row['provider']}/")


@lru_cache(maxsize=1)
def providers() -> tuple[dict[str, Any], ...]:
    """The known providers, in order of preference, from `providers.yaml`."""
    import yaml

    text = (Path(__file__).parent / "providers.yaml").read_text("utf-8")
    return tuple(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def default_models(env: Mapping[str, str]) -> tuple[ModelSpec | None, ModelSpec | None]:
    """Standard and Fast of the first known provider whose key is set; (None, None) when there is none."""
    if not any(name.endswith("_API_KEY") for name in env):
        return None, None  # without opening the table
    for row in providers():
        if "standard" in row and any(env.get(name, "").strip() for name in row["keys"]):
            return ModelSpec(row["standard"]), ModelSpec(row["fast"])
    return None, None
