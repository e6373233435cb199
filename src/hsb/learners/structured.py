"""The learner of HSB over a structure, of S-EXP3 and of EXP3: contexts to keys, keys to a mixture."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..engine.kernels.words.state import DUE, SEEN
from ..engine.state.views import OptionsView
from ..explain.pieces import log_options
from ..policy.certificate import Certificate
from ..policy.learner import Also, Choice, Learner, LoggedRows, Memo, Played
from ..types import Arrays, Floats, Ints, Masks
from .keys import Keys, NoContext
from .mixture import MANY, Mixture, Replaying
from .priors import CellsPrior, StructurePrior
from .rates import LearningRate, Rates

ADVISOR = 1  # the option of the head that is not the mixture


class Structured(Learner):
    """A mixture over the mappings of its prior. The view of a context is its key."""

    bulk_floor = True
    bulk_logs = True

    def __init__(self, prior: StructurePrior | CellsPrior, keys: Keys | NoContext, mixture: Mixture) -> None:
        self.prior, self.keys, self.mixture = prior, keys, mixture

    @classmethod
    def fresh(
        cls,
        prior: StructurePrior | CellsPrior,
        arms: int,
        *,
        horizon: float | None,
        learning_rate: LearningRate,
        implicit: bool,
    ) -> Self:
        """Make a learner that has learned nothing."""
        rates = Rates.begin(prior, arms, horizon=horizon, learning_rate=learning_rate)
        return cls(prior, prior.keys(), Mixture(prior.fresh(arms), rates, implicit=implicit, born=arms))

    # -- a round -------------------------------------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        return int(self.mixture.state.laid.F.item(SEEN))

    def read(self, context: Any) -> tuple[Ints, int]:
        return self.keys.read(context)

    def recall(self, context: Any, memo: Memo | None) -> tuple[Ints, int]:
        return self.keys.read(context)

    def choose(self, view: Ints, mask: Masks | None, u: float) -> Choice:
        return self.mixture.state.decide(view, mask, u)

    def fill(self, view: Ints, mask: Masks | None, p: Floats) -> None:
        self.mixture.state.fill(view, mask, p)

    def advice(self, arm: int) -> float:
        return self.mixture.state.advised(arm)

    @property
    def takes_also(self) -> bool:  # type: ignore[override]
        return isinstance(self.prior, StructurePrior) and self.prior.drift == "auto"

    def learn(
        self,
        view: Ints,
        mask: Masks | None,
        arm: int,
        loss: float,
        probability: float,
        memo: Memo | None,
        also: Also | None = None,
    ) -> None:
        if memo is None:
            self.mixture.state.update(view, mask, arm, loss, probability, also=also)
        else:
            rounds, _, advice, _, _ = memo  # quicker than two names
            self.mixture.state.update(view, mask, arm, loss, probability, rounds, advice, also=also)

    def settle(self, view: Any, rounds: int) -> Self | None:
        return self._on(self.mixture.next_phase()) if self.mixture.state.laid.F.item(DUE) else None

    def _on(self, mixture: Mixture) -> Self:
        """Return a learner with another mixture."""
        return type(self)(self.prior, self.keys, mixture)

    # -- tables and logs -----------------------------------------------------------------------------------------------

    def check(self, contexts: Any) -> tuple[Any, int]:
        return self.keys.check(contexts)

    def choose_rows(self, points: Any, masks: Masks | None, us: Floats) -> tuple[Ints, Floats, Floats] | None:
        return self.mixture.choose_rows(self.keys.keys(points), masks, us) if len(us) >= MANY else None

    def fill_rows(self, rows: LoggedRows, p: Floats) -> bool:
        self.mixture.fill_rows(self.keys.keys(rows.points), rows, p)
        return True

    def read_rows(self, points: Any, start: int) -> Ints:
        return self.keys.keys(points[start : start + self.mixture.rows_left()])

    def play(self, view: Ints, table: Played, start: int, share: float, to_come: int) -> None:
        self.mixture.play(view, table, start, share, to_come)

    def learn_rows(self, view: Ints, rows: LoggedRows, probabilities: Floats, start: int) -> None:
        self.mixture.learn_rows(view, rows, probabilities, start)

    def begin_replay(self, rows: LoggedRows, us: Floats) -> Replaying:
        return self.mixture.begin_replay(self.keys.keys(rows.points), rows, us)

    def replay(self, run: Replaying) -> None:
        self.mixture.replay(run)

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return {} if isinstance(self.keys, NoContext) else None  # it looks at none, so any will do

    # -- what is proved ------------------------------------------------------------------------------------------------

    def bound(self, cost: float, horizon: float | None, *, floor: float, delay: float = 0.0) -> float:
        """Return a bound on the regret against mappings with ln(1/beta) = cost."""
        mixture = self.mixture
        return mixture.rates.bound(cost, horizon, arms=mixture.arms, floor=floor, implicit=mixture.implicit, delay=delay)

    def certificate(self, delta: float | None, *, arms: list[Any], units: str, who: str) -> Certificate:
        """Return the certificate of the rounds learned."""
        mixture, confidence = self.mixture, self.mixture.confidence_cost(delta, who)
        price = self.prior.best_cost(mixture, arms)
        cost = price + mixture.rates.schedule.head_cost + (0.0 if delta is None else price + confidence)
        advice = None
        if mixture.rates.schedule.head:
            head = OptionsView(mixture.state.members[0])
            prices = 1.0 if delta is None else 2.0  # with delta a price is paid once more
            gains = log_options(head.F, np.array([head.row]), head.options)[0] - prices * np.log(head.prior)
            advice = float(gains[ADVISOR]) + confidence
        return mixture.certificate(cost, delta, against=self.prior.against, units=units, advice=advice)

    # -- arms, copies, files -------------------------------------------------------------------------------------------

    def with_arm(self, arm: Hashable, features: Any = None) -> Self:
        return self._on(self.mixture.with_arm(self.prior))

    def with_advisor(self, *, ensemble: bool) -> Self:
        """Return this fresh learner with the kind of advisor of a file; ValueError if its structure cannot have it."""
        prior = self.prior
        if not isinstance(prior, StructurePrior) or prior.ensemble == ensemble:
            return self
        if ensemble:
            raise ValueError("its advisor does not fit its structure")
        prior = replace(prior, ensemble=False)
        return type(self)(prior, prior.keys(), self.mixture.on(prior.fresh(self.mixture.arms)))

    def copy(self) -> Self:
        return type(self)(self.prior, self.keys.copy(), self.mixture.copy())

    def to_arrays(self) -> Arrays:
        return self.mixture.to_arrays()

    def from_arrays(self, arrays: Arrays, rounds: int) -> Self:
        prior = self.prior.of_file(arrays)
        mixture = self.mixture
        if prior is not self.prior:
            mixture = mixture.on(prior.fresh(mixture.arms))
        return type(self)(prior, prior.keys(), mixture.from_arrays(arrays, prior, rounds))

    def settings(self) -> dict[str, Any]:
        more = {"implicit": True} if self.mixture.implicit else {}
        return {**self.prior.settings(), **self.mixture.rates.settings(), **more}

    def repr_settings(self) -> dict[str, Any]:
        drift = getattr(self.prior, "drift", None)
        settings = {**self.prior.repr_settings(), "learning_rate": self.mixture.rates.learning_rate}
        return settings if drift is None else settings | {"drift": drift}

    @property
    def nbytes(self) -> int:
        return self.mixture.state.nbytes
