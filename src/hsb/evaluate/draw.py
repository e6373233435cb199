"""A comparison as a picture. Colours differ in lightness, lines in their dashes: it survives a grey printer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plot import literal, require_matplotlib

if TYPE_CHECKING:
    from .comparison import Comparison

COLOURS = ("#1b3a6b", "#d1731b", "#3f8f5f", "#9c2c3a", "#7a7a7a", "#6d4fa3", "#c9a227", "#2b8ca3")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
FIRST = 0.002  # the share of rounds before which averages are too few to be drawn


def plot_comparison(comparison: "Comparison", ax: Any, *, styles: Mapping[str, Mapping[str, Any]], log: bool) -> Any:
    """Curves with bands, a legend beside them, and the best loss as a line."""
    if ax is None:
        require_matplotlib()
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(8.5, 4.8), layout="constrained")
    last = int(comparison.marks[-1])
    first = max(1, int(FIRST * last))
    shown = comparison.marks >= first
    for i, (name, curve) in enumerate(comparison.curves().items()):
        style = {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)], "linewidth": 1.6}
        style |= dict(styles.get(name, {}))
        rounds, mean, low, high = (each[shown] for each in curve)
        ax.plot(rounds, mean, label=literal(name), **style)
        if np.isfinite(curve.low).all():
            ax.fill_between(rounds, low, high, color=style["color"], alpha=0.2, linewidth=0)
    if comparison.best is not None:
        dotted = {"color": "black", "linewidth": 1.0, "linestyle": (0, (1, 3))}
        ax.axhline(comparison.best, label="best policy that knows the model", **dotted)
    if log:
        ax.set_xscale("log")
    else:
        ax.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    ax.set(xlim=(first if log else 0, last), ylabel="average loss of rounds 1 to t")
    ax.set_xlabel("round t" + (" (logarithmic)" if log else ""))
    ax.set_title(literal(comparison.title, 100) + (" (synthetic)" if comparison.synthetic else ""))
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "frameon": False, "alignment": "left"}
    ax.legend(title="shaded: 95% interval of the mean", **beside)
    return ax
