"""Comparisons as pictures. Colours differ in lightness, lines in their dashes: they survive a grey printer."""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plot import literal, require_matplotlib
from .off_policy_result import NAMES

if TYPE_CHECKING:
    from .comparison import Comparison
    from .off_policy_comparison import OffPolicyCandidate, OffPolicyComparison

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


INK, SOFT, GOOD, BAD = "#1b3a6b", "0.55", "#2e7d4f", "#b3372b"
VERDICT_LOOKS = {"better": (GOOD, "o"), "worse": (BAD, "s"), "undecided": (SOFT, "D"), "equal": (SOFT, "D")}
LOOK: dict[Any, Any] = {"svg.fonttype": "path", "savefig.facecolor": "white", "svg.hashsalt": "hsb"}


def plot_candidates(comparison: "OffPolicyComparison", axes: Any = None) -> Any:
    """Values with their intervals, the best at the top; beside them the differences to the baseline, with a line at no difference."""
    if axes is None:
        require_matplotlib()
        from matplotlib import pyplot

        axes = pyplot.figure(figsize=_size(comparison), layout="constrained").subplots(1, _panels(comparison), sharey=True)
    left, *right = np.atleast_1d(np.asarray(axes, dtype=object)).ravel().tolist()
    rows = comparison.sorted[::-1]
    for y, each in enumerate(rows):
        _value(left, y, each, is_baseline=each.name == comparison.baseline)
        for ax in right[:1]:
            _difference(ax, y, each)
    percent = f"{100 * comparison.confidence:g}%"
    left.set_yticks(range(len(rows)), [_label(each, comparison) for each in rows])
    left.axvline(comparison.logged, color=SOFT, linewidth=1.0, linestyle=(0, (1, 2)), zorder=0)
    left.annotate("the log itself", (comparison.logged, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -2),
                  textcoords="offset points", fontsize="x-small", color="0.4", va="top")  # fmt: skip
    _framed(left, len(rows), "Average reward", f"{percent} intervals; {NAMES[comparison.estimator]}")
    for ax in right[:1]:
        ax.axvline(0.0, color="black", linewidth=1.2, zorder=1.5)
        _framed(
            ax,
            len(rows),
            literal(f"Difference to {comparison.baseline}", 40),
            f"thick: {percent} each; thin: {percent} for all together",
        )
    return axes


def candidates_picture(comparison: "OffPolicyComparison", format: str) -> bytes:
    """The picture as a PNG or SVG file, drawn on no screen; equal bytes for equal comparisons."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(LOOK):
        figure = Figure(figsize=_size(comparison), layout="constrained")
        plot_candidates(comparison, figure.subplots(1, _panels(comparison), sharey=True))
        picture = io.BytesIO()
        about = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
        figure.savefig(picture, format=format, dpi=160, metadata=about)
    return picture.getvalue()


def _panels(comparison: "OffPolicyComparison") -> int:
    return 2 if len(comparison) > 1 else 1


def _size(comparison: "OffPolicyComparison") -> tuple[float, float]:
    return 5.5 + 4.5 * (len(comparison) > 1), 1.5 + 0.5 * max(len(comparison), 2)


def _label(each: "OffPolicyCandidate", comparison: "OffPolicyComparison") -> str:
    more = [*["baseline"] * (each.name == comparison.baseline), *["learns, replayed"] * (each.how == "replayed")]
    return literal(each.name, 36) + (f"\n({'; '.join(more)})" if more else "")


def _value(ax: Any, y: int, each: "OffPolicyCandidate", *, is_baseline: bool) -> None:
    style = {"color": INK, "solid_capstyle": "butt", "linewidth": 3.5, "alpha": 0.55}
    ax.plot([each.low, each.high], [y, y], **style)
    ax.plot(
        [each.value],
        [y],
        marker="D" if is_baseline else "o",
        color=INK,
        markersize=7,
        markerfacecolor="white" if is_baseline else INK,
    )
    ax.annotate(f"{each.value:.4g}", (each.value, y), xytext=(0, 7), textcoords="offset points", ha="center", fontsize="small")


def _difference(ax: Any, y: int, each: "OffPolicyCandidate") -> None:
    gap = each.difference
    if gap is None:
        ax.plot([0.0], [y], marker="D", color=INK, markersize=7, markerfacecolor="white")
        return
    colour, marker = VERDICT_LOOKS[gap.verdict]
    ax.plot(gap.joint, [y, y], color=colour, linewidth=1.2)
    ax.plot(gap.interval, [y, y], color=colour, linewidth=3.5, alpha=0.6, solid_capstyle="butt")
    ax.plot([gap.value], [y], marker=marker, color=colour, markersize=7)
    said = gap.verdict + {"safe": " [safe]", "apart": " [not paired]"}.get(gap.kind, "")
    ax.annotate(f"{gap.value:+.3g} {said}", (gap.value, y), xytext=(0, 7), textcoords="offset points", ha="center", fontsize="small",
                color=colour if gap.verdict in ("better", "worse") else "0.35")  # fmt: skip


def _framed(ax: Any, rows: int, title: str, below: str) -> None:
    ax.set_title(title, loc="left", fontsize="medium", fontweight="bold")
    ax.set_xlabel(below, fontsize="small", color="0.35")
    ax.set_ylim(-0.6, rows - 0.35)
    ax.grid(axis="x", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.margins(x=0.12)
