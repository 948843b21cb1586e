"""The explorer in this process, on a free port, and doubles of the planner for it."""

import os
import threading
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from planner.channels.model import JudgeInfo
from planner.pipeline import Planner
from planner.server.explorer import explorer_app
from planner.server.http import Address, listen, read_rules


class TwoJudges(Planner):
    """A planner with a model that thinks as the heuristic does, but skips its first pick."""

    def __init__(self, env):
        super().__init__(settings={"llm": {"standard": {"model": "scripted/judge"}}}, env=env)

    async def aselect(self, query, clarify_result=None, scope=None, **options):
        judge = options.pop("judge", None)
        if judge == "standard":
            first = await super().aselect(query, clarify_result, scope, judge="heuristic", **options)
            skip = {**(clarify_result or {}), "channel_skip": [first.channels[0].channel]}
            plan = await super().aselect(query, skip, scope, judge="heuristic", **options)
            return plan.model_copy(update={"judge": JudgeInfo(tier="standard", model="scripted/judge")})
        return await super().aselect(query, clarify_result, scope, judge=judge, **options)


@contextmanager
def explorer(planner):
    """The address of a running explorer, and what stops it."""
    address = Address("127.0.0.1", 0)
    app = explorer_app(planner, read_rules(address, planner.settings.server, {}, ()))
    listening = listen(address)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()

    def stop():
        server.should_exit = True
        thread.join(10)

    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", stop
    finally:
        stop()
        listening.close()


def child_env(env):
    """The environment of a process of its own: no key, no model, no state of this machine."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    ours = {name: env[name] for name in env if name.startswith(("HOME", "PLANNER_", "XDG_", "PYTHON", "LC_"))}
    return {**kept, **ours, "PYTHONPATH": str(Path.cwd())}
