"""Figures of comparisons. Colours, dashes and markers come from `style` and differ in grey too."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, quoted
from ..evaluate.off_policy.result import NAMES
from ..types import Floats
from .figures import Legend, add_legend, add_title, is_narrow, lay_out, literal, new_axes, picture, require_matplotlib
from .style import BAD, GOOD, INK, PAPER, SOFT, looks
from .values import draw_logged, draw_value, frame_values

if TYPE_CHECKING:
    from ..evaluate.off_policy.comparison import OffPolicyCandidate, OffPolicyComparison
    from ..evaluate.simulated.comparison import Comparison

FIRST = 0.002  # averages over fewer rounds than this share are not drawn
SIZE = (8.5, 4.8)
PROVED, DOTTED = ": proved bound", (0, (1, 1.5))
BEHIND = {"facecolor": PAPER, "edgecolor": "none", "alpha": 0.75, "pad": 0.5}  # behind text that a line may cross
VERDICT_LOOKS = {"better": (GOOD, "o"), "worse": (BAD, "s"), "undecided": (SOFT, "D"), "equal": (SOFT, "D")}
Bound = Callable[[float], float]


def plot_comparison(
    comparison: "Comparison", ax: Any, *, styles: Mapping[str, Mapping[str, Any]], log: bool, legend: Legend = True
) -> Any:
    """Draw curves with bands, a legend beside or below them, and the best loss as a line; return the axes."""
    ax = new_axes(ax, SIZE)
    shown = _drawn_marks(comparison)
    low, high = comparison.loss_range or (-math.inf, math.inf)
    for (name, curve), style in zip(comparison.curves().items(), _styles(comparison, styles), strict=True):
        _band(ax, name, *(values[shown] for values in curve), style=style, within=(low, high))
    if comparison.best is not None:
        ax.axhline(comparison.best, label="best policy that knows the model", color=INK, linewidth=1.0, linestyle=(0, (1, 3)))
    ax.set_ylabel("average loss so far")
    return _finish(comparison, ax, comparison.title, log, legend)


def plot_regret(
    comparison: "Comparison",
    ax: Any,
    *,
    bounds: Mapping[str, Bound | Floats] | None,
    styles: Mapping[str, Mapping[str, Any]],
    log: bool,
    legend: Legend = True,
) -> Any:
    """Draw regret so far with bands and, dotted in the same colour, proved bounds; return the axes."""
    ax = new_axes(ax, SIZE)
    shown = _drawn_marks(comparison)
    rounds = comparison.marks[shown]
    proved = comparison.bounds if bounds is None else {name: _values(name, each, comparison) for name, each in bounds.items()}
    if unknown := [name for name in proved if name not in comparison.losses]:
        raise InputError(
            f"bounds has a policy {quoted(unknown[0])} that was not compared. The policies are {', '.join(map(repr, comparison.losses))}."
        )
    top = 0.0
    low, high = (bound[shown] for bound in comparison.regret_range())
    for (name, curve), style in zip(comparison.regret_curves().items(), _styles(comparison, styles), strict=True):
        _band(ax, name, *(each[shown] for each in curve), style=style, within=(low, high))
        top = max(top, float(np.nanmax(curve.mean)))
        if name in proved and np.isfinite(proved[name]).any():
            dotted = {"color": style["color"], "linewidth": 1.1, "linestyle": DOTTED}
            ax.plot(rounds, proved[name][shown], label=literal(name, 40) + PROVED, **dotted)
            top = max(top, float(np.nanmax(np.where(np.isfinite(proved[name]), proved[name], -math.inf))))
    ax.set_ylabel("regret so far" + " (logarithmic)" * (log and not is_narrow(ax)))
    if log:
        ax.set_yscale("log")
        ax.set_ylim(max(1.0, top * 1e-4), top * 1.5)
    return _finish(comparison, ax, f"{comparison.title}: regret against the best policy", log, legend)


def _values(name: str, bound: Bound | Floats, comparison: "Comparison") -> Floats:
    if callable(bound):
        return np.array([bound(int(mark)) for mark in comparison.marks], dtype=np.float64)
    values = np.asarray(bound, dtype=np.float64)
    if values.shape != comparison.marks.shape:
        needed = f"a function of the round, e.g. policy.regret_bound, or {len(comparison.marks)} numbers, one a mark"
        raise InputError(f"bounds[{quoted(name)}] must be {needed}; given shape {values.shape}.")
    return values


def _drawn_marks(comparison: "Comparison") -> Any:
    return comparison.marks >= _first(comparison)


def _first(comparison: "Comparison") -> int:
    return max(1, int(FIRST * int(comparison.marks[-1])))


def _styles(comparison: "Comparison", styles: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line style for each policy, with the user's additions."""
    return [each.line() | dict(styles.get(name, {})) for name, each in looks(comparison.policies).items()]


