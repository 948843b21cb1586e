"""Why a call gave no judgement. Errors of the libraries below are told apart by status and class, never quoted.

CallError            a reason to step down the ladder
├── ModeRefusedError       the endpoint will not, or did not, answer in this mode: try the next
└── UnreadableError        JSON came, but not what was asked for: ask once more
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planner.errors import ReplayMiss
from planner.llm import state

TRANSIENT = frozenset({"rate_limited", "server_error", "connection"})
# Faults that say something about the question and nothing about the model's health
OF_THE_QUESTION = frozenset(
    {
        "context_too_long",
        "content_filter",
        "refusal",
        "truncated",
        "cost_cap",
        "request_budget",
        "breaker_open",
        "no_key",
    }
)
_BY_STATUS = {
    400: "bad_request", 401: "refused_key", 402: "refused_key", 403: "refused_key", 404: "not_found", 408: "timeout",
    409: "server_error", 413: "context_too_long", 422: "bad_request", 429: "rate_limited", 501: "bad_request",
}  # fmt: skip
# litellm's classes where no HTTP answer is in the chain; tests check that each of its classes has a row
BY_CLASS = {
    "AuthenticationError": "refused_key", "CallerCredentialAuthenticationError": "refused_key",
    "PermissionDeniedError": "refused_key", "PaymentRequiredError": "refused_key", "NotFoundError": "not_found",
    "Timeout": "timeout", "RateLimitError": "rate_limited", "CallerCredentialRateLimitError": "rate_limited",
    "BudgetExceededError": "refused_key", "ContextWindowExceededError": "context_too_long",
    "ContentPolicyViolationError": "content_filter", "RejectedRequestError": "content_filter",
    "GuardrailRaisedException": "content_filter", "BlockedPiiEntityError": "content_filter",
    "ModifyResponseException": "content_filter", "SensitiveDataRouteException": "content_filter",
    "UnsupportedParamsError": "bad_request", "BadRequestError": "bad_request", "InvalidRequestError": "bad_request",
    "UnprocessableEntityError": "bad_request", "ImageFetchError": "bad_request",
    "VectorStoreSearchError": "bad_request",
    "MalformedRequestFieldError": "bad_request", "UnsupportedEndpointError": "bad_request",
    "EndpointNotSupportedByModelError": "bad_request", "ModelNotMappedError": "bad_request",
    "LiteLLMUnknownProvider": "unknown_provider", "ServiceUnavailableError": "server_error",
    "BadGatewayError": "server_error", "APIConnectionError": "connection", "MidStreamFallbackError": "connection",
    "InternalServerError": "invalid_answer", "APIError": "invalid_answer",
    "APIResponseValidationError": "invalid_answer",
    "JSONSchemaValidationError": "invalid_answer", "OpenAIError": "invalid_answer", "MockException": "invalid_answer",
}  # fmt: skip
_TIMEOUTS = frozenset({"ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "TimeoutError"})
_CONNECTION = frozenset(
    {"ConnectError", "ReadError", "WriteError", "CloseError", "RemoteProtocolError", "LocalProtocolError"}
    | {"gaierror", "SSLError"}
)
_MARKS = (  # what providers say of a 400 that is not about the mode; read, never shown
    ("content_filter", ("content_filter", "content management policy", "content policy", "responsibleai")),
    (
        "context_too_long",
        ("context length", "context_length", "context window", "too many tokens", "prompt is too long"),
    ),
    ("refused_key", ("api key not valid", "api_key_invalid", "invalid api key")),
    ("not_found", ("model not found", "model_not_found", "does not exist")),
)


class CallError(Exception):
    """`kind` is one word of the fault table; `status` the HTTP status if there was one; `retry_after` in seconds."""

    def __init__(
        self, kind: str, *, status: int | None = None, cause: str = "", retry_after: str | None = None
    ) -> None:
        self.kind, self.status, self.cause, self.retry_after = kind, status, cause, retry_after
        super().__init__(self.reason)

    @property
    def reason(self) -> str:
        """The fault in words that hold nothing of the provider's."""
        parts = [f"HTTP {self.status}" if self.status else "", self.cause]
        detail = ", ".join(part for part in parts if part)
        return f"{self.kind} ({detail})" if detail else self.kind

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed a moment later."""
        return self.kind in TRANSIENT


class ModeRefusedError(CallError):
    """The endpoint does not answer in the mode in use."""


class UnreadableError(CallError):
    """The answer holds JSON of another shape; `answer` is its text, `problem` what is wrong, both for the re-ask."""

    def __init__(self, problem: str, answer: str) -> None:
        super().__init__("invalid_output", cause=problem)
        self.problem, self.answer = problem, answer


def classify(error: BaseException) -> CallError:
    """The fault behind whatever litellm and instructor raised. Raises ReplayMiss when a recording was missing."""
    links = list(_chain(error))
    _raise_replay_miss(links)
    names = [type(link).__name__ for link in links]
    known = next((name for name in names if name in BY_CLASS), names[0])
    answer = _http_answer(links)
    if answer is not None and answer.status_code >= 400:
        kind = _kind_of_status(answer.status_code, known, f"{error} {_body(answer)}"[:8000].lower())
        return CallError(kind, status=answer.status_code, retry_after=answer.headers.get("retry-after"))
    if any(name in _TIMEOUTS for name in names):
        return CallError("timeout")
    if state.keyless() and any(name in _CONNECTION for name in names):
        raise ReplayMiss("a model call tried to connect while recordings are replayed")
    if any(name in _CONNECTION for name in names):
        return CallError("connection", cause=_connection_cause(names))
    kind = BY_CLASS.get(known, "invalid_answer")
    return CallError(kind, cause="no completion in it" if kind == "invalid_answer" and known in BY_CLASS else known)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        link = todo.pop(0)
        if link is not None and id(link) not in seen:
            seen.add(id(link))
            yield link
            todo += [link.__cause__, link.__context__]


def _raise_replay_miss(links: list[BaseException]) -> None:
    for link in links:
        if isinstance(link, ReplayMiss):
            raise link
        if type(link).__name__ == "CannotOverwriteExistingCassetteException":
            raise ReplayMiss("no recorded answer fits this request; record it again") from None


def _http_answer(links: list[BaseException]) -> Any:
    found = (getattr(link, "response", None) for link in links if type(link).__name__ == "HTTPStatusError")
    return next((answer for answer in found if answer is not None), None)


def _body(answer: Any) -> str:
    try:
        return str(answer.text)
    except Exception:  # a body that was never read
        return ""


def _kind_of_status(status: int, name: str, text: str) -> str:
    if status in (400, 422):
        marked = next((kind for kind, marks in _MARKS if any(mark in text for mark in marks)), None)
        by_class = BY_CLASS.get(name)
        special = by_class if by_class in ("context_too_long", "content_filter") else None
        return special or marked or "bad_request"
    return _BY_STATUS.get(status, "server_error" if status >= 500 else "bad_request")


def _connection_cause(names: list[str]) -> str:
    causes = {
        "gaierror": "name not resolved", "ConnectionRefusedError": "refused", "SSLError": "TLS",
        "SSLCertVerificationError": "TLS", "ConnectionResetError": "reset", "RemoteProtocolError": "cut",
    }  # fmt: skip
    return next((cause for name, cause in causes.items() if name in names), "")
