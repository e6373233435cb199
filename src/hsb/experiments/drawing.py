"""Figures as files: the same drawing as SVG and PNG, equal bytes for equal figures."""

import io
import re
import sys
from typing import Any, NamedTuple

from .base import Figure

DPI = 144
LOOK: dict[Any, Any] = {"svg.fonttype": "path", "savefig.facecolor": "white", "axes.unicode_minus": True}


class Drawn(NamedTuple):
    """A figure, and what its SVG and its PNG file hold."""

    name: str
    figure: Figure
    svg: bytes
    png: bytes

    @property
    def inline(self) -> str:
        """The SVG as an element of a page that holds others too: every id in it carries its name."""
        text = self.svg.decode()
        text = text[text.index("<svg") :]
        text = re.sub(r'(\bid=")', rf"\g<1>{self.name}-", text)
        return re.sub(r'(href="#|url\(#)', rf"\g<1>{self.name}-", text)


def draw(name: str, figure: Figure) -> Drawn:
    """Draw a figure once, on no screen, and write it twice."""
    import matplotlib

    if "matplotlib.pyplot" not in sys.modules:
        matplotlib.use("agg")
    from matplotlib import pyplot

    with matplotlib.rc_context(LOOK | {"svg.hashsalt": name}):
        drawn = figure.draw(pyplot)
        svg, png = io.BytesIO(), io.BytesIO()
        try:
            drawn.savefig(svg, format="svg", dpi=DPI, metadata={"Date": None, "Creator": None})
            drawn.savefig(png, format="png", dpi=DPI, metadata={"Software": None})
        finally:
            pyplot.close(drawn)
    return Drawn(name, figure, svg.getvalue(), png.getvalue())
