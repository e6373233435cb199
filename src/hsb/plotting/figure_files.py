"""Figures as files: the same drawing as SVG, PNG and PDF, equal bytes for equal figures."""

import re
import sys
from typing import NamedTuple

from ..experiments.base import Figure
from .figures import LOOK, picture

DPI = 144


class FigureFiles(NamedTuple):
    """A figure, and what its SVG, its PNG and its PDF file hold."""

    name: str
    figure: Figure
    svg: bytes
    png: bytes
    pdf: bytes

    @property
    def inline(self) -> str:
        """The SVG as an element of a page that holds others too: every id in it carries its name."""
        text = self.svg.decode()
        text = text[text.index("<svg") :]
        text = re.sub(r'(\bid=")', rf"\g<1>{self.name}-", text)
        return re.sub(r'(href="#|url\(#)', rf"\g<1>{self.name}-", text)


def draw(name: str, figure: Figure) -> FigureFiles:
    """Draw a figure once, on no screen, and write it three times."""
    import matplotlib

    if "matplotlib.pyplot" not in sys.modules:
        matplotlib.use("agg")
    from matplotlib import pyplot

    with matplotlib.rc_context(LOOK):
        drawn = figure.draw(pyplot)
        try:
            files = [picture(drawn, format, salt=name, dpi=DPI) for format in ("svg", "png", "pdf")]
        finally:
            pyplot.close(drawn)
    return FigureFiles(name, figure, *files)
