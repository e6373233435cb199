"""Figures 5 and 6: average losses so far. Colours as everywhere, dashes by depth, and markers on what is not the paper's."""

from typing import Any

from ...evaluate.simulated.comparison import Comparison
from ...plotting.style import SOFT, look

OURS = ("HSB default", "HSB drift")  # beside the paper's policies: with markers, since in grey colour alone would not do
DASHES: dict[int, Any] = {2: (0, (1, 1)), 5: (0, (5, 1.5)), 10: "-"}


def draw(pyplot: Any, compared: Comparison, change: int | None = None) -> Any:
    """Curves with 95% bands; where there is a change, a line at its round, and rounds that are not on a logarithmic scale."""
    figure, ax = pyplot.subplots(figsize=(9.0, 4.8), layout="constrained")
    if change is not None:
        ax.axvline(change, color=SOFT, linewidth=1.0)
    compared.plot(ax, styles={name: _style(name) for name in compared.policies}, log=change is None)
    if change is not None:
        beside = {"xytext": (2, -4), "textcoords": "offset points", "va": "top"}
        ax.annotate(" the arms change places", (change, 1.0), xycoords=("data", "axes fraction"), **beside)
    return figure


def _style(name: str) -> dict[str, Any]:
    family = name.split(",")[0]
    depth = int(name.rsplit(" ", 1)[1]) if "depth" in name else 0
    style: dict[str, Any] = {"linestyle": DASHES[depth]} if depth in DASHES else {}
    own = look(family)
    return style | ({"marker": own.marker, "markersize": 3.5, "markevery": 0.08} if own and family in OURS else {})
