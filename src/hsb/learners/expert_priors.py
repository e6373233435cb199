"""Prior weights: of a list of experts, and of all mappings of a structure's leaves."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .. import reproducible_math, theory
from ..checks import stop_prior, whole
from ..errors import BudgetError, InputError, quoted
from ..files.memory_limit import afford
from ..structures import Structure
from ..structures.leaves import Divided, Leaves
from ..structures.mappings import Mappings, every_mapping
from ..theory.schedule import Constant, Falling, Schedule
from ..types import Floats
from .advice import Expert, ExpertAdvice, MappingAdvice
from .rates import LearningRate, number_or_none

Shape = Literal["uniform", "complexity"]

MOST_ENTRIES = 10**9  # experts times arms, of advice that comes as contexts
MOST = 1 << 20  # mappings; a round takes 3 ns for each
MOST_COSTS = 1 << 16  # mappings whose prior is computed one by one, up to 0.2 ms each


@dataclass(frozen=True, eq=False)
class ExpertsPrior:
    """A weight for each of a list of experts."""

    experts: list[Expert] | int | Mappings
    """Functions, mappings, or the number of experts."""
    weights: Floats | None
    """The weights as declared; None: all are equal."""
    shares: Floats
    """The weights, with the sum 1."""
    logs: Floats
    """Their logarithms."""
    cost: float
    """A: the largest ln(1/prior)."""

    @classmethod
    def of(cls, experts: Any, arms: int, prior: ArrayLike | None) -> ExpertsPrior:
        """Check a constructor's arguments and make the prior."""
        experts = _experts(experts, arms)
        count = experts if isinstance(experts, int) else len(experts)
        afford(3 * count)
        weights = None if prior is None else _positive(prior, count)
        shares = np.full(count, 1.0 / count) if weights is None else weights / weights.sum()
        logs = reproducible_math.logs(shares).astype(np.float64)
        return cls(experts, weights, shares, logs, reproducible_math.ln(count) if weights is None else float(-logs.min()))

    def bound(self, arms: int) -> float:
        """Return A, whatever the number of arms."""
        return self.cost

    @property
    def worst_cost(self) -> float:
        """A, which is the same for all experts."""
        return self.cost

    def schedule(self, arms: int, learning_rate: LearningRate) -> Schedule:
        """Return a falling schedule, or a constant one for a given rate."""
        return _schedule(self.cost, arms, number_or_none(learning_rate))

    def source(self, arms: list[Hashable], who: str) -> ExpertAdvice | MappingAdvice:
        """Return the source of advice; `who` names the policy in messages."""
        experts = self.experts
        return MappingAdvice(experts, who) if isinstance(experts, Mappings) else ExpertAdvice(experts, arms)

    def settings(self) -> dict[str, Any]:
        """Return the settings that a file holds. It holds no code: `hsb.load(path, experts=[...])` needs functions again."""
        experts = self.experts
        functions = isinstance(experts, list)
        return {
            "experts": None if functions else experts.plain() if isinstance(experts, Mappings) else experts,
            "functions": len(experts) if isinstance(experts, list) else None,
            "prior": None if self.weights is None else self.weights.tolist(),
        }

    def repr_settings(self) -> dict[str, Any]:
        """Return the settings that `repr` shows."""
        return {"experts": self.experts if isinstance(self.experts, Mappings) else len(self.logs)}


@dataclass(frozen=True, eq=False)
class MappingsPrior:
    """A weight for every mapping of the leaves to arms, of equal size or by complexity. Mappings of weight 0 are left out."""

    structure: Structure
    shape: Shape
    regions: int | None
    """For the complexity prior, the number of regions of the mappings that set the rate; None: as many as arms."""
    stop: float | None
    mappings: Mappings
    logs: Floats
    """The logarithm of each mapping's weight."""
    cost: float
    """A: Theorem 2's upper bound on ln(1/prior) of the mappings that set the rate, or the exact value if all weights are equal."""
    worst_cost: float
    """The largest ln(1/prior) of these mappings (`theory.worst_cost`)."""

    @classmethod
    def of(cls, structure: Divided, arms: int, shape: Shape, *, regions: int | None, stop: float | None) -> MappingsPrior:
        """Check a constructor's arguments and make the prior."""
        if not isinstance(shape, str) or shape not in ("uniform", "complexity"):
            raise InputError(f"prior must be 'uniform' or 'complexity'; given {quoted(shape)}.")
        complexity = shape == "complexity"
        if not complexity and (regions is not None or stop is not None):
            raise InputError("regions= and stop= are for prior='complexity': a uniform prior has no regions. Leave them out.")
        if complexity and (not isinstance(structure, Structure) or isinstance(structure, Leaves)):
            raise InputError(f"prior='complexity' needs a structure, e.g. hsb.BinaryTree(depth=3); given {quoted(structure)}.")
        divided = structure if isinstance(structure, Structure) else Leaves(structure)
        _check_budget(divided.leaves, arms, complexity)
        regions, stop = None if regions is None else whole("regions", regions, 1), stop_prior(stop)
        leaves = Leaves(divided)
        mappings, cost = every_mapping(leaves, arms=arms), leaves.leaves * reproducible_math.ln(arms)
        logs, worst = np.full(len(mappings), -cost), cost
        if complexity:
            logs = _complexity(divided, mappings, arms, stop)
            mappings, logs = Mappings(leaves, mappings.table[logs > -math.inf]), logs[logs > -math.inf]
            few = arms if regions is None else regions
            cost = theory.prior_bound(divided, arms=arms, regions=few)
            worst = theory.worst_cost(divided, arms=arms, regions=few, stop=stop)
        return cls(divided, shape, regions, stop, mappings, logs, cost, worst)

    def bound(self, arms: int) -> float:
        """Return A; the number of arms is fixed."""
        return self.cost

    def schedule(self, arms: int, learning_rate: LearningRate) -> Schedule:
        """Return a falling schedule, or a constant one for a given rate."""
        return _schedule(self.cost, arms, number_or_none(learning_rate))

    def source(self, arms: list[Hashable], who: str) -> MappingAdvice:
        """Return the source of advice; `who` names the policy in messages."""
        return MappingAdvice(self.mappings, who)

    def settings(self) -> dict[str, Any]:
        """Return the settings that a file holds."""
        plain = self.mappings.structure.plain()
        return {"structure": plain, "regions": self.regions, "prior": self.shape, "stop": self.stop}

    def repr_settings(self) -> dict[str, Any]:
        """Return the settings that `repr` shows."""
        return {"structure": self.structure, "prior": self.shape}


