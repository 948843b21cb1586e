"""Plots as SVG, drawn for a phone's width and scaled up from there. Colours come from the page's style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 360, 230
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 34
_PLOT_W, _PLOT_H = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
_ROW = 30
_TIMES = (0.1, 0.2, 0.5)  # ticks of each decade


def svg(label: str, body: str, height: float = HEIGHT) -> str:
    """The frame."""
    return f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label)}">{body}</svg>'


def text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    """A label."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> str:
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _mark(shape: str, words: str, query: str | None = None) -> str:
    link = f' data-query="{escape(query)}"' if query is not None else ""
    return f'<g class="mark" data-say="{escape(words)}"{link}>{shape}<title>{escape(words)}</title></g>'


def _dot(x: float, y: float, kind: str) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'


def difference_bars(gaps: Mapping[str, float], a: str, b: str) -> str:
    """A bar a query, from the most for `a` to the most for `b`."""
    rows = sorted(gaps.items(), key=lambda item: -item[1])
    most = max((abs(gap) for gap in gaps.values()), default=0.0) or 1.0
    middle, step = TOP + _PLOT_H / 2, _PLOT_W / max(1, len(rows))
    bars = []
    for at, (query, gap) in enumerate(rows):
        size = max(1.0, abs(gap) / most * _PLOT_H / 2)
        y = middle - size if gap > 0 else middle
        shape = f'<rect class="{"arm0" if gap > 0 else "arm1" if gap < 0 else "even"}" x="{LEFT + at * step:.2f}" '
        shape += f'y="{y:.1f}" width="{max(0.8, step * 0.8):.2f}" height="{size:.1f}"/>'
        bars.append(_mark(shape, f"{query}: {gap:+.3f}", query))
    axis = line(LEFT, middle, WIDTH - RIGHT, middle) + text(LEFT - 4, TOP + 8, f"+{most:.2f}", "end")
    axis += text(LEFT - 4, middle + 4, "0", "end") + text(LEFT - 4, TOP + _PLOT_H, f"−{most:.2f}", "end")
    ends = text(LEFT, HEIGHT - 12, f"better with {a}", "start")
    ends += text(WIDTH - RIGHT, HEIGHT - 12, f"better with {b}", "end")
    return svg(f"Difference of each query, {a} minus {b}", axis + "".join(bars) + ends)


def scatter(points: Mapping[str, tuple[float, float]], a: str, b: str) -> str:
    """A dot a query; on the diagonal both arms score the same. Axes run from 0 to 1 or as far as needed."""
    high = max(1.0, *(value for point in points.values() for value in point)) if points else 1.0

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return LEFT + point[0] / high * _PLOT_W, TOP + _PLOT_H * (1 - point[1] / high)

    corner = place((high, high))
    frame = line(LEFT, TOP + _PLOT_H, WIDTH - RIGHT, TOP + _PLOT_H) + line(LEFT, TOP, LEFT, TOP + _PLOT_H)
    frame += line(*place((0, 0)), *corner, "guide")
    for share in (0, 0.5, 1):
        x, y = place((share * high, share * high))
        frame += text(x, TOP + _PLOT_H + 13, f"{share * high:g}") + text(LEFT - 5, y + 4, f"{share * high:g}", "end")
    frame += text(LEFT + _PLOT_W / 2, HEIGHT - 6, f"{a} →") + text(LEFT + 6, TOP + 8, f"↑ {b}", "start")
    dots = []
    for query, point in points.items():
        x, y = place(point)
        kind = "arm0" if point[0] > point[1] else "arm1" if point[0] < point[1] else "even"
        shape = _dot(x, y, f"dot {kind}")
        dots.append(_mark(shape, f"{query}: {a} {point[0]:.3f}, {b} {point[1]:.3f}", query))
    return svg(f"Scores of {a} and {b}", frame + "".join(dots))


