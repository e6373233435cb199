"""Common parts of figures: labels, axes, legends, titles and files. Matplotlib is imported when a figure is drawn."""

import io
import textwrap
from pathlib import Path
from typing import Any, Literal

from ..checks import path_of
from ..errors import InputError, quoted
from ..files.atomic import write_atomically
from .style import arm_share

FORMATS = ("pdf", "svg", "png")
DPI = 160
LOOK: dict[Any, Any] = {"svg.fonttype": "path", "svg.hashsalt": "hsb", "pdf.fonttype": 42}
NO_DATE: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
WIDE = 5.5  # inches: axes at least this wide have the legend beside them
Legend = bool | Literal["inside", "beside", "below"]
LEGENDS = (True, False, "inside", "beside", "below")
SMALL: dict[str, Any] = {  # a legend of narrow axes
    "fontsize": 6.5,
    "handlelength": 2.4,
    "columnspacing": 1.0,
    "labelspacing": 0.3,
    "borderpad": 0.0,
    "borderaxespad": 0.0,
}


def require_matplotlib() -> None:
    """Raise ImportError with the command that installs matplotlib, if it is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("Plotting needs matplotlib, which is not installed: pip install 'hsb[plot]'") from error


def literal(name: object, most: int = 60) -> str:
    """Format a name for a figure: on one line, at most `most` letters, with matplotlib's special characters escaped.

    >>> literal("$x^$"), literal("_a")
    ('\\\\$x^\\\\$', ' _a')
    """
    text = "".join(letter if letter.isprintable() else " " for letter in str(name)[: 4 * most])
    text = text if len(text) <= most else text[: most - 3] + "..."
    return (" " * text.startswith("_") + text).replace("$", r"\$")  # a label that begins with _ is left out of legends


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """Check and return the axes `ax`; None makes a new figure of this size and returns its axes."""
    require_matplotlib()
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    elif not (hasattr(ax, "plot") and hasattr(ax, "figure")):
        raise InputError(f"ax must be matplotlib axes, as pyplot.subplots() makes them; given {quoted(ax)}.")
    return ax


def arm_colour(index: int, arms: int) -> tuple[float, float, float]:
    """Return the colour of an arm, by its index among all arms: along viridis, from dark to light.

    >>> [round(channel, 2) for channel in arm_colour(0, 3)]
    [0.27, 0.2, 0.5]
    """
    require_matplotlib()
    import matplotlib

    red, green, blue, _ = matplotlib.colormaps["viridis"](arm_share(index, arms))
    return float(red), float(green), float(blue)


def inches(ax: Any) -> float:
    """Return the width that axes may use, in inches: the figure's width if they are alone in it, else their share of the grid."""
    width = float(ax.figure.get_window_extent().width / ax.figure.dpi)
    spec = ax.get_subplotspec() if len(ax.figure.axes) > 1 else None
    return width if spec is None else width * len(spec.colspan) / spec.get_gridspec().ncols


def is_narrow(ax: Any) -> bool:
    """Are the axes as narrow as a paper's column? Then a legend does not fit beside them."""
    return inches(ax) < WIDE


def add_legend(ax: Any, title: str = "", *, handles: list[Any] | None = None, columns: int = 1, where: Legend = True) -> Any:
    """Add a legend that covers no other axes and is not cut off; return it, or None if `where` is False.

    `where` is "beside" (in `columns`), "below" or "inside" the axes. True chooses: beside wide axes; below narrow ones if they are alone in
    their figure; else inside, at the place with the most room.
    """
    if where not in LEGENDS:
        raise InputError(f"legend must be True, False, 'inside', 'beside' or 'below'; given {quoted(where)}.")
    lay_out(ax)
    if where is False:
        return None
    alone, narrow = is_alone(ax), is_narrow(ax)
    entries = handles if handles is not None else ax.get_legend_handles_labels()[0]
    if where is True:
        where = "beside" if not narrow else "below" if alone else "inside"
    small: dict[str, Any] = SMALL if narrow else {}
    if where == "beside":
        beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "frameon": False, "alignment": "left", "ncols": columns}
        return ax.legend(handles=entries, title=title, **beside, **small)
    if where == "inside":
        return ax.legend(handles=entries, title=title, loc="best", framealpha=0.8, **small | {"borderpad": 0.4})
    if alone:
        return _legend_below(ax.figure, entries, title, SMALL | {"title_fontsize": 6.5})
    return ax.legend(handles=entries, title=title, loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, **small)


