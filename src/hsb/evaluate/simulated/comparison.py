"""The result of a comparison: as tidy data, a table, differences with intervals, curves and figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...data_frame import data_frame
from ...errors import InputError, quoted
from ...plotting.figures import Legend
from ...types import Floats, Ints
from ..intervals import Interval, mean_interval, paired_interval


class Row(NamedTuple):
    """One number of a `Comparison`: the average loss of `policy` over the rounds up to `round`, in one `presentation` of one `run`.

    >>> Row(policy="HSB", run=0, presentation=0, round=100, average_loss=0.25).average_loss
    0.25
    """

    policy: str
    """The policy's name."""
    run: int
    """The number of the data set, from 0."""
    presentation: int
    """The number of the presentation of that data set, from 0."""
    round: int
    """The round up to which the loss is averaged, from 1."""
    average_loss: float
    """The average loss a round."""


class TableRow(NamedTuple):
    """A policy's average loss and its 95% interval, as `Comparison.table` lists them.

    >>> TableRow(policy="HSB", mean=0.25, low=0.24, high=0.26).mean
    0.25
    """

    policy: str
    """The policy's name."""
    mean: float
    """Its average loss a round, over all runs."""
    low: float
    """The lower end of the 95% interval."""
    high: float
    """The upper end."""


