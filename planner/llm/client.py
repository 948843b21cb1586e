"""One model, one plan: tenacity for what may pass, the next mode for what is refused, one re-ask for the unreadable."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from planner.llm import cost, libraries, modes
from planner.llm.failure import CallError, ModeRefusedError, UnreadableError, classify
from planner.llm.limits import Limits
from planner.llm.repair import NoJsonError
from planner.llm.spec import ModelSpec

Result = TypeVar("Result")
_KEY_LENGTH = 8  # characters; what is shorter keeps nothing secret
_SHOWN_AGAIN = 400  # characters of an unreadable answer that the re-ask repeats
_MODE_KINDS = frozenset({"bad_request"})


@dataclass(frozen=True, slots=True)
class Patience:
    """Retries a model, and the pauses between them in seconds."""

    retries: int
    first_s: float
    longest_s: float


@dataclass(frozen=True, slots=True)
class Ask(Generic[Result]):
    """What one model is asked. `answer` reads the reply (its `model_validate_json`) and holds the schema sent;
    `accept` makes the result of it, or raises UnreadableError. `timeout_s`: the client's own, per read; what is left of
    the deadline is kept apart from it.
    """

    spec: ModelSpec
    messages: Sequence[Mapping[str, str]]
    answer: type[BaseModel]
    accept: Callable[[Any], Result]
    key: str | None
    max_tokens: int
    timeout_s: float


@dataclass(slots=True)
class Conversation(Generic[Result]):
    """All calls to one model for one plan; `ends`: when it must be over, by the clock of `limits`."""

    ask: Ask[Result]
    limits: Limits
    ends: float
    patience: Patience
    memory: modes.ModeMemory
    retries_left: int = 0
    tries_in_mode: int = 0
    asked_again: bool = False

    async def answer(self) -> Result:
        """The model's answer. Raises CallError, ReplayMiss; cancellation passes through."""
        self.retries_left = self.patience.retries
        proven, order = self.memory.proven(self.ask.spec), self.memory.order(self.ask.spec)
        for mode in order:
            try:
                found = await self._in_mode(mode, last=mode in (proven, order[-1]))
            except ModeRefusedError as refused:
                if mode == proven:
                    self.memory.forget(self.ask.spec)
                if mode == order[-1]:
                    raise CallError(refused.kind, status=refused.status, cause=refused.cause) from None
            else:
                self.memory.worked(self.ask.spec, mode)
                return found
        raise CallError("invalid_output", cause="no mode")

    async def _in_mode(self, mode: str, *, last: bool) -> Result:
        self.tries_in_mode = 0
        try:
            return await self._patiently(mode, self.ask, last)
        except UnreadableError as problem:
            return await self._again(mode, problem)
        except NoJsonError as problem:
            if not last:
                raise ModeRefusedError("invalid_output", cause="no JSON in the answer") from None
            return await self._again(mode, UnreadableError(str(problem), ""))

    async def _again(self, mode: str, problem: UnreadableError) -> Result:
        if self.asked_again:
            raise CallError("invalid_output", cause=problem.problem)
        self.asked_again = True
        try:
            return await self._patiently(mode, _re_ask(self.ask, problem), last=True)
        except NoJsonError:
            raise CallError("invalid_output", cause="no JSON in the answer") from None
        except UnreadableError as still:
            raise CallError("invalid_output", cause=still.problem) from None

    async def _patiently(self, mode: str, ask: Ask[Result], last: bool) -> Result:
        import tenacity

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(lambda e: isinstance(e, CallError) and e.transient),
            wait=self._pause,
            stop=lambda state: self._enough(state, last),
            sleep=asyncio.sleep,
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    return await self._once(mode, ask)
        except CallError as failed:
            refused = failed.kind in _MODE_KINDS or failed.status == 500
            if refused and not isinstance(failed, ModeRefusedError) and (not last or failed.kind in _MODE_KINDS):
                raise ModeRefusedError(failed.kind, status=failed.status, cause=failed.cause) from None
            raise
        raise AssertionError("tenacity ends with a result or an exception")

    def _pause(self, state: Any) -> float:
        failed: CallError = state.outcome.exception()
        asked = _seconds(failed.retry_after) if failed.retry_after else None
        if asked is not None:
            return asked
        step: float = min(self.patience.first_s * 2 ** (state.attempt_number - 1), self.patience.longest_s)
        return step * random.uniform(0.5, 1.0)

    def _enough(self, state: Any, last: bool) -> bool:
        # some servers answer a mode they lack with 500: once more, then the next mode
        failed: CallError = state.outcome.exception()
        mode_suspected = failed.status == 500 and not last and self.tries_in_mode > 1
        late = self.limits.clock() + state.upcoming_sleep >= self.ends
        if self.retries_left <= 0 or mode_suspected or late:
            return True
        self.retries_left -= 1
        return False

    async def _once(self, mode: str, ask: Ask[Result]) -> Result:
        left = self.ends - self.limits.clock()
        if left <= 0:
            raise CallError("timeout")
        self.limits.spend_request()
        self.tries_in_mode += 1
        return await _call(mode, ask, left, self.limits)


