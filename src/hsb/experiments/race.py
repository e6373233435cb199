"""What Sections VI-A and VI-B share: policies as plain data, played on the data sets of one problem."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..evaluate.comparison import Comparison, joined
from ..evaluate.play import marked_rounds, play_run
from ..policies import Policy
from ..problems import Problem, named
from .base import Claim, Experiment, Options, Part, Table
from .claims import claim

FAMILIES = {"HSB-BT": "#1b3a6b", "S-EXP3": "#d1731b", "EXP3": "#6f6f6f", "HSB default": "#b01030", "HSB drift": "#2f9060"}
MARKERS = {"HSB default": "o", "HSB drift": "s"}  # beside the paper's policies; in grey, colour alone would not do
DASHES: dict[int, Any] = {2: (0, (1, 1)), 5: (0, (5, 1.5)), 10: "-"}


def play_part(
    *,
    problem: dict[str, Any],
    policies: dict[str, dict[str, Any]],
    rounds: int,
    run: int,
    presentations: int,
    seed: int,
    marks: list[int],
) -> dict[str, Any]:
    """One data set, some policies: their average losses at the marked rounds, averaged over the presentations."""
    world = named(**problem)
    entrants = {name: Entrant(spec, world, rounds) for name, spec in policies.items()}
    points = marked_rounds(rounds, marks)
    found = play_run(entrants, world, rounds=rounds, run=run, presentations=presentations, seed=seed, marks=points)
    return {"marks": points.tolist(), "losses": {name: curves.mean(axis=0).tolist() for name, curves in found.items()}}


class Entrant:
    """Makes a policy from plain data: its class, the depth of its tree, `horizon` (true: the rounds to be played), other settings.

    >>> from hsb.problems import Stationary
    >>> Entrant({"policy": "SExp3", "depth": 2, "horizon": True}, Stationary(), 1000)(seed=0).horizon
    1000.0
    """

    def __init__(self, spec: Mapping[str, Any], problem: Problem, rounds: int) -> None:
        settings = dict(spec)
        self.kind = Policy.kinds[settings.pop("policy")]
        depth = settings.pop("depth", None)
        if settings.get("horizon") is True:
            settings["horizon"] = rounds
        takes_structure = "structure" in inspect.signature(self.kind).parameters
        self.structure = (problem.structure(depth),) if takes_structure else ()
        self.settings = settings | {"arms": problem.arms}

    def __call__(self, seed: int) -> Policy:
        """A fresh one."""
        made: Policy = self.kind(*self.structure, **self.settings, seed=seed)
        return made


class Race(Experiment):
    """Policies on several data sets of a synthetic problem, each presented several times."""

    SETTINGS: ClassVar[dict[str, Any]]
    """problem, data_sets, presentations, rounds, policies (by group: a part plays one group), and what `quick` puts in their place."""

    @abstractmethod
    def marks(self, settings: dict[str, Any]) -> list[int]:
        """Rounds that the claims speak of."""

    def settings(self, options: Options) -> dict[str, Any]:
        """The literal, with the seed."""
        found = {name: value for name, value in self.SETTINGS.items() if name != "quick"}
        return found | (self.SETTINGS["quick"] if options.quick else {}) | {"seed": options.seed}

    def parts(self, options: Options) -> list[Part]:
        """A data set and a group of policies each."""
        settings = self.settings(options)
        return [
            Part(
                name=f"{self.name}: data set {run + 1}, {group}",
                function=f"{__name__}:play_part",
                arguments={
                    "problem": settings["problem"],
                    "policies": policies,
                    "rounds": settings["rounds"],
                    "run": run,
                    "presentations": settings["presentations"],
                    "seed": settings["seed"],
                    "marks": self.marks(settings),
                },
                rounds=settings["rounds"] * settings["presentations"] * len(policies),
            )
            for run in range(settings["data_sets"])
            for group, policies in settings["policies"].items()
        ]

    def comparison(self, options: Options, results: dict[str, Any]) -> Comparison:
        """All parts put together."""
        settings = self.settings(options)
        runs: list[dict[str, Any]] = [{} for _ in range(settings["data_sets"])]
        marks: list[int] = []
        for part in self.parts(options):
            marks = results[part.name]["marks"]
            for name, curve in results[part.name]["losses"].items():
                runs[part.arguments["run"]][name] = [curve]  # presentations are averaged already
        problem = named(**settings["problem"])
        return joined(
            runs, np.array(marks), title=self.title, synthetic=problem.synthetic, best=problem.best_loss(settings["rounds"])
        )

    def beats(
        self, found: Comparison, better: str, worse: str, text: str, *, since: int = 0, until: int | None = None, **more: Any
    ) -> Claim:
        """The claim that one policy loses less than another in some rounds, by the paired difference over data sets."""
        differences = found.averages(worse, since=since, until=until) - found.averages(better, since=since, until=until)
        numbers = {name: found.interval(name, since=since, until=until)._asdict() for name in (better, worse)}
        return claim(self.name, text, differences, numbers=numbers, **more)


def styles(found: Comparison) -> dict[str, dict[str, Any]]:
    """One colour a family, dashes by depth, and markers on what is not the paper's."""
    drawn: dict[str, dict[str, Any]] = {}
    for name in found.policies:
        family = name.split(",")[0]
        depth = int(name.rsplit(" ", 1)[1]) if "depth" in name else 0
        dashes = DASHES.get(depth, (0, (4, 1, 1, 1)))
        drawn[name] = {"color": FAMILIES.get(family, "black"), "linestyle": dashes}
        if family in MARKERS:
            drawn[name] |= {"marker": MARKERS[family], "markersize": 3.5, "markevery": 0.08}
    return drawn


def losses_table(found: Comparison, title: str, *, since: int = 0, until: int | None = None) -> Table:
    """Average losses with their intervals, and how far above the best."""
    rows = []
    for name, mean, low, high in found.table(since=since, until=until):
        above = "" if found.best is None else f"{mean - found.best:.4f}"
        rows.append([name, f"{mean:.4f}", f"{low:.4f} to {high:.4f}", above])
    if found.best is not None:
        rows.append(["best policy that knows the model", f"{found.best:.4f}", "by quadrature", "0"])
    return Table(title, ["policy", "average loss", "95% interval", "above the best"], rows)
