"""What HSB without a structure earns in a shop with five banners, beside hsb.LinUCB on columns made by hand (docs/contexts.md).

python benchmarks/banners.py            some minutes
python benchmarks/banners.py --quick    one seed, 10,000 visitors
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import hsb
from hsb.problems import Banners
from hsb.problems.banners import COUNTRIES, DEVICES
from hsb.types import Floats

SEEDS = (0, 1, 2)
MARKS = (2_000, 10_000, 50_000)


def one_hot(visitors: Any) -> Floats:
    """Sixteen columns in [0, 1], as one would make them by hand: a column a country and a device, 0 and a flag where a number is missing."""
    age, spend, hour = visitors["age"], visitors["spend"], visitors["hour"]
    columns = [visitors["country"] == country for country in COUNTRIES] + [visitors["device"] == device for device in DEVICES]
    columns += [np.isnan(age), np.nan_to_num(age) / 100, np.isnan(spend), np.minimum(np.nan_to_num(spend) / 200, 1)]
    return np.column_stack([*columns, hour / 24, visitors["is_member"]]).astype(np.float64)


def with_evening(visitors: Any) -> Floats:
    """The same, and a seventeenth for evenings, which one must know to matter."""
    evening = np.clip((visitors["hour"] - 13) / 7, 0.0, 1.0)
    return np.column_stack([one_hot(visitors), evening])


def plain(visitors: Any) -> Any:
    """The table as it is."""
    return visitors


def linear(columns: int, alpha: float) -> Callable[[int], hsb.Policy]:
    """LinUCB over so many columns."""
    return lambda seed: hsb.LinUCB(hsb.Box.unit(columns), arms=5, alpha=alpha, seed=seed)


POLICIES: dict[str, tuple[Callable[[int], hsb.Policy], Callable[[Any], Any]]] = {
    "hsb.HSB(arms=5), dicts": (lambda seed: hsb.HSB(arms=5, seed=seed), plain),
    "hsb.LinUCB, 16 columns by hand": (linear(16, 1.0), one_hot),
    "hsb.LinUCB, the same, alpha 0.3": (linear(16, 0.3), one_hot),
    "hsb.LinUCB, alpha 0.3, and a column for evenings": (linear(17, 0.3), with_evening),
    "hsb.Uniform(arms=5)": (lambda seed: hsb.Uniform(arms=5, seed=seed), plain),
}


def earned(name: str, seed: int, rounds: int) -> Floats:
    """Clicks a visitor over the first visitors, for each mark up to `rounds`."""
    make, encode = POLICIES[name]
    visitors, losses, _ = Banners().sample(rounds, seed)
    run = hsb.simulate(make(seed), encode(visitors), losses)
    return np.array([1.0 - run.losses[:mark].mean() for mark in MARKS if mark <= rounds])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one seed, 10,000 visitors")
    quick = parser.parse_args().quick
    seeds, rounds = (SEEDS[:1], MARKS[1]) if quick else (SEEDS, MARKS[-1])
    print(f"clicks a visitor, {len(seeds)} seeds; synthetic; the best possible is {1.0 - Banners().best_loss(1):.4f}\n")
    print("| | " + " | ".join(f"{mark:,}" for mark in MARKS if mark <= rounds) + " |")
    for name in POLICIES:
        each = np.array([earned(name, seed, rounds) for seed in seeds])
        print(
            f"| {name} | " + " | ".join(f"{m:.4f}" for m in each.mean(axis=0)) + f" | (last: {each[:, -1].round(4)})",
            flush=True,
        )


if __name__ == "__main__":
    main()
