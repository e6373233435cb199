"""The learner of HSB with arms that come with the request: models of arms with features give advice, and groups of arms have the guarantee.

In each group the models choose one arm, its *representative*, before anything is drawn. A `Featured` learner without models of its own plays
the groups as its arms: the loss of a group is that of its representative. So every bound of `Featured` holds, with groups for arms.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np

from ..engine.state import EVERY_ARM
from ..errors import InputError, quoted
from ..features import Features
from ..features.arm_kinds import ArmKinds
from ..features.request import Request
from ..policy.floor import add_share, mix, rest_of
from ..policy.learner import Also, Choice, Learner, Memo
from ..policy.open import Open
from ..types import Arrays, Floats, Ints, Masks
from .arm_models import ArmModels, Outcome, PlayedRound, compiled
from .feature_keys import ContextView
from .featured import Featured
from .rates import LearningRate

UNOBSERVED = np.inf  # as propensity: no group's loss was observed, so every estimate is 0


class RequestView:
    """The view of a request: its arms, their groups, their indices, and the representative of each group."""

    __slots__ = ("best", "cells", "context", "groups", "index", "key", "names", "played", "request")

    def __init__(self, request: Request, context: ContextView, groups: Ints, index: Floats, of_groups: int) -> None:
        self.request, self.context = request, context
        self.names = list(request.arms)
        self.groups, self.index = groups, index
        self.best: Ints = np.empty(of_groups, dtype=np.int64)
        """The representative of each group; the number of arms for a group without available arms."""
        self.key: Ints = context.key.copy()
        self.cells: Ints | None = None
        """Those of the context, then the representatives, as a decision's memo keeps them."""
        self.played: PlayedRound | None = None

    def represent(self, mask: Masks | None) -> Masks | None:
        """Choose the representatives among the available arms; return the mask of the groups that have one."""
        advised = compiled().represent(self.index, self.groups, EVERY_ARM if mask is None else mask, self.best)
        self.key[0] = advised
        self.cells = None
        return self.mask()

    def outcome(self, arm: int, loss: float) -> Outcome:
        """Return the outcome of an arm of the request."""
        name = self.names[arm]
        return Outcome(name, self.request.arms[name], loss)

    @property
    def represented(self) -> int:
        """The number of groups that have a representative."""
        return int((self.best < len(self.names)).sum())

    def mask(self) -> Masks | None:
        """Return the mask of the groups that have a representative; None if all have."""
        if len(self.best) == 1:
            return None
        there = self.best < len(self.names)
        return None if there.all() else there.astype(np.uint8)