class Curve(NamedTuple):
    """Average loss so far, or regret so far, against the round, with its 95% band: four arrays of one length.

    >>> losses = {"mine": np.array([[[0.5, 0.3]], [[0.5, 0.3]]])}
    >>> Comparison(marks=np.array([10, 100]), losses=losses).curves()["mine"].rounds
    array([ 10, 100])
    """

    rounds: Ints
    """The rounds that were marked."""
    mean: Floats
    """The mean over the runs."""
    low: Floats
    """The lower end of the band."""
    high: Floats
    """The upper end."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Average losses of several policies on one problem; `hsb.evaluate.compare` returns it.

    A run is one data set; each time a policy plays it is a presentation. Runs are the unit of every interval; presentations are averaged within
    a run. Averages are kept at some rounds only, the marks.

    >>> losses = {"good": np.array([[[0.5, 0.1]], [[0.4, 0.2]]]), "bad": np.array([[[0.5, 0.6]], [[0.6, 0.7]]])}
    >>> compared = Comparison(marks=np.array([10, 100]), losses=losses)
    >>> print(compared.difference("bad", "good"))
    0.5000 (0.5000 to 0.5000)
    >>> print(compared)
    policy  average loss  95% interval
    good          0.1500  -0.4853 to 0.7853
    bad           0.6500  0.0147 to 1.2853
    """

    marks: Ints
    """The marked rounds, increasing; the last is the number of rounds played."""
    losses: Mapping[str, Floats]
    """By the policy's name, an array of shape (runs, presentations, marks): the average loss over the first `marks[i]` rounds."""
    title: str = ""
    """The problem in words, for figures."""
    synthetic: bool = False
    """Is the problem synthetic, rather than read from a file?"""
    best: float | None = None
    """The expected average loss of the best policy that knows the model, over all rounds."""
    best_so_far: Floats | None = None
    """The same, up to each of the marked rounds; None: equal to `best`."""
    loss_range: tuple[float, float] | None = None
    """The range of all losses; None: not known. Bands are drawn within it."""
    bounds: Mapping[str, Floats] = field(default_factory=dict)
    """Proved bounds on a policy's expected regret at the marked rounds, against the mappings of its structure.

    A bound holds against the best policy too if that is one of these mappings."""

    @property
    def policies(self) -> list[str]:
        """The policies' names, in the order given."""
        return list(self.losses)

    @property
    def rows(self) -> Iterator[Row]:
        """Every number, an iterator of `Row`; `to_frame` makes a data frame of them."""
        for name, table in self.losses.items():
            for (run, presentation, mark), loss in np.ndenumerate(table):
                yield Row(name, run, presentation, int(self.marks[mark]), float(loss))

    def averages(self, policy: str, *, since: int = 0, until: int | None = None) -> Floats:
        """Return the average loss of `policy` in each run over the rounds after `since` up to `until`, an array.

        Both must be marked rounds, else `InputError`; `since=0` is the beginning, `until=None` the end.
        """
        end = self._mark(int(self.marks[-1]) if until is None else until)
        if policy not in self.losses:
            raise InputError(f"There is no policy {quoted(policy)} here. The policies are {', '.join(map(repr, self.losses))}.")
        table = self.losses[policy].mean(axis=1)
        total = table[:, end] * self.marks[end]
        if since == 0:
            return np.asarray(total / self.marks[end])
        begin = self._mark(since)
        if begin >= end:
            raise InputError(f"since must come before until; given since={since}, until={int(self.marks[end])}.")
        return np.asarray((total - table[:, begin] * self.marks[begin]) / (self.marks[end] - self.marks[begin]))

    def interval(self, policy: str, *, since: int = 0, until: int | None = None) -> Interval:
        """Return a policy's average loss, with a 95% interval. `since` and `until` as in `averages`."""
        return mean_interval(self.averages(policy, since=since, until=until))

    def difference(self, a: str, b: str, *, since: int = 0, until: int | None = None) -> Interval:
        """Return the average loss of policy `a` minus that of `b`, on the same data, with a 95% interval: above 0 if `b` is better.

        `since` and `until` as in `averages`.
        """
        return paired_interval(self.averages(a, since=since, until=until) - self.averages(b, since=since, until=until))

    def table(self, *, since: int = 0, until: int | None = None) -> list[TableRow]:
        """Return a `TableRow` for each policy, in the order given. `since` and `until` as in `averages`."""
        return [TableRow(name, *self.interval(name, since=since, until=until)) for name in self.losses]

    def curves(self) -> dict[str, Curve]:
        """Return, by the policy's name, its average loss so far, with a 95% band, at the marked rounds."""
        curves = {}
        for name, table in self.losses.items():
            curves[name] = Curve(self.marks, *np.array([mean_interval(column) for column in table.mean(axis=1).T]).T)
        return curves

    def regret_curves(self) -> dict[str, Curve]:
        """Return, by the policy's name, its regret so far: its loss minus the expected loss of the best policy that knows the model.

        Raises `InputError` if `best` is None: it is known only for synthetic problems that do not react to the policy.

        >>> losses = {"mine": np.array([[[0.5, 0.3]], [[0.5, 0.3]]])}
        >>> Comparison(marks=np.array([10, 100]), losses=losses, best=0.25).regret_curves()["mine"].mean
        array([2.5, 5. ])
        """
        best = self._best()
        return {
            name: Curve(self.marks, *(self.marks * (each - best) for each in (curve.mean, curve.low, curve.high)))
            for name, curve in self.curves().items()
        }

    def regret_range(self) -> tuple[Floats, Floats]:
        """Return the least and the largest possible regret at the marked rounds, two arrays; infinite if `loss_range` is None.

        >>> losses = {"mine": np.array([[[0.5, 0.3]], [[0.5, 0.3]]])}
        >>> compared = Comparison(marks=np.array([10, 100]), losses=losses, best=0.25, loss_range=(0.0, 1.0))
        >>> [bound.tolist() for bound in compared.regret_range()]
        [[-2.5, -25.0], [7.5, 75.0]]
        """
        low, high = self.loss_range or (-np.inf, np.inf)
        best = self._best()
        return self.marks * (low - best), self.marks * (high - best)

    def _best(self) -> Floats:
        if self.best is None:
            raise InputError(
                "Regret needs the loss of the best policy, which is known only for synthetic problems. Use plot() or curves()."
            )
        return np.full(len(self.marks), self.best) if self.best_so_far is None else self.best_so_far

    def plot_regret(
        self,
        ax: Any = None,
        *,
        bounds: Mapping[str, Any] | None = None,
        styles: Mapping[str, Mapping[str, Any]] | None = None,
        log: bool = True,
        legend: Legend = True,
    ) -> Any:
        """Draw regret so far with bands, and the bound of each policy that has a structure; return the axes.

        A bound is against the mappings of the structure, the curve against the best policy: if that is not such a mapping, the curve may cross
        the bound.

        - `ax`: matplotlib's axes to draw into; None makes new ones.
        - `bounds`: other bounds, by the policy's name: a function of the round, e.g. `policy.regret_bound`, or a number for each mark; {} for
          no bounds.
        - `styles`: by the policy's name, arguments of matplotlib's `plot` to add to the style of its line.
        - `log`: are both axes logarithmic?
        - `legend`: False for no legend; "inside", "beside" or "below" the axes; True chooses a place where it covers nothing.

        >>> import hsb
        >>> tree = hsb.BinaryTree(depth=3)
        >>> compared = hsb.evaluate.compare({"HSB": hsb.HSB(tree, arms=3)}, hsb.problems.Stationary(), rounds=200, runs=2)
        >>> [line.get_label() for line in compared.plot_regret().lines][:2]
        ['HSB', 'HSB: proved bound']
        """
        from ...plotting.comparisons import plot_regret

        return plot_regret(self, ax, bounds=bounds, styles=styles or {}, log=log, legend=legend)

    def plot(
        self, ax: Any = None, *, styles: Mapping[str, Mapping[str, Any]] | None = None, log: bool = True, legend: Legend = True
    ) -> Any:
        """Draw the curves with their bands, and the best loss as a line; return the axes. `ax`, `styles`, `legend` as in `plot_regret`.

        `log`: is the axis of rounds logarithmic?
        """
        from ...plotting.comparisons import plot_comparison

        return plot_comparison(self, ax, styles=styles or {}, log=log, legend=legend)

    def to_csv(self, path: str | Path) -> None:
        """Write `rows` to a file of comma-separated values, whole or not at all."""
        from ...files.atomic import write_atomically

        path = Path(path)
        if not path.parent.is_dir():
            raise InputError(f"There is no folder {path.parent} to write {path.name} to. Make it first.")
        names = {name: '"' + name.replace('"', '""') + '"' for name in self.losses}
        lines = [",".join(Row._fields)]
        lines += [
            f"{names[row.policy]},{row.run},{row.presentation},{row.round},{quoted(row.average_loss)}" for row in self.rows
        ]
        write_atomically(path, ("\n".join(lines) + "\n").encode())

    def to_frame(self) -> Any:
        """Return a pandas data frame of `rows`: one for each policy, run, presentation and mark. Raises `InputError` if pandas is missing."""
        return data_frame(list(self.rows), columns=list(Row._fields))

    def __str__(self) -> str:
        width = max(len(name) for name in ("policy", *self.losses))
        lines = [f"{'policy':{width}}  average loss  95% interval"]
        lines += [f"{name:{width}}  {mean:12.4f}  {low:.4f} to {high:.4f}" for name, mean, low, high in self.table()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Comparison({self.title or 'untitled'}: {', '.join(self.losses)})"

    def _mark(self, number: int) -> int:
        index = int(np.searchsorted(self.marks, number))
        if index == len(self.marks) or self.marks[index] != number:
            raise InputError(
                f"Round {number} is not a mark, so its averages were not kept. Compare again with marks=[{number}]."
            )
        return index


def join_runs(runs: Sequence[Mapping[str, Any]], marks: Ints, **about: Any) -> Comparison:
    """Make a comparison from the results of `play_run`, one for each run."""
    losses = {name: np.stack([np.asarray(run[name], dtype=np.float64) for run in runs]) for name in runs[0]}
    return Comparison(marks=np.asarray(marks, dtype=np.int64), losses=losses, **about)
