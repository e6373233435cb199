"""Section III's algorithm: a mixture of all M^N mappings, one by one."""

import math
from typing import Any, ClassVar, Literal, Self

import numpy as np

from .. import reproducible_math, theory
from ..checks import stop_prior, whole
from ..errors import BudgetError, InputError, quoted
from ..learners.keys import Keys
from ..policy.loss_range import UNIT
from ..structures import Structure
from ..structures.leaves import Divided, Leaves
from ..structures.mappings import Mappings, every_mapping
from ..types import Arms, Floats, Outside, Range, Seed
from .weighted import Weighted

MOST = 1 << 20  # mappings; a round looks at each, 3 ns apiece
MOST_COSTS = 1 << 16  # those whose prior is computed one by one, up to 0.2 ms apiece


class MixtureOfMappings(Weighted):
    """Every mapping of the N leaves to M arms is an expert with a weight of its own (Section III): the truth that others are tested on.

    With `prior="uniform"` exactly `SExp3`. With `prior="complexity"`, where a mapping weighs exp(-theory.prior_cost(structure, mapping)),
    exactly `HSB` with `drift=None`. Those two compute it without listing M^N experts. More than 2^20 mappings, or 2^16 with the complexity
    prior, raise `BudgetError`.

    - `structure`: as in `hsb.SExp3`; the complexity prior needs a structure.
    - `horizon`, `learning_rate`: as in these two. With neither the rate in round t is about sqrt(A / (M t)), A as in `regret_bound`.
    - `regions`, `stop`: as in `hsb.HSB`, for the complexity prior only.
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    No arm can be added: the list of mappings is fixed. Time and memory: O(M^N) a round.

    >>> import hsb
    >>> slow = hsb.MixtureOfMappings(hsb.BinaryTree(depth=2), arms=2, prior="complexity", learning_rate=0.5)
    >>> fast = hsb.HSB(hsb.BinaryTree(depth=2), arms=2, learning_rate=0.5)
    >>> for policy in (slow, fast):
    ...     policy.learn(hsb.Decision(context=0.3, arm=0, propensity=0.2), loss=1.0)
    >>> slow.probabilities(0.8).round(12) == fast.probabilities(0.8).round(12)
    array([ True,  True])
    """

    guarantee: ClassVar[str] = (
        "Against every mapping of the leaves, whatever the contexts and losses: ln(1/prior)/rate + M T rate/2 (Theorem 1)."
    )

    def __init__(
        self,
        structure: Divided,
        *,
        arms: Arms,
        horizon: float | None = None,
        regions: int | None = None,
        learning_rate: float | None = None,
        prior: Literal["uniform", "complexity"] = "uniform",
        stop: float | None = None,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        if not isinstance(prior, str) or prior not in ("uniform", "complexity"):
            raise InputError(f"prior must be 'uniform' or 'complexity'; given {quoted(prior)}.")
        complexity = prior == "complexity"
        if not complexity and (regions is not None or stop is not None):
            raise InputError("regions= and stop= are for prior='complexity': a uniform prior knows no regions. Leave them out.")
        if complexity and (not isinstance(structure, Structure) or isinstance(structure, Leaves)):
            raise InputError(f"prior='complexity' needs a structure, e.g. hsb.BinaryTree(depth=3); given {quoted(structure)}.")
        given = structure if isinstance(structure, Structure) else Leaves(structure)
        super().__init__(arms=arms, loss_range=loss_range, reward_range=reward_range, outside=outside, floor=floor, seed=seed)
        self.structure = given
        _check_budget(given.leaves, len(self.arms), complexity)
        self.prior: Literal["uniform", "complexity"] = prior
        self.regions = None if regions is None else whole("regions", regions, 1)
        self.stop = stop_prior(stop)
        self._leaves = Leaves(given)
        self.locator = Keys(self._leaves)
        self.mappings = every_mapping(self._leaves, arms=len(self.arms))
        logs = np.full(len(self.mappings), -self._leaves.leaves * reproducible_math.ln(len(self.arms)))
        if complexity:
            logs = self._complexity()
            self.mappings = Mappings(self._leaves, self.mappings.table[logs > -math.inf])
            logs = logs[logs > -math.inf]
        self._start(logs, horizon=horizon, learning_rate=learning_rate)

    def regret_bound(self, horizon: float | None = None) -> float:
        """A / rate + M T rate / 2 over T = `horizon` rounds, with A = N ln M, or Theorem 2's for the complexity prior and `regions`.

        >>> import hsb
        >>> tree = hsb.BinaryTree(depth=3)
        >>> bounds = [hsb.MixtureOfMappings(tree, arms=2, horizon=1000, prior=prior).regret_bound() for prior in ("uniform", "complexity")]
        >>> bounds == [hsb.SExp3(tree, arms=2, horizon=1000).regret_bound(), hsb.HSB(tree, arms=2, horizon=1000).regret_bound()]
        True
        """
        return self._bound(self._prior_bound(), horizon)

    def _complexity(self) -> Floats:
        """ln of each mapping's prior weight. Arms are alike a priori, so mappings that differ in their names alone share it."""
        known: dict[tuple[int, ...], float] = {}
        found = np.empty(len(self.mappings))
        for k, mapping in enumerate(self.mappings.table.tolist()):
            names: dict[int, int] = {}
            pattern = tuple(names.setdefault(arm, len(names)) for arm in mapping)
            if pattern not in known:
                known[pattern] = -theory.prior_cost(self.structure, pattern, arms=len(self.arms), stop=self.stop)
            found[k] = known[pattern]
        total = float(np.exp(found).sum())
        if abs(total - 1.0) > 1e-9:
            raise InputError(
                f"The mappings of the {self.structure.leaves} leaves of {quoted(self.structure)} have prior weight {total:.6f} "
                f"together, not 1: the "
                "rest belongs to mappings that cannot be written on these leaves. Use structures whose cells are unions of the finest one's."
            )
        return found

    def _prior_bound(self) -> float:
        arms = len(self.arms)
        if self.prior == "uniform":
            return self._leaves.leaves * reproducible_math.ln(arms)
        return theory.prior_bound(self.structure, arms=arms, regions=arms if self.regions is None else self.regions)

    def _refresh(self) -> None:
        super()._refresh()
        self._advice = self.mappings.rows

    def settings(self) -> dict[str, Any]:
        return {
            "structure": self._leaves.plain(),
            "regions": self.regions,
            "prior": self.prior,
            "stop": self.stop,
            **self._rate_settings(),
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        leaves = Leaves.from_plain(settings.pop("structure"))
        return cls(leaves if leaves.of is None else leaves.of, **settings, **common)

    def _shown(self) -> dict[str, Any]:
        return {"structure": self.structure, "prior": self.prior, "learning_rate": self.learning_rate}


def _check_budget(leaves: int, arms: int, complexity: bool) -> None:
    """Before anything is listed: M^N itself may be too long a number."""
    most = MOST_COSTS if complexity else MOST
    bits = leaves * math.log2(arms)
    if bits > math.log2(most) + 1e-9:
        fast = "hsb.HSB" if complexity else "hsb.SExp3"
        raise BudgetError(
            f"{arms} arms on {leaves:,} leaves make {arms}^{leaves} = 2^{bits:,.1f} mappings, each of which is looked at in every round; the "
            f"limit with prior={'complexity' if complexity else 'uniform'!r} is {most:,}. Use fewer leaves, or {fast}, which computes the same "
            "without listing them."
        )
