"""Figures of explanations, and `save` for any figure. Only the modules listed in pyproject.toml import Matplotlib, when they draw."""

import math
import textwrap
from typing import TYPE_CHECKING, Any

from ..explain.columns import Column, Side
from ..explain.words import percent, split_shown
from .figures import add_legend, add_title, arm_colour, inches, is_narrow, literal, new_axes, picture, require_matplotlib, save
from .style import HATCHES, looks

if TYPE_CHECKING:
    from ..explain import Explanation, Region
    from ..explain.arms import ArmsExplanation

__all__ = [
    "arm_colour",
    "explanation_png",
    "literal",
    "looks",
    "plot_effects",
    "plot_explanation",
    "plot_importance",
    "require_matplotlib",
    "save",
]

EMPTY: dict[str, Any] = {"facecolor": "white", "edgecolor": "0.75", "hatch": ""}
FAINTEST = 0.3  # the strength of the colour of an arm that is only as probable as chance
MANY = 150  # with more boxes than this, outlines are not drawn: they would hide the boxes
SIZES = {1: (8.0, 1.9), 2: (6.5, 5.0)}  # inches, by the number of features
WIDE, LINE = 8.0, 0.27  # inches: the width of an overview, the height of a line in it
LEGEND_ROWS = {1: 5, 2: 16}  # by the number of features: lines that fit beside the axes
MOST_BARS, MOST_RULES, LETTERS = 15, 10, 108  # of an overview: bars, rules, letters in a line
GREY = "0.45"


def plot_explanation(explanation: "Explanation", ax: Any = None) -> Any:
    """Draw an explanation into `ax`, or into new axes if it is None; return the axes.

    One number is a strip and two numbers are rectangles, coloured by arm, in the user's units. Arms differ in lightness and in hatching, so
    they can be told apart in grey; the colour is stronger the more probable the arm. A part without data is left empty. For more columns, or
    categories, this draws the largest rules and, unless axes are given, the importance of columns above them.

    >>> import hsb
    >>> axes = plot_explanation(hsb.HSB(hsb.BinaryTree(depth=2), arms=2).explain())
    >>> axes.get_xlim()
    (np.float64(0.0), np.float64(1.0))
    """
    require_matplotlib()
    if _can_be_mapped(explanation):
        return _map(explanation, new_axes(ax, SIZES[len(explanation.columns)]))
    if ax is None:
        from matplotlib import pyplot

        return _overview(explanation, pyplot.figure(figsize=_overview_size(explanation), layout="constrained"))
    return _rules(explanation, new_axes(ax, (WIDE, 3.0)))


def plot_importance(explanation: "Explanation", ax: Any = None) -> Any:
    """Draw the importance of each column, the largest at the top, into `ax`, or into new axes if it is None; return the axes.

    >>> import hsb
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=2, space=hsb.Box.unit(2)), arms=2, seed=0)
    >>> for t in range(200):
    ...     decision = policy.decide([t % 2 / 2, t % 3 / 3])
    ...     policy.learn(decision, loss=float(decision.arm == t % 2))
    >>> axes = plot_importance(policy.explain(names=["age", "spend"]))
    >>> [label.get_text() for label in axes.get_yticklabels()]  # from the bottom
    ['spend', 'age']
    """
    ax = new_axes(ax, (WIDE, _bars_height(explanation)))
    order = sorted(explanation.importance.items(), key=lambda each: each[1])[-MOST_BARS:]
    names, values = [literal(name, 32) for name, _ in order], [value for _, value in order]
    ax.barh(range(len(values)), values, color=GREY, height=0.65)
    for i, value in enumerate(values):
        ax.annotate(percent(value), (value, i), xytext=(4, 0), textcoords="offset points", va="center",
                    fontsize=6.5 if is_narrow(ax) else 8.3)  # fmt: skip
    ax.set_yticks(range(len(names)), names)
    ax.set(xlim=(0.0, 1.12 * max([0.01, *values])), xticks=[])
    add_title(ax, "What matters: how often the arm changes when the value is another context's", loc="left")
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
    return ax


