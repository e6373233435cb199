"""Priors of mixtures: the mappings of a structure, their weights, and the state, keys and rates that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from .. import reproducible_math, theory
from ..checks import whole
from ..engine.kernels.words import advisor as advisor_words
from ..engine.state import (
    State,
    depth_for,
    hang,
    make_advisor,
    make_cells,
    make_ensemble,
    make_head,
    room_for,
    set_columns,
    width_for,
)
from ..structures import Structure
from ..structures.leaves import Leaves
from ..structures.quantise import halvings
from ..theory.anytime import anytime_schedule
from ..theory.schedule import Constant, Falling, Schedule
from ..types import Arrays
from .keys import Keys, NoContext, cells, columns
from .mixture import Mixture
from .rates import LearningRate, number_or_none

if TYPE_CHECKING:
    from ..explain import Explanation

Drift = float | Literal["auto"] | None
MOST_FEATURES = 256  # of a structure, that an ensemble of models looks at


@dataclass(frozen=True)
class CellsPrior:
    """The same weight for every mapping of the leaves to arms: S-EXP3; without leaves, EXP3."""

    leaves: Leaves | None = None
    """None: contexts are not looked at."""
    against: str = "any single arm"

    @property
    def count(self) -> int:
        """The number of leaves."""
        return 1 if self.leaves is None else self.leaves.leaves

    def bound(self, arms: int) -> float:
        """ln(1/beta) of every mapping."""
        return self.count * reproducible_math.ln(arms)

    def schedule(self, arms: int, learning_rate: LearningRate) -> Schedule:
        """Return a falling schedule, or a constant one for a given rate."""
        learning_rate = number_or_none(learning_rate)
        return Falling(self.bound(arms), arms=arms) if learning_rate is None else Constant(learning_rate)

    def keys(self) -> Keys | NoContext:
        """Return what turns contexts into keys."""
        return NoContext() if self.leaves is None else Keys(self.leaves)

    def fresh(self, arms: int) -> State:
        """A state at its prior."""
        return State([make_cells(1, arms)] if self.leaves is None else self.leaves.members(arms, None), [1])

    def of_file(self, arrays: Arrays) -> CellsPrior:
        """The prior that a file's arrays were made with."""
        return self

    def best_cost(self, mixture: Mixture, arms: list[Any]) -> float:
        """ln(1/beta) of the dearest mapping."""
        return self.count * float(mixture.arm_costs().max())

    def settings(self) -> dict[str, Any]:
        """Return the settings that a file holds."""
        return {} if self.leaves is None else {"structure": self.leaves.plain()}

    def repr_settings(self) -> dict[str, Any]:
        """Return the settings that `repr` shows."""
        return {} if self.leaves is None else {"structure": self.leaves}


@dataclass(frozen=True)
class StructurePrior:
    """A weight for every mapping of a structure (Algorithm 1); with `drift="auto"` an advisor stands beside the mixture."""

    structure: Structure
    regions: int | None
    """The number of regions of the mappings that set the rate; None: as many as arms."""
    drift: Drift
    stop: float | None
    depth: int
    """The depth of an advisor that is a tree."""
    ensemble: bool
    """Whether an ensemble of models advises, in place of a tree of cells."""

    @classmethod
    def of(cls, structure: Structure, arms: int, *, regions: int | None, drift: Drift, stop: float | None) -> StructurePrior:
        """Make the prior for `arms` arms: the more arms, the coarser the advisor."""
        regions = None if regions is None else whole("regions", regions, 1)
        several = 1 < len(structure.finest.features) < width_for(arms, MOST_FEATURES)
        depth = depth_for(structure.leaves, arms)
        return cls(structure, regions, drift, stop, depth, drift == "auto" and several)

    @property
    def against(self) -> str:
        """The comparator of a certificate."""
        return "the mapping that its advisor has learned" if self.drift == "auto" else "the mapping that explain() shows"

    def bound(self, arms: int) -> float:
        """Theorem 2's bound on ln(1/beta)."""
        return theory.prior_bound(self.structure, arms=arms, regions=arms if self.regions is None else self.regions)

    def schedule(self, arms: int, learning_rate: LearningRate) -> Schedule:
        """The default's own, if there is an advisor; else falling, or constant."""
        if self.drift == "auto":
            return anytime_schedule(arms=arms, rate=learning_rate)
        learning_rate = number_or_none(learning_rate)
        drift = self.drift or 0.0
        if learning_rate is None:
            return Falling(self.bound(arms), arms=arms, drift=drift)
        return Constant(learning_rate, drift)

    def keys(self) -> Keys:
        """Return what turns contexts into keys."""
        if self.drift != "auto":
            return Keys(self.structure)
        return Keys(
            self.structure, [columns(self.structure, self._room()) if self.ensemble else cells(self.structure, self.depth)]
        )

    def _room(self) -> int:
        """Words of a key that the advisor takes."""
        return room_for(1 + len(self.structure.finest.features), MOST_FEATURES) if self.ensemble else 1

    def fresh(self, arms: int) -> State:
        """The structure's members; in the default, below a head, beside an advisor."""
        structure = self.structure
        members, words, walks = structure.members(arms, self.stop), structure.key_words(), structure.walks()
        if self.drift != "auto":
            return State(members, words, walks)
        head = make_head(anytime_schedule(arms=arms).head, arms)
        advisor = make_ensemble(self._room(), arms) if self.ensemble else make_advisor(self.depth, arms)
        if self.ensemble:
            set_columns(advisor, range(len(structure.finest.features)))
        hang([advisor], option=1, offset=0)
        return State([head, advisor, *hang(members, option=0, offset=2)], [0, self._room(), *words], [None, None, *walks])

    def of_file(self, arrays: Arrays) -> StructurePrior:
        """The prior that a file's arrays were made with: its advisor looks as closely as it could when there were fewer arms."""
        if self.drift != "auto" or self.ensemble:
            return self
        depth = int(arrays["1.ints"][advisor_words.DEPTH])
        if not 0 <= depth <= depth_for(self.structure.leaves, 1):
            raise ValueError("its advisor does not fit its structure")
        return self if depth == self.depth else replace(self, depth=depth)

    def mapping(self, mixture: Mixture, arms: list[Any]) -> Explanation:
        """Return the most probable mapping; with an advisor that is a tree, its partition of the space."""
        from ..explain import explain, explain_advisor

        members = mixture.state.members
        if self.drift == "auto" and not self.ensemble:
            return explain_advisor(self.structure, members[1], arms)
        return explain(self.structure, members[2 if self.ensemble else 0 :], arms, self.stop)

    def advisor_parts(self) -> list[int]:
        """Into how many equal parts the advisor divides each feature of the space."""
        features = self.structure.finest.features
        turns = dict(zip(features, halvings(self.depth, len(features)), strict=True))
        return [1 << turns.get(j, 0) for j in range(self.structure.space.features)]

    def best_cost(self, mixture: Mixture, arms: list[Any]) -> float:
        """ln(1/beta) of the most probable mapping; an arm that was added is paid for."""
        from ..explain.price import price

        return price(self.mapping(mixture, arms), stop=self.stop, arm_costs=mixture.arm_costs())

    def settings(self) -> dict[str, Any]:
        """Return the settings that a file holds."""
        settings: dict[str, Any] = {"structure": self.structure.to_dict(), "regions": self.regions, "drift": self.drift}
        return settings | {"stop": self.stop} | ({"advisor": "ensemble"} if self.ensemble else {})

    def repr_settings(self) -> dict[str, Any]:
        """Return the settings that `repr` shows."""
        return {"structure": self.structure}
