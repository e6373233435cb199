"""The bar chart of Figure 7: the percentage of clicks, a group of policies for each depth."""

from typing import Any

import numpy as np

from ...evaluate.intervals import mean_interval
from ...plotting.style import INK, Look, look
from ...types import Floats
from .landsat_figures import on_bar


def bars(pyplot: Any, rates: dict[str, Floats], depths: dict[str, list[int]], title: str, default: str, uniform: str) -> Any:
    """Draw a group of bars for each depth, EXP3 and the default beside them, with 95% intervals; uniform play as a line."""
    figure, ax = pyplot.subplots(figsize=(9.0, 4.8), layout="constrained")
    levels = sorted({depth for some in depths.values() for depth in some})
    by_depth = [[f"{kind}, depth {depth}" for kind in depths if depth in depths[kind]] for depth in levels]
    position, top, ticks, labelled = 0.0, 0.0, list[float](), set[str]()
    for group in [["EXP3"], *by_depth, [default]]:
        ticks.append(position + (len(group) - 1) / 2)
        for name in group:
            kind = name.split(", ")[0]
            mean, low, high = (100 * number for number in mean_interval(rates[name]))
            spread = (high - low) / 2 if np.isfinite(high) else 0.0  # a single log has no interval
            label = None if kind in labelled else kind
            ax.bar(position, mean, 0.9, label=label, **_own(kind).bar())
            ax.errorbar(position, mean, yerr=spread, color=INK, elinewidth=1.1, capsize=3)
            on_bar(ax, position, f"{mean:.2f}", 8)
            labelled.add(kind)
            top = max(top, mean + spread)
            position += 1.0
        position += 0.6
    ax.axhline(100 * rates[uniform].mean(), label=uniform, **_own(uniform).line())
    ax.set_xticks(ticks, ["EXP3", *(f"depth {depth}\n({1 << depth} cells)" for depth in levels), default.replace(", ", ",\n")])
    ax.set(ylabel="clicks (% of matched visits)", ylim=(0.0, 1.12 * top), title=title)
    ax.grid(axis="y", linewidth=0.4, alpha=0.6)
    ax.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=6, frameon=False)
    return figure


def _own(name: str) -> Look:
    style = look(name)
    assert style is not None
    return style
