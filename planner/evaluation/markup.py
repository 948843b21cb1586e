"""Pieces of HTML. Every number carries its place in the JSON, so that a reader (and a test) can look it up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from planner.evaluation import wording

Form = Callable[[Any], str]


class Numbers:
    """Numbers of a report by their JSON pointer (RFC 6901)."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report

    def look_up(self, *path: str | int) -> Any:
        """The value at a path."""
        value: Any = self.report
        for step in path:
            value = value[step]
        return value

    def at(self, *path: str | int, form: Form = wording.number) -> str:
        """The number at a path, formatted, with its exact value and its pointer."""
        value = self.look_up(*path)
        if value is None:
            return escape(form(None))
        return f'<data value="{value!r}" data-at="{pointer(path)}">{escape(form(value))}</data>'

    def interval(self, *path: str | int) -> str:
        """Both ends of an interval."""
        row = self.look_up(*path)
        if row["low"] is None:
            return wording.NOTHING
        form = wording.signed if "difference" in row else wording.number
        return f'<span class="keep">{self.at(*path, "low", form=form)} to {self.at(*path, "high", form=form)}</span>'


def pointer(path: Sequence[str | int]) -> str:
    """A JSON pointer, safe inside an attribute."""
    return escape("".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path))


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table of ready-made cells; the first column names the row. It scrolls by itself where the page is narrow."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>' for row in rows
    )
    label = escape(caption)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="{kind}">'
        f"<caption>{label}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def section(name: str, title: str, *parts: str) -> str:
    """A part of the page that can be linked to."""
    heading = f'<h2 id="{name}-h">{escape(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-h">{heading}{"".join(parts)}</section>'


def figure(title: str, drawing: str, note: str = "") -> str:
    """A plot with its title and a line that says what the mark in focus is; arrow keys move between marks."""
    more = f"<p class='small'>{note}</p>" if note else ""
    return (
        f'<figure class="chart" tabindex="0" aria-label="{escape(title)}. Arrow keys move between marks.">'
        f'<figcaption>{escape(title)}</figcaption>{drawing}<p class="readout" aria-live="polite"></p>{more}</figure>'
    )


def grid(parts: Iterable[str]) -> str:
    """Parts beside each other where there is room."""
    return f'<div class="grid">{"".join(parts)}</div>'
