"""What is asked of a model, whichever it is: a prompt, how its answer is read, kept, and told apart from others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from planner.prompts import Prompt

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Inquiry(Generic[Result]):
    """`answer` reads the reply and holds the schema sent; `accept` makes the result of it, or raises UnreadableError.

    `asked`: all but the prompt's fixed text that decides the answer, as JSON values, in the form that matching uses.
    `dumped`, `loaded`: the result as text and back, None where another version wrote it. `env` is looked up for keys
    only; `cap_usd`: the most that planning may cost.
    """

    prompt: Prompt
    answer: type[BaseModel]
    accept: Callable[[Any], Result]
    asked: tuple[object, ...]
    dumped: Callable[[Result], str]
    loaded: Callable[[str], Result | None]
    env: Mapping[str, str]
    cap_usd: float | None
