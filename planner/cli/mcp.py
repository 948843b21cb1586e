"""`planner mcp`: serve the planner to agents."""

from __future__ import annotations

import os

import click

from planner.cli.common import catalog_option, note, settings_option


@click.command()
@click.option("--http", metavar="HOST:PORT", help="Streamable HTTP instead of standard input and output.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name clients reach it by over HTTP; repeatable.")
@settings_option
@catalog_option
def command(http: str | None, allow_host: tuple[str, ...], settings: str | None, catalog: str | None) -> None:
    """Serve the planner over MCP: on standard input and output, or over HTTP.

    Over HTTP it listens on loopback; any other address needs a token in PLANNER_HTTP_TOKEN.
    """
    if http is None:
        _serve_stdio(settings, catalog)
    else:
        _serve_http(http, allow_host, settings, catalog)


def _serve_stdio(settings: str | None, catalog: str | None) -> None:
    from planner.server.stdio import claim_wire, serve_stdio

    wire = claim_wire()  # before the imports below
    from planner.server.mcp import build_server
    from planner.watching import WatchingPlanner

    serve_stdio(build_server(WatchingPlanner(catalog=catalog, settings=settings)), wire)


def _serve_http(http: str, names: tuple[str, ...], settings: str | None, catalog: str | None) -> None:
    from planner.server.http import listen, mcp_app, read_address, read_rules, serve, url_of
    from planner.server.mcp import build_server
    from planner.watching import WatchingPlanner

    planner = WatchingPlanner(catalog=catalog, settings=settings)
    address = read_address(http)
    rules = read_rules(address, planner.settings.server, os.environ, names)
    with listen(address) as listening:
        serve(mcp_app(build_server(planner), rules), listening, lambda: note(f"MCP at {url_of(listening, '/mcp')}"))
