"""A user's own comparison, read from a TOML file, as an experiment like those of the paper."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..evaluate.comparison import Comparison, joined
from ..evaluate.play import marked_rounds, play_run
from ..problems import Problem
from .base import Analysis, Experiment, Figure, Options, Part
from .claims import claim
from .race import losses_table
from .spec import entrant, world


class Own(Experiment):
    """Policies on a problem or on a file of losses; `spec` is what `hsb.experiments.spec.read` gives."""

    name = "comparison"
    title = "A comparison"

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.heading = spec["title"]

    def settings(self, options: Options) -> dict[str, Any]:
        """What the file says."""
        return self.spec | {"seed": options.seed}

    def parts(self, options: Options) -> list[Part]:
        """One run of one policy each: a policy added to the file later is run alone."""
        shared = {name: self.spec[name] for name in ("problem", "file", "structure", "rounds") if name in self.spec}
        return [
            Part(
                f"run {run + 1}, {name}",
                f"{__name__}:play_part",
                {"spec": shared | {"policies": {name: policy}}, "run": run, "seed": options.seed},
                rounds=self.spec["rounds"],
            )
            for run in range(self.spec["runs"])
            for name, policy in self.spec["policies"].items()
        ]

    def analyse(self, options: Options, results: dict[str, Any]) -> Analysis:
        """Losses with intervals, curves, and the first policy against each of the others."""
        found = self._comparison(results)
        first, *others = found.policies
        against = [
            claim(
                self.name,
                f"{first} loses less than {other}",
                found.averages(other) - found.averages(first),
                numbers={name: found.interval(name)._asdict() for name in (first, other)},
                source="hsb",
            )
            for other in others
        ]
        data = f"{self.spec['rounds']:,} rounds, {self.spec['runs']} runs"
        if "file" in self.spec:
            note = f"The rounds of {self.spec['file']['name']}, in their order: runs differ in the policies' own random numbers alone."
        else:
            note = f"The problem {self.spec['problem']['name']!r}, synthetic: every run draws its own data, the same for all policies."
        return Analysis(
            claims=against,
            figures=[Figure("losses", f"Average loss, {data}, 95% bands.", lambda _: found.plot().figure, found.synthetic)],
            tables=[losses_table(found, f"Average loss over {data}{' (synthetic)' if found.synthetic else ''}")],
            notes=[note],
        )

    def _comparison(self, results: dict[str, Any]) -> Comparison:
        runs = [
            {name: [results[f"run {run + 1}, {name}"]] for name in self.spec["policies"]} for run in range(self.spec["runs"])
        ]
        problem = world(self.spec)
        best = problem.best_loss(self.spec["rounds"]) if isinstance(problem, Problem) and not problem.reacts else None
        marks = marked_rounds(self.spec["rounds"])
        return joined(runs, marks, title=self.heading, synthetic=isinstance(problem, Problem), best=best)


def play_part(*, spec: dict[str, Any], run: int, seed: int) -> list[float]:
    """One run of one policy: its average loss at the marked rounds."""
    ((name, policy),) = spec["policies"].items()
    problem = world(spec)
    found = play_run(
        {name: entrant(policy, spec, problem)},
        cast(Problem, problem),  # a file of losses has all that is asked of it here
        rounds=spec["rounds"],
        run=run,
        presentations=1,
        seed=seed,
        marks=marked_rounds(spec["rounds"]),
    )
    return cast(list[float], np.asarray(found[name][0]).tolist())