def factor_bars(parts: Mapping[str, Mapping[str, float]]) -> str:
    """A stacked bar an arm: what each factor adds to a pick's score on average."""
    longest = max((sum(max(0.0, v) for v in row.values()) for row in parts.values()), default=0.0) or 1.0
    body = ""
    for at, (arm, row) in enumerate(parts.items()):
        y = TOP + at * (_ROW + 18)
        body += text(LEFT, y + 10, arm, "start")
        x = float(LEFT)
        for name, value in row.items():
            width = max(0.0, value) / longest * _PLOT_W
            if width:
                shape = f'<rect class="f-{name}" x="{x:.1f}" y="{y + 15}" width="{width:.1f}" height="18"/>'
                body += _mark(shape, f"{arm}, {name}: {value:+.3f}")
                x += width
    return svg("What each factor adds to a pick's score", body, TOP + len(parts) * (_ROW + 18))


def latency(times: Mapping[str, Sequence[float]]) -> str:
    """For each arm the share of plans that took at most so long (an empirical distribution), time on a log scale."""
    from math import log10

    known = [max(0.01, value) for row in times.values() for value in row] or [1.0]
    low, high = log10(min(known)) - 0.05, log10(max(known)) + 0.05

    def x(value: float) -> float:
        return LEFT + (log10(max(0.01, value)) - low) / (high - low) * _PLOT_W

    body = line(LEFT, TOP + _PLOT_H, WIDTH - RIGHT, TOP + _PLOT_H) + line(LEFT, TOP, LEFT, TOP + _PLOT_H)
    for share in (0, 0.5, 0.95):
        y = TOP + _PLOT_H * (1 - share)
        body += line(LEFT, y, WIDTH - RIGHT, y, "guide") + text(LEFT - 5, y + 4, f"{share * 100:g} %", "end")
    for tick in _ticks(low, high):
        body += text(x(tick), TOP + _PLOT_H + 13, f"{tick:g}")
    body += text(LEFT + _PLOT_W / 2, HEIGHT - 6, "milliseconds")
    for at, (arm, row) in enumerate(times.items()):
        body += _steps(arm, at, sorted(row), x)
    return svg("Latency", body)


def _ticks(low: float, high: float) -> list[float]:
    from math import floor

    decades = range(floor(low), floor(high) + 2)
    all_ticks = [round(share * 10 ** (d + 1), 6) for d in decades for share in _TIMES]
    inside = [tick for tick in all_ticks if 10**low <= tick <= 10**high]
    return inside if len(inside) <= 6 else [tick for tick in inside if str(tick).strip("0.")[:1] == "1"]


def _steps(arm: str, at: int, row: Sequence[float], place: Callable[[float], float]) -> str:
    points = " ".join(
        f"{place(value):.1f},{TOP + _PLOT_H * (1 - (n + 1) / len(row)):.1f}" for n, value in enumerate(row)
    )
    body = f'<polyline class="line{at % 4}" points="{points}"/>'
    for share in (0.5, 0.95):
        n = min(len(row) - 1, int(share * len(row)))
        shape = _dot(place(row[n]), TOP + _PLOT_H * (1 - (n + 1) / len(row)), f"arm{at % 4}")
        body += _mark(shape, f"{arm}: {share * 100:g} % within {row[n]:.1f} ms")
    return body


def forest(rows: Mapping[str, Mapping[str, float | None]]) -> str:
    """A row a metric: the mean difference and its 95 % interval around 0."""
    known = [abs(v) for row in rows.values() for v in (row["difference"], row["low"], row["high"]) if v is not None]
    most = max(known, default=0.0) or 1.0
    middle, half = WIDTH / 2 + 45, WIDTH / 2 - 60
    bottom = TOP + len(rows) * _ROW
    body = line(middle, TOP, middle, bottom) + text(middle, bottom + 14, "0")
    body += text(middle - half, bottom + 14, f"−{most:.3f}") + text(WIDTH - 2, bottom + 14, f"+{most:.3f}", "end")
    for at, (name, row) in enumerate(rows.items()):
        y = TOP + at * _ROW + _ROW / 2
        body += text(4, y + 4, name, "start")
        gap = row["difference"]
        if gap is None:
            continue
        shape, words = "", f"{name}: {gap:+.3f}"
        if row["low"] is not None and row["high"] is not None:
            shape = line(middle + row["low"] / most * half, y, middle + row["high"] / most * half, y, "whisker")
            words += f", 95 % {row['low']:+.3f} to {row['high']:+.3f}"
        shape += _dot(middle + gap / most * half, y, "arm0" if gap > 0 else "arm1")
        body += _mark(shape, words)
    return svg("Mean differences", body, bottom + 22)
