"""The bar chart of Figure 8, and the learners' distance from Hamming decoding, in which one percent can be seen."""

from typing import Any

import numpy as np

from ...evaluate.intervals import mean_interval
from ...plotting.style import INK, PAPER, looks
from ...types import Floats

BOX = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}  # behind a number on a bar, which may be hatched


def bars(pyplot: Any, errors: dict[str, Floats], length: int) -> Any:
    """Draw a group of bars for each epoch, a bar for each policy, with 95% intervals."""
    figure, ax = pyplot.subplots(figsize=(10.0, 4.6), layout="constrained")
    width, own = 0.86 / len(errors), looks(errors)
    for k, (name, rows) in enumerate(errors.items()):
        means, spreads = _percent(rows)
        positions = np.arange(1, len(means) + 1) + (k - (len(errors) - 1) / 2) * width
        style = own[name].bar(error_kw={"elinewidth": 0.9, "ecolor": INK, "capsize": 1.5})
        ax.bar(positions, means, width, yerr=spreads, label=name, **style)
    ax.set(xticks=range(1, len(means) + 1), xlabel=f"epoch ({length} rows each)", ylabel="misclassified rows (%)")
    ax.set(xlim=(0.5, len(means) + 0.5), title="LandSat in its original order: error by epoch")
    ax.grid(axis="y", linewidth=0.4, alpha=0.6)
    ax.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=len(errors), frameon=False)
    return figure


def gaps(pyplot: Any, gap: dict[str, Floats], last: int) -> Any:
    """Draw the error less that of Hamming decoding by epoch, and again for the last epochs; 95% intervals."""
    figure, axes = pyplot.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained", width_ratios=(1.6, 1))
    epochs, own = next(iter(gap.values())).shape[1], looks(gap)
    for ax, first in zip(axes, (0, epochs - last), strict=True):
        positions = np.arange(first, epochs) + 1
        for k, (name, rows) in enumerate(gap.items()):
            means, spreads = _percent(rows[:, first:])
            beside = positions + 0.04 * (k - (len(gap) - 1) / 2)  # so that intervals do not hide each other
            style = own[name].line(marker=own[name].marker, markersize=4, capsize=2)
            ax.errorbar(beside, means, yerr=spreads, label=name, **style)
        ax.axhline(0.0, color=INK, linewidth=1)
        ax.set(xticks=positions, xlabel="epoch")
        ax.grid(linewidth=0.4, alpha=0.6)
    axes[0].set(ylabel="behind Hamming decoding (% points)", title="all epochs; below 0: fewer errors than Hamming decoding")
    axes[1].set_title(f"the last {last} epochs")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(gap), frameon=False)
    return figure


def side_by_side(pyplot: Any, late: dict[str, dict[str, Floats]]) -> Any:
    """Draw a group of bars for each way to make codewords, a bar for each policy, over the last epochs together; 95% intervals."""
    figure, ax = pyplot.subplots(figsize=(10.0, 4.4), layout="constrained")
    names = list(next(iter(late.values())))
    width, own = 0.86 / len(names), looks(names)
    for k, name in enumerate(names):
        means, spreads = _percent(np.column_stack([each[name] for each in late.values()]))
        positions = np.arange(len(means)) + (k - (len(names) - 1) / 2) * width
        style = own[name].bar(error_kw={"elinewidth": 0.9, "ecolor": INK, "capsize": 1.5})
        ax.bar(positions, means, width, yerr=spreads, label=name, **style)
        for x, mean in zip(positions, means, strict=True):
            on_bar(ax, x, f"{mean:.1f}", 7)
    ax.set(xticks=range(len(late)), xticklabels=list(late), ylabel="misclassified rows (%)")
    ax.set_title("LandSat, the last three epochs, for each way to make codewords")
    ax.grid(axis="y", linewidth=0.4, alpha=0.6)
    ax.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=len(names), frameon=False)
    return figure


def on_bar(ax: Any, x: float, text: str, size: float) -> None:
    """Write a number at the foot of a bar, where no error bar crosses it."""
    beside = {"xytext": (0, 4), "textcoords": "offset points", "ha": "center", "va": "bottom", "fontsize": size}
    ax.annotate(text, (x, 0.0), color=INK, bbox=BOX, **beside)


def _percent(rows: Floats) -> tuple[Floats, Floats]:
    """Return each column's mean and half the width of its interval; 0 for a single repetition."""
    ends = 100 * np.array([mean_interval(column) for column in rows.T])
    spreads = (ends[:, 2] - ends[:, 1]) / 2
    return ends[:, 0], np.where(np.isfinite(spreads), spreads, 0.0)
