"""What may stand in a cassette: headers by an allow-list, no query string, nothing that looks like a key."""

from __future__ import annotations

import json
import os
import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from planner.errors import PlannerError

REQUEST_HEADERS = frozenset({"content-type", "accept"})
RESPONSE_HEADERS = frozenset({"content-type", "retry-after"})
_VOLATILE = {"id": "scrubbed", "created": 0, "system_fingerprint": None}
_KEY_NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_SHORTEST = 8
KEY_SHAPES = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_\-]{16,}"  # OpenAI, Anthropic, OpenRouter, Stripe
    r"|\bAIza[0-9A-Za-z_\-]{30,}|\bya29\.[0-9A-Za-z_\-]{20,}"  # Google
    r"|\b(?:gsk|hf|ghp|gho|ghs|glpat|xox[abprs]|tvly|nvapi|pplx|xai|r8)[-_][A-Za-z0-9_\-]{16,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\."  # JSON web token
    r"|[Bb]earer\s+[A-Za-z0-9._\-]{12,}|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|(?i:x-api-key|api[-_]?key|authorization)['\"]?\s*[:=]\s*['\"]?[A-Za-z0-9._\-]{12,}"
)


class KeyInCassette(PlannerError):  # noqa: N818 - what happened, in the words of the field
    """The recording holds something that looks like a key; nothing was written."""


def request(request: Any) -> Any:
    """The request with allowed headers only and without the query string, where some providers put the key."""
    request.headers = {k: v for k, v in request.headers.items() if k.lower() in REQUEST_HEADERS}
    parts = urlsplit(request.uri)
    request.uri = urlunsplit((parts.scheme, parts.hostname or "", parts.path, "", ""))
    return request


def response(response: dict[str, Any]) -> dict[str, Any]:
    """The response with allowed headers only; ids and times that change from call to call are blanked."""
    headers = {k: v for k, v in response["headers"].items() if k.lower() in RESPONSE_HEADERS}
    body = response["body"].get("string", b"")
    return {**response, "headers": headers, "body": {"string": _settled(body)}}


def refuse_keys(text: str, where: str) -> None:
    """Raises KeyInCassette when `text` holds a value of a key variable, or anything in the shape of a key."""
    values = [v for k, v in os.environ.items() if k.upper().endswith(_KEY_NAMES) and len(v) >= _SHORTEST]
    shape = KEY_SHAPES.search(text)
    if shape or any(value in text for value in values):
        line = text.count("\n", 0, shape.start()) + 1 if shape else None
        place = f" (line {line})" if line else ""
        raise KeyInCassette(f"{where}: refused, it would hold something that looks like a key{place}; nothing written")


def _settled(body: bytes | str) -> bytes | str:
    try:
        value = json.loads(body)
    except ValueError:
        return body
    if not isinstance(value, dict):
        return body
    for name, blank in _VOLATILE.items():
        if name in value:
            value[name] = blank
    return json.dumps(value, ensure_ascii=False).encode()
