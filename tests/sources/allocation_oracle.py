"""An independent reading of the allocation rules, with fractions, to hold the router's plans against."""

from fractions import Fraction
from math import ceil, floor

ROWS = {
    "internal_knowledge": {"local_file": 50, "vector": 40, "web": 10},
    "entity_analysis": {"graph": 35, "web": 35, "vector": 20, "counter": 10},
    "deep_research": {"web": 30, "vector": 25, "graph": 20, "counter": 15, "local_file": 10},
    "tech_evaluation": {"web": 40, "vector": 25, "counter": 25, "local_file": 10},
}
DEFAULT = {"web": 40, "vector": 25, "local_file": 20, "counter": 15, "graph": 15}
COMBINATION = {
    "breaking_news": ["web", "counter"],
    "deep_research": ["vector", "web", "graph", "counter"],
    "entity_analysis": ["graph", "web", "vector"],
    "internal_knowledge": ["vector", "local_file"],
    "tech_evaluation": ["web", "vector", "counter"],
}
FIXED = ["web", "local_file", "vector", "graph"]


def branch_and_row(task, freshness, available):
    """The branch and its own shares (a request without gaps and without a description)."""
    if freshness == "high" or task == "breaking_news":
        if "web" not in available:
            return "default", DEFAULT
        row = {"web": 70, "counter": 20}
        others = [s for s in COMBINATION[task] if s not in ("web", "counter")] + ["local_file", "vector", "graph"]
        for other in others:
            if other in available:
                row[other] = 10
                break
        return "high_freshness", row
    row = ROWS[task]
    if not [s for s in row if s != "counter" and s in available]:
        return "default", DEFAULT
    return task, row


def shares_in_play(branch, row, available, known):
    shares = {s: n for s, n in row.items() if s != "counter"}
    if branch != "high_freshness":
        if known or "vector" not in available or "web" not in available:
            shares.setdefault("local_file", 10)
        if known or "web" not in available:
            shares.setdefault("vector", 10)
    return {s: n for s, n in shares.items() if s in available}


def counter_conditions(task, goal, need):
    fired = ["need_counter_evidence"] if need else []
    if goal in ("evaluate", "investigate", "compare"):
        fired.append(f"goal_mode={goal}")
    if task in ("breaking_news", "tech_evaluation", "deep_research"):
        fired.append(f"task_type={task}")
    return fired


def counter_is_on(fired, total, available):
    if not fired or "counter" not in available:
        return False
    if total <= 5 and "need_counter_evidence" not in fired:
        return False
    return total > 1 or available == {"counter"}


def priority_order(task, branch, row, shares, freshness):
    ties = [*COMBINATION[task], *row, *FIXED]
    order = sorted(shares, key=lambda s: (-shares[s], ties.index(s)))
    leaders = []
    if freshness == "high":
        leaders = [s for s in order if s == "web"]
    elif freshness == "low":
        local = ("vector", "local_file", "graph") if branch == "entity_analysis" else ("vector", "local_file")
        leaders = [s for s in order if s in local]
    if leaders:
        order.remove(leaders[0])
        order.insert(0, leaders[0])
    return order


def counter_number(total, share, alone):
    if alone:
        return total
    if total <= 5:
        return 1
    band = range(ceil(Fraction(15, 100) * total), floor(Fraction(25, 100) * total) + 1)
    wanted = Fraction(share * total, 100)
    return min(band, key=lambda n: (abs(n - wanted), n), default=1)


def floor_of(total, rest, freshness, primary):
    least = ceil(Fraction(1, 2) * total)
    if freshness == "high" and primary == "web":
        least = max(least, ceil(Fraction(7, 10) * total))
    return min(least, rest)


def cap_of_web(total, freshness, kept):
    if freshness == "medium" and kept < 3:
        return total
    return max(1, floor({"high": Fraction(8, 10), "medium": Fraction(1, 2), "low": Fraction(3, 10)}[freshness] * total))


def primary_number(shares, kept, rest, least, cap):
    if len(kept) == 1:
        return rest
    wanted = Fraction(shares[kept[0]] * rest, sum(shares[s] for s in kept))
    nearest = min((floor(wanted), ceil(wanted)), key=lambda n: (abs(n - wanted), n))
    number = max(least, min(nearest, rest - (len(kept) - 1)))
    return min(number, max(least, cap)) if kept[0] == "web" else number


def spread_over_others(shares, kept, rest, first, cap):
    numbers = {kept[0]: first, **dict.fromkeys(kept[1:], 1)}
    target = {s: Fraction(shares[s] * (rest - first), sum(shares[o] for o in kept[1:])) for s in kept[1:]}
    while sum(numbers.values()) < rest:
        able = [s for s in kept[1:] if s != "web" or numbers[s] < cap]
        chosen = max(able, key=lambda s: (target[s] - numbers[s], -kept.index(s))) if able else kept[0]
        numbers[chosen] += 1
    return numbers


def search_order(kept, numbers, counter, known, freshness):
    ranks = {"counter": -1, **{s: i for i, s in enumerate(kept)}}
    rest = [*kept[1:], *(["counter"] if counter else [])]
    order = [kept[0], *sorted(rest, key=lambda s: (-(counter if s == "counter" else numbers[s]), ranks[s]))]
    if known and freshness != "high":
        order.sort(key=lambda s: s not in ("local_file", "vector"))
    return order
