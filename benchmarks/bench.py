"""Speed and memory of hsb, each against a reference in the same run or a bar, and how they grow.

    python benchmarks/bench.py            a few minutes
    python benchmarks/bench.py --quick    under a minute, rougher

Prints one table and the growth curves, and writes them to benchmarks/out/ (bench.json, growth.png). It reports and does not judge:
the exit status is 0 unless the library and the C programs disagree about the numbers themselves.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import growth
from measures import FULL, QUICK, measures
from report import HEAD, Row, machine, table, write
from timing import noise, policy
from yardstick import OUT, Disagreement, compiler

import hsb


def main() -> int:
    """Run everything; 1 where a check failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and repeats, under a minute")
    quick = parser.parse_args().quick
    begun = time.monotonic()
    about: dict[str, Any] = {**machine(), "quick": quick}
    print("\n".join(f"{name}: {value}" for name, value in about.items()))
    if compiler() is None:
        print("gcc is not installed: the rows against C are skipped.")
    warm_up()

    rows: list[Row] = []
    wrong: list[str] = []
    for name, run in measures(QUICK if quick else FULL):
        print(f"  {name} ...", end="", flush=True)
        start = time.monotonic()
        try:
            rows.append(run())
        except Disagreement as error:
            wrong.append(f"{name}: {error}")
            print(" DISAGREES", end="")
        print(f" {time.monotonic() - start:.1f} s", flush=True)
    curves: list[growth.Curve] = []
    for sweep in growth.sweeps(quick):
        print(f"  growth: {sweep.name} against {sweep.axis} ...", end="", flush=True)
        start = time.monotonic()
        curves.append(growth.measure(sweep, repeats=1 if quick else 3))
        print(f" {time.monotonic() - start:.1f} s", flush=True)

    print("\n" + table(HEAD, [row.cells() for row in rows]) + "\n")
    print("\n".join(f"{row.what}: {row.note}" for row in rows if row.note) + "\n")
    print("\n\n".join(curve.text() for curve in curves) + "\n")
    about["seconds"] = round(time.monotonic() - begun, 1)
    about["disagreements"] = wrong
    write(OUT / "bench.json", rows, [curve.data() for curve in curves], about)
    pictured = growth.draw(curves, OUT / "growth.png")
    held = sum(row.holds is True for row in rows)
    files = "bench.json and growth.png" if pictured else "bench.json (no picture: matplotlib is not installed)"
    bars = sum(row.holds is not None for row in rows)
    print(f"{held} of {bars} bars hold. {about['seconds']:.0f} s; {files} in benchmarks/out/.")
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if wrong else 0


def warm_up() -> None:
    """Compile, or read from the cache, everything that is timed in this process."""
    world = noise(100)
    for structure in (hsb.BinaryTree(depth=10), hsb.BinaryTree(depth=52), hsb.Lexicographic(leaves=8)):
        hsb.simulate(policy(structure, 3, 0.01), world.contexts, world.losses)
    player = policy(hsb.BinaryTree(depth=10), 3, 0.01)
    player.learn(player.decide(0.5), loss=1.0)


if __name__ == "__main__":
    sys.exit(main())
