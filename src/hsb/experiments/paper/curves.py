"""Figures 5 and 6: average losses so far. One colour a family, dashes by depth, and markers on what is not the paper's."""

from typing import Any

from ...evaluate.comparison import Comparison

FAMILIES = {"HSB-BT": "#1b3a6b", "S-EXP3": "#d1731b", "EXP3": "#6f6f6f", "HSB default": "#b01030", "HSB drift": "#2f9060"}
MARKERS = {"HSB default": "o", "HSB drift": "s"}  # beside the paper's policies; in grey, colour alone would not do
DASHES: dict[int, Any] = {2: (0, (1, 1)), 5: (0, (5, 1.5)), 10: "-"}


def draw(pyplot: Any, compared: Comparison, change: int | None = None) -> Any:
    """Curves with 95% bands; where there is a change, a line at its round, and rounds that are not on a logarithmic scale."""
    figure, ax = pyplot.subplots(figsize=(9.0, 4.8), layout="constrained")
    if change is not None:
        ax.axvline(change, color="0.5", linewidth=1.0)
    compared.plot(ax, styles={name: _style(name) for name in compared.policies}, log=change is None)
    if change is not None:
        beside = {"xytext": (2, -4), "textcoords": "offset points", "va": "top"}
        ax.annotate(" the arms change places", (change, 1.0), xycoords=("data", "axes fraction"), **beside)
    return figure


def _style(name: str) -> dict[str, Any]:
    family = name.split(",")[0]
    depth = int(name.rsplit(" ", 1)[1]) if "depth" in name else 0
    style = {"color": FAMILIES.get(family, "black"), "linestyle": DASHES.get(depth, (0, (4, 1, 1, 1)))}
    return style | ({"marker": MARKERS[family], "markersize": 3.5, "markevery": 0.08} if family in MARKERS else {})
