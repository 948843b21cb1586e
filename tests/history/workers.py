"""Run in processes of their own by the tests of recording at once and of being killed."""

import sys
from contextlib import closing
from pathlib import Path

from planner.catalog.loader import load_catalog
from planner.history.history import History
from planner.paths import shipped
from planner.settings import load_settings

CHANNELS = ("zhihu", "arxiv", "ddgs", "reddit", "v2ex")


def open_history(url, folder):
    settings = load_settings({"history": {"store": url}}, {})
    catalog = load_catalog(shipped("skills"))
    return closing(History(settings.history, Path(folder), lambda: catalog))


def record_many(url, folder, name, number):
    """`number` events, one a call; every fifth session finds something."""
    with open_history(url, folder) as history:
        for n in range(number):
            history.record(
                [{"channel": CHANNELS[n % 5], "results": int(n % 25 == 0)}], session=f"{name}-{n // 5}-{n % 5}"
            )


def record_until_killed(url, folder, name):
    """Says each event on a line once it is acknowledged, for ever."""
    with open_history(url, folder) as history:
        n = 0
        while True:
            session = f"{name}-{n}"
            history.record([{"channel": "zhihu", "results": 0}, {"channel": "arxiv", "results": 1}], session=session)
            sys.stdout.write(f"{session}\n")
            sys.stdout.flush()
            n += 1


if __name__ == "__main__":
    record_until_killed(sys.argv[1] or None, *sys.argv[2:])
