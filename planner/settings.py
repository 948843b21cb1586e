"""Settings: shipped defaults, then the user's planner.yaml, then PLANNER_* variables. Read once, frozen.

The file is named by `--settings`, by PLANNER_SETTINGS, or found in the user's configuration folder; never in the
current folder, where a stranger's file could send the user's keys to another address.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from planner import paths
from planner.errors import SettingsError, nearest, shown

POSTGRESQL = ("postgresql://", "postgres://", "postgresql+psycopg://")
JudgeName = Literal["auto", "standard", "fast", "heuristic"]


class Section(BaseModel):
    """A frozen part of the settings; an unknown field is an error, so that no typo is silently ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _sums_to_one(weights: Mapping[str, float]) -> Mapping[str, float]:
    if not abs(sum(weights.values()) - 1.0) <= 1e-9 or min(weights.values()) < 0:
        raise ValueError("weights must not be negative and must sum to 1")
    return weights


class Weights(Section):
    """Weights of factors, in the factors' order."""

    @cached_property
    def in_order(self) -> tuple[float, ...]:
        """The weights alone."""
        return tuple(value for _, value in self)


class GroupWeights(Weights):
    """Weights of the group factors; they sum to 1 (rule SEL-4.1)."""

    domain: float
    scenario: float
    language: float
    priority: float
    recency: float


class LeafWeights(Weights):
    """Weights of the leaf factors; they sum to 1 (rule SEL-4.2)."""

    priority: float
    scenario: float
    keyword: float
    auth: float
    experience: float


class Targets(Section):
    """How many channels each mode asks for."""

    fast: int = Field(ge=1)
    deep: int = Field(ge=1)
    comprehensive: int = Field(ge=1)


class SelectionSettings(Section):
    """Numbers of the channel selection."""

    group_weights: GroupWeights
    leaf_weights: LeafWeights
    group_threshold: float = Field(ge=0, le=1)
    named_damping: float = Field(ge=0, le=1)
    evidence: float = Field(ge=0, le=1)
    minimum_picks: int = Field(ge=1)
    domain_floor: float = Field(ge=0, le=1)
    scenario_floor: float = Field(ge=0, le=1)
    targets: Targets
    max_channels: int = Field(ge=1)
    max_groups: int = Field(ge=1)
    auth_missing: float = Field(ge=-1, le=0)
    experience_boost: float = Field(ge=0, le=1)
    experience_days: int = Field(ge=0, le=36_500)

    @field_validator("group_weights", "leaf_weights")
    @classmethod
    def _weights(cls, weights: GroupWeights | LeafWeights) -> GroupWeights | LeafWeights:
        _sums_to_one(weights.model_dump())
        return weights


class GuardSettings(Section):
    """The Chinese-native guard."""

    native_minimum: int = Field(ge=0)
    exempt_kana: bool


class HistorySettings(Section):
    """Outcome history. `store` None: SQLite in the state folder; a PostgreSQL URL (may hold a password); or `off`."""

    empty_sessions: int = Field(ge=1)
    demotion: float = Field(ge=0, le=1)
    store: str | None = Field(repr=False)
    record_queries: bool
    refresh_s: float = Field(ge=0)

    @field_validator("store", mode="before")
    @classmethod
    def _store(cls, store: object) -> object:
        if store is False:  # YAML's reading of a bare off
            return "off"
        if isinstance(store, str) and store != "off" and not store.startswith(POSTGRESQL):
            raise ValueError("accepted: null, off, or a URL that begins with postgresql://")
        return store


class JudgeSettings(Section):
    """Which judge fills in the semantic factors. `simple_margin`: lead of the best group that makes a query simple."""

    default: JudgeName
    confidence_gate: bool
    simple_margin: float = Field(ge=0, le=1)


class ModelEntry(Section):
    """A model by its litellm name, where it is served, and the variable that holds its key (None: the provider's)."""

    model: str | None = None
    api_base: str | None = None
    key_env: str | None = None


class TierSettings(ModelEntry):
    """The models of a tier in the order they are tried: the first one, then its fallbacks."""

    fallbacks: tuple[ModelEntry, ...] = ()


class LlmSettings(Section):
    """Numbers of the model calls; times in seconds, `prompt_tokens` and `max_tokens` in tokens a call."""

    standard: TierSettings
    fast: TierSettings
    deadline_s: float = Field(gt=0)
    rung_share: float = Field(gt=0, le=1)
    max_requests: int = Field(ge=1)
    retries: int = Field(ge=0)
    backoff_s: float = Field(ge=0)
    backoff_max_s: float = Field(ge=0)
    prompt_tokens: int = Field(ge=300)
    query_chars: int = Field(ge=100)
    max_tokens: int = Field(ge=50)
    breaker_failures: int = Field(ge=1)
    breaker_pause_s: float = Field(ge=0)
    cache_entries: int = Field(ge=0)
    cache_ttl_s: float = Field(ge=0)
    cache_file: str | None


class ServerSettings(Section):
    """Bounds of the servers. `answer_s`: seconds until a plan is made without a model; rates are per client address."""

    answer_s: float = Field(gt=0, lt=60)
    body_kb: int = Field(ge=1)
    concurrency: int = Field(ge=1)
    requests_per_s: float = Field(gt=0)
    burst: int = Field(ge=1)
    sessions: int = Field(ge=1)


