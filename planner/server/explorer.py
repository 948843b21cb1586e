"""The plan explorer: one page on loopback, and the two calls it makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from planner.channels.model import Count, Dollars, Languages, Mode, Recency
from planner.errors import InputError, PlannerError
from planner.intake import read_question
from planner.pipeline import Planner
from planner.routes import explain_route
from planner.server import judging
from planner.server.arguments import JudgeName, Names, Strict
from planner.server.guard import HEALTH, Guard, Rules
from planner.server.http import health
from planner.server.strict import problem, unknown

_PAGE = Path(__file__).parent / "page"
_FILES = {"/": "index.html", "/app.css": "app.css", "/app.js": "app.js"}
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Ask(Strict):
    """What the page asks: a question, its scope, and who judges."""

    query: str
    mode: Mode = "fast"
    languages: Languages = "all"
    recency: Recency = "any"
    channel_priority: Names = Field(default_factory=list)
    channel_skip: Names = Field(default_factory=list)
    max_channels: Count | None = None
    max_groups: Count | None = None
    max_cost_usd: Dollars | None = None
    budget_limit: Annotated[Count | None, Field(description="Searches, 1 to 1,000")] = None
    judge: JudgeName = "heuristic"

    def selection(self) -> dict[str, Any]:
        """The arguments of `Planner.aselect`."""
        return {
            "query": self.query,
            "clarify_result": self.model_dump(include={"mode", "channel_priority", "channel_skip"}),
            "scope": {
                "languages": self.languages,
                "recency": self.recency,
                "budget": self.model_dump(include={"max_channels", "max_groups", "max_cost_usd"}),
            },
            "judge": self.judge,
        }


class Explorer:
    """The page's calls over one planner."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner

    def about(self) -> dict[str, Any]:
        """What the page needs once: names, weights, and whether there is a model to compare with."""
        settings, catalog = self.planner.settings.selection, self.planner.catalog
        return {
            "catalog_version": catalog.version,
            "channels": [leaf.channel for leaf in catalog.leaves if leaf.is_channel],
            "groups": {group.name: group.description for group in catalog.groups},
            "weights": {"group": settings.group_weights.model_dump(), "leaf": settings.leaf_weights.model_dump()},
            "targets": settings.targets.model_dump(),
            "ceilings": {"channels": settings.max_channels, "groups": settings.max_groups},
            "has_model": self.planner.ladders.asks_models("auto"),
        }

    async def plan(self, ask: Ask) -> dict[str, Any]:
        """Both plans of a question, each whole. Raises InputError."""
        channels = await judging.select(self.planner, _silent, ask.selection())
        reading = read_question(ask.query, {"budget_limit": ask.budget_limit})
        routed = explain_route(reading.request, settings=self.planner.settings, env=self.planner.env)
        return {
            "channels": channels.model_dump(mode="json"),
            "request": reading.request,
            "sources": routed.plan.model_dump(mode="json"),
        }


async def _silent(_seconds: float, _total: None, _message: str) -> None:
    return None


def read_ask(raw: bytes) -> Ask:
    """The page's question. Raises InputError that names the field."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise InputError("body", raw[:40], "a JSON object") from None
    if not isinstance(value, dict):
        raise InputError("body", value, "a JSON object")
    known = list(Ask.model_fields)
    if strange := next((key for key in value if key not in known), None):
        raise InputError(strange, value[strange], unknown(strange, known))
    try:
        return Ask.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        _, _, accepted = problem(first).partition("; accepted: ")
        raise InputError(".".join(map(str, first["loc"])), first["input"], accepted or "a value") from None


def explorer_app(planner: Planner, rules: Rules) -> Guard:
    """The guarded application (rules EXP-1.1 to EXP-1.4)."""
    explorer = Explorer(planner)

    async def file(request: Request) -> Response:
        return FileResponse(_PAGE / _FILES[request.url.path], headers=_HEADERS)

    async def about(_request: Request) -> Response:
        return JSONResponse(explorer.about(), headers=_HEADERS)

    async def plan(request: Request) -> Response:
        try:
            # a form of another site can send text, but not JSON
            if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                raise InputError("content-type", request.headers.get("content-type"), "application/json")
            return JSONResponse(await explorer.plan(read_ask(await request.body())), headers=_HEADERS)
        except InputError as error:
            told = {"field": error.field, "given": error.given, "accepted": error.accepted}
            return JSONResponse({"error": told}, status_code=400, headers=_HEADERS)
        except PlannerError as error:
            return JSONResponse({"error": {"message": str(error)}}, status_code=500, headers=_HEADERS)

    routes = [
        *(Route(path, file) for path in _FILES),
        Route("/api/about", about),
        Route("/api/plan", plan, methods=["POST"]),
        Route(HEALTH, health),
    ]
    return Guard(Starlette(routes=routes), rules)
