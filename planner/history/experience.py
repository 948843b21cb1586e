"""Experience: the events of a channel → the rules that proved themselves and the ways it failed → a digest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from planner.history.outcomes import Outcome

PROMOTION_SEEN = 3
PROMOTION_SUCCESS = 2
MAX_LINES = 120
MARK = "<!-- written by planner experience compact -->"
_FRAME = 12  # lines of a digest that are neither rule nor failure


@dataclass(slots=True)
class Tally:
    """A rule or a failure: how often seen, how often it gave results, the last day that showed it (None: none did)."""

    seen: int = 0
    success: int = 0
    last: date | None = None

    def showed(self, day: date) -> None:
        """It was shown on a day."""
        self.last = max(self.last, day) if self.last else day


@dataclass(frozen=True, slots=True)
class Digest:
    """What a channel's events come to: words -> tally, in the order they are written; `events`: how many there were."""

    channel: str
    events: int
    rules: Mapping[str, Tally] = field(default_factory=dict)
    failures: Mapping[str, Tally] = field(default_factory=dict)


def digest_of(channel: str, events: Iterable[Mapping[str, Any]], today: date, days: int) -> Digest:
    """Rules seen at least 3 times, with 2 successes, the last within `days`; failures; 120 lines (rule HIS-5.1)."""
    rules: dict[str, Tally] = {}
    failures: dict[str, Tally] = {}
    count = 0
    for count, event in enumerate(events, 1):  # noqa: B007 - the last number is the count
        _add(event, rules, failures)
    oldest = today - timedelta(days=days)
    proven = {words: tally for words, tally in rules.items() if _proven(tally, oldest)}
    return Digest(channel, count, *_within(proven, failures))


def digest_text(digest: Digest, today: date) -> str:
    """The digest as Markdown."""
    rules = [
        f"- {words} — seen={t.seen}, success={t.success}, last_verified={t.last}" for words, t in digest.rules.items()
    ]
    failures = [f"- {words} — seen={t.seen}, last_verified={t.last}" for words, t in digest.failures.items()]
    lines = [
        f"# {digest.channel} experience", MARK, "",
        "## Active Rules", *(rules or ["- None yet."]), "",
        "## Failure Modes", *(failures or ["- None yet."]), "",
        "## Last Compacted", f"- {today}, from {digest.events} events, {len(rules)} rules",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _add(event: Mapping[str, Any], rules: dict[str, Tally], failures: dict[str, Tally]) -> None:
    outcome = Outcome.model_validate({name: event[name] for name in Outcome.model_fields})
    day = datetime.fromisoformat(event["at"]).date()
    if words := _failure(outcome):
        failure = failures.setdefault(words, Tally())
        failure.seen += 1
        failure.showed(day)
    if outcome.pattern and outcome.feedback != "rejected":
        rule = rules.setdefault(outcome.pattern, Tally())
        rule.seen += 1
        if outcome.succeeded:
            rule.success += 1
            rule.showed(day)


def _failure(outcome: Outcome) -> str | None:
    about = f": {outcome.pattern}" if outcome.pattern else ""
    if outcome.feedback == "rejected":
        return f"rejected{about}"
    return f"{outcome.failure}{about}" if outcome.failure else None


def _proven(tally: Tally, oldest: date) -> bool:
    often = tally.seen >= PROMOTION_SEEN and tally.success >= PROMOTION_SUCCESS
    return often and tally.last is not None and tally.last >= oldest


def _within(rules: dict[str, Tally], failures: dict[str, Tally]) -> tuple[dict[str, Tally], dict[str, Tally]]:
    """What the ceiling leaves: the oldest failures go first, then the rules seen least."""
    room = MAX_LINES - _FRAME
    kept = sorted(rules.items(), key=lambda item: (-item[1].seen, -item[1].success, item[0]))[:room]
    recent = sorted(failures.items(), key=lambda item: (-_ordinal(item[1]), -item[1].seen, item[0]))
    return dict(kept), dict(recent[: room - len(kept)])


def _ordinal(tally: Tally) -> int:
    return tally.last.toordinal() if tally.last else 0
