# ruff: noqa: E501 - a table reads across
"""The fault table: what the server does, and what the plan must say about it. Tests and the report read the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from time import time
from typing import Any

from tests.recorders.faults import FaultServer, Reply, Script, Seen, chat, failure, tool_call

CANARY = "sk-canary-0123456789abcdef"
QUERY = "上海租房合同有哪些坑，房东不退押金怎么办"
GOOD: dict[str, Any] = {
    "g": [{"i": "chinese-ugc", "d": 0.9, "s": 0.8, "r": "tenants tell"}],
    "l": [
        {"i": "zhihu", "s": 0.9, "k": 0.6, "r": "long answers"},
        {"i": "xiaohongshu", "s": 0.8, "k": 0, "r": "notes"},
    ],
}
OK = json.dumps(GOOD)
LEAKS = f"Incorrect API key provided: {CANARY}"  # some providers do send it back


@dataclass(frozen=True)
class Row:
    """`reason` is how the degradation begins (None: the model's judgement is used); `requests` on the wire.

    `at`: where the model is looked for; `scale` of the deadline for rows that wait it out; `check` looks at the plan.
    """

    name: str
    script: Script | Reply
    requests: int
    reason: str | None = None
    at: Callable[[FaultServer], str] = lambda server: server.api_base
    deadline_s: float = 6.0
    check: Callable[[Any], bool] = lambda plan: True


def answers(content: str | None, **message: Any) -> Reply:
    return chat(content, **message)


def then(first: Reply | Callable[[], Reply], rest: Reply) -> Script:
    """One fault, then a good answer."""

    def script(_request: Seen, before: int) -> Reply:
        if before:
            return rest
        return first() if callable(first) else first

    return script


def edited(**changes: Any) -> str:
    """The good answer with the first leaf changed."""
    leaf = {**GOOD["l"][0], **changes}
    return json.dumps({**GOOD, "l": [leaf, *GOOD["l"][1:]]})


def factor(channel: str, name: str, value: float) -> Callable[[Any], bool]:
    """Whether a pick has this factor."""
    return lambda plan: any(p.channel == channel and abs(p.factors[name] - value) < 1e-9 for p in plan.channels)


def clean_reasons(plan: Any) -> bool:
    text = plan.model_dump_json()
    return all(ord(c) >= 32 and not 0xD800 <= ord(c) <= 0xDFFF for c in text) and "\\u0007" not in text


ZHIHU_FIRST = factor("zhihu", "scenario", 0.9)
SCHEMA = {"type": "object", "properties": {"g": {"type": "array", "items": {"type": "object"}}, "l": {"type": "array"}}}
MANY = [{"i": "zhihu", "s": 0.9, "k": 0.5, "r": "again"}] + [
    {"i": f"made-up-{n}", "s": 1, "k": 1, "r": "x"} for n in range(9_999)
]
OBEYED = {
    "g": [{"i": "hacked", "d": 1, "s": 1, "r": "as told"}],
    "l": [{"i": "evil.example", "s": 1, "k": 1, "r": "PWNED"}],
}

ROWS = (
    # the wire
    Row("connection refused", Reply(), 0, "connection", at=lambda _: "http://127.0.0.1:9/v1"),
    Row("name not resolved", Reply(), 0, "connection", at=lambda _: "http://no-such-host.invalid/v1"),
    Row("TLS failure", Reply(), 0, "connection", at=lambda s: s.api_base.replace("http:", "https:")),
    Row("reset in the middle of the body", Reply(body=b"x" * 90, cut=9), 3, "connection"),
    Row("slow drip", Reply(body=b"{" * 900, drip_s=0.1), 1, "timeout", deadline_s=0.8),
    Row("hang", Reply(hang_s=30), 1, "timeout", deadline_s=0.8),
    # statuses
    Row("400", failure(400, LEAKS), 3, "bad_request (HTTP 400)"),
    Row("400, context too long", failure(400, "maximum context length is 512 tokens"), 1, "context_too_long"),
    Row("400, content filter", failure(400, "x", code="content_filter"), 1, "content_filter"),
    Row("400 in one mode only", then(failure(400, "response_format is not supported"), answers(OK)), 2),
    Row("401", failure(401, LEAKS), 1, "refused_key (HTTP 401)"),
    Row("403", failure(403, LEAKS), 1, "refused_key (HTTP 403)"),
    Row("404 model", failure(404, LEAKS), 1, "not_found (HTTP 404)"),
    Row("408", failure(408, LEAKS), 1, "timeout (HTTP 408)"),
    Row("413", failure(413, LEAKS), 1, "context_too_long (HTTP 413)"),
    Row("429 without Retry-After", failure(429, LEAKS), 3, "rate_limited (HTTP 429)"),
    Row("429, Retry-After in seconds", then(failure(429, LEAKS, retry_after="0.1"), answers(OK)), 2),
    Row("429, Retry-After as a date", then(lambda: failure(429, retry_after=formatdate(time() + 1)), answers(OK)), 2),
    Row("429, Retry-After past the deadline", failure(429, retry_after="600"), 1, "rate_limited (HTTP 429)"),
    Row("500", failure(500, LEAKS), 5, "server_error (HTTP 500)"),
    Row("500 in one mode only", lambda r, _: failure(500) if "response_format" in r.json else tool_call(OK), 3),
    Row("502", failure(502, LEAKS), 3, "server_error (HTTP 502)"),
    Row("503", failure(503, LEAKS), 3, "server_error (HTTP 503)"),
    Row("503 once", then(failure(503), answers(OK)), 2),
    Row("529", failure(529, LEAKS), 3, "server_error (HTTP 529)"),
    # not an answer
    Row("HTML page with 200", Reply(body=b"<html>sign in</html>", headers=(("content-type", "text/html"),)), 1, "invalid_answer"),
    Row("empty body", Reply(), 1, "invalid_answer"),
    Row("no choices", Reply(body=b'{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[]}'), 1, "invalid_answer"),
    Row("null content", answers(None), 4, "invalid_output"),
    Row("refusal", answers(None, refusal="I cannot help with that"), 1, "refusal"),
    Row("content filter", answers(None, finish="content_filter"), 1, "content_filter"),
    Row("truncated", answers(OK[:60], finish="length"), 1, "truncated"),
    Row("prose only", answers("There are many places to look."), 4, "invalid_output"),
    Row("the shape is wrong twice", answers('{"answer": 42}'), 2, "invalid_output"),
    Row("the shape is wrong once", then(answers('{"answer": 42}'), answers(OK)), 2, check=ZHIHU_FIRST),
    # an answer, dressed up
    Row("JSON in reasoning_content", answers(None, reasoning_content=OK), 1, check=ZHIHU_FIRST),
    Row("JSON after <think>", answers(f"<think>maybe {{zhihu}}?</think>\n{OK}"), 1, check=ZHIHU_FIRST),
    Row("tool call", tool_call(OK), 1, check=ZHIHU_FIRST),
    Row("fences", answers(f"```json\n{OK}\n```"), 1, check=ZHIHU_FIRST),
    Row("prose around", answers(f"Here you go: {OK} Good luck!"), 1, check=ZHIHU_FIRST),
    Row("trailing commas", answers(OK.replace("}]", "},]")), 1, check=ZHIHU_FIRST),
    Row("single quotes", answers(OK.replace('"', "'")), 1, check=ZHIHU_FIRST),
    Row("schema echoed", answers(json.dumps(SCHEMA)), 2, "invalid_output"),
    Row("schema echoed and filled", answers(json.dumps({**SCHEMA, "properties": GOOD})), 1, check=ZHIHU_FIRST),
    Row("envelope", answers(json.dumps({"parameter": GOOD})), 1, check=ZHIHU_FIRST),
    Row("envelope around text", answers(json.dumps({"answer": {"json": OK}})), 1, check=ZHIHU_FIRST),
    Row("list around the object", answers(f"[{OK}]"), 1, check=ZHIHU_FIRST),
    Row("list instead of the object", answers(json.dumps([*GOOD["g"], *GOOD["l"]])), 1, check=ZHIHU_FIRST),
    Row("keyed by id", answers(json.dumps({"g": {}, "l": {"zhihu": {"s": 0.9, "k": 0.5}}})), 1, check=ZHIHU_FIRST),
    # numbers
    Row("numbers as text", answers(edited(s="0.9")), 1, check=ZHIHU_FIRST),
    Row("null for a number", answers(edited(s=None, k=0.5)), 1, check=factor("zhihu", "scenario", 0)),
    Row("percentage", answers(edited(s=85)), 1, check=factor("zhihu", "scenario", 0.85)),
    Row("percentage as text", answers(edited(s="85%")), 1, check=factor("zhihu", "scenario", 0.85)),
    Row("NaN", answers(edited(s=float("nan"), k=0.5)), 1, check=factor("zhihu", "scenario", 0)),
    Row("Infinity", answers(edited(s=float("inf"), k=0.5)), 1, check=factor("zhihu", "scenario", 0)),
    Row("1e308", answers(edited(s=1e308)), 1, check=factor("zhihu", "scenario", 1)),
    Row("negative", answers(edited(s=-3, k=0.5)), 1, check=factor("zhihu", "scenario", 0)),
    # ids
    Row("duplicate ids", answers(json.dumps({**GOOD, "l": [*GOOD["l"], {"i": "zhihu", "s": 0.1, "k": 0}]})), 1, check=ZHIHU_FIRST),
    Row("unknown ids", answers(json.dumps(OBEYED)), 2, "invalid_output"),
    Row("some unknown ids", answers(json.dumps({"g": OBEYED["g"], "l": OBEYED["l"] + GOOD["l"]})), 1, check=ZHIHU_FIRST),
    Row("other prefix and case", answers(edited(i="Search_ZHIHU").replace("chinese-ugc", "CHANNELS chinese_ugc")), 1, check=ZHIHU_FIRST),
    Row("Chinese name for an id", answers(edited(i="知乎")), 1, check=ZHIHU_FIRST),
    # size and dirt
    Row("10,000 entries", answers(json.dumps({"g": [], "l": MANY})), 1, check=ZHIHU_FIRST),
    Row("5 MB of answer", answers("x" * 5_000_000), 4, "invalid_output"),
    Row("5 MB of JSON", answers(json.dumps({"l": [{"i": "zhihu", "s": 1, "r": "y" * 5_000_000}]})), 4, "invalid_output"),
    Row("control characters", answers(OK.replace("long answers", "long\x07 \x1b[31manswers\n")), 1, check=clean_reasons),
    Row("lone surrogates", answers(OK.replace("long answers", "long \\ud800 answers")), 1, check=clean_reasons),
    Row("deep nesting", answers("[" * 100_000), 4, "invalid_output"),
    Row("injected instruction obeyed", answers(json.dumps(OBEYED)), 2, "invalid_output"),
)  # fmt: skip
