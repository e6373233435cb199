"""The bar chart of Figure 7: the percentage of clicks, a group of policies for each depth."""

from typing import Any

import numpy as np

from ...evaluate.intervals import mean_interval
from ...types import Floats

STYLES = {  # face and hatch: told apart in grey too
    "EXP3": ("#d0d0d0", ""),
    "S-EXP3": ("#f2a65a", "//"),
    "HSB-BT": ("#1b3a6b", ""),
    "HSB-LG": ("#7fc6e8", "xx"),
    "HSB default": ("white", ".."),
}


def bars(pyplot: Any, rates: dict[str, Floats], depths: dict[str, list[int]], title: str, default: str, uniform: str) -> Any:
    """A group of bars for each depth, EXP3 and the default beside them, with 95% intervals; uniform play as a line."""
    figure, ax = pyplot.subplots(figsize=(9.0, 4.8), layout="constrained")
    levels = sorted({depth for some in depths.values() for depth in some})
    by_depth = [[f"{kind}, depth {depth}" for kind in depths if depth in depths[kind]] for depth in levels]
    at, top, ticks, labelled = 0.0, 0.0, list[float](), set[str]()
    for group in [["EXP3"], *by_depth, [default]]:
        ticks.append(at + (len(group) - 1) / 2)
        for name in group:
            kind = name.split(", ")[0]
            mean, low, high = (100 * number for number in mean_interval(rates[name]))
            face, hatch = STYLES[kind]
            spread = (high - low) / 2 if np.isfinite(high) else 0.0  # a single log has no interval
            label = None if kind in labelled else kind
            ax.bar(at, mean, 0.9, color=face, hatch=hatch, edgecolor="black", linewidth=0.7, label=label)
            ax.errorbar(at, mean, yerr=spread, color="black", elinewidth=1.1, capsize=3)
            ax.annotate(f"{mean:.2f}", (at, mean + spread), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=8)
            labelled.add(kind)
            top = max(top, mean + spread)
            at += 1.0
        at += 0.6
    ax.axhline(100 * rates[uniform].mean(), color="#b01030", linestyle="--", linewidth=1.2, label=uniform)
    ax.set_xticks(ticks, ["EXP3", *(f"depth {depth}\n({1 << depth} cells)" for depth in levels), default.replace(", ", ",\n")])
    ax.set(ylabel="clicks (% of matched visits)", ylim=(0.0, 1.12 * top), title=title)
    ax.grid(axis="y", linewidth=0.4, alpha=0.6)
    ax.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=6, frameon=False)
    return figure
