"""Figures as files: the same drawing as SVG, PNG and PDF, equal bytes for equal figures."""

import re
import sys
from typing import NamedTuple

from ..experiments.base import Figure
from .figures import LOOK, picture

DPI = 144


class FigureFiles(NamedTuple):
    """A figure, and the bytes of its SVG, PNG and PDF files."""

    name: str
    figure: Figure
    svg: bytes
    png: bytes
    pdf: bytes

    @property
    def inline(self) -> str:
        """The SVG as an element of a page; every id in it is prefixed with the figure's name, so that ids on a page differ."""
        text = self.svg.decode()
        text = text[text.index("<svg") :]
        text = re.sub(r'(\bid=")', rf"\g<1>{self.name}-", text)
        return re.sub(r'(href="#|url\(#)', rf"\g<1>{self.name}-", text)


def draw(name: str, figure: Figure) -> FigureFiles:
    """Draw a figure once, without a screen, and return it in three formats."""
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
