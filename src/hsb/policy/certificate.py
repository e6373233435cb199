"""`Certificate`: the bound on regret that the rounds learned so far prove."""

import math
from dataclasses import dataclass
from typing import Any

from ..data_frame import data_frame
from ..plotting.html_table import html_table

ADVICE = "the advice of its models"


@dataclass(frozen=True)
class Certificate:
    """A bound on how much more the decisions lost than a mapping would have: a fact about these rounds, whatever the world did.

    `policy.certificate()` makes it. The losses are those of the decisions learned, whoever made them. They are compared with a mapping g, an
    arm for each part of the contexts. With estimates loss / propensity for the arm played and 0 for the others,

        sum of (loss - estimate of g)  <=  gain of g / rate + sum of (loss + ln(Z) / rate at that time) + cost of sharing

    holds in every run, not only on average: with late feedback, arms that come and go, logged decisions, a rate that falls (`docs/proofs.md`).
    The gain is ln(posterior / prior) of g, at most ln(1 / prior). Z is the share of all weight that a round left. Sharing moves weight back to
    the prior, so that the policy can follow changes. The sums run over the rounds learned, without those in which g's arm was not available;
    before an arm was added, g may have any other arm.

    Without a structure the bound has the largest gain of all single arms and rules on one feature. The rules divide it by category, by rank
    (on the cells of each round) or by one fixed cut of a number. So the bound holds for each of them, even the one that looks best afterwards.
    With a structure the bound is about the mapping that `explain()` shows, in the default the one that its advisor has learned. It then has
    ln(1 / prior) of that mapping in place of the gain.

    The estimates are unbiased. So for a mapping fixed beforehand the left side is, in expectation, the regret; for one chosen afterwards it
    errs towards too much regret. With `delta`, from a policy with `implicit=True`, the bound is on the true regret instead of an estimate. It
    then holds for all mappings at once and at all times, except with probability `delta` at most, provided that the time at which feedback
    comes depends on neither arms nor losses.

    >>> certificate = Certificate(rounds=1000, lost=700.0, excess=100.0, cost=5.0, rate=0.02)
    >>> certificate.total, certificate.average
    (350.0, 0.35)
    >>> print(certificate)  # doctest: +ELLIPSIS
    Over the 1,000 rounds learned, the decisions lost at most 0.35 a round more than the mapping that explain() shows, ...
    >>> print(Certificate(rounds=10, lost=7.0, excess=9.0, cost=5.0, rate=0.2, shifted=True))  # doctest: +ELLIPSIS
    Over the 10 rounds learned, nothing is proved yet against the mapping that explain() shows: the bound is 3.4 a round; ...
    """

    rounds: int
    """The number of rounds learned."""
    lost: float
    """The sum of their losses. All fields are in the `units` below."""
    excess: float
    """The sum over rounds of loss + ln(Z)/rate plus the cost of sharing: in expectation at most M rate / 2 a round without sharing."""
    cost: float
    """The numerator over the rate: the largest gain, or ln(1/prior) of the mapping compared with, including all that is added."""
    rate: float
    """The present rate."""
    masked: bool = False
    """Whether some arms were not available in some rounds."""
    against: str = "the mapping that explain() shows"
    """Name of the comparator."""
    delta: float | None = None
    """The probability that the bound fails; None: it always holds, for estimated losses."""
    shifted: bool = False
    """Whether some losses were learned with a baseline shift b, set beforehand. Estimates are then b + (loss - b) / propensity."""
    units: str = "1"
    """The unit of losses: the width of `loss_range`; with "auto", its width in the round of each loss."""
    advice_cost: float | None = None
    """As `cost`, compared with the advice of the ensemble of models in the same rounds; None without an ensemble."""

    @property
    def total(self) -> float:
        """The bound for all rounds together."""
        return self._bound(self.cost)

    @property
    def average(self) -> float:
        """The bound per round, on average."""
        return self.total / self.rounds if self.rounds else math.inf

    @property
    def advice_total(self) -> float | None:
        """The bound for all rounds together compared with the advice of the ensemble; None without an ensemble.

        >>> Certificate(rounds=1000, lost=700.0, excess=100.0, cost=5.0, rate=0.02, advice_cost=0.1).advice_total
        105.0
        """
        return None if self.advice_cost is None else self._bound(self.advice_cost)

    def _rows(self) -> list[tuple[str, float, float]]:
        """Return (comparator, bound for all rounds, bound per round), a row for each comparator."""
        rows = [(self.against, self.total, self.average)]
        if (advice := self.advice_total) is not None:
            rows.append((ADVICE, advice, advice / self.rounds if self.rounds else math.inf))
        return rows

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each comparator: the bound for all rounds and per round.

        A bound per round of 1 or more proves nothing.
        """
        about = {"rounds": self.rounds, "lost": self.lost, "delta": self.delta, "units": self.units}
        return data_frame(
            [{"against": name, "total": total, "average": average, **about} for name, total, average in self._rows()]
        )

    def plot(self, ax: Any = None) -> Any:
        """Plot the loss per round and, for each comparator, the bound on how much more that is; return the axes.

        `ax`: matplotlib's axes to draw into. Default: new ones.
        """
        from ..plotting.values import Bar, plot_bars

        bars = []
        if self.rounds:
            lost = self.lost / self.rounds
            bars = [
                Bar("lost", lost, f"{lost:.4g}"),
                *(Bar(f"at most more than {name}", *_length(each)) for name, _, each in self._rows()),
            ]
        units = "" if self.units == "1" else f", in units of {self.units}"
        title = f"Lost in {self.rounds:,} rounds" if self.rounds else "Nothing learned yet"
        return plot_bars(bars, ax, title=title, below=f"loss a round{units}")

    def _repr_html_(self) -> str:
        rows = [
            (f"at most more than {name}", *(f"{each:,.4g}" for each in (average, total)))
            for name, total, average in self._rows()
        ]
        lost = [("lost", f"{self.lost / self.rounds:,.4g}", f"{self.lost:,.4g}")] if self.rounds else []
        return html_table(("", "a round", "in all"), [*lost, *rows] if self.rounds else (), lead=str(self))

    def _bound(self, cost: float) -> float:
        bound = cost / self.rate + self.excess
        return bound if self.shifted or self.excess == math.inf else min(bound, self.lost)

    def __str__(self) -> str:
        if not self.rounds:
            return "No update has been learned yet, so there is nothing to certify."
        if self.excess == math.inf:
            return "An older version of hsb learned some of these rounds without the sums that a certificate needs."
        left_out = ", without the rounds in which its arm was not available" if self.masked else ""
        estimate = "b + (loss - b) / propensity, b set beforehand" if self.shifted else "loss / propensity"
        if self.delta is None:
            estimated = f", whose loss is estimated from the same rounds by {estimate}{left_out}."
        else:
            estimated = f", with probability at least {1.0 - self.delta:g}, if neither arms nor losses decide when feedback comes{left_out}."
        units = "" if self.units == "1" else f" Losses are in units of {self.units}."
        rounds = f"Over the {self.rounds:,} rounds learned" if self.rounds > 1 else "Over the one round learned"
        if self.average >= 1.0:
            return (
                f"{rounds}, nothing is proved yet against {self.against}: the bound is {self.average:.4g} a round; no round loses more than 1. "
                f"With rarely played arms or late feedback it takes more rounds.{units}"
            )
        models = ""
        if self.advice_total is not None and self.advice_total < self.rounds:
            models = f" They lost at most {self.advice_total / self.rounds:.4g} a round more than {ADVICE}."
        return f"{rounds}, the decisions lost at most {self.average:.4g} a round more than {self.against}{estimated}{models}{units}"


def _length(bound: float) -> tuple[float, str]:
    """Return the length and the label of a bound's bar. No round can lose more than 1."""
    return (bound, f"{bound:.4g}") if bound < 1.0 else (1.0, "unproved")