def is_alone(ax: Any) -> bool:
    """Does the figure hold nothing but these axes?"""
    return len(ax.figure.axes) == 1 and hasattr(ax.figure, "set_layout_engine")


def lay_out(ax: Any) -> None:
    """Lay out the figure so that nothing is cut off, unless the user set a layout engine or the margins."""
    from matplotlib.gridspec import SubplotParams

    figure = ax.figure
    if not hasattr(figure, "set_layout_engine") or figure.get_layout_engine() is not None:
        return
    room, usual = figure.subplotpars, SubplotParams()
    if all(getattr(room, side) == getattr(usual, side) for side in ("left", "right", "bottom", "top", "wspace", "hspace")):
        figure.set_layout_engine("constrained")


def _legend_below(figure: Any, handles: list[Any], title: str, small: dict[str, Any]) -> Any:
    """Add a legend below the axes, in as many columns as fit."""
    for columns in range(max(1, min(4, len(handles))), 0, -1):
        legend = figure.legend(
            handles=handles, title=title or None, loc="outside lower center", ncols=columns, frameon=False, **small
        )
        if columns == 1 or legend.get_window_extent().width <= 0.98 * figure.get_window_extent().width:
            return legend
        legend.remove()
    return None


def add_title(ax: Any, text: str, *, loc: str = "center") -> None:
    """Add a title, wrapped to the width of the axes; narrow axes get small letters throughout."""
    size = 7.5 if is_narrow(ax) else 10.0
    room = inches(ax) * (0.8 if len(ax.figure.axes) > 1 else 0.68 if loc == "left" else 0.95)
    lines = textwrap.wrap(text, max(20, int(72 * room / (0.52 * size)))) if len(text) < 1000 else [text[:100]]
    ax.set_title("\n".join(lines), loc=loc, fontsize=size)
    lay_out(ax)
    if is_narrow(ax):
        for label in (ax.xaxis.label, ax.yaxis.label):
            label.set_fontsize(size)
        ax.tick_params(labelsize=6.5)


def picture(figure: Any, format: str, *, salt: str = "hsb", dpi: int = DPI) -> bytes:
    """Return a figure as the bytes of a PDF, SVG or PNG file; equal bytes for equal figures."""
    import matplotlib

    if format not in FORMATS:
        raise InputError(f"A figure is written as {', '.join(FORMATS)}; given {quoted(format)}.")
    drawn = io.BytesIO()
    with matplotlib.rc_context(LOOK | {"svg.hashsalt": salt}):
        figure.savefig(drawn, format=format, dpi=dpi, metadata=NO_DATE[format], facecolor=figure.get_facecolor())
    return drawn.getvalue()


def save(drawn: Any, path: str | Path, *, dpi: int = DPI) -> list[Path]:
    """Write a figure, or the figure of some axes, to a PDF, SVG or PNG file by the name's ending; without an ending, to all three.

    Each file is written whole or not at all, and equal figures give equal bytes. `dpi` is the resolution of a PNG, in dots per inch. Returns
    the paths, a list.

    >>> import tempfile, hsb
    >>> axes = hsb.HSB(hsb.BinaryTree(depth=2), arms=2).explain().plot()
    >>> [each.name for each in save(axes, tempfile.mkdtemp() + "/learned")]
    ['learned.pdf', 'learned.svg', 'learned.png']
    """
    figure = getattr(drawn, "figure", drawn)
    if not hasattr(figure, "savefig"):
        raise InputError(f"save needs a figure or axes of matplotlib; given {quoted(drawn)}.")
    target = path_of("path", path)
    ends = [target.suffix[1:]] if target.suffix else list(FORMATS)
    if ends[0] not in FORMATS:
        raise InputError(f"A figure is written as {', '.join(FORMATS)}; given the file {quoted(str(target))}.")
    if not target.parent.is_dir():
        raise InputError(f"There is no folder {target.parent} to write {quoted(target.name)} to. Make it first.")
    paths = [target.with_suffix(f".{end}") for end in ends]
    for end, each in zip(ends, paths, strict=True):
        write_atomically(each, picture(figure, end, dpi=dpi))
    return paths
