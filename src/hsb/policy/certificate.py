"""What the rounds learned so far prove."""

import math
from dataclasses import dataclass
from typing import Any

from ..data_frame import data_frame
from ..plotting.html_table import html_table

ADVICE = "the advice of its own models"


@dataclass(frozen=True)
class Certificate:
    """A bound on what was lost more than by other ways to decide, from what was observed: a fact about these rounds, whatever the world did.

    `policy.certificate()` makes it. What is lost is the loss of the decisions learned from, whoever made them. What it is compared with, g, is
    a mapping, an arm for each part of the contexts. With estimates loss / propensity for the arm played and 0 for the others,

        sum of (loss - estimate of g)  <=  gain of g / rate + sum of (loss + ln(Z) / rate at that time) + what sharing cost

    holds in every run, not only on average: with late feedback, arms that come and go, logged decisions, a rate that falls (`docs/proofs.md`).
    The gain is ln(posterior / prior) of g, at most ln(1 / prior). Z is the share of all weight that a round left; sharing is weight that goes
    back to the prior, so that changes can be followed. The sums run over the rounds learned from; those in which g's arm was not available are
    left out, and before an arm was added g may have any other arm.

    Without a structure the bound has the largest gain of all single arms and rules on one feature: by category and by rank, on cells as they
    were in each round, and with one fixed cut of a number. So it holds of every one of these, also of the one that looks best afterwards. With
    a structure it is about the mapping that `explain()` shows, in the default the one that its advisor has learned, and has its ln(1 / prior)
    in place of the gain.

    The estimates are unbiased, so for a mapping fixed beforehand the left side is, in expectation, the regret. For one chosen afterwards the
    left side errs towards too much regret. With `delta`, from a policy made with `implicit=True`, the bound is on the true regret instead of an
    estimated one, for all mappings at once and at all times, and fails with probability delta at most: if when feedback comes depends on
    neither arms nor losses.

    >>> found = Certificate(rounds=1000, lost=700.0, excess=100.0, cost=5.0, rate=0.02)
    >>> found.total, found.average
    (350.0, 0.35)
    >>> print(found)  # doctest: +ELLIPSIS
    Over the 1,000 rounds learned from, what was played lost at most 0.35 a round more than the mapping that explain() shows, ...
    >>> print(Certificate(rounds=10, lost=7.0, excess=9.0, cost=5.0, rate=0.2, shifted=True))  # doctest: +ELLIPSIS
    Over the 10 rounds learned from, nothing is proved yet against the mapping that explain() shows: the bound is 3.4 a round, ...
    """

    rounds: int
    """Rounds learned from."""
    lost: float
    """The sum of their losses, in the `units` below, as all of these."""
    excess: float
    """The sum over rounds of loss + ln(Z)/rate, and of what sharing cost: in expectation at most M rate / 2 a round, sharing apart."""
    cost: float
    """What is divided by the rate: the largest gain, or ln(1/prior) of the mapping compared with, all that is added to it included."""
    rate: float
    """The present rate."""
    masked: bool = False
    """Were some arms not available in some rounds?"""
    against: str = "the mapping that explain() shows"
    """What the decisions are compared with."""
    delta: float | None = None
    """The probability that it does not hold; None: it always does, of estimated losses."""
    shifted: bool = False
    """Were losses learned as what they are more or less than a number b set beforehand? Estimates are then b + (loss - b) / propensity."""
    units: str = "1"
    """What losses are measured in: the width of `loss_range`; where that is found on the way, its width in the round of each loss."""
    advice_cost: float | None = None
    """As `cost`, against what the ensemble of models advised in the same rounds; None if there is none."""

    @property
    def total(self) -> float:
        """The bound for all rounds together."""
        return self._bound(self.cost)

    @property
    def average(self) -> float:
        """The bound for a round, on average."""
        return self.total / self.rounds if self.rounds else math.inf

    @property
    def advice_total(self) -> float | None:
        """The bound for all rounds together on what was lost more than by the ensemble's own advice; None if there is none.

        >>> Certificate(rounds=1000, lost=700.0, excess=100.0, cost=5.0, rate=0.02, advice_cost=0.1).advice_total
        105.0
        """
        return None if self.advice_cost is None else self._bound(self.advice_cost)

    def _rows(self) -> list[tuple[str, float, float]]:
        """What decisions are compared with, and the bound for all rounds and for one."""
        rows = [(self.against, self.total, self.average)]
        if (advice := self.advice_total) is not None:
            rows.append((ADVICE, advice, advice / self.rounds if self.rounds else math.inf))
        return rows

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each thing that decisions are compared with: the bound for all rounds and for one.

        A bound of a round that is 1 or more proves nothing.
        """
        about = {"rounds": self.rounds, "lost": self.lost, "delta": self.delta, "units": self.units}
        return data_frame(
            [{"against": name, "total": total, "average": average, **about} for name, total, average in self._rows()]
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw what was lost a round, and how much of it at most was more than each thing compared with; return the axes.

        `ax`: matplotlib's axes to draw into; None makes new ones.
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
        title = f"Lost in {self.rounds:,} rounds" if self.rounds else "Nothing was learned yet"
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
            return "Nothing was learned yet, so nothing is certified."
        if self.excess == math.inf:
            return "Part of this policy's rounds were learned by a version of hsb that did not count what a certificate needs."
        left_out = ", rounds left out in which its arm was not available" if self.masked else ""
        estimate = "b + (loss - b) / propensity, b set beforehand" if self.shifted else "loss / propensity"
        if self.delta is None:
            how = f", whose loss is estimated from the same rounds by {estimate}{left_out}."
        else:
            how = f", with probability {1.0 - self.delta:g} at least{left_out}."
        units = "" if self.units == "1" else f" Losses are in units of {self.units}."
        rounds = f"Over the {self.rounds:,} rounds learned from" if self.rounds > 1 else "Over the one round learned from"
        if self.average >= 1.0:
            return (
                f"{rounds}, nothing is proved yet against {self.against}: the bound is {self.average:.4g} a round, and no more than 1 can be "
                f"lost. Arms played seldom, and feedback that comes late, need more rounds.{units}"
            )
        models = ""
        if self.advice_total is not None and self.advice_total < self.rounds:
            models = f" Against {ADVICE} it is {self.advice_total / self.rounds:.4g}."
        return f"{rounds}, what was played lost at most {self.average:.4g} a round more than {self.against}{how}{models}{units}"


def _length(bound: float) -> tuple[float, str]:
    """How long a bound's bar is, and what stands at its end: no round can lose more than 1."""
    return (bound, f"{bound:.4g}") if bound < 1.0 else (1.0, "unproved")
