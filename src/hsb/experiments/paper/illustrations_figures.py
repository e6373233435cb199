"""Drawings of mappings and trees over the unit square: dark is the first arm, bright the second."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...structures import Structure
from ...structures.boxes import tree_box
from ...types import Floats, Ints

Node = tuple[int, int, int]  # level, number, arm

SHADES = ("0.25", "0.93")  # of the two arms
FINE = 400  # pixels per side, for a mapping that is not a union of cells


def approximations(pyplot: Any, mapping: Callable[[Floats], Ints], quantised: Sequence[tuple[Structure, Ints, float]]) -> Any:
    """Draw a mapping, and beside it its closest mappings on coarser and finer cells: structure, arms, and the share on which they differ."""
    from matplotlib.colors import ListedColormap

    figure, axes = pyplot.subplots(1, 1 + len(quantised), figsize=(3.4 * (1 + len(quantised)), 4.1), layout="constrained")
    side = (np.arange(FINE) + 0.5) / FINE
    points = np.column_stack([part.ravel() for part in np.meshgrid(side, side)])
    shades = ListedColormap(list(SHADES))
    axes[0].imshow(mapping(points).reshape(FINE, FINE), cmap=shades, vmin=0, vmax=1, origin="lower", extent=(0, 1, 0, 1))
    axes[0].set_title("the mapping")
    for ax, (tree, arms, differ) in zip(axes[1:], quantised, strict=True):
        cells(ax, tree, arms, linewidth=0.5)
        ax.set_title(f"closest of {tree.leaves} cells: {differ:.1%} differ")
    for ax in axes:
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="$s_1$", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes[0].set_ylabel("$s_2$")
    _legend(figure)
    return figure


def experts(pyplot: Any, tree: Structure, mappings: Ints, priors: Sequence[float]) -> Any:
    """Draw every expert, with its prior weight."""
    columns = 8
    rows = -(-len(mappings) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(1.35 * columns, 1.75 * rows + 0.5), layout="constrained")
    for ax in np.ravel(axes)[len(mappings) :]:
        ax.axis("off")
    for number, (ax, mapping) in enumerate(zip(np.ravel(axes), mappings, strict=False)):
        _expert(ax, tree, mapping, f"$E_{{{number + 1}}}$: {priors[number]:.4f}")
    figure.suptitle(f"All {len(mappings)} experts and their prior weights, which add to {sum(priors):.6f}")
    _legend(figure)
    return figure


def tree_regions(pyplot: Any, depth: int) -> Any:
    """Draw the tree, with a small square for each node in which its region is filled."""
    figure, ax = pyplot.subplots(figsize=(7.0, 4.4), layout="constrained")
    size = 0.62 / 2**depth
    for level, number in _nodes(depth):
        x, y = _position(level, number)
        left, low = x - size / 2, y - size / 2
        _edge(ax, level, number, size)
        _box(ax, ((left, left + size), (low, low + size)), facecolor="white", edgecolor="black", linewidth=1, zorder=2)
        (a, b), (c, d) = tree_box(number, level, 2, 2)
        region = [(left + size * a, left + size * b), (low + size * c, low + size * d)]
        _box(ax, region, facecolor="black", edgecolor="black", zorder=3)
        if level < depth:  # beside the node, away from the lines
            ax.text(x + size / 2 + 0.015, y, f"node ({level}, {number})", ha="left", va="center", fontsize=9)
        else:
            ax.text(x, y - size / 2 - 0.02, f"node ({level}, {number})", ha="center", va="top", fontsize=9)
    ax.set_title(f"A binary tree of depth {depth} over $[0, 1]^2$: features are halved in turn, $s_1$ first")
    _bare(ax, depth, size)
    return figure


def experts_on_tree(pyplot: Any, tree: Structure, shown: Sequence[tuple[int, Ints, Sequence[Node], float]]) -> Any:
    """Draw experts as nodes of the tree with an arm each: `shown` has number, mapping, nodes and prior weight."""
    figure, axes = pyplot.subplots(2, len(shown), figsize=(3.1 * len(shown), 4.4), layout="constrained", height_ratios=(1, 1.7))
    depth = tree.leaves.bit_length() - 1
    for (top, ax), (number, mapping, nodes, prior) in zip(axes.T, shown, strict=True):
        _expert(top, tree, mapping, f"$E_{{{number + 1}}}$, prior weight {prior:.4f}")
        used = {(level, k): arm for level, k, arm in nodes}
        for level, k in _nodes(depth):
            _edge(ax, level, k, 0.0)
            x, y = _position(level, k)
            if (arm := used.get((level, k))) is None:
                ax.plot(x, y, "o", markersize=7, color="white", markeredgecolor="0.6", zorder=2)
            else:
                ax.plot(x, y, "o", markersize=19, color=SHADES[arm], markeredgecolor="black", zorder=2)
                ax.text(x, y, str(arm + 1), ha="center", va="center", color="white" if arm == 0 else "black", zorder=3)
        _bare(ax, depth, 0.12)
    figure.suptitle("Four experts on the tree: large nodes make up the partition, each with its arm")
    _legend(figure)
    return figure


def cells(ax: Any, structure: Structure, arms: Ints, *, linewidth: float = 1.0) -> None:
    """Draw a mapping of the cells of a structure over the unit square."""
    for leaf, arm in enumerate(np.asarray(arms).tolist()):
        _box(ax, structure.region(leaf), facecolor=SHADES[arm], edgecolor="0.5", linewidth=linewidth)


def _expert(ax: Any, tree: Structure, mapping: Ints, title: str) -> None:
    cells(ax, tree, mapping)
    ax.set_title(title, fontsize=10)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.axis("off")


def _box(ax: Any, box: Sequence[tuple[float, float]], **style: Any) -> None:
    from matplotlib.patches import Rectangle

    (left, right), (low, high) = box
    ax.add_patch(Rectangle((left, low), right - left, high - low, **style))


def _legend(figure: Any) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=shade, edgecolor="black", label=f"arm {arm + 1}") for arm, shade in enumerate(SHADES)]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(SHADES), frameon=False)


def _nodes(depth: int) -> list[tuple[int, int]]:
    return [(level, number) for level in range(depth + 1) for number in range(2**level)]


def _position(level: int, number: int) -> tuple[float, float]:
    """Return the position of a node: leaves are evenly spread, a level is 0.4 high."""
    return (number + 0.5) / 2**level, -0.4 * level


def _edge(ax: Any, level: int, number: int, size: float) -> None:
    """Draw the line to a node from its parent."""
    if level:
        (x0, y0), (x1, y1) = _position(level - 1, number // 2), _position(level, number)
        ax.plot([x0, x1], [y0 - size / 2, y1 + size / 2], color="0.4", linewidth=1, zorder=1)


def _bare(ax: Any, depth: int, size: float) -> None:
    ax.set(xlim=(0, 1), ylim=(-0.4 * depth - size / 2 - 0.08, size / 2 + 0.03), aspect="equal")
    ax.axis("off")
