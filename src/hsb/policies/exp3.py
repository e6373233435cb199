"""EXP3: one distribution over arms, whatever the context."""

from typing import Any, ClassVar

from .. import reproducible_math
from ..engine.state import State, make_cells
from ..learners.keys import Nowhere
from .mixture import Mixture


class Exp3(Mixture):
    """Exponential weights over the arms with importance-weighted losses; the context may be anything and is not looked at.

    At the same `learning_rate` exactly HSB on a single leaf.

    - `horizon`: the number of rounds T to come, for the rate sqrt(2 ln M / (T M)) with M arms. Or `learning_rate` itself, a constant above 0.
      With neither the rate in round t is about sqrt(ln M / (M t)).
    - `arms`, `implicit`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    >>> import hsb
    >>> policy = hsb.Exp3(arms=["a", "b"], horizon=1000, seed=0)
    >>> policy.learn(policy.decide(None), reward=1.0)
    >>> round(policy.regret_bound())
    53
    """

    _against = "any single arm"
    guarantee: ClassVar[str] = "Against every single arm, whatever the losses: sqrt(2 M T ln M), with a horizon."

    def regret_bound(self, horizon: float | None = None) -> float:
        """ln M / rate + M T rate / 2 over T = `horizon` rounds (None: those it was made for); at the theory's rate, sqrt(2 M T ln M).

        >>> import hsb
        >>> round(hsb.Exp3(arms=3, horizon=100_000).regret_bound())
        812
        """
        return self._bound(self._best_cost(), horizon, implicit=self.implicit)

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return {}  # it looks at none, so any will do

    def _locator(self) -> Nowhere:
        return Nowhere()

    def _fresh(self) -> State:
        return State([make_cells(1, len(self.arms))], [1])

    def _prior_bound(self) -> float:
        return reproducible_math.ln(len(self.arms))

    def _best_cost(self) -> float:
        return float(self._arm_costs().max())  # that of the dearest arm

    def settings(self) -> dict[str, Any]:
        return self._settings()

    def _shown(self) -> dict[str, Any]:
        return {"learning_rate": self.learning_rate}
