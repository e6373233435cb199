"""The picture of README: what a policy learned of a shop's visitors, beside how it does against rivals. All of it is synthetic.

    python docs/pictures.py             writes docs/images/learned.png, in a minute
    python docs/pictures.py --out DIR   writes it there

The left half asks one policy what it would show. The right half plays the same visitors with each rival: HSB on dicts as they are, LinUCB on
columns made by hand, the others as they come.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.patches import Patch

import hsb
from hsb.plotting.style import FAINT, INK, PAPER, SOFT
from hsb.problems import Banners
from hsb.problems.banners import COUNTRIES, DEVICES
from hsb.types import Floats

BANNERS = ("sale", "the app", "film tonight", "premium card", "summer")
ROUNDS, RUNS = 20_000, 8
Player = tuple[Callable[[int], hsb.Policy], Callable[[Any], Any]]


def columns(visitors: Any) -> Floats:
    """Sixteen columns in [0, 1], as one would make them by hand, with a flag where a number is missing."""
    age, spend = visitors["age"], visitors["spend"]
    found = [visitors["country"] == country for country in COUNTRIES] + [visitors["device"] == device for device in DEVICES]
    found += [np.isnan(age), np.nan_to_num(age) / 100, np.isnan(spend), np.minimum(np.nan_to_num(spend) / 200, 1)]
    return np.column_stack([*found, visitors["hour"] / 24, visitors["is_member"]]).astype(np.float64)


def hours(visitors: Any) -> Floats:
    """The hour alone, for a tree over the day."""
    return np.asarray(visitors["hour"], dtype=np.float64)


def same(visitors: Any) -> Any:
    """Visitors as they are."""
    return visitors


DAY = hsb.BinaryTree(depth=5, space=hsb.Box([0], [24]))
PLAYERS: dict[str, Player] = {
    "HSB, visitors as dicts": (lambda seed: hsb.HSB(arms=5, seed=seed), same),
    "LinUCB, columns and alpha by hand": (lambda seed: hsb.LinUCB(hsb.Box.unit(16), arms=5, alpha=0.3, seed=seed), columns),
    "TreeThompson, by the hour": (lambda seed: hsb.TreeThompson(DAY, arms=5, seed=seed), hours),
    "EXP3, without contexts": (lambda seed: hsb.Exp3(arms=5, horizon=ROUNDS, seed=seed), same),
    "uniform": (lambda seed: hsb.Uniform(arms=5, seed=seed), same),
}


def learned(rounds: int = ROUNDS) -> hsb.Policy:
    """A policy after so many visitors."""
    policy = hsb.HSB(arms=BANNERS, seed=0)
    visitors, losses, _ = Banners().sample(rounds, seed=0)
    hsb.simulate(policy, visitors, losses)
    return policy


def clicks(player: Player, rounds: int, runs: int) -> Floats:
    """Clicks a visitor so far, shape (runs, rounds)."""
    make, encode = player
    found = []
    for seed in range(runs):
        visitors, losses, _ = Banners().sample(rounds, seed)
        run = hsb.simulate(make(seed), encode(visitors), losses)
        found.append(1.0 - np.cumsum(run.losses) / np.arange(1, rounds + 1))
    return np.array(found)


def draw_learned(ax: Any, policy: hsb.Policy) -> None:
    """What is shown at each hour to visitors with each device, members or not."""
    kinds = [(device, member) for member in (True, False) for device in ("web", "android", "ios")]
    colours = np.array([hsb.plot.arm_colour(i, 5) for i in range(5)])
    image = np.ones((len(kinds), 24, 3))
    for row, (device, member) in enumerate(kinds):
        for hour in range(24):
            visitor = {"country": "GB", "age": 35, "device": device, "hour": hour, "is_member": member, "spend": 20}
            probabilities = policy.probabilities(visitor)
            sure = 0.35 + 0.65 * probabilities.max()
            image[row, hour] = 1 - sure * (1 - colours[probabilities.argmax()])
    ax.imshow(image, origin="lower", extent=(0, 24, -0.5, len(kinds) - 0.5), aspect="auto", interpolation="nearest")
    for row in range(1, len(kinds)):
        ax.axhline(row - 0.5, color=PAPER, linewidth=4 if row == 3 else 1.5)
    ax.set_yticks(range(len(kinds)), [f"{device}{', member' * member}" for device, member in kinds])
    ax.set(xticks=range(0, 25, 3), xlabel="hour of the day; a visitor from GB, aged 35, of usual spend")
    ax.set_title("What HSB learned to show", loc="left", fontsize=11, fontweight="bold", color=INK)
    handles = [Patch(facecolor=colour, label=banner) for banner, colour in zip(BANNERS, colours, strict=True)]
    ax.figure.legend(
        handles=handles, loc="outside lower left", ncols=5, frameon=False, fontsize=9, handlelength=1, columnspacing=1.2
    )


def draw_rivals(ax: Any, rounds: int, runs: int) -> None:
    """Clicks a visitor so far, the name of each at the end of its curve."""
    at = np.unique(np.geomspace(100, rounds, 120).astype(int))
    ends = []
    for name, look in hsb.plot.looks(PLAYERS).items():
        mean = clicks(PLAYERS[name], rounds, runs)[:, at - 1].mean(axis=0)
        ax.plot(at, mean, **look.line(linewidth=3.0 if name.startswith("HSB") else 1.8))
        ends.append((mean[-1], name, look.colour))
    best = 1 - Banners().best_loss(1)
    ax.axhline(best, color=SOFT, linewidth=1.2, linestyle=(0, (1, 2)))
    least = 0.0
    for height, name, colour in sorted([*ends, (best, "the best for each visitor", SOFT)]):
        least = max(height, least + 0.0045)  # names do not cover each other
        bold = "bold" if name.startswith("HSB") else "normal"
        beside = {"xytext": (6, 0), "textcoords": "offset points", "va": "center", "fontsize": 9.5}
        ax.annotate(
            f"{name} {100 * height:.1f}%", (rounds, least), color=colour, fontweight=bold, annotation_clip=False, **beside
        )
    ax.set(xscale="log", xlim=(100, rounds), xlabel="visitors")
    ax.set_title("Clicks per visitor so far", loc="left", fontsize=11, fontweight="bold", color=INK)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    ax.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    ax.grid(axis="y", color=FAINT, linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)


def draw(rounds: int = ROUNDS, runs: int = RUNS) -> Any:
    """Both halves."""
    look = {"axes.facecolor": PAPER, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK}
    with pyplot.rc_context(look):
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.5), layout="constrained", width_ratios=(1, 1.15))
        figure.set_facecolor(PAPER)
        figure.get_layout_engine().set(w_pad=0.15, h_pad=0.1)
        draw_learned(left, learned(rounds))
        draw_rivals(right, rounds, runs)
        figure.suptitle(f"A synthetic shop with five banners, {rounds:,} visitors", color=SOFT, fontsize=10)
    return figure


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "images", help="the folder to write to")
    out = parser.parse_args().out
    out.mkdir(exist_ok=True, parents=True)
    for path in hsb.plot.save(draw(), out / "learned.png", dpi=130):
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