def _band(
    ax: Any, name: str, rounds: Any, mean: Any, low: Any, high: Any, *, style: dict[str, Any], within: tuple[Any, Any]
) -> None:
    """Draw a curve and its band, clipped to the possible values: with few runs, intervals reach beyond the range of losses."""
    ax.plot(rounds, mean, label=literal(name, 32 if is_narrow(ax) else 60), **style)
    if np.isfinite(low).all():
        ax.fill_between(
            rounds, np.maximum(low, within[0]), np.minimum(high, within[1]), color=style["color"], alpha=0.2, linewidth=0
        )


def _finish(comparison: "Comparison", ax: Any, title: str, log: bool, legend: Legend) -> Any:
    if log:
        ax.set_xscale("log")
    else:
        ax.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
        if is_narrow(ax):
            ax.xaxis.get_major_locator().set_params(nbins=4)
    ax.set(xlim=(_first(comparison) if log else 0, int(comparison.marks[-1])))
    shaded = "shaded: 95% interval of the mean"
    ax.set_xlabel(f"round t; {shaded}" if is_narrow(ax) else "round t" + " (logarithmic)" * log)
    add_title(ax, literal(title, 100) + (" (synthetic)" if comparison.synthetic else ""))
    handles = [each for each in ax.get_legend_handles_labels()[0] if not str(each.get_label()).endswith(PROVED)]
    if any(str(line.get_label()).endswith(PROVED) for line in ax.lines):
        handles += ax.plot([], [], label="dotted: proved bound", color=INK, linewidth=1.1, linestyle=DOTTED)
    add_legend(ax, "" if is_narrow(ax) else shaded, handles=handles, where=legend)
    return ax


def plot_candidates(comparison: "OffPolicyComparison", axes: Any = None) -> Any:
    """Draw values with intervals, the best at the top; beside them differences to the baseline, with a line at 0. Return the axes."""
    if axes is None:
        require_matplotlib()
        from matplotlib import pyplot

        axes = pyplot.figure(figsize=_size(comparison), layout="constrained").subplots(1, _panels(comparison), sharey=True)
    left, *right = [new_axes(ax, SIZE) for ax in np.atleast_1d(np.asarray(axes, dtype=object)).ravel().tolist()]
    for ax in (left, *right):
        lay_out(ax)
    rows = comparison.sorted[::-1]
    for y, each in enumerate(rows):
        draw_value(left, y, each.value, each.low, each.high, hollow=each.name == comparison.baseline)
        for ax in right[:1]:
            _difference(ax, y, each)
    percent = f"{100 * comparison.confidence:g}%"
    left.set_yticks(range(len(rows)), [_label(each, comparison) for each in rows])
    draw_logged(left, comparison.logged)
    frame_values(left, len(rows), "Average reward", f"{percent} intervals; {NAMES[comparison.estimator]}")
    for ax in right[:1]:
        ax.axvline(0.0, color=INK, linewidth=1.2, zorder=1.5)
        frame_values(
            ax,
            len(rows),
            literal(f"Difference to {comparison.baseline}", 40),
            f"thick: {percent} each; thin: {percent} for all together",
        )
    return axes


def candidates_picture(comparison: "OffPolicyComparison", format: str) -> bytes:
    """Return the picture as the bytes of a PDF, PNG or SVG file; equal bytes for equal comparisons. Needs no screen."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=_size(comparison), layout="constrained")
    plot_candidates(comparison, figure.subplots(1, _panels(comparison), sharey=True))
    return picture(figure, format)


def _panels(comparison: "OffPolicyComparison") -> int:
    return 2 if len(comparison) > 1 else 1


def _size(comparison: "OffPolicyComparison") -> tuple[float, float]:
    return 5.5 + 4.5 * (len(comparison) > 1), 1.5 + 0.5 * max(len(comparison), 2)


def _label(each: "OffPolicyCandidate", comparison: "OffPolicyComparison") -> str:
    more = [*["baseline"] * (each.name == comparison.baseline), *["learns, replayed"] * (each.how == "replayed")]
    return literal(each.name, 36) + (f"\n({'; '.join(more)})" if more else "")


def _difference(ax: Any, y: int, each: "OffPolicyCandidate") -> None:
    gap = each.difference
    if gap is None:
        ax.plot([0.0], [y], marker="D", color=INK, markersize=7, markerfacecolor=PAPER)
        return
    colour, marker = VERDICT_LOOKS[gap.verdict]
    ax.plot(gap.joint, [y, y], color=colour, linewidth=1.2)
    ax.plot(gap.interval, [y, y], color=colour, linewidth=3.5, alpha=0.6, solid_capstyle="butt")
    ax.plot([gap.value], [y], marker=marker, color=colour, markersize=7)
    verdict = gap.verdict + {"safe": " [safe]", "apart": " [not paired]"}.get(gap.kind, "")
    ax.annotate(f"{gap.value:+.3g} {verdict}", (gap.value, y), xytext=(0, 7), textcoords="offset points", ha="center",
                fontsize="small", bbox=BEHIND,
                color=colour if gap.verdict in ("better", "worse") else SOFT)  # fmt: skip
