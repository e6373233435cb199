"""The prior weights of experts: of those that are given, and of every mapping of a structure's leaves."""

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
MOST = 1 << 20  # mappings; a round looks at each, 3 ns apiece
MOST_COSTS = 1 << 16  # those whose prior is computed one by one, up to 0.2 ms apiece


@dataclass(frozen=True, eq=False)
class ExpertsPrior:
    """A weight for each of a list of experts."""

    experts: list[Expert] | int | Mappings
    """Functions, mappings, or how many there are."""
    given: Floats | None
    """The weights as they were given; None: all are equal."""
    shares: Floats
    """The weights, with the sum 1."""
    logs: Floats
    """Their logarithms."""
    cost: float
    """A: the largest ln(1/prior)."""

    @classmethod
    def of(cls, experts: Any, arms: int, prior: ArrayLike | None) -> ExpertsPrior:
        """What is given to a constructor, checked."""
        experts = _experts(experts, arms)
        count = experts if isinstance(experts, int) else len(experts)
        afford(3 * count)
        given = None if prior is None else _positive(prior, count)
        shares = np.full(count, 1.0 / count) if given is None else given / given.sum()
        logs = reproducible_math.logs(shares).astype(np.float64)
        return cls(experts, given, shares, logs, reproducible_math.ln(count) if given is None else float(-logs.min()))

    def bound(self, arms: int) -> float:
        """A, whatever the number of arms."""
        return self.cost

    @property
    def worst_cost(self) -> float:
        """The same."""
        return self.cost

    def schedule(self, arms: int, learning_rate: LearningRate) -> Schedule:
        """Falling, unless a rate is given."""
        return _schedule(self.cost, arms, number_or_none(learning_rate))

    def source(self, arms: list[Hashable], who: str) -> ExpertAdvice | MappingAdvice:
        """Where advice comes from; `who` is the policy, for messages."""
        experts = self.experts
        return MappingAdvice(experts, who) if isinstance(experts, Mappings) else ExpertAdvice(experts, arms)

    def settings(self) -> dict[str, Any]:
        """What a file says of it. It holds no code: functions are given again, `hsb.load(path, experts=[...])`."""
        experts = self.experts
        functions = isinstance(experts, list)
        return {
            "experts": None if functions else experts.plain() if isinstance(experts, Mappings) else experts,
            "functions": len(experts) if isinstance(experts, list) else None,
            "prior": None if self.given is None else self.given.tolist(),
        }

    def repr_settings(self) -> dict[str, Any]:
        """What `repr` says of it."""
        return {"experts": self.experts if isinstance(self.experts, Mappings) else len(self.logs)}


@dataclass(frozen=True, eq=False)
class MappingsPrior:
    """A weight for every mapping of the leaves to arms, of equal size or by complexity. Mappings of weight 0 are left out."""

    structure: Structure
    shape: Shape
    regions: int | None
    """For the complexity prior, into how many regions the mappings divide that the rate is meant for; None: as many as arms."""
    stop: float | None
    mappings: Mappings
    logs: Floats
    """The logarithm of each mapping's weight."""
    cost: float
    """A: Theorem 2's upper bound on ln(1/prior) of the mappings that the rate is meant for, or the exact one if all weigh the same."""
    worst_cost: float
    """The largest there is of these (`theory.worst_cost`)."""

    @classmethod
    def of(cls, structure: Divided, arms: int, shape: Shape, *, regions: int | None, stop: float | None) -> MappingsPrior:
        """What is given to a constructor, checked."""
        if not isinstance(shape, str) or shape not in ("uniform", "complexity"):
            raise InputError(f"prior must be 'uniform' or 'complexity'; given {quoted(shape)}.")
        complexity = shape == "complexity"
        if not complexity and (regions is not None or stop is not None):
            raise InputError("regions= and stop= are for prior='complexity': a uniform prior knows no regions. Leave them out.")
        if complexity and (not isinstance(structure, Structure) or isinstance(structure, Leaves)):
            raise InputError(f"prior='complexity' needs a structure, e.g. hsb.BinaryTree(depth=3); given {quoted(structure)}.")
        given = structure if isinstance(structure, Structure) else Leaves(structure)
        _check_budget(given.leaves, arms, complexity)
        regions, stop = None if regions is None else whole("regions", regions, 1), stop_prior(stop)
        leaves = Leaves(given)
        mappings, cost = every_mapping(leaves, arms=arms), leaves.leaves * reproducible_math.ln(arms)
        logs, worst = np.full(len(mappings), -cost), cost
        if complexity:
            logs = _complexity(given, mappings, arms, stop)
            mappings, logs = Mappings(leaves, mappings.table[logs > -math.inf]), logs[logs > -math.inf]
            few = arms if regions is None else regions
            cost = theory.prior_bound(given, arms=arms, regions=few)
            worst = theory.worst_cost(given, arms=arms, regions=few, stop=stop)
        return cls(given, shape, regions, stop, mappings, logs, cost, worst)

    def bound(self, arms: int) -> float:
        """A; the number of arms is fixed."""
        return self.cost

    def schedule(self, arms: int, learning_rate: LearningRate) -> Schedule:
        """Falling, unless a rate is given."""
        return _schedule(self.cost, arms, number_or_none(learning_rate))

    def source(self, arms: list[Hashable], who: str) -> MappingAdvice:
        """Where advice comes from; `who` is the policy, for messages."""
        return MappingAdvice(self.mappings, who)

    def settings(self) -> dict[str, Any]:
        """What a file says of it."""
        plain = self.mappings.structure.plain()
        return {"structure": plain, "regions": self.regions, "prior": self.shape, "stop": self.stop}

    def repr_settings(self) -> dict[str, Any]:
        """What `repr` says of it."""
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
        "experts must be a list of functions of the context, or hsb.mappings(...), or how many experts there are, at least 1, if the contexts "
        f"are their advice; given {quoted(experts)}."
    )


def _positive(prior: ArrayLike, count: int) -> Floats:
    try:
        found = np.asarray(prior)
    except ValueError:
        found = np.empty(0, dtype=object)
    if found.shape != (count,) or found.dtype.kind not in "iuf":
        raise InputError(
            f"prior must be a positive number for each of the {count} experts, in a list; given {found.dtype} of shape {found.shape}."
        )
    numbers = found.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what comes of it is refused below
        shares = numbers / numbers.sum()
    wrong = np.flatnonzero(~((shares > 0.0) & np.isfinite(shares)))
    if len(wrong):
        raise InputError(
            f"prior must be positive numbers, none so small that its share is 0; prior[{wrong[0]}] is {found[wrong[0]]}."
        )
    return numbers


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


def _complexity(structure: Structure, mappings: Mappings, arms: int, stop: float | None) -> Floats:
    """ln of each mapping's prior weight. Arms are alike a priori, so mappings that differ in their names alone share it."""
    known: dict[tuple[int, ...], float] = {}
    found = np.empty(len(mappings))
    for k, mapping in enumerate(mappings.table.tolist()):
        names: dict[int, int] = {}
        pattern = tuple(names.setdefault(arm, len(names)) for arm in mapping)
        if pattern not in known:
            known[pattern] = -theory.prior_cost(structure, pattern, arms=arms, stop=stop)
        found[k] = known[pattern]
    total = float(np.exp(found).sum())
    if abs(total - 1.0) > 1e-9:
        raise InputError(
            f"The mappings of the {structure.leaves} leaves of {quoted(structure)} have prior weight {total:.6f} "
            f"together, not 1: the "
            "rest belongs to mappings that cannot be written on these leaves. Use structures whose cells are unions of the finest one's."
        )
    return found
