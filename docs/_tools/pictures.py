"""Pictures of the explanation pages, as SVG, made of numbers alone: the same bytes at every build."""

from __future__ import annotations

import math
from html import escape

import numpy as np

INK, GREY, PALE, BLUE, ORANGE = "#1b1f24", "#5d6773", "#e6eaf0", "#1f6fb4", "#c4580a"
WIDTH = 600


class Drawing:
    """A few shapes and words on a white card."""

    def __init__(self, height: int, title: str) -> None:
        self.height, self.title, self.parts = height, title, list[str]()

    def box(self, x: float, y: float, width: float, height: float, *, fill: str = "none", edge: str = INK) -> None:
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" stroke="{edge}" rx="2"/>'
        )

    def line(self, points: list[tuple[float, float]], *, color: str = INK, width: float = 1.5, dash: str = "") -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"{dashes}/>')

    def dot(self, x: float, y: float, *, color: str, hollow: bool = False) -> None:
        fill, radius = ("none", 9) if hollow else (color, 5)
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{color}" stroke-width="2"/>')

    def text(
        self, x: float, y: float, said: str, *, color: str = INK, anchor: str = "start", size: int = 15, bold: bool = False
    ) -> None:
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" text-anchor="{anchor}" font-size="{size}"{weight}>{escape(said)}</text>'
        )

    def svg(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" height="{self.height}" '
            f'role="img" font-family="system-ui, sans-serif"><title>{escape(self.title)}</title>'
        )
        return "\n".join([head, f'<rect width="{WIDTH}" height="{self.height}" fill="#ffffff"/>', *self.parts, "</svg>"]) + "\n"


def everything() -> dict[str, str]:
    """Name of the file: the picture."""
    return {"path.svg": path(), "partitions.svg": partitions(), "propensities.svg": propensities(), "bound.svg": bound()}


def path() -> str:
    """The nodes of a tree of depth 3 that contain one context, and what reaches them at first."""
    drawing = Drawing(262, "A context's way through a tree of depth 3")
    context, left, span = 0.3, 24.0, 400.0
    drawing.text(left, 24, "regions that contain the context", bold=True)
    drawing.text(448, 24, "reach, at first", bold=True)
    for level in range(4):
        parts, top = 2**level, 40 + 44 * level
        here = int(context * parts)
        for k in range(parts):
            fill = BLUE if k == here else PALE
            drawing.box(left + span * k / parts, top, span / parts, 36, fill=fill, edge="#ffffff")
        share = 2.0**-level
        drawing.text(448, top + 24, f"{share:g}", color=BLUE)
        kept = "stops with 1/2" if level < 3 else "stops: a leaf"
        drawing.text(500, top + 24, kept, color=GREY, size=13)
    x = left + span * context
    drawing.line([(x, 34), (x, 222)], color=ORANGE, width=2.5)
    drawing.text(x, 242, "context 0.3", anchor="middle", color=ORANGE)
    drawing.text(left, 242, "0", anchor="middle", color=GREY)
    drawing.text(left + span, 242, "1", anchor="middle", color=GREY)
    return drawing.svg()


PARTS = [((0, 4),), ((0, 2), (2, 4)), ((0, 1), (1, 2), (2, 4)), ((0, 2), (2, 3), (3, 4)), ((0, 1), (1, 2), (2, 3), (3, 4))]
PRIOR = [1 / 2, 1 / 8, 1 / 8, 1 / 8, 1 / 8]  # stop with 1/2 at the root and at each half