def _schedule(cost: float, arms: int, learning_rate: float | None) -> Schedule:
    return Falling(cost, arms=arms) if learning_rate is None else Constant(learning_rate)


def _experts(experts: Any, arms: int) -> list[Expert] | int | Mappings:
    if isinstance(experts, Mappings):
        most = int(experts.rows.max())
        if most >= arms:
            raise InputError(
                f"The mappings use arm number {most}; with {arms} arms they must be below {arms}. List them for these arms."
            )
        return experts
    if isinstance(experts, int | np.integer) and not isinstance(experts, bool) and experts >= 1:
        if experts * arms > MOST_ENTRIES:
            raise BudgetError(
                f"Exp4 takes {MOST_ENTRIES:,} experts times arms at most; given {quoted(experts)} experts and {arms} arms."
            )
        return int(experts)
    if isinstance(experts, list | tuple) and experts and all(map(callable, experts)):
        return list(experts)
    raise InputError(
        "experts must be a list of functions of the context, or hsb.mappings(...), or the number of experts, at least 1, if the contexts "
        f"are their advice; given {quoted(experts)}."
    )


def _positive(prior: ArrayLike, count: int) -> Floats:
    try:
        array = np.asarray(prior)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.shape != (count,) or array.dtype.kind not in "iuf":
        raise InputError(
            f"prior must be a positive number for each of the {count} experts, in a list; given {array.dtype} of shape {array.shape}."
        )
    numbers = array.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # checked below
        shares = numbers / numbers.sum()
    wrong = np.flatnonzero(~((shares > 0.0) & np.isfinite(shares)))
    if len(wrong):
        raise InputError(
            f"prior must be positive numbers, none so small that its share is 0; prior[{wrong[0]}] is {array[wrong[0]]}."
        )
    return numbers


def _check_budget(leaves: int, arms: int, complexity: bool) -> None:
    """Raise BudgetError for too many mappings, before any is listed. M^N itself may have too many digits."""
    most = MOST_COSTS if complexity else MOST
    bits = leaves * math.log2(arms)
    if bits > math.log2(most) + 1e-9:
        fast = "hsb.HSB" if complexity else "hsb.SExp3"
        raise BudgetError(
            f"{arms} arms on {leaves:,} leaves make {arms}^{leaves} = 2^{bits:,.1f} mappings, each of which is looked at in every round; the "
            f"limit with prior={'complexity' if complexity else 'uniform'!r} is {most:,}. Use fewer leaves, or {fast}, which computes the same "
            "without listing them."
        )


def _complexity(structure: Structure, mappings: Mappings, arms: int, stop: float | None) -> Floats:
    """Return ln of each mapping's prior weight. It depends on the pattern of equal arms alone, so it is computed once per pattern."""
    costs: dict[tuple[int, ...], float] = {}
    logs = np.empty(len(mappings))
    for k, mapping in enumerate(mappings.table.tolist()):
        names: dict[int, int] = {}
        pattern = tuple(names.setdefault(arm, len(names)) for arm in mapping)
        if pattern not in costs:
            costs[pattern] = -theory.prior_cost(structure, pattern, arms=arms, stop=stop)
        logs[k] = costs[pattern]
    total = float(np.exp(logs).sum())
    if abs(total - 1.0) > 1e-9:
        raise InputError(
            f"The mappings of the {structure.leaves} leaves of {quoted(structure)} have prior weight {total:.6f} "
            f"together, not 1: the "
            "rest belongs to mappings that cannot be written on these leaves. Use structures whose cells are unions of the finest one's."
        )
    return logs
