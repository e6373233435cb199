"""The C programs of `reference/`: built here, fed the same rounds, and compared."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import numpy as np

import hsb
from hsb.problems import Sample
from hsb.types import Floats

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
FIRST = 200  # rounds whose propensities must agree
AGREE = 1e-9


class Disagreement(Exception):
    """The library and the C program do not play the same game."""


class Yardstick:
    """One C program with one problem on disk."""

    def __init__(self, name: str, world: Sample, size: int, eta: float, us: Floats) -> None:
        self.program = _built(name)
        self.into, self.out = OUT / f"{name}.in", OUT / f"{name}.out"
        self.rounds, arms = world.losses.shape
        head = np.array([self.rounds, arms, size, eta, 0.0, 0.0])
        np.concatenate([head, world.contexts.ravel(), world.losses.ravel(), us]).tofile(self.into)

    def __enter__(self) -> Yardstick:
        return self

    def __exit__(self, *_: object) -> None:
        self.into.unlink(missing_ok=True)
        self.out.unlink(missing_ok=True)

    def ns(self) -> float:
        """Nanoseconds a round, the rounds alone, as the program says."""
        done = subprocess.run([self.program, self.into, self.out], check=True, capture_output=True, text=True)
        return float(done.stdout.split()[1])

    def result(self) -> tuple[np.ndarray, Floats]:
        """Arms and propensities of the last run."""
        arms, probabilities = np.fromfile(self.out).reshape(2, self.rounds)
        return arms.astype(np.int64), probabilities


def compiler() -> str | None:
    """Where gcc is, if it is."""
    return shutil.which("gcc")


def _built(name: str) -> Path:
    """The program, built anew: -march=native is this machine's business."""
    OUT.mkdir(exist_ok=True)
    program = OUT / name
    source = HERE / "reference" / f"{name}.c"
    subprocess.run([str(compiler()), "-O3", "-march=native", "-o", program, source, "-lm"], check=True)
    return program


def check(run: hsb.Run, yardstick: Yardstick, world: Sample) -> str:
    """Refuse a comparison of two different games: the first rounds must agree, and the average losses within the noise.

    Both are driven by the same uniforms, so they part only where rounding pushes a uniform over a boundary between two arms.
    """
    arms, probabilities = yardstick.result()
    first = min(FIRST, len(run))
    worst = float(np.abs(run.propensities[:first] - probabilities[:first]).max())
    if not np.array_equal(run.arms[:first], arms[:first]) or not worst <= AGREE:
        raise Disagreement(
            f"first {first} rounds: arms differ, or propensities by {worst:.2e}; at most {AGREE:.0e} is allowed."
        )
    theirs = world.losses[np.arange(len(arms)), arms]
    noise = 5.0 * math.sqrt((run.losses.var() + theirs.var()) / len(run))
    if not abs(run.average_loss - theirs.mean()) <= noise:
        raise Disagreement(
            f"average loss {run.average_loss:.5f}, in C {theirs.mean():.5f}; noise explains {noise:.5f} at most."
        )
    same = float((run.arms == arms).mean())
    losses = f"average loss {run.average_loss:.4f}, in C {theirs.mean():.4f}"
    return f"first {first} propensities agree to {worst:.0e}; {same:.1%} of all rounds play the same arm; {losses}"
