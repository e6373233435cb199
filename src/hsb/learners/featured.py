"""The learner of HSB without a structure: any context, an ensemble of models, and a tree over each input for the guarantee."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from .. import reproducible_math, theory
from ..engine.kernels.header import GIVEN
from ..engine.kernels.words.state import SEEN
from ..engine.state import (
    FitRows,
    NewColumns,
    add_options,
    begin_own_rounds,
    fit_ensemble,
    rescale,
    resized_ensemble,
    rounds_known,
    set_columns,
    warm_start,
    width_for,
)
from ..errors import InputError
from ..features import FeatureReader, Features
from ..features.arms import ArmFeatures
from ..features.stored import from_journal
from ..policy.learner import Also, Choice, Distributions, Learner, LoggedRows, Memo, Played
from ..structures import BinaryTree
from ..theory.anytime import anytime_schedule
from ..theory.schedule import BaselineShift, Schedule
from ..types import Arrays, Floats, Ints, Masks
from .baseline import FROM, FURTHEST, MOST, Baseline
from .feature_keys import FEWEST, ContextRows, ContextView, FeatureKeys
from .feature_state import CONSTANT, ENSEMBLE, MIXTURE, first_head, fresh_state, input_trees, key_words, late_shares
from .mixture import MANY, Mixture
from .rates import LearningRate, Rates

CHUNK = 1024  # rows encoded at once


class FeaturePrior:
    """The prior of the mappings in the guarantee: rules on one input, and single arms."""

    def bound(self, arms: int) -> float:
        """Return ln(1/beta) of a rule on one number with as many parts as arms."""
        return reproducible_math.ln(2.0) + theory.prior_bound(BinaryTree(depth=5), arms=arms, regions=arms)

    def schedule(self, arms: int, learning_rate: LearningRate) -> Schedule:
        """Return the default's schedule."""
        return anytime_schedule(arms=arms, rate=learning_rate, mixture=MIXTURE)


PRIOR = FeaturePrior()


class Growth(NamedTuple):
    """The changes of a round, apart from learning, if its context has something unseen."""

    learner: Featured
    """The successor, which knows what is unseen. It may share its predecessor's memory."""
    columns: NewColumns | None
    """New columns for the models in that memory; None if there is nothing to add."""
    recalled: bool
    """Whether the advice at the moment of deciding counts."""