class Settings(Section):
    """All settings. `origin` says where they came from; `notes` what was odd but usable."""

    catalog: str | None
    selection: SelectionSettings
    guard: GuardSettings
    history: HistorySettings
    sources: dict[str, Any]
    judge: JudgeSettings
    llm: LlmSettings
    server: ServerSettings
    origin: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


_RESERVED = {  # variables that are not settings, or are read elsewhere
    "PLANNER_SETTINGS", "PLANNER_STATE_DIR", "PLANNER_HTTP_TOKEN",
}  # fmt: skip
_SHORT = {  # the variables a user is told about, beside PLANNER_<SECTION>__<FIELD>
    "PLANNER_CATALOG": ("catalog",),
    "PLANNER_JUDGE": ("judge", "default"),
    "PLANNER_STANDARD_MODEL": ("llm", "standard", "model"),
    "PLANNER_STANDARD_API_BASE": ("llm", "standard", "api_base"),
    "PLANNER_FAST_MODEL": ("llm", "fast", "model"),
    "PLANNER_FAST_API_BASE": ("llm", "fast", "api_base"),
    "PLANNER_DEADLINE_S": ("llm", "deadline_s"),
}


def load_settings(source: Settings | Mapping[str, Any] | str | Path | None, env: Mapping[str, str]) -> Settings:
    """Settings from a file, a mapping over the defaults, or the user's own file.

    Raises SettingsError that names the file or variable, the field and the value.
    """
    if isinstance(source, Settings):
        return source
    if source is not None and not isinstance(source, Mapping | str | Path):
        raise SettingsError(f"settings: got {shown(source)}; accepted: a mapping, a file's path, or Settings")
    values, origin = _parse_yaml(_defaults_text(), "defaults.yaml"), ["defaults"]
    if isinstance(source, Mapping):
        _overlay(values, dict(source), "settings")
        origin.append("settings argument")
    elif (path := _settings_path(source, env)) is not None:
        _overlay(values, _parse_yaml(_read(path), str(path)), str(path))
        origin.append(str(path))
    notes = _overlay_env(values, env, origin)
    return _validated(values, origin, notes)


def default_settings() -> Settings:
    """The shipped defaults alone."""
    return load_settings({}, {})


def _defaults_text() -> str:
    return (Path(__file__).parent / "defaults.yaml").read_text("utf-8")


def _settings_path(source: str | Path | None, env: Mapping[str, str]) -> Path | None:
    if named := (source or env.get("PLANNER_SETTINGS")):
        return Path(named)
    own = paths.config_folder(env) / "planner.yaml"
    return own if own.is_file() else None


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read ({type(error).__name__})") from error


def _parse_yaml(text: str, where: str) -> dict[str, Any]:
    import yaml

    try:
        value = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise SettingsError(f"{where}{line}: not valid YAML") from error
    except (ValueError, RecursionError) as error:  # a date or number that YAML's own types cannot hold
        raise SettingsError(f"{where}: holds a value that cannot be read ({type(error).__name__})") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise SettingsError(f"{where}: must be a mapping, got {shown(value)}")
    return value


def _overlay(base: dict[str, Any], extra: Mapping[str, Any], where: str, at: str = "") -> None:
    for key, value in extra.items():
        if key not in base and not at.startswith("sources."):
            hint = nearest(str(key), list(base))
            raise SettingsError(f"{where}: unknown field {at}{key}" + (f"; did you mean {hint}?" if hint else ""))
        if isinstance(base.get(key), dict) and isinstance(value, Mapping):
            _overlay(base[key], value, where, f"{at}{key}.")
        else:
            base[key] = value


def _overlay_env(values: dict[str, Any], env: Mapping[str, str], origin: list[str]) -> list[str]:
    notes: list[str] = []
    for name in sorted(n for n in env if n.startswith("PLANNER_") and n not in _RESERVED):
        path = _SHORT.get(name) or tuple(name.removeprefix("PLANNER_").lower().split("__"))
        if len(path) < 2 and name not in _SHORT:
            hint = nearest(name, [*_SHORT, *_RESERVED])
            notes.append(f"{name} is not a setting" + (f"; did you mean {hint}?" if hint else ""))
            continue
        if not env[name].strip():
            continue
        nested: Any = _scalar(env[name], name)
        for key in reversed(path):
            nested = {key: nested}
        _overlay(values, nested, name)
        origin.append(name)
    return notes


def _scalar(text: str, where: str) -> Any:
    return _parse_yaml(f"value: {text}", where).get("value") if text[:1] not in "{[&*!|>%@`\"'" else text


def _validated(values: dict[str, Any], origin: list[str], notes: list[str]) -> Settings:
    try:
        return Settings(**values, origin=tuple(origin), notes=tuple(notes))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "settings"
        where = origin[-1]
        given = "a value that is not shown" if field == "history.store" else shown(first["input"])
        raise SettingsError(f"{where}: {field}: got {given}; {first['msg'].removeprefix('Value error, ')}") from error
