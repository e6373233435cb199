"""All tables at a glance, and how the average loss falls during a pass. Colours are readable on white and on black."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hsb.plotting.style import Look, look

from .summary import POINTS, Line, Summary
from .tables import halves

INK, FAINT, GREY = "#7d8590", "#7d859033", "#8b949ea0"  # readable on white and on black
SHIFTS = (0.0, 0.16, -0.16)  # up or down, so that equal losses do not hide each other


def _canvas(width: float, height: float) -> tuple[Any, Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "hsb", "font.family": "sans-serif", "font.size": 9})
    for what in ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"):
        pyplot.rcParams[what] = INK
    figure, axis = pyplot.subplots(figsize=(width, height), constrained_layout=True)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.tick_params(length=0)
    return pyplot, figure, axis


def heroes(summary: Summary) -> list[tuple[Line, str, str, str]]:
    """Those that are drawn in colour: line, colour, marker, words. hsb's default first."""
    own = _look("HSB")
    found = [(summary.ours, own.colour, own.marker, "HSB default")]
    for linear, name in ((False, "VW"), (True, "LinUCB")):
        line, drawn = summary.best_of(linear=linear), _look(name)
        if line is not None:
            found.append((line, drawn.colour, drawn.marker, f"{line.rival.name}, best single setting"))
    return found


def _look(name: str) -> Look:
    found = look(name)
    assert found is not None
    return found


def dots(summary: Summary, paths: list[Path]) -> None:
    """A row a table, the hardest for hsb's default on top; the tables that only report have a dot before their name."""
    ours = summary.ours.best
    tables = sorted((table for table in summary.tables if table in ours.losses), key=ours.loss)
    reporting = halves(summary.everything)[1]
    pyplot, figure, axis = _canvas(8.2, 1.5 + 0.205 * len(tables))
    rows = np.arange(len(tables))
    for row in rows[::2]:
        axis.axhspan(row - 0.5, row + 0.5, color=INK, linewidth=0, alpha=0.09)
    chosen = heroes(summary)
    coloured = [line.rival.name for line, *_ in chosen]
    for line in summary.lines:
        if line.rival.name not in coloured:
            have = [(line.best.loss(table), row) for row, table in enumerate(tables) if table in line.best.losses]
            axis.plot(*zip(*have, strict=True), ".", color=GREY, markersize=4, markeredgewidth=0, zorder=2)
    for row, table in enumerate(tables):
        found = [line.best.loss(table) for line, *_ in chosen if table in line.best.losses]
        axis.plot([min(found), max(found)], [row, row], color=FAINT, linewidth=1.5, zorder=1)
    for number, (line, colour, marker, words) in enumerate(chosen):
        have = [(line.best.loss(table), row + SHIFTS[number]) for row, table in enumerate(tables) if table in line.best.losses]
        size = 7 if line is summary.ours else 5
        axis.plot(
            *zip(*have, strict=True), marker, color=colour, markersize=size, markeredgewidth=0, label=words, zorder=5 - number
        )
    axis.plot([], [], ".", color=GREY, markersize=7, markeredgewidth=0, label="every other policy, best single setting")
    axis.set_yticks(rows, [f"{'• ' if table in reporting else ''}{table}" for table in tables], fontsize=8)
    axis.set_ylim(-0.6, len(tables) - 0.4)
    axis.set_xlim(left=0)
    axis.grid(axis="x", color=FAINT, linewidth=0.6)
    axis.set_axisbelow(True)
    axis.set_xlabel("average loss over the pass (further left is better)")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    _save(pyplot, figure, paths)


def curves(summary: Summary, paths: list[Path]) -> None:
    """The average loss so far against the share of the pass, mean over the tables that all those drawn have."""
    pyplot, figure, axis = _canvas(6.4, 3.5)
    chosen = heroes(summary)
    drawn = [line for line in summary.lines if len(line.best.losses) == len(summary.tables)]
    tables = [table for table in summary.tables if all(table in line.best.losses for line, *_ in chosen)]
    share = np.arange(1, POINTS + 1) / POINTS
    for line in drawn:
        if line.rival.name not in [hero.rival.name for hero, *_ in chosen]:
            axis.plot(share, _mean_curve(line, tables), color=GREY, linewidth=0.9)
    for number, (line, colour, _, words) in enumerate(chosen):
        axis.plot(share, _mean_curve(line, tables), color=colour, linewidth=2.2, label=words, zorder=5 - number)
    axis.set_xlim(0, 1)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "¼", "½", "¾", "the end"])
    axis.set_xlabel("share of the pass")
    axis.set_ylabel("average loss so far")
    axis.grid(color=FAINT, linewidth=0.6)
    axis.plot([], [], color=GREY, linewidth=0.9, label="every other policy that has all tables")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    _save(pyplot, figure, paths)


def _mean_curve(line: Line, tables: list[str]) -> Any:
    return np.mean([line.best.curve(table) for table in tables], axis=0)


def _save(pyplot: Any, figure: Any, paths: list[Path]) -> None:
    for path in paths:
        svg = path.suffix == ".svg"
        figure.savefig(path, transparent=True, dpi=130, metadata={"Date": None} if svg else None)
    pyplot.close(figure)
