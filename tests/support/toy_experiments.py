"""Small experiments and parts, to test running and reporting experiments."""

import os
from pathlib import Path

from hsb.experiments import progress
from hsb.experiments.base import Analysis, Claim, Experiment, Figure, Part, ReportTable
from support.waiting import wait_until

MODULE = __name__


def square(x, log=None, held=None):
    """Return x*x as plain data; every call adds a line to the log. Squares below 9 wait until the file `held` is gone."""
    if held is not None and x < 3:
        wait_until(lambda: not Path(held).exists())
    if log is not None:
        with Path(log).open("a") as file:
            file.write(f"{x} {os.getpid()}\n")
    return {"x": x, "square": x * x, "pair": (x, x)}


def slow(x, heard):
    """Report 40 rounds, then wait until the runner has read them, which the file `heard` shows."""
    progress.report_rounds(40)
    wait_until(Path(heard).exists)
    return x


def fail(x):
    raise ZeroDivisionError(f"no {x} today")


def parts(n, **more):
    return [Part(f"number {x}", f"{MODULE}:square", {"x": x, **more}, rounds=10 * (x + 1)) for x in range(n)]


class Toy(Experiment):
    """Squares grow; they do not shrink; nobody knows whether they are nice."""

    name = "toy"
    title = "Squares <of> numbers"

    def settings(self, options):
        return {"numbers": 3, "seed": options.seed}

    def parts(self, options):
        return parts(3, log=None)

    def analyse(self, options, results):
        squares = [results[f"number {x}"]["square"] for x in range(3)]
        return Analysis(
            claims=[
                Claim(
                    "toy",
                    "squares grow",
                    True,
                    1.5,
                    1.0,
                    2.0,
                    {"last": squares[-1], "mean": {"mean": 0.5, "low": 0.25, "high": 0.75}},
                ),
                Claim("toy", "squares shrink", False, -1.5, -2.0, -1.0, origin="own", explanation="they <grow>"),
                Claim("toy", "squares are nice", None, 0.0, float("-inf"), float("inf"), p=1.0),
            ],
            figures=[
                Figure("growth", "Squares, growing.", lambda pyplot: _draw(pyplot, squares)),
                Figure("again", "The same.", lambda pyplot: _draw(pyplot, squares), True),
            ],
            tables=[ReportTable("Squares & numbers", ["x", "x²"], [[str(x), str(s)] for x, s in enumerate(squares)])],
            notes=["A note."],
        )


def _draw(pyplot, squares):
    figure, ax = pyplot.subplots()
    ax.plot(squares, "o-", label="squares")
    ax.legend()
    return figure