class Featured(Learner):
    """An ensemble of models (`engine/kernels/ensemble.py`) gives advice; the best single arm and trees over each input give the guarantee.

    A number has a tree over 31 steps of its rank and one over its leading bits; a category has a tree with a cell for each value. The reader,
    models and trees learn in the order of `learn`.
    """

    takes_arm_features = True
    changing_settings = ("encoder", "first_inputs", "arm_features")
    takes_also = True
    bulk_floor = True
    bulk_logs = True
    keeps_cells = True

    def __init__(
        self, keys: FeatureKeys, mixture: Mixture, *, first: int, baseline: Baseline, arm_features: ArmFeatures
    ) -> None:
        self.keys, self.mixture, self.arm_features = keys, mixture, arm_features
        self.reader = keys.reader  # names, categories, scales of contexts
        self.first = first  # number of inputs before anything was learned
        self.baseline, self.uniform_share = baseline, baseline.share
        self._last: ContextView | None = None  # the view of the last `read`
        mixture.state.set_shift(baseline.shift)

    @classmethod
    def fresh(
        cls,
        arms: list[Hashable],
        features: Features,
        arm_features: Mapping[Hashable, Any] | None,
        *,
        learning_rate: LearningRate,
        implicit: bool,
        takes_advice: bool = False,
    ) -> Self:
        """Make a learner that has learned nothing. `takes_advice`: without models; the first word of a key names the advised arm."""
        rates = Rates.begin(PRIOR, len(arms), horizon=None, learning_rate=learning_rate)
        keys = FeatureKeys(FeatureReader(features, width_for(len(arms), features.limits["width"])))
        described = ArmFeatures.of(arms, arm_features)
        mixture = Mixture(fresh_state(keys, len(arms), 0, takes_advice), rates, implicit=implicit, born=len(arms))
        return cls(keys, mixture, first=0, baseline=Baseline(), arm_features=described)

    def _with(self, mixture: Mixture, baseline: Baseline, **changes: Any) -> Self:
        """Return the successor with another mixture."""
        parts: dict[str, Any] = {"keys": self.keys, "first": self.first, "arm_features": self.arm_features} | changes
        keys = parts.pop("keys")
        return type(self)(keys, mixture, baseline=baseline, **parts)

    @property
    def takes_advice(self) -> bool:
        """Whether its advice comes from outside, so that it has no models of its own."""
        return self.mixture.state.member(ENSEMBLE + 1).number == GIVEN

    # -- a round -------------------------------------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        return int(self.mixture.state.laid.F.item(SEEN))

    def read(self, context: Any) -> tuple[ContextView, int]:
        self._last = view = self.keys.read(context)
        return view, 0

    def recall(self, context: Any, memo: Memo | None) -> tuple[ContextView, int]:
        cells = None if memo is None else memo.cells
        last = self._last
        if cells is not None and last is not None and cells is last.cells:  # the decision just made
            return (last if last.unseen is None else self.prepare(last._replace(unseen=(context,)), memo)), 0
        view = self.read(context)[0]
        if cells is not None and self.keys.fits(cells):
            view = self.keys.with_cells(view, cells)
        return self.prepare(view, memo), 0

    def prepare(self, view: ContextView, memo: Memo | None) -> ContextView:
        if view.unseen is None:
            return view
        (context,), recalled = view.unseen, memo is not None and memo.advice >= 0.0
        successor, columns = self._grow(context)
        new_view = successor.keys.read(context)
        if recalled:  # models learn what is new; trees and advice stay as they were for the decision
            new_view = successor.keys.with_cells(new_view, view.cells)
        return new_view._replace(growth=Growth(successor, columns, recalled))

    def cells(self, view: ContextView) -> Ints:
        return view.cells

    def choose(self, view: ContextView, mask: Masks | None, u: float) -> Choice:
        return self.mixture.state.decide(view.key, mask, u)

    def fill(self, view: ContextView, mask: Masks | None, p: Floats) -> None:
        self.mixture.state.fill(view.key, mask, p)

    def advice(self, arm: int) -> float:
        return self.mixture.state.advised(arm)

    def learn(
        self,
        view: ContextView,
        mask: Masks | None,
        arm: int,
        loss: float,
        probability: float,
        memo: Memo | None,
        also: Also | None = None,
    ) -> Self | None:
        plain = memo is None or memo.rounds < self.baseline.since
        if view.growth is None:
            self.mixture.learn(view.key, mask, arm, loss, probability, memo, plain, also=also)
            return None
        successor, columns, recalled = view.growth
        if columns is not None:
            columns.add(successor.mixture.state.member(ENSEMBLE + 1))
        successor.mixture.learn(view.key, mask, arm, loss, probability, memo, plain, recalled, also)
        return successor  # type: ignore[no-any-return]

    def undo(self, view: Any) -> None:
        if isinstance(view, ContextView) and view.growth is not None and view.growth.columns is not None:
            view.growth.columns.take_back(self.mixture.state.member(ENSEMBLE + 1))

    def settle(self, view: Any, rounds: int) -> Self | None:
        learner = self if type(view) is not ContextView or view.growth is None else view.growth.learner
        reader = learner.reader
        not_observed = rounds - reader.rows
        if not_observed == 1 and isinstance(view, ContextView):
            reader.observe(view.raw)
        elif not_observed > 0:
            reader.observe_rows(np.ascontiguousarray(view[:not_observed]))
        after = learner
        if learner.mixture.state.is_due:
            after = learner._next_phase(rounds)
            after._coarsen_full_trees()
        if reader.due:
            after = after._refit(rounds)
        return None if after is self else after

    def _refit(self, rounds: int) -> Self:
        """Return the successor with new scales and edges; models are converted to the new units."""
        keys, mixture = self.keys.copy(), self.mixture.copy()
        a, c = keys.reader.refit()
        if not self.takes_advice:
            rescale(mixture.state.members[1], a, c, keys.reader.missing_columns)
        baseline = self.baseline
        if not mixture.implicit:
            baseline = baseline.by_average(float(mixture.state.sums[0]), step=_step(mixture), rounds=rounds)
        return self._with(mixture, baseline, keys=keys)

    def _next_phase(self, rounds: int) -> Self:
        """Return the successor at the rates of the next phase; this learner if nothing changes."""
        before = self.mixture.rates
        rates = self.mixture.next_rates
        baseline = self.baseline.at(self.baseline.shift, step=self.mixture.arms * rates.rate, rounds=rounds)
        if (rates, baseline) == (before, self.baseline):
            return self
        return self._with(self.mixture.next_phase(), baseline, keys=self.keys.copy())

    def _coarsen_full_trees(self) -> None:
        """Let full trees of numbers look at fewer leading bits."""
        self._last = None  # its key may have more bits
        self.mixture.state.coarsen_full(self.reader.tree_inputs, self.reader.layout.I)

    def _grow(self, context: Any) -> tuple[Self, NewColumns | None]:
        """Return the successor that knows the unseen features, categories and missing values of a context.

        If its memory has room, the successor shares it, and the caller must add the new columns there.
        """
        before, reader = self.reader, self.reader.copy()
        reader.admit(context)
        keys, state, first = FeatureKeys(reader), self.mixture.state, self.first
        more, wider = keys.trees - self.keys.trees, reader.columns > before.columns and not self.takes_advice
        learned, arms = state.learned_rounds > 0, state.arms
        trees = input_trees(keys, range(self.keys.trees, keys.trees), arms) if more else []
        if not learned:
            first = reader.inputs
            head = first_head(reader, first, arms)
        elif more:
            head = add_options(state.member(0), CONSTANT, late_shares(reader, before.inputs))
        else:
            head = state.member(0)
        if learned and keys.room == self.keys.room:
            beside = state.beside(head, trees, 1) if more else state
            if beside is not None:
                columns = NewColumns(state.member(ENSEMBLE + 1), keys.groups()) if wider else None
                mixture = self.mixture.on(beside, more_mappings=True) if more else self.mixture
                return self._with(mixture, self.baseline, keys=keys), columns
        _, ensemble, *rest = state.members
        if keys.room > self.keys.room and not self.takes_advice:
            ensemble = resized_ensemble(ensemble, keys.room, arms)
        state = state.laid_out([head, ensemble, *rest, *trees], key_words(keys))
        if wider:
            set_columns(state.member(ENSEMBLE + 1), keys.groups())
        return self._with(self.mixture.on(state, more_mappings=more > 0), self.baseline, keys=keys, first=first), None

    # -- tables and logs -----------------------------------------------------------------------------------------------

    def check(self, contexts: Any) -> tuple[ContextRows, int]:
        return self.keys.check(contexts), 0

    def validator(self) -> Callable[[Any], object]:
        return self.keys.validator()

    def contexts(self, table: Any, points: ContextRows) -> list[Any]:
        rows = map(points.__getitem__, range(len(points)))
        return [context.copy() if isinstance(context, dict | list) else context for context in rows]

    def cells_of_rows(self, points: ContextRows) -> Ints:
        return self.keys.cells_of(self.keys.keys(points))

    def choose_rows(self, points: Any, masks: Masks | None, us: Floats) -> tuple[Ints, Floats, Floats] | None:
        return self.mixture.choose_rows(self.keys.keys(points), masks, us) if len(us) >= MANY else None

    def choose_contexts(self, contexts: list[Any], us: list[float]) -> list[tuple[Choice, Ints | None] | None]:
        choices: list[tuple[Choice, Ints | None] | None] = [None] * len(us)
        fit, keys = self._keys_of_contexts(contexts)
        for index, key, cells in zip(fit, keys, self.keys.cells_of(keys), strict=True):
            choices[index] = self.mixture.state.decide(key, None, us[index]), cells
        return choices

    def fill_contexts(self, contexts: list[Any]) -> Distributions | None:
        fit, keys = self._keys_of_contexts(contexts)
        state, shape = self.mixture.state, (len(fit), self.mixture.arms)
        p, advice = np.empty(shape), np.empty(shape)
        for row, key in enumerate(keys):
            state.fill(key, None, p[row])
            advice[row] = state.all_advised
        return Distributions(fit, p, advice, list(self.keys.cells_of(keys)))

    def _keys_of_contexts(self, contexts: list[Any]) -> tuple[list[int], Ints]:
        """Return the indices of the contexts that can be read, and their keys."""
        raws, fit = [], []
        for index, context in enumerate(contexts):
            try:
                raws.append(self.reader.look(context)[0])
            except InputError:
                continue
            fit.append(index)
        return fit, self.keys.keys_of(np.array(raws).reshape(len(raws), self.reader.inputs))

    def fill_rows(self, rows: LoggedRows, p: Floats) -> bool:
        self.mixture.fill_rows(self.keys.keys(rows.points), rows, p)
        return True

    def read_rows(self, points: ContextRows, start: int) -> Floats | None:
        """Return raw rows up to the next with something unseen, to new scales, or to the end of the phase."""
        stop = min(len(points), start + points.ahead, start + self.reader.rows_left, start + self.mixture.rows_left())
        raw, unseen = points.raw(self.reader, start, stop)
        points.ahead = min(2 * points.ahead, CHUNK)
        if unseen.any():
            raw, points.ahead = raw[: int(np.argmax(unseen))], FEWEST
        return raw if len(raw) else None

    def play(self, view: Floats, table: Played, start: int, share: float, to_come: int) -> None:
        self.mixture.play(self.keys.keys_of(view), table, start, share)

    def learn_rows(self, view: Floats, rows: LoggedRows, probabilities: Floats, start: int) -> None:
        self.mixture.learn_rows(self.keys.keys_of(view), rows, probabilities, start)

    def rows_to_fit(self, points: ContextRows) -> Floats:
        return points.raw(self.reader, 0, len(points))[0]

    @property
    def numbers_to_fit(self) -> int:
        return self.reader.columns

    def refit_models(self, rows: Floats, arm: Ints, losses: Floats) -> Self:
        """Return the successor with models fitted to the rows since the last change of the world. The rest stays as it is."""
        mixture, reader = self.mixture.copy(), self.reader
        ensemble = mixture.state.members[1]
        since = len(rows) - rounds_known(ensemble)
        z = np.empty((reader.columns, len(rows) - since))
        for start in range(since, len(rows), CHUNK):
            keys = self.keys.keys_of(rows[start : start + CHUNK]).view(np.float64)
            z[:, start - since : start - since + CHUNK] = keys[:, : reader.columns].T
        fit_ensemble(ensemble, FitRows(z, arm[since:], losses[since:]), reader.column_inputs)
        return self._with(mixture, self.baseline)

    def end_log(self) -> Self:
        mixture = self.mixture.copy()
        begin_own_rounds(mixture.state.members[1])
        return self._with(mixture, self.baseline)

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return self.reader.named_columns

    def bound(self, cost: float, horizon: float | None, *, floor: float, delay: float = 0.0) -> float:
        """Return a bound on the regret against a rule with ln(1/beta) = cost within MIXTURE."""
        mixture = self.mixture
        shift = None if mixture.implicit else BaselineShift(FURTHEST, MOST, FROM, beside=self.takes_advice)
        about: Any = {"arms": mixture.arms, "floor": floor, "implicit": mixture.implicit, "delay": delay, "shift": shift}
        return mixture.rates.bound(cost, horizon, **about)

    # -- arms, copies, files -------------------------------------------------------------------------------------------

    def with_arm(self, arm: Hashable, features: Any = None) -> Self:
        if self._width(self.mixture.arms + 1) < self.reader.width:
            return self._narrow(self.mixture.arms + 1).with_arm(arm, features)
        described = self.arm_features.with_features(self.mixture.arms, arm, features)
        mixture = self.mixture.with_arm(PRIOR)
        baseline = self.baseline.refreshed(step=_step(mixture), rounds=self.rounds)
        if features is not None:
            new = mixture.arms - 1
            warm_start(mixture.state.members[1], new, described.similarity(new))
        return self._with(mixture, baseline, arm_features=described)

    def _width(self, arms: int) -> int:
        """Return the number of columns that models may see with `arms` arms."""
        return width_for(arms, self.reader.features.limits["width"])

    def _narrow(self, arms: int) -> Self:
        """Return the successor whose models see fewer columns, so that more arms fit. Values beyond them share columns.

        Models forget the columns beyond. The other columns and the trees over each input stay as they are.
        """
        before = self.reader
        reader = FeatureReader.restore(before.to_dict() | {"width": self._width(arms)}, before.arrays())
        keys, mixture = FeatureKeys(reader), self.mixture.copy()
        if reader.columns < before.columns or keys.room < self.keys.room:
            head, ensemble, *rest = mixture.state.members
            ensemble = resized_ensemble(ensemble, keys.room, mixture.arms)
            set_columns(ensemble, keys.groups())
            mixture = mixture.on(mixture.state.laid_out([head, ensemble, *rest], key_words(keys)))
        return self._with(mixture, self.baseline, keys=keys)

    def describe_arm(self, index: int, arm: Hashable, features: Any) -> Self:
        return self._with(self.mixture, self.baseline, arm_features=self.arm_features.with_features(index, arm, features))

    def copy(self) -> Self:
        return self._with(self.mixture.copy(), self.baseline, keys=self.keys.copy())

    def to_arrays(self) -> Arrays:
        arms = {"arms.features": self.arm_features.raw.copy()} if self.arm_features.some else {}
        reader = {f"encoder.{name}": array for name, array in self.reader.arrays().items()}
        return {**self.mixture.to_arrays(), "leaning": np.array(self.baseline.to_array()), **reader, **arms}

    def settings(self) -> dict[str, Any]:
        implicit = {"implicit": True} if self.mixture.implicit else {}
        arms = {"arm_features": self.arm_features.encoder.to_dict()} if self.arm_features.some else {}
        return {
            "features": self.reader.features.to_dict(),
            "learning_rate": self.mixture.rates.learning_rate,
            **implicit,
            "encoder": self.reader.to_dict(),
            "first_inputs": self.first,
            **arms,
        }

    def with_reader(self, reader: Any, first: Any, arm_features: Any) -> Self:
        """Return this fresh learner with the features of a file's settings, not observed yet; ValueError if they do not fit."""
        restored = from_journal(FeatureReader, reader, self.reader.width)
        if restored.features != self.reader.features or type(first) is not int or not 0 <= first <= restored.inputs:
            raise ValueError("its encoder does not fit its features")
        keys, arms = FeatureKeys(restored), self.mixture.arms
        described = self.arm_features
        if arm_features is not None:
            of_arms = from_journal(FeatureReader, arm_features, described.encoder.width)
            described = ArmFeatures(of_arms, np.full((arms, of_arms.inputs), np.nan))
        mixture = self.mixture.on(fresh_state(keys, arms, first, self.takes_advice))
        return self._with(mixture, self.baseline, keys=keys, first=first, arm_features=described)

    def from_arrays(self, arrays: Arrays, rounds: int) -> Self:
        parts: dict[str, Arrays] = {}
        for name, array in arrays.items():
            part, _, rest = name.partition(".")
            part, rest = (part, rest) if part in ("encoder", "arms") else ("mixture", name)
            parts.setdefault(part, {})[rest] = array
        baseline = Baseline.from_array(parts["mixture"].pop("leaning"))
        reader = FeatureReader.restore(self.reader.to_dict(), parts.get("encoder", {}))
        described = self.arm_features
        if described.encoder.inputs:
            raw = parts.get("arms", {}).get("features")
            described = ArmFeatures.restore(described.encoder.to_dict(), raw, self.mixture.arms)
        mixture = self.mixture.from_arrays(parts["mixture"], PRIOR, rounds)
        baseline = baseline.refreshed(step=_step(mixture), rounds=rounds)
        return self._with(mixture, baseline, keys=FeatureKeys(reader), arm_features=described)

    def repr_settings(self) -> dict[str, Any]:
        return {"features": self.reader.features} if not self.reader.features.open else {}

    def rename_texts(self, rename: Callable[[str, int], str | None]) -> Self | None:
        reader = self.reader.rename_values(rename)
        return None if reader is None else self._with(self.mixture, self.baseline, keys=FeatureKeys(reader))

    @property
    def microseconds(self) -> float:
        return self.mixture.arms * (0.45 + 0.06 * self.reader.columns)  # measured: up to 300 arms and 120 features

    @property
    def nbytes(self) -> int:
        return self.mixture.state.nbytes


def _step(mixture: Mixture) -> float:
    """Arms times rate."""
    return mixture.arms * mixture.rates.rate
