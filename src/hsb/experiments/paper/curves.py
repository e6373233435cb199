"""Figures 5 and 6: average losses so far. Colours as in all figures, dashes by depth, markers for policies that are not the paper's."""

from typing import Any

from ...evaluate.simulated.comparison import Comparison
from ...plotting.style import SOFT, look

OURS = ("HSB default", "HSB drift")  # not the paper's policies: with markers, to be distinct in grey print
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)))  # the deepest tree first


def draw(pyplot: Any, compared: Comparison, change: int | None = None) -> Any:
    """Draw curves with 95% bands. If there is a `change`, draw a line at its round and use a linear scale."""
    figure, ax = pyplot.subplots(figsize=(9.0, 4.8), layout="constrained")
    if change is not None:
        ax.axvline(change, color=SOFT, linewidth=1.0)
    depths = sorted({depth for depth in map(depth_of, compared.policies) if depth is not None}, reverse=True)
    dashes = {depth: DASHES[index % len(DASHES)] for index, depth in enumerate(depths)}
    compared.plot(ax, styles={name: _style(name, dashes) for name in compared.policies}, log=change is None)
    if change is not None:
        beside = {"xytext": (2, -4), "textcoords": "offset points", "va": "top"}
        ax.annotate(" the arms change places", (change, 1.0), xycoords=("data", "axes fraction"), **beside)
    return figure


def depth_of(name: str) -> int | None:
    """Return the depth of a policy's tree, from the end of its name.

    >>> depth_of("S-EXP3, depth 5"), depth_of("EXP3")
    (5, None)
    """
    return int(name.rsplit(" ", 1)[1]) if "depth" in name else None


def _style(name: str, dashes: dict[int, Any]) -> dict[str, Any]:
    family, depth = name.split(",")[0], depth_of(name)
    style: dict[str, Any] = {} if depth is None else {"linestyle": dashes[depth]}
    own = look(family)
    return style | ({"marker": own.marker, "markersize": 3.5, "markevery": 0.08} if own and family in OURS else {})