def beliefs(rounds: int, rate: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the five partitions of four leaves after `rounds` rounds, and the best arm of each leaf by what was seen.

    Synthetic: arm a loses with probability 0.2 below 0.25 and 0.7 above it, arm b the other way round; arms are played evenly.
    """
    rng = np.random.default_rng(4)
    leaf, arm = rng.integers(0, 4, rounds), rng.integers(0, 2, rounds)
    loss = rng.random(rounds) < np.where((arm == 0) == (leaf == 0), 0.2, 0.7)
    totals = np.zeros((4, 2))
    np.add.at(totals, (leaf, arm), loss / 0.5)
    logs = [
        math.log(prior)
        + sum(
            math.log(np.mean(np.exp(-rate * (totals[a:b].sum(axis=0) - totals[a:b].sum(axis=0).min()))))
            - rate * totals[a:b].sum(axis=0).min()
            for a, b in parts
        )
        for prior, parts in zip(PRIOR, PARTS, strict=True)
    ]
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum(), totals


def partitions() -> str:
    """The five partitions of a tree of depth 2, what each would play, and their weights as rounds go by."""
    after = [0, 100, 400]
    drawing = Drawing(330, "Five partitions and their weights after 0, 100 and 400 rounds (synthetic)")
    for k, rounds in enumerate(after):
        drawing.text(262 + 114 * k, 24, f"{rounds} rounds", bold=True)
    drawing.text(20, 24, "partition, best arms", bold=True)
    found = [beliefs(rounds) for rounds in after]
    totals = found[-1][1]
    for row, parts in enumerate(PARTS):
        top = 44 + 50 * row
        for a, b in parts:
            arm = int(np.argmin(totals[a:b].sum(axis=0)))
            drawing.box(20 + 54 * a, top, 54 * (b - a) - 3, 32, fill=(BLUE, ORANGE)[arm], edge="#ffffff")
            drawing.text(20 + 54 * (a + b) / 2 - 2, top + 22, "ab"[arm], anchor="middle", color="#ffffff")
        for k, (weights, _) in enumerate(found):
            weight = float(weights[row])
            drawing.box(262 + 114 * k, top + 5, max(60 * weight, 0.5), 22, fill=GREY, edge=GREY)
            drawing.text(262 + 114 * k + 60 * weight + 6, top + 22, f"{weight:.2f}", size=14)
    drawing.text(20, 312, "synthetic: arm a is good below 0.25, arm b above", color=GREY, size=14)
    return drawing.svg()


def shop() -> dict[str, dict[str, float]]:
    """Two banners, mornings and evenings: raw averages of a log, and those weighted by 1/propensity. Exact expectations, no chance."""
    clicks = {"film": {"morning": 0.1, "evening": 0.4}, "sale": {"morning": 0.2, "evening": 0.2}}
    shown = {"film": {"morning": 0.1, "evening": 0.9}, "sale": {"morning": 0.9, "evening": 0.1}}
    found: dict[str, dict[str, float]] = {}
    for arm, rates in clicks.items():
        truth = sum(rates.values()) / 2
        raw = sum(shown[arm][part] * rate for part, rate in rates.items()) / sum(shown[arm].values())
        found[arm] = {"truth": truth, "raw": raw, "weighted": truth}
    return found


def propensities() -> str:
    """What a banner would earn if all saw it: the truth, the raw average, the weighted one."""
    drawing = Drawing(206, "The raw average of a log flatters the banner that was shown to those who like it (synthetic)")
    left, span = 130.0, 440.0
    for tick in (0.0, 0.1, 0.2, 0.3, 0.4):
        x = left + span * tick / 0.4
        drawing.line([(x, 42), (x, 150)], color=PALE)
        drawing.text(x, 170, f"{tick:.1f}", anchor="middle", color=GREY, size=14)
    drawing.text(
        left + span / 2, 194, "clicks a visitor, if all saw this banner (synthetic)", anchor="middle", color=GREY, size=14
    )
    drawing.dot(left + 6, 22, color=BLUE)
    drawing.text(left + 18, 27, "weighted = the truth", size=14)
    drawing.dot(left + 206, 22, color=ORANGE, hollow=True)
    drawing.text(left + 218, 27, "raw average of the log", size=14)
    for row, (arm, said) in enumerate(shop().items()):
        y = 74 + 46 * row
        drawing.text(20, y + 5, arm, bold=True)
        drawing.line([(left + span * said["weighted"] / 0.4, y), (left + span * said["raw"] / 0.4, y)], color=GREY, dash="4 3")
        drawing.dot(left + span * said["weighted"] / 0.4, y, color=BLUE)
        drawing.dot(left + span * said["raw"] / 0.4, y, color=ORANGE, hollow=True)
    return drawing.svg()


def bound() -> str:
    """What is proved, a round, as rounds go by: for the default and where the horizon is known."""
    import hsb

    tree = hsb.BinaryTree(depth=10)
    policy = hsb.HSB(tree, arms=3)
    rounds = [round(10 ** (3 + k / 8)) for k in range(33)]
    lines = {
        "nothing given": [policy.regret_bound(T, regions=3) / T for T in rounds],
        "horizon known": [hsb.theory.regret_bound(tree, arms=3, horizon=T, regions=3) / T for T in rounds],
    }
    drawing = Drawing(316, "Proved regret a round: BinaryTree of depth 10, 3 arms, 3 regions")
    left, top, span, tall = 56.0, 30.0, 420.0, 220.0

    def at(T: float, value: float) -> tuple[float, float]:
        return left + span * (math.log10(T) - 3) / 4, top + tall * (1 - min(value, 1.0))

    for value in (0, 0.25, 0.5, 0.75, 1):
        drawing.line([at(1e3, value), at(1e7, value)], color=PALE)
        drawing.text(left - 8, at(1e3, value)[1] + 5, f"{value:g}", anchor="end", color=GREY, size=14)
    for power, said in ((3, "10³"), (4, "10⁴"), (5, "10⁵"), (6, "10⁶"), (7, "10⁷")):
        drawing.text(at(10.0**power, 0)[0], top + tall + 22, said, anchor="middle", color=GREY, size=14)
    drawing.text(left + span / 2, top + tall + 44, "rounds", anchor="middle", color=GREY, size=14)
    drawing.text(left, 18, "proved: lost more than the best mapping of 3 regions, a round", size=14)
    for (said, values), color, dash, where in zip(lines.items(), (BLUE, ORANGE), ("", "7 4"), (3e4, 1.2e3), strict=True):
        drawing.line([at(T, value) for T, value in zip(rounds, values, strict=True)], color=color, width=2.5, dash=dash)
        drawing.text(at(where, 0)[0], at(1e3, 0.45 if color == BLUE else 0.08)[1], said, color=color, bold=True)
    drawing.text(at(3e4, 1)[0], at(1e3, 1)[1] + 18, "at 1 it says nothing yet", color=GREY, size=13)
    return drawing.svg()
