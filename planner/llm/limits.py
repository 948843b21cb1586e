"""What one plan may spend on models: time until the deadline, requests on the wire, tokens and money as they add up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from planner.llm.failure import CallError

Clock = Callable[[], float]
# told of every request on the wire, by whoever paces many plans
on_request: ContextVar[Callable[[], None] | None] = ContextVar("on_request", default=None)


@dataclass(slots=True)
class Allowance:
    """Shared by all that one plan asks of models. `deadline_s` from the making or the last `restart`; `ends` by the
    clock, in seconds; `spent_usd`: known costs so far, `promised_usd`: estimates of calls that are out.
    """

    deadline_s: float
    requests_left: int
    clock: Clock = time.monotonic
    began: float = field(init=False)
    spent_usd: float = 0.0
    promised_usd: float = 0.0

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Count the deadline from now on: what came before was not the models' time."""
        self.began = self.clock()

    @property
    def ends(self) -> float:
        """When the plan must be done with models."""
        return self.began + self.deadline_s

    @contextmanager
    def promised(self, cost_usd: float | None) -> Iterator[None]:
        """A stretch in which a call is out that may cost so much; unknown counts as nothing."""
        self.promised_usd += cost_usd or 0.0
        try:
            yield
        finally:
            self.promised_usd -= cost_usd or 0.0


@dataclass(slots=True)
class Limits:
    """One inquiry under its plan's allowance. `tokens_in`, `tokens_out`, `cost_usd`: None once any part is unknown."""

    allowance: Allowance
    answers: int = 0
    tokens_in: int | None = 0
    tokens_out: int | None = 0
    cost_usd: float | None = 0.0

    def clock(self) -> float:
        """Now, in seconds."""
        return self.allowance.clock()

    @property
    def left_s(self) -> float:
        """Seconds until the deadline, never negative."""
        return max(0.0, self.allowance.ends - self.clock())

    @property
    def after_ms(self) -> float:
        """Milliseconds since the models were first asked."""
        return round((self.clock() - self.allowance.began) * 1000, 1)

    def spend_request(self) -> None:
        """One more request on the wire; raises CallError when none is left."""
        if self.allowance.requests_left <= 0:
            raise CallError("request_budget")
        self.allowance.requests_left -= 1
        if (tell := on_request.get()) is not None:
            tell()

    def meter(self, tokens_in: int | None, tokens_out: int | None, cost_usd: float | None) -> None:
        """Add what one answer used."""
        self.answers += 1
        self.tokens_in = _sum(self.tokens_in, tokens_in)
        self.tokens_out = _sum(self.tokens_out, tokens_out)
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd
        self.allowance.spent_usd += cost_usd or 0.0


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more
