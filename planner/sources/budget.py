"""How many searches each source gets: whole numbers that add up to the budget. Exact integer arithmetic, pure.

The steps stand in their order of force (rules RTE-4.1 to RTE-4.8); each number keeps the rule that set it and what
a weaker rule wanted instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from planner.sources.model import Branch, Freshness, Source
from planner.sources.rules import Rules


class Case(NamedTuple):
    """What the allocation looks at. `shares`: sources in play, percent, in tie order. `counter_share`: percent."""

    total: int
    branch: Branch
    freshness: Freshness
    shares: Mapping[Source, int]
    counter_on: bool
    counter_share: int
    known_local: bool
    rules: Rules


class Decision(NamedTuple):
    """One number of a plan: the rule that set it, and what a weaker rule wanted instead (empty: nothing else)."""

    what: str
    value: int
    rule: str
    yielded: str = ""


class Allocation(NamedTuple):
    """`numbers`: searches per source, each at least 1. `order`: as they are searched. `primary`: who leads."""

    primary: Source
    numbers: dict[Source, int]
    order: tuple[Source, ...]
    decisions: tuple[Decision, ...]


def allocate(case: Case) -> Allocation:
    """Searches per source, adding up to `case.total` (at least one source must be in play, or counter on)."""
    log: list[Decision] = []
    ranked = _kept_when_tight(_ranked(case), case, log)
    counter = _counter(case, log)
    rest = case.total - counter
    if not ranked:
        return Allocation("counter", {"counter": counter}, ("counter",), tuple(log))
    floor = _floor(ranked[0], case, rest)
    kept = _kept_beside_floor(ranked, rest - floor, case, log)
    numbers = _spread(kept, rest, floor, case, log)
    order = _order(kept, numbers, counter, case, log)
    if counter:
        numbers["counter"] = counter
    return Allocation(kept[0], numbers, order, tuple(log))


def _ranked(case: Case) -> list[Source]:
    """The primary, then falling share; `case.shares` comes in tie order and sorting is stable (RTE-4.1)."""
    by_share = sorted(case.shares, key=lambda source: -case.shares[source])
    leaders: tuple[Source, ...] = ()
    if case.freshness == "high":
        leaders = ("web",)
    elif case.freshness == "low":
        leaders = (*case.rules.local_first, *case.rules.local_first_extra.get(case.branch, ()))
    primary = next((source for source in by_share if source in leaders), None)
    return by_share if primary is None else [primary, *(s for s in by_share if s != primary)]


def _kept_when_tight(ranked: list[Source], case: Case, log: list[Decision]) -> list[Source]:
    if case.total > case.rules.limits.tight_budget:
        return ranked
    log.extend(Decision(source, 0, "RTE-4.2", f"share {case.shares[source]} %") for source in ranked[2:])
    return ranked[:2]


def _counter(case: Case, log: list[Decision]) -> int:
    if not case.counter_on:
        if case.counter_share:
            log.append(Decision("counter", 0, "RTE-3.3", f"share {case.counter_share} %"))
        return 0
    if not case.shares:
        log.append(Decision("counter", case.total, "RTE-4.1", f"share {case.counter_share} %"))
        return case.total
    band = case.rules.limits.counter_band
    least, most = ceil_of(band.low, case.total), floor_of(band.high, case.total)
    wanted = nearest_half_down(case.counter_share * case.total, 100)
    tight = case.total <= case.rules.limits.tight_budget
    number = 1 if tight or least > most else min(max(wanted, least), most)
    yielded = "" if number == wanted else f"share {case.counter_share} % = {case.counter_share * case.total / 100:g}"
    log.append(Decision("counter", number, "RTE-4.2" if tight else "RTE-4.3", yielded))
    return number


def _floor(primary: Source, case: Case, rest: int) -> int:
    floor = ceil_of(case.rules.floors.primary, case.total)
    if case.freshness == "high" and primary == "web":
        floor = max(floor, ceil_of(case.rules.floors.web_high, case.total))
    return min(floor, rest)


def _kept_beside_floor(ranked: list[Source], room: int, case: Case, log: list[Decision]) -> list[Source]:
    log.extend(Decision(source, 0, "RTE-4.5", f"share {case.shares[source]} %") for source in ranked[1 + room :])
    return ranked[: 1 + room]


def _spread(kept: list[Source], rest: int, floor: int, case: Case, log: list[Decision]) -> dict[Source, int]:
    primary, others = kept[0], kept[1:]
    if not others:
        log.append(Decision(primary, rest, "RTE-4.1", f"floor {floor}" if floor < rest else ""))
        return {primary: rest}
    first = _primary_number(kept, rest, floor, case, log)
    numbers = {primary: first, **dict.fromkeys(others, 1)}
    _hand_out(numbers, rest - first, case, log)
    return numbers


def _web_cap(kept: list[Source], case: Case) -> int:
    if case.freshness == "medium" and len(kept) < case.rules.limits.web_cap_medium_from:
        return case.total
    return max(1, floor_of(case.rules.web_cap(case.freshness), case.total))


def _primary_number(kept: list[Source], rest: int, floor: int, case: Case, log: list[Decision]) -> int:
    primary, cap = kept[0], _web_cap(kept, case)
    share = nearest_half_down(case.shares[primary] * rest, sum(case.shares[s] for s in kept))
    number = max(floor, min(share, rest - (len(kept) - 1)))
    rule = "RTE-4.4" if number == floor else "RTE-4.6"
    if primary == "web" and number > max(floor, cap):
        number = max(floor, cap)
    log.append(Decision(primary, number, rule, "" if share == number else f"its share of {rest} = {share}"))
    return number


def _hand_out(numbers: dict[Source, int], rest: int, case: Case, log: list[Decision]) -> None:
    """One each, then one at a time to whoever is furthest below its share of `rest`; web stops at its cap (RTE-4.7)."""
    primary, *others = numbers
    cap = _web_cap(list(numbers), case)
    whole = sum(case.shares[s] for s in others)
    left = rest - len(others)
    while left:
        able = [s for s in others if s != "web" or numbers[s] < cap]
        if not able:
            numbers[primary] += left
            log.append(Decision(primary, numbers[primary], "RTE-4.7", f"cap of web {cap} leaves {left}"))
            break
        # a source's distance to its share, times `whole`: no fraction needed; the first of equals has priority
        numbers[max(able, key=lambda s: case.shares[s] * rest - numbers[s] * whole)] += 1
        left -= 1
    for source in others:
        wanted = case.shares[source] * rest / whole
        yielded = "" if wanted == numbers[source] else f"its share of {rest} = {wanted:.3g}"
        log.append(Decision(source, numbers[source], "RTE-4.7", yielded))


def _order(
    kept: list[Source], numbers: Mapping[Source, int], counter: int, case: Case, log: list[Decision]
) -> tuple[Source, ...]:
    rest: list[Source] = [*(["counter"] if counter else []), *kept[1:]]  # type: ignore[list-item]
    rest.sort(key=lambda source: -(counter if source == "counter" else numbers[source]))
    order = (kept[0], *rest)
    if not case.known_local or case.freshness == "high":
        return order
    front = [source for source in order if source in case.rules.front]
    moved = (*front, *(source for source in order if source not in front))
    for place, source in enumerate(front, start=1):
        if order.index(source) + 1 != place:
            log.append(Decision(f"place of {source}", place, "RTE-4.8", f"place {order.index(source) + 1}"))
    return moved


def ceil_of(ratio: Fraction, total: int) -> int:
    """The least whole number that is at least ratio × total."""
    return -(-ratio.numerator * total // ratio.denominator)


def floor_of(ratio: Fraction, total: int) -> int:
    """The greatest whole number that is at most ratio × total."""
    return ratio.numerator * total // ratio.denominator


def nearest_half_down(dividend: int, divisor: int) -> int:
    """dividend / divisor to the nearest whole number, halves down."""
    return -((divisor - 2 * dividend) // (2 * divisor))
