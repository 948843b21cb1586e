"""litellm and instructor, loaded once, offline, quiet. The import takes seconds: warm it in the background."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType

_LOGGERS = (
    "LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "instructor", "instructor.v2.retry", "openai._base_client",
    "httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy",
)  # fmt: skip
_calling: ContextVar[bool] = ContextVar("planner_calling", default=False)
_lock = threading.Lock()
_loaded: list[ModuleType] = []


def loaded() -> bool:
    """Whether the libraries are there already."""
    return bool(_loaded)


def load() -> float:
    """Import and configure the libraries; milliseconds it took, 0 when they were there."""
    if _loaded:
        return 0.0
    began = time.perf_counter()
    with _lock:
        if not _loaded:
            _loaded.extend(_import())
    return (time.perf_counter() - began) * 1000


def litellm() -> ModuleType:
    """litellm, configured."""
    load()
    return _loaded[0]


def instructor() -> ModuleType:
    """instructor."""
    load()
    return _loaded[1]


def warm_up() -> threading.Thread:
    """Load in the background; join the thread to wait."""
    thread = threading.Thread(target=load, name="planner-warm-up", daemon=True)
    thread.start()
    return thread


async def close_clients() -> None:
    """Close the connections that litellm keeps open; call it on the loop that the calls were made on."""
    if not _loaded:
        return
    import asyncio  # already there when this runs; planning without a model does without

    cache = _loaded[0].in_memory_llm_clients_cache
    for client in list(cache.cache_dict.values()):
        if callable(close := getattr(client, "close", None)) and asyncio.iscoroutine(closing := close()):
            await closing
    cache.flush_cache()


def _import() -> tuple[ModuleType, ModuleType]:
    # before the import: no fetch of the price table, no .env from above site-packages
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    # a field name of litellm's models that the newer pydantic dislikes; some are built at the first call
    warnings.filterwarnings("ignore", message=".*ReadOnly.*", category=UserWarning)
    # what it says of token counts that are none: they are taken for unknown
    warnings.filterwarnings(
        "ignore", message=r"(?s)Pydantic serializer.*(_tokens|CompletionUsage)", category=UserWarning
    )
    import instructor as instructor_module
    import litellm as litellm_module
    import tenacity  # noqa: F401 - part of the warm-up

    instructor_module.from_litellm(litellm_module.acompletion)
    litellm_module.disable_aiohttp_transport = True
    litellm_module.suppress_debug_info = True
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.addFilter(_quiet)
        for handler in logger.handlers:
            if isinstance(handler, logging.StreamHandler):
                handler.setStream(sys.stderr)  # stdout belongs to results
    return litellm_module, instructor_module


def _quiet(_record: logging.LogRecord) -> bool:
    # they log the provider's raw text and the address, in which keys have been seen; our own words are in the plan
    return not _calling.get()


def calling() -> bool:
    """Whether this runs inside a model call of ours."""
    return _calling.get()


@contextmanager
def quietly() -> Iterator[None]:
    """A stretch in which the libraries log nothing; calls of others in the same process are not touched."""
    token = _calling.set(True)
    try:
        yield
    finally:
        _calling.reset(token)
