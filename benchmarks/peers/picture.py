"""Average loss against time a round: down and to the left is better."""

from __future__ import annotations

from pathlib import Path

from hsb.plotting.style import looks

from .summary import BEST, OURS, Loss, Row, Summary

WORST = 0.7  # the share of algorithms, the best first, that the axis must hold: the others stand at its upper edge
SHOWN = ("VI-A", "VI-B", "LandSat", "50 arms", "two features", "ten changes")


def draw(summary: Summary, path: Path, rounds: int) -> None:
    """One panel a problem, a point an algorithm at its best of the grid; a star is HSB's default."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.lines import Line2D

    problems = [name for name in SHOWN if name in summary.problems]
    libraries = list(dict.fromkeys(row.library.name for row in summary.rows))
    own = looks(libraries)
    ours_colour = own["hsb"].colour if "hsb" in own else "black"
    figure, axes = pyplot.subplots(2, 3, figsize=(12.5, 7.6), sharex=True, constrained_layout=True)
    for axis in axes.flat[len(problems) :]:
        axis.axis("off")
    for axis, problem in zip(axes.flat, problems, strict=False):
        levels: list[tuple[float, float, Row]] = []
        for row in summary.rows:
            us, loss = row.us(), summary.loss(row, problem, BEST, rounds)
            if us is None or not isinstance(loss, Loss):
                continue
            drawn = own[row.library.name]
            half = (loss.interval.high - loss.interval.low) / 2 if loss.seeds > 1 else 0.0
            axis.errorbar(
                us,
                loss.interval.mean,
                yerr=half,
                color=drawn.colour,
                marker=drawn.marker,
                markersize=4,
                linestyle="",
                elinewidth=0.8,
            )
            levels.append((loss.interval.mean, us, row))
        ours = next((row for row in summary.rows if row.key == OURS), None)
        mine = summary.ours(problem, rounds)
        if ours is not None and mine is not None and (us := ours.us("raw")):
            axis.plot(us, mine.interval.mean, color=ours_colour, marker="*", markersize=15, linestyle="", zorder=5)
            axis.axhline(mine.interval.mean, color=ours_colour, linewidth=0.6, linestyle=":")
        axis.set_xscale("log")
        if not levels:
            continue
        heights = sorted(level for level, *_ in levels)
        low, high = heights[0], heights[min(len(heights) - 1, int(WORST * len(heights)))]
        axis.set_ylim(low - 0.12 * (high - low) - 1e-3, high + 0.12 * (high - low) + 1e-3)
        top = axis.get_ylim()[1]
        for level, us, row in levels:
            if level > top:  # where it is, is not worth the room
                axis.plot(us, top, color=own[row.library.name].colour, marker="^", markersize=5, linestyle="", clip_on=False)
        for level, us, row in sorted((one for one in levels if one[2].name != "hsb"), key=lambda one: one[0])[:1]:
            where = {"textcoords": "offset points", "xytext": (6, -9 if us < 60 else 7), "ha": "left", "fontsize": 6.5}
            text = axis.annotate(row.full_name, (us, level), **where)
            text.set_in_layout(False)
        axis.set_title(problem + ("" if problem == "LandSat" else " (synthetic)"), fontsize=10)
        axis.grid(alpha=0.25, linewidth=0.5)
    for axis in axes[-1]:
        axis.set_xlabel("µs a round, one at a time")
    for axis in axes[:, 0]:
        axis.set_ylabel(f"average loss over {rounds:,} rounds")
    handles = [
        Line2D([], [], color=each.colour, marker=each.marker, linestyle="", markersize=5, label=name)
        for name, each in own.items()
    ]
    handles.append(Line2D([], [], color=ours_colour, marker="*", linestyle="", markersize=12, label="HSB default"))
    figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    figure.suptitle(
        "Each algorithm with the best of its grid; down and to the left is better; at the upper edge: worse than shown",
        fontsize=11,
    )
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
