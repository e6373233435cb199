"""Policies on several data sets of one problem, as plain data: the common part of Sections VI-A and VI-B and of `hsb run`."""

from typing import Any

import numpy as np

from ..evaluate.simulated.comparison import Comparison, join_runs
from ..evaluate.simulated.run import loss_range, marked_rounds, play_run
from ..specs import make_problem, policy_spec
from .base import Claim, Experiment, Options, Part, ReportTable, claim


def play_part(
    *,
    problem: dict[str, Any],
    policies: dict[str, dict[str, Any]],
    rounds: int,
    run: int,
    presentations: int,
    seed: int,
    marks: list[int],
    code: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Play one data set with some policies. Returns their average losses at the marked rounds, averaged over the presentations.

    `code` has a hash of each user module: if that code changes, the part is a different one and runs again.
    """
    there = make_problem(problem)
    policy_specs = {name: policy_spec(settings, there, rounds) for name, settings in policies.items()}
    points = marked_rounds(rounds, marks)
    curves = play_run(policy_specs, there, rounds=rounds, run=run, presentations=presentations, seed=seed, marks=points)
    return {"marks": points.tolist(), "losses": {name: each.mean(axis=0).tolist() for name, each in curves.items()}}


class Race(Experiment):
    """Policies on several data sets of a problem, each presented several times.

    `settings` has problem, data_sets, presentations, rounds, seed, and policies by group: a part plays one group on one data set.
    """

    def marks(self, settings: dict[str, Any]) -> list[int]:
        """Return the rounds that the claims need, beside the last."""
        return []

    def parts(self, options: Options) -> list[Part]:
        settings = self.settings(options)
        names = ("problem", "rounds", "presentations", "seed", "code")
        shared = {"marks": self.marks(settings)} | {name: settings[name] for name in names if name in settings}
        play, rounds = f"{__name__}:play_part", settings["rounds"] * settings["presentations"]
        return [
            Part(f"{self.name}: data set {run + 1}, {group}", play, shared | {"policies": each, "run": run}, rounds * len(each))
            for run in range(settings["data_sets"])
            for group, each in settings["policies"].items()
        ]

    def comparison(self, options: Options, results: dict[str, Any]) -> Comparison:
        """Return the average losses of all policies on all data sets, joined from the parts."""
        settings = self.settings(options)
        runs: list[dict[str, Any]] = [{} for _ in range(settings["data_sets"])]
        marks: list[int] = []
        for part in self.parts(options):
            marks = results[part.name]["marks"]
            for name, curve in results[part.name]["losses"].items():
                runs[part.arguments["run"]][name] = [curve]  # presentations are averaged already
        problem = make_problem(settings["problem"])
        best = problem.best_loss(settings["rounds"]) if problem.synthetic and not problem.reacts else None
        policy_specs = {
            name: policy_spec(each, problem, settings["rounds"])
            for group in settings["policies"].values()
            for name, each in group.items()
        }
        about: dict[str, Any] = {"title": settings.get("title", self.title), "synthetic": problem.synthetic, "best": best}
        return join_runs(runs, np.array(marks), loss_range=loss_range(policy_specs), **about)

    def beats(
        self, compared: Comparison, better: str, worse: str, text: str, *, since: int = 0, until: int | None = None, **more: Any
    ) -> Claim:
        """Test by paired differences over data sets that one policy loses less than another between rounds `since` and `until`."""
        differences = compared.averages(worse, since=since, until=until) - compared.averages(better, since=since, until=until)
        numbers = {name: compared.interval(name, since=since, until=until)._asdict() for name in (better, worse)}
        return claim(self.name, text, differences, numbers=numbers, **more)


def losses_table(compared: Comparison, title: str, *, since: int = 0, until: int | None = None) -> ReportTable:
    """Return a table of average losses with intervals, and their distances to the best policy."""
    rows = []
    for name, mean, low, high in compared.table(since=since, until=until):
        above = "" if compared.best is None else f"{mean - compared.best:.4f}"
        rows.append([name, f"{mean:.4f}", f"{low:.4f} to {high:.4f}", above])
    if compared.best is not None:
        rows.append(["best policy that knows the model", f"{compared.best:.4f}", "by quadrature", "0"])
    return ReportTable(title, ["policy", "average loss", "95% interval", "above the best policy"], rows)
