"""`planner explore`: a page that shows plans, and why they are so."""

from __future__ import annotations

import click

from planner.cli.common import catalog_option, note, settings_option

_PORT = 8639


@click.command()
@click.option("--port", type=click.IntRange(0, 65_535), default=_PORT, show_default=True, help="0: any free one.")
@click.option("--open/--no-open", "opens", default=True, help="Open it in the browser.")
@settings_option
@catalog_option
def command(port: int, opens: bool, settings: str | None, catalog: str | None) -> None:
    """Open a page on this machine that shows plans, and why they are so."""
    from planner.server.explorer import explorer_app
    from planner.server.http import Address, listen, read_rules, serve, url_of
    from planner.watching import WatchingPlanner

    planner = WatchingPlanner(catalog=catalog, settings=settings)
    planner.ladders.of(None).warm_up()
    address = Address("127.0.0.1", port)
    rules = read_rules(address, planner.settings.server, {}, ())
    with listen(address) as listening:
        url = url_of(listening, "/")
        serve(explorer_app(planner, rules), listening, lambda: _say(url, opens))


def _say(url: str, opens: bool) -> None:
    note(f"The explorer is at {url} (Ctrl-C ends it)")
    if opens:
        import threading
        import webbrowser

        threading.Timer(0.5, webbrowser.open, [url]).start()