async def _call(mode: str, ask: Ask[Result], left: float, limits: Limits) -> Result:
    replies: list[Any] = []
    hooks = libraries.instructor().hooks.Hooks()
    hooks.on("completion:response", replies.append)
    heard: dict[str, Any] = {}
    try:
        with libraries.quietly():
            # the client's own timeout is per read, so a drip of bytes would outlast it
            async with asyncio.timeout(left):
                found = await _client(mode).create(
                    response_model=ask.answer,
                    max_retries=0,
                    hooks=hooks,
                    logger_fn=heard.update,
                    **_arguments(ask),
                )
    except TimeoutError:
        raise CallError("timeout") from None
    except Exception as error:
        if not replies and (reply := cost.without_usage(heard.get("original_response"))) is not None:
            replies.append(reply)
        if not replies:
            raise classify(error) from None
        limits.meter(*cost.used(replies[-1]))
        return _second_look(replies[-1], ask)
    limits.meter(*cost.used(replies[-1]))
    return _accepted(found, ask)


def _accepted(answer: BaseModel, ask: Ask[Result]) -> Result:
    """The result of an answer; one that repeats the key is dropped, for its words would reach the plan (JDG-3.1)."""
    if ask.key and len(ask.key) >= _KEY_LENGTH and ask.key in repr(answer):
        raise CallError("invalid_answer", cause="it repeats the key")
    return ask.accept(answer)


@lru_cache(maxsize=8)
def _client(mode: str) -> Any:
    return libraries.instructor().from_litellm(libraries.litellm().acompletion, mode=modes.instructor_mode(mode))


def _arguments(ask: Ask[Result]) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": ask.spec.name,
        "messages": list(ask.messages),
        "max_tokens": ask.max_tokens,
        "temperature": 0,
        "timeout": ask.timeout_s,  # the same every time: litellm keeps a client, and its connections, for each value
        "num_retries": 0,  # the only way to silence the provider's client
        "drop_params": True,
    }
    if ask.spec.api_base:
        arguments["api_base"] = ask.spec.api_base
    if ask.key:
        arguments["api_key"] = ask.key
    return arguments


def _second_look(reply: Any, ask: Ask[Result]) -> Result:
    choice = next(iter(getattr(reply, "choices", None) or ()), None)
    if choice is None:
        raise CallError("invalid_answer", cause="no choices") from None
    if choice.finish_reason == "length":
        raise CallError("truncated") from None
    if choice.finish_reason == "content_filter":
        raise CallError("content_filter") from None
    if getattr(choice.message, "refusal", None):
        raise CallError("refusal") from None
    return _read_anywhere(choice.message, ask)


def _read_anywhere(message: Any, ask: Ask[Result]) -> Result:
    # the answer may stand in a tool call, in the text, or in what the model thought aloud
    calls = [call.function.arguments for call in getattr(message, "tool_calls", None) or ()]
    places = [*calls, message.content, getattr(message, "reasoning_content", None)]
    problem: Exception = NoJsonError("there is no JSON object in the answer")
    for text in places:
        if not isinstance(text, str) or not text.strip():
            continue
        try:
            return _accepted(ask.answer.model_validate_json(text), ask)
        except (NoJsonError, UnreadableError) as error:
            problem = problem if isinstance(problem, UnreadableError) else error
    raise problem from None


def _re_ask(ask: Ask[Result], problem: UnreadableError) -> Ask[Result]:
    shown = problem.answer.encode("utf-8", "replace").decode("utf-8")[:_SHOWN_AGAIN]
    text = (
        f"Your answer could not be used: {problem.problem}. Answer again with one JSON object in the shape asked for."
    )
    said = [{"role": "assistant", "content": shown}] if shown.strip() else []
    return replace(ask, messages=[*ask.messages, *said, {"role": "user", "content": text}])


def _seconds(retry_after: str) -> float | None:
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