class OpenArms(Learner):
    """Models of arms with features, and a guarantee about groups of arms."""

    changing_settings = ("encoder", "first_inputs", "models")
    takes_requests = True
    counts_feedback = False
    keeps_cells = True
    takes_also = True

    def __init__(self, arms: Open, inner: Featured, models: ArmModels, floor: float) -> None:
        self.arms, self.inner, self.models, self.floor = arms, inner, models, floor
        self._last: RequestView | None = None
        self._stored: Any = None  # settings of the models, until their arrays are read from a file

    @classmethod
    def fresh(cls, arms: Open, features: Features, *, learning_rate: LearningRate, implicit: bool, floor: float) -> Self:
        """Make a learner that has learned nothing. `floor`: the policy's, the share of decisions that is uniform over arms."""
        inner = Featured.fresh(arms.labels, features, None, learning_rate=learning_rate, implicit=implicit, takes_advice=True)
        return cls(arms, inner, ArmModels.fresh(features, arms.known), floor)

    # -- a round -------------------------------------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        return self.inner.rounds

    def read(self, context: Any) -> tuple[RequestView, int]:
        if type(context) is not Request:
            raise InputError(
                "This policy needs the available arms with each context: decide(context, arms={'a17': {'price': 9}, ...}), or in tables "
                f"hsb.features.Request(context, arms); given {quoted(context):.200}."
            )
        models, inner = self.models, self.inner.read(context.context)[0]
        rows, kept = models.rows(context)
        index = models.rank(models.columns(inner.raw), rows)
        groups = (
            self.arms.groups_of(context.arms.items()) if len(self.arms.labels) > 1 else np.zeros(len(index), dtype=np.int64)
        )
        self._last = view = RequestView(
            Request.from_checked(context.context, kept), inner, groups, index, len(self.arms.labels)
        )
        return view, 0

    def recall(self, context: Any, memo: Memo | None) -> tuple[RequestView, int]:
        cells = None if memo is None else memo.cells
        last = self._last
        own = cells is not None and last is not None and cells is last.cells
        view = last if own and last is not None else self.read(context)[0]
        if cells is not None and not own:
            split, n = len(cells) - len(self.arms.labels), len(view.names)
            best = np.asarray(cells[max(split, 0) :], dtype=np.int64)
            if split >= 0 and self.inner.keys.fits(cells[:split]) and ((best >= 0) & (best <= n)).all():
                view.context = self.inner.keys.with_cells(view.context, cells[:split])
                view.key = view.context.key.copy()
                view.key[0], view.best[:] = 0, best  # `learn` chooses representatives again unless feedback is late
        return self.prepare(view, memo), 0

    def prepare(self, view: RequestView, memo: Memo | None) -> RequestView:
        if view.context.unseen is not None and view.context.growth is None:
            view.context = self.inner.prepare(view.context, memo)
            advised = view.key[0]
            view.key = view.context.key.copy()
            view.key[0] = advised
        return view

    def cells(self, view: RequestView) -> Ints:
        if view.cells is None:
            view.cells = np.concatenate([view.context.cells, view.best])
        return view.cells

    def count(self, view: RequestView) -> int:
        return len(view.names)

    def choose(self, view: RequestView, mask: Masks | None, u: float) -> Choice:
        groups, share = view.represent(mask), self.group_share
        state = self.inner.mixture.state
        if u >= share:
            group, probability, advice = state.decide(view.key, groups, rest_of(u, share))
            return int(view.best[group]), add_share(probability, share, view.represented), advice
        of_groups = np.empty(len(view.best))
        state.fill(view.key, groups, of_groups)
        among = np.flatnonzero(view.best < len(view.names))
        group = int(among[min(int(u / share * len(among)), len(among) - 1)])
        return int(view.best[group]), add_share(float(of_groups[group]), share, len(among)), state.advised(group)

    @property
    def group_share(self) -> float:
        """The share of its decisions that is uniform over representatives: each then has what the baseline shift needs, whatever the floor."""
        needed = self.inner.uniform_share
        return needed if needed == 0.0 or self.floor == 0.0 else min(1.0, needed / max(needed, 1.0 - self.floor))

    def fill(self, view: RequestView, mask: Masks | None, p: Floats) -> None:
        groups = view.represent(mask)
        of_groups = np.empty(len(view.best))
        self.inner.mixture.state.fill(view.key, groups, of_groups)
        p[:] = 0.0
        there = view.best < len(view.names)
        p[view.best[there]] = mix(of_groups[there], None, self.group_share)

    def advice(self, arm: int) -> float:
        view = self._last
        assert view is not None
        group = int(view.groups[arm])
        return self.inner.mixture.state.advised(group) if view.best[group] == arm else 0.0

    def learn(
        self,
        view: RequestView,
        mask: Masks | None,
        arm: int,
        loss: float,
        probability: float,
        memo: Memo | None,
        also: Also | None = None,
    ) -> Self | None:
        is_late = memo is not None and memo.cells is not None and memo.rounds < self.rounds
        groups = view.mask() if is_late else view.represent(mask)
        arms = view.names if mask is None else [name for name, there in zip(view.names, mask, strict=True) if there]
        others = () if also is None else tuple(map(view.outcome, also.arms.tolist(), also.losses.tolist()))
        view.played = PlayedRound(view.outcome(arm, loss), arms, others)
        group = int(view.groups[arm])
        observed = view.best[group] == arm
        context = view.context._replace(key=view.key)
        inner = self.inner.learn(context, groups, group, loss, probability if observed else UNOBSERVED, memo)
        return None if inner is None else self._with(inner, self.models)

    def undo(self, view: Any) -> None:
        self.inner.undo(view.context)

    def settle(self, view: Any, rounds: int) -> Self | None:
        inner, played = self.inner.settle(view.context, rounds), view.played
        context, grown = view.context, view.context.growth is not None
        models = self.models.after(view.request.context, context.raw, grown, played, rounds)
        if inner is None and models is self.models:
            return None
        return self._with(self.inner if inner is None else inner, models)

    def _with(self, inner: Featured, models: ArmModels) -> Self:
        return type(self)(self.arms, inner, models, self.floor)

    # -- tables --------------------------------------------------------------------------------------------------------

    def check(self, contexts: Any) -> tuple[list[Request], int]:
        requests = list(contexts)
        validate = self.validator()
        for t, request in enumerate(requests):
            try:
                validate(request)
            except InputError as error:
                raise InputError(f"Row {t}: {error}") from None
        return requests, 0

    def validator(self) -> Callable[[Any], object]:
        of_context, kinds = self.inner.validator(), self.arm_kinds

        def read(request: Any) -> None:
            if type(request) is not Request:
                self.read(request)  # raises
            of_context(request.context)
            for arm, features in request.arms.items():
                if features:
                    kinds.check_arm(arm, features)

        return read

    @property
    def arm_kinds(self) -> ArmKinds:
        return ArmKinds(self.models.arm_reader)

    def contexts(self, table: Any, points: list[Request]) -> list[Any]:
        return [request.copy() for request in points]

    # -- arms ----------------------------------------------------------------------------------------------------------

    def with_arm(self, arm: Hashable, features: Any = None) -> Self:
        raise InputError("The arms of this policy come with each request; a new arm just appears there. Groups are fixed.")

    def rename_texts(self, rename: Callable[[str, int], str | None]) -> Self | None:
        inner, models = self.inner.rename_texts(rename), self.models.rename_texts(rename)
        if inner is None and models is None:
            return None
        return self._with(self.inner if inner is None else inner, self.models if models is None else models)

    # -- copies and files ----------------------------------------------------------------------------------------------

    def copy(self) -> Self:
        return self._with(self.inner.copy(), self.models.copy())

    def to_arrays(self) -> Arrays:
        of_models = {f"models.{name}": array for name, array in self.models.to_arrays().items()}
        return {**self.inner.to_arrays(), **of_models}

    def settings(self) -> dict[str, Any]:
        return {"open": self.arms.to_dict(), **self.inner.settings(), "models": self.models.settings()}

    def with_stored(self, encoder: Any, first: Any, models: Any) -> Self:
        """Return this fresh learner with the readers of a file's settings; the models are restored with its arrays."""
        inner = self.inner.with_reader(encoder, first, None)
        other = self._with(inner, self.models)
        other._stored = models
        return other

    def from_arrays(self, arrays: Arrays, rounds: int) -> Self:
        own = {name.removeprefix("models."): array for name, array in arrays.items() if name.startswith("models.")}
        rest = {name: array for name, array in arrays.items() if not name.startswith("models.")}
        inner = self.inner.from_arrays(rest, rounds)
        return self._with(inner, ArmModels.restore(self._stored, own, inner.reader.features, self.arms.known, rounds))

    def repr_settings(self) -> dict[str, Any]:
        return self.inner.repr_settings()

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return self.inner.named_columns

    @property
    def nbytes(self) -> int:
        return self.inner.nbytes + self.models.nbytes
