"""Figures of average rewards with intervals, and of bars, for numbers from any source."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from .figures import add_title, is_narrow, lay_out, literal, new_axes
from .style import FAINT, INK, PAPER, SOFT

WIDTH = 5.5  # inches of new axes
LETTERS, MOST = 28, 140  # letters of a bar's name: in a line, in all


class Value(NamedTuple):
    """An average reward, its interval (`low`, `high`), and perhaps a second interval, drawn thin."""

    name: str
    value: float
    low: float
    high: float
    thin: tuple[float, float] | None = None


class Bar(NamedTuple):
    """A bar, and the text at its end."""

    name: str
    length: float
    text: str


def plot_values(values: Sequence[Value], ax: Any, *, logged: float, title: str, below: str) -> Any:
    """Draw values with intervals, the first at the top, and a line at the average reward of the log itself; return the axes."""
    ax = new_axes(ax, (WIDTH, 1.5 + 0.45 * max(len(values), 2)))
    lay_out(ax)
    for y, each in enumerate(reversed(values)):
        if each.thin is not None:
            ax.plot(each.thin, [y, y], color=INK, linewidth=1.2)
        draw_value(ax, y, each.value, each.low, each.high)
    ax.set_yticks(range(len(values)), [literal(each.name, 36) for each in reversed(values)])
    draw_logged(ax, logged)
    frame_values(ax, len(values), title, below)
    ax.set_ylim(-0.6, len(values) + 0.25)  # the line's name stands above the first value
    return ax


def draw_value(ax: Any, y: int, value: float, low: float, high: float, *, hollow: bool = False) -> None:
    """Draw a value as a mark, with its number, on its interval."""
    ax.plot([low, high], [y, y], color=INK, solid_capstyle="butt", linewidth=3.5, alpha=0.55)
    if not math.isfinite(value):
        return
    marker = "D" if hollow else "o"
    ax.plot([value], [y], marker=marker, color=INK, markersize=7, markerfacecolor=PAPER if hollow else INK)
    size = 6.5 if is_narrow(ax) else "small"
    ax.annotate(f"{value:.4g}", (value, y), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=size)


def draw_logged(ax: Any, logged: float) -> None:
    """Draw the average reward of the log's own policy as a line."""
    ax.axvline(logged, color=SOFT, linewidth=1.0, linestyle=(0, (1, 2)), zorder=0)
    ax.annotate("the log itself", (logged, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -2),
                textcoords="offset points", fontsize=6.5 if is_narrow(ax) else "x-small", color=SOFT, va="top")  # fmt: skip


def frame_values(ax: Any, rows: int, title: str, below: str) -> None:
    """Add titles and a grid to axes of `rows` values."""
    ax.set_title(title, loc="left", fontsize=8 if is_narrow(ax) else "medium", fontweight="bold")
    ax.set_xlabel(below, fontsize=6.5 if is_narrow(ax) else "small", color=SOFT)
    if is_narrow(ax):
        ax.tick_params(labelsize=6.5)
        ax.xaxis.get_major_locator().set_params(nbins=4)
    ax.set_ylim(-0.6, rows - 0.35)
    ax.grid(axis="x", color=FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.margins(x=0.12)


def plot_bars(bars: Sequence[Bar], ax: Any, *, title: str, below: str) -> Any:
    """Draw bars from 0, the first at the top, with a text at the end of each; return the axes."""
    ax = new_axes(ax, (WIDTH, 1.2 + 0.6 * max(len(bars), 2)))
    small = 6.5 if is_narrow(ax) else 8.3
    for y, bar in enumerate(reversed(bars)):
        ax.barh(y, bar.length, height=0.55, color=SOFT)
        ax.annotate(bar.text, (max(bar.length, 0.0), y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=small)
    lengths = [bar.length for bar in bars]
    ax.set(xlim=(min([0.0, *lengths]), 1.5 * max(lengths, default=1.0) or 1.0), ylim=(-0.6, max(len(bars), 1) - 0.4))
    ax.set_xlabel(below)
    add_title(ax, title, loc="left")
    names = ["\n".join(map(literal, textwrap.wrap(bar.name[:MOST], LETTERS))) for bar in reversed(bars)]
    ax.set_yticks(range(len(bars)), names, fontsize=small)
    ax.xaxis.get_major_locator().set_params(nbins=4)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
