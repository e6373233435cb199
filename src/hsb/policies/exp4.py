"""EXP4: the advice of experts, weighed."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import reproducible_math
from ..checks import is_number
from ..errors import BudgetError, FileError, InputError, quoted
from ..files.memory_limit import afford
from ..learners.advice import Advice, Expert, Reader
from ..learners.keys import Keys, Nowhere
from ..policy.loss_range import UNIT
from ..policy.rows import rows_of
from ..structures.mappings import Mappings
from ..types import Arms, Floats, Ints, Outside, Range, Seed, Table
from .weighted import Weighted

_NOTHING = object()  # no context is this object


MOST = 10**9


class Exp4(Weighted):
    """Exponential weights over experts that advise an arm or a distribution over arms (Section I-A).

    Expert k's estimated loss is advice_k[I] loss / p[I] for the arm I that was played; its weight falls by exp(-rate * that).

    - `experts`: a list of functions of the context, each of which returns an arm, or a number for each of the M arms, with the sum 1. They
      must be pure: advice is computed again when feedback comes. Or a number K: then each context is the advice of that round, K arms (arms
      that are not numbers may be given by their place) or a table of shape (K, M), and `hsb.simulate` takes tables (T, K) or (T, K, M). Or
      what `hsb.mappings` returns.
    - `prior`: a positive number for each expert, of any sum. None: all are equal.
    - `horizon`: the number of rounds T to come, for the rate sqrt(2 max ln(1/prior) / (T M)), with equal priors sqrt(2 ln K / (T M)). Or
      `learning_rate` itself, a constant above 0. With neither the rate in round t is about sqrt(max ln(1/prior) / (M t)).
    - `arms`, `loss_range`, `reward_range`, `outside`, `floor`, `seed`: as in `hsb.HSB`.

    Where some arms are not `available`, an expert that advises none of those offered sleeps: it is left out of the round. The advice of the
    others is scaled up to the sum 1. The weight of the experts awake together is kept. Where all sleep, the offered arms are equally probable
    and nothing is learned. An arm may be added, unless the experts are mappings: functions return it, or M+1 numbers, from then on. Time and
    memory: O(experts) a round.

    >>> import hsb
    >>> policy = hsb.Exp4([lambda x: "a", lambda x: "b" if x > 0.5 else "a", lambda x: [0.5, 0.5]], arms=["a", "b"], learning_rate=1.0)
    >>> policy.probabilities(0.9)
    array([0.5, 0.5])
    >>> policy.learn(hsb.Decision(context=0.9, arm="a", propensity=0.5), loss=1.0)
    >>> policy.weights.round(3)
    array([0.09 , 0.665, 0.245])
    """

    asked_again: ClassVar[tuple[str, ...]] = ("experts",)
    guarantee: ClassVar[str] = (
        "Against every expert over the rounds in which it is awake, whatever the losses: ln(1/prior)/rate + M T rate/2; "
        "sqrt(2 M T ln K), with a horizon and equal priors."
    )

    def __init__(
        self,
        experts: Sequence[Expert] | int | Mappings,
        *,
        arms: Arms,
        horizon: float | None = None,
        learning_rate: float | None = None,
        prior: ArrayLike | None = None,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        super().__init__(arms=arms, loss_range=loss_range, reward_range=reward_range, outside=outside, floor=floor, seed=seed)
        self.experts: list[Expert] | int | Mappings = _checked(experts, len(self.arms))
        self.locator = Keys(experts.structure) if isinstance(experts, Mappings) else Nowhere()
        afford(3 * self._count)
        self._given = None if prior is None else _positive(prior, self._count)
        self.prior = np.full(self._count, 1.0 / self._count) if self._given is None else self._given / self._given.sum()
        logs = reproducible_math.logs(self.prior)
        self._most = reproducible_math.ln(self._count) if self._given is None else float(-logs.min())
        self._start(logs, horizon=horizon, learning_rate=learning_rate)

    def regret_bound(self, horizon: float | None = None) -> float:
        """max ln(1/prior) / rate + M T rate / 2 over T = `horizon` rounds; at the theory's rate and with equal priors, sqrt(2 M T ln K).

        >>> import hsb
        >>> round(hsb.Exp4(50, arms=3, horizon=100_000).regret_bound()), round(hsb.theory.exp4_bound(arms=3, horizon=100_000, experts=50))
        (1532, 1532)
        """
        return self._bound(self._prior_bound(), horizon)

    @property
    def _count(self) -> int:
        return self.experts if isinstance(self.experts, int) else len(self.experts)

    def _prior_bound(self) -> float:
        return self._most

    def _refresh(self) -> None:
        super()._refresh()
        self._reader = Reader(self.arms)
        self._located: Any = _NOTHING
        if isinstance(self.experts, Mappings):
            self._advice = self.experts.rows

    def _locate(self, context: Any, *, count: bool) -> None:
        if isinstance(self.experts, Mappings):
            super()._locate(context, count=count)
        elif context is not self._located:
            self._located = _NOTHING
            self._advice, self._row = self._advised([context]), 0
            self._located = context if is_number(context) else _NOTHING  # a number cannot have changed since

    def check(self, contexts: ArrayLike) -> tuple[Table, int]:
        """Advice for the whole table, so that bad advice in its last row is found before the first round is played."""
        if isinstance(self.experts, Mappings):
            return super().check(contexts)
        rows_of(contexts)
        return self._advised(contexts), 0

    def _advised(self, contexts: Any) -> Advice:
        if isinstance(self.experts, int):
            return self._reader.table(contexts, experts=self.experts)
        assert isinstance(self.experts, list)
        return self._reader.functions(self.experts, contexts)

    def _rows(self, points: Table) -> tuple[Advice, Ints]:
        return super()._rows(points) if isinstance(self.experts, Mappings) else (points, np.arange(len(points)))

    def _locate_row(self, row: Any) -> None:
        """A row of the table is the experts' advice itself, unless they are mappings."""
        if isinstance(self.experts, Mappings):
            super()._locate_row(row)
        else:
            self._located, self._advice, self._row = _NOTHING, row[None], 0

    def _widen(self) -> None:
        if isinstance(self.experts, Mappings):
            super()._widen()

    def settings(self) -> dict[str, Any]:
        functions = isinstance(self.experts, list)
        return {
            "experts": None if functions else self.experts.plain() if isinstance(self.experts, Mappings) else self.experts,
            "functions": self._count if functions else None,  # no code in files: `hsb.load(path, experts=[...])`
            "prior": None if self._given is None else self._given.tolist(),
            **self._rate_settings(),
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        experts, functions = settings.pop("experts"), settings.pop("functions")
        if functions is not None:
            if experts is None:
                raise FileError(
                    f"its {functions} experts are functions, which no file can hold. Give the same ones again, in the same order: "
                    "hsb.load(path, experts=[...])."
                )
            if not isinstance(experts, list | tuple) or len(experts) != functions or not all(map(callable, experts)):
                raise FileError(
                    f"experts= must be the {functions} functions that it was saved with, in a list; given {quoted(experts)}."
                )
        elif isinstance(experts, dict):
            experts = Mappings.from_plain(experts)
        elif not isinstance(experts, int):
            raise FileError(
                f"its experts are no functions, so it holds them itself. Leave experts= out; given {quoted(experts)}."
            )
        return cls(experts, **settings, **common)

    def _shown(self) -> dict[str, Any]:
        return {
            "experts": self.experts if isinstance(self.experts, Mappings) else self._count,
            "learning_rate": self.learning_rate,
        }


def _checked(experts: Any, arms: int) -> list[Expert] | int | Mappings:
    if isinstance(experts, Mappings):
        most = int(experts.rows.max())
        if most >= arms:
            raise InputError(
                f"The mappings use arm number {most}; with {arms} arms they must be below {arms}. List them for these arms."
            )
        return experts
    if isinstance(experts, int | np.integer) and not isinstance(experts, bool) and experts >= 1:
        if experts * arms > MOST:
            raise BudgetError(
                f"Exp4 takes {MOST:,} experts times arms at most; given {quoted(experts)} experts and {arms} arms."
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
