"""What may be tuned, and how a point of the search becomes settings: weights stay on their simplex."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from planner.settings import SelectionSettings, Settings

NUMBERS = {  # setting -> lowest and highest value tried
    "group_threshold": (0.05, 0.8),
    "named_damping": (0.2, 1.0),
    "evidence": (0.0, 0.4),
    "domain_floor": (0.0, 0.5),
    "scenario_floor": (0.0, 0.9),
}
TABLES = ("group_weights", "leaf_weights")
_DIGITS = 4
_LEAST = 1e-9

Point = dict[str, Any]  # setting -> number, or factor -> weight
Informed = Mapping[str, Sequence[str]]  # table of weights -> factors the labelled set says something about


def base_point(settings: Settings) -> Point:
    """Where the search starts: the settings' own numbers."""
    chosen = settings.selection
    return {name: getattr(chosen, name) for name in NUMBERS} | {
        table: getattr(chosen, table).model_dump() for table in TABLES
    }


def suggest(trial: Any, base: Point, informed: Informed) -> Point:
    """The point of an Optuna trial. Weights are Dirichlet: -log of uniform numbers, over their sum (Devroye 1986)."""
    point = {name: trial.suggest_float(name, low, high) for name, (low, high) in NUMBERS.items()}
    for table in TABLES:
        shares = {
            name: -math.log(trial.suggest_float(f"{table}.{name}", _LEAST, 1 - _LEAST)) for name in informed[table]
        }
        mass = math.fsum(base[table][name] for name in informed[table])
        total = math.fsum(shares.values())
        point[table] = base[table] | {name: mass * share / total for name, share in shares.items()}
    return point


def as_parameters(point: Point, informed: Informed) -> dict[str, float]:
    """The parameters of a trial that give this point; numbers outside the range are moved into it."""
    found = {name: min(high, max(low, point[name])) for name, (low, high) in NUMBERS.items()}
    for table in TABLES:
        for name in informed[table]:
            found[f"{table}.{name}"] = min(1 - _LEAST, max(_LEAST, math.exp(-point[table][name])))
    return found


def between(base: Point, found: Point, share: float) -> Point:
    """The point `share` (0..1) of the way from `base` to `found`; simplexes are convex, so weights stay on theirs."""

    def along(a: float, b: float) -> float:
        return a + share * (b - a)

    point: Point = {name: along(base[name], found[name]) for name in NUMBERS}
    return point | {
        table: {name: along(base[table][name], found[table][name]) for name in base[table]} for table in TABLES
    }


def rounded(point: Point) -> Point:
    """The point as it is written: 4 decimals, weights that sum to 1 exactly (the largest takes the difference)."""
    plain: Point = {name: round(point[name], _DIGITS) for name in NUMBERS}
    for table in TABLES:
        weights = {name: round(value, _DIGITS) for name, value in point[table].items()}
        largest = max(weights, key=lambda name: weights[name])
        weights[largest] = round(1 - math.fsum(v for name, v in weights.items() if name != largest), _DIGITS)
        plain[table] = weights
    return plain


def with_point(settings: Settings, point: Point) -> Settings:
    """Settings with these numbers."""
    selection = SelectionSettings.model_validate(settings.selection.model_dump() | point)
    return settings.model_copy(update={"selection": selection})


Objective = Callable[[Point], float]


def search(objective: Objective, base: Point, informed: Informed, trials: int, seed: int) -> Point:
    """The best point of a seeded search that begins at `base` (tree-structured Parzen estimators, Bergstra 2011)."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.enqueue_trial(as_parameters(base, informed))
    study.optimize(lambda trial: objective(suggest(trial, base, informed)), n_trials=trials)
    return suggest(optuna.trial.FixedTrial(study.best_params), base, informed)