def plot_effects(explanation: "ArmsExplanation", ax: Any = None) -> Any:
    """Draw the clear effects of features of arms, those of the largest feature at the top, with their errors; return the axes.

    >>> import hsb
    >>> plot_effects(hsb.HSB(arms=hsb.Open()).explain()).get_title(loc="left")
    'What features of arms change: the predicted reward'
    """
    bars = [(f"{feature.name}: {effect.level}", effect)
            for feature in explanation.features for effect in feature.effects if effect.is_clear][:MOST_BARS][::-1]  # fmt: skip
    ax = new_axes(ax, (WIDE, 0.9 + LINE * len(bars)))
    changes, errors = [effect.change for _, effect in bars], [effect.error for _, effect in bars]
    ax.barh(range(len(bars)), changes, xerr=errors, color=GREY, ecolor="black", height=0.65)
    ax.set_yticks(range(len(bars)), [literal(name, 32) for name, _ in bars])
    ax.axvline(0.0, color="black", linewidth=0.8)
    add_title(ax, "What features of arms change: the predicted reward", loc="left")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def explanation_png(explanation: "Explanation") -> bytes:
    """Return the picture of `plot_explanation` as the bytes of a PNG file. Needs no screen.

    >>> import hsb
    >>> explanation_png(hsb.HSB(hsb.BinaryTree(depth=2), arms=2).explain())[1:4]
    b'PNG'
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    if _can_be_mapped(explanation):
        figure = Figure(figsize=SIZES[len(explanation.columns)], layout="constrained")
        _map(explanation, figure.subplots())
    else:
        figure = Figure(figsize=_overview_size(explanation), layout="constrained")
        _overview(explanation, figure)
    return picture(figure, "png", dpi=150)


def _title(explanation: "Explanation") -> str:
    what = "The most probable mapping" if explanation.log_probability is not None else "The arm played most"
    agreement = explanation.agreement
    return what if agreement is None or agreement >= 0.995 else f"{what} (in {percent(agreement)} of contexts)"


# -- one or two numbers ------------------------------------------------------------------------------------------------


def _can_be_mapped(explanation: "Explanation") -> bool:
    columns = explanation.columns
    return len(columns) <= 2 and all(column.kind == "number" and _range(column) is not None for column in columns)


def _range(column: Column) -> tuple[float, float] | None:
    """Return the range in which a column is drawn."""
    if column.low is not None and column.high is not None:
        return column.low, column.high
    return column.usual


def _map(explanation: "Explanation", ax: Any) -> Any:
    from matplotlib.patches import Rectangle

    columns, arms = explanation.columns, list(explanation.arms)
    ranges = [_range(column) or (0.0, 1.0) for column in columns]
    width = 0.6 if sum(len(region.boxes) for region in explanation) <= MANY else 0.0
    for region in explanation:
        style = _style(arms.index(region.arm), len(arms), region.probability) if region.seen else EMPTY
        for box in region.boxes:
            sides = [_within(side, ends) for side, ends in zip(box, ranges, strict=True)]
            (left, right), (low, high) = sides if len(sides) == 2 else (sides[0], (0.0, 1.0))
            ax.add_patch(Rectangle((left, low), right - left, high - low, linewidth=width, **style))
    ax.set_xlim(*ranges[0])
    name = literal("cell" if columns[0].whole and columns[0].name == "x" else columns[0].name)
    if len(columns) == 1:
        ax.set(xlabel=name, ylim=(0.0, 1.0), yticks=[])
    else:
        ax.set(xlabel=name, ylabel=literal(columns[1].name), ylim=ranges[1])
    add_title(ax, _title(explanation), loc="left")
    _legend(explanation, ax, LEGEND_ROWS[len(columns)])
    return ax


def _within(side: Side, ends: tuple[float, float]) -> tuple[float, float]:
    assert not isinstance(side, frozenset)
    return min(max(side[0], ends[0]), ends[1]), max(min(side[1], ends[1]), ends[0])


def _legend(explanation: "Explanation", ax: Any, rows: int) -> None:
    from matplotlib.patches import Patch

    arms, played = list(explanation.arms), {region.arm for region in explanation if region.seen}
    handles = [Patch(label=literal(arm), **_style(i, len(arms), 1.0)) for i, arm in enumerate(arms) if arm in played]
    if not all(region.seen for region in explanation):
        handles.append(Patch(label="never seen", **EMPTY))
    add_legend(ax, "arm (paler: less sure)", handles=handles, columns=-(-len(handles) // rows))


# -- anything else -----------------------------------------------------------------------------------------------------


def _overview_size(explanation: "Explanation") -> tuple[float, float]:
    lines = sum(2.0 + 0.7 * text.count("\n") for text in _texts(explanation)[0])
    return WIDE, _bars_height(explanation) + 0.6 + LINE * lines


def _bars_height(explanation: "Explanation") -> float:
    return 0.5 + LINE * min(MOST_BARS, len(explanation.importance))


def _texts(explanation: "Explanation", letters: int = LETTERS) -> "tuple[list[str], list[Region], list[Region]]":
    """Return the largest rules as lines of text, these rules, and the rules left out."""
    shown, rest = split_shown(explanation)
    rest = sorted([*shown[MOST_RULES:], *rest], key=lambda region: -region.coverage)
    shown = shown[:MOST_RULES]
    lines = [textwrap.wrap(region.where[: 10 * letters], letters) for region in shown]
    return ["\n".join(literal(line, letters) for line in words) for words in lines], shown, rest


def _overview(explanation: "Explanation", figure: Any) -> Any:
    """Draw bars of importance, above the largest rules."""
    whole, bars = _overview_size(explanation)[1], _bars_height(explanation)
    above, below = figure.subplots(2, 1, height_ratios=[bars, whole - bars])
    plot_importance(explanation, above)
    return _rules(explanation, below)


def _rules(explanation: "Explanation", ax: Any) -> Any:
    """Draw the largest rules: each as text, and below it a bar as long as its share, in the arm's colours."""
    size = 6.5 if is_narrow(ax) else 8.3
    texts, shown, rest = _texts(explanation, min(LETTERS, int(LETTERS * inches(ax) / WIDE * 8.3 / size)))
    arms, y = list(explanation.arms), 0.0
    longest = max(region.coverage for region in shown) or 1.0
    for text, region in zip(texts, shown, strict=True):
        lines = 1.0 + 0.7 * text.count("\n")
        style = _style(arms.index(region.arm), len(arms), region.probability) if region.seen else EMPTY
        ax.text(0.0, y + 0.5 * lines, text, va="center", fontsize=size)
        ax.barh(y + lines + 0.35, region.coverage, height=0.6, linewidth=0.6, **style)
        beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": size}
        arm = literal(region.arm, 28) if region.seen else "never seen"
        name = ax.annotate(arm, (region.coverage, y + lines + 0.35), xytext=(6, 0), fontweight="bold", **beside)
        numbers = (f"probability {region.probability:.2f}, " if region.seen else "") + percent(region.coverage)
        ax.annotate(numbers, (1.0, 0.5), xycoords=name, xytext=(8, 0), color=GREY, **beside)
        y += lines + 1.0
    if rest:
        more = f"and {len(rest)} smaller ones, {percent(math.fsum(region.coverage for region in rest))} of contexts"
        ax.text(0.0, y + 0.4, more, va="center", fontsize=size, style="italic", color=GREY)
    ax.set(xlim=(0.0, 1.35 * longest), ylim=(y + (0.9 if rest else 0.0), 0.0), xticks=[], yticks=[])
    add_title(ax, f"{_title(explanation)}: the largest rules and their share of contexts", loc="left")
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def _style(arm: int, arms: int, probability: float) -> dict[str, Any]:
    """Return fill, line and hatching of an arm: fills run from dark to light, and fade to white as the probability falls to chance."""
    full = arm_colour(arm, arms)
    sure = max(0.0, (probability - 1.0 / arms) / (1.0 - 1.0 / arms)) if arms > 1 else 1.0
    strength = FAINTEST + (1.0 - FAINTEST) * sure
    red, green, blue = (1.0 - strength * (1.0 - channel) for channel in full)
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.45
    return {"facecolor": (red, green, blue), "edgecolor": "white" if dark else "black", "hatch": HATCHES[arm % len(HATCHES)]}
