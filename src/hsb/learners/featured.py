"""The learner of HSB without a structure: any context, an ensemble of models, and a tree over each input for the guarantee."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Self

import numpy as np

from .. import reproducible_math, theory
from ..engine.kernels.words.state import SEEN
from ..engine.state import (
    Member,
    State,
    add_options,
    hang,
    make_cells,
    make_head,
    make_panel,
    make_tree,
    rescale,
    resized_panel,
    set_places,
    warm_start,
    width_for,
)
from ..errors import InputError
from ..features import FeatureReader, Features
from ..features.arms import ArmFeatures
from ..features.stored import from_journal
from ..policy.learner import Choice, Learner, LoggedRows, Memo, Played
from ..structures import BinaryTree
from ..theory.anytime import anytime_schedule
from ..theory.schedule import Schedule
from ..types import Arrays, Floats, Ints, Masks
from .baseline import Baseline
from .feature_keys import FEWEST, ContextRows, FeatureKeys, Sight
from .mixture import MANY, Mixture
from .rates import Rates

MIXTURE = 0.000001  # prior weight of all that the guarantee is about, beside the ensemble
ENSEMBLE, CONSTANT = 0, 1  # options of the head, and members 1 and 2; then one for each input
CHUNK = 1024  # rows encoded at once


class FeaturePrior:
    """The mappings that the guarantee is about: rules on one input, and single arms."""

    def bound(self, arms: int) -> float:
        """ln(1/beta) of a rule on one number with as many parts as arms."""
        return reproducible_math.ln(2.0) + theory.prior_bound(BinaryTree(depth=5), arms=arms, regions=arms)

    def schedule(self, arms: int, learning_rate: float | None) -> Schedule:
        """The default's own."""
        return anytime_schedule(arms=arms, rate=learning_rate, mixture=MIXTURE)


PRIOR = FeaturePrior()


class Featured(Learner):
    """An ensemble of models (`engine/kernels/panel.py`) advises; beside it stand, for the guarantee, the best single arm and a tree over
    each input: of numbers by their rank in 31 steps, of categories one by one. The reader, models and trees learn in the order of `learn`.
    """

    takes_arm_features = True
    changing_settings = ("encoder", "first_slots", "arm_features")
    bulk_floor = True
    bulk_logs = True
    keeps_cells = True

    def __init__(
        self, keys: FeatureKeys, mixture: Mixture, *, first: int, baseline: Baseline, arm_features: ArmFeatures
    ) -> None:
        self.keys, self.mixture, self.arm_features = keys, mixture, arm_features
        self.reader = keys.reader  # what it knows of contexts: names, categories, scales
        self.first = first  # inputs that there were before anything was learned
        self.baseline, self.uniform_share = baseline, baseline.share
        self._last: Sight | None = None  # what `read` saw last
        mixture.state.set_shift(baseline.shift)

    @classmethod
    def fresh(
        cls,
        arms: list[Hashable],
        features: Features,
        arm_features: Mapping[Hashable, Any] | None,
        *,
        learning_rate: float | None,
        implicit: bool,
    ) -> Self:
        """One that has learned nothing."""
        rates = Rates.begin(PRIOR, len(arms), horizon=None, learning_rate=learning_rate)
        keys = FeatureKeys(FeatureReader(features, width_for(len(arms), features.limits["width"])))
        described = ArmFeatures.of(arms, arm_features)
        mixture = Mixture(_fresh_state(keys, len(arms), 0), rates, implicit=implicit, born=len(arms))
        return cls(keys, mixture, first=0, baseline=Baseline(), arm_features=described)

    def _with(self, mixture: Mixture, baseline: Baseline, **changes: Any) -> Self:
        """The successor with another mixture."""
        kept: dict[str, Any] = {"keys": self.keys, "first": self.first, "arm_features": self.arm_features} | changes
        keys = kept.pop("keys")
        return type(self)(keys, mixture, baseline=baseline, **kept)

    # -- a round -------------------------------------------------------------------------------------------------------

    @property
    def seen(self) -> int:
        return int(self.mixture.state.laid.F.item(SEEN))

    def read(self, context: Any) -> tuple[Sight, int]:
        self._last = sight = self.keys.read(context)
        return sight, 0

    def recall(self, context: Any, memo: Memo | None) -> tuple[Sight, int]:
        cells = None if memo is None else memo.cells
        last = self._last
        if cells is not None and last is not None and cells is last.cells:  # it was decided just now
            return (last if last.unseen is None else last._replace(unseen=(context,))), 0
        sight = self.read(context)[0]
        if cells is not None and self.keys.fits(cells):
            sight = self.keys.with_cells(sight, cells)
        return sight, 0

    def cells(self, seen: Sight) -> Ints:
        return seen.cells

    def choose(self, seen: Sight, mask: Masks | None, u: float) -> Choice:
        return self.mixture.state.decide(seen.key, mask, u)

    def fill(self, seen: Sight, mask: Masks | None, p: Floats) -> None:
        self.mixture.state.fill(seen.key, mask, p)

    def advice(self, arm: int) -> float:
        return self.mixture.state.advised(arm)

    def learn(
        self, seen: Sight, mask: Masks | None, arm: int, loss: float, probability: float, memo: Memo | None
    ) -> Self | None:
        plain = memo is None or memo.rounds < self.baseline.since
        if seen.unseen is None:
            self.mixture.learn(seen.key, mask, arm, loss, probability, memo, plain)
            return None
        grown, recalled = self._grown(*seen.unseen), memo is not None and memo.advice >= 0.0
        sight = grown.keys.read(*seen.unseen)
        if recalled:  # models learn what is new; trees and advice are as they were decided by
            sight = grown.keys.with_cells(sight, seen.cells)
        grown.mixture.learn(sight.key, mask, arm, loss, probability, memo, plain, recalled)
        grown.reader.observe(sight.raw)
        return grown

    def settle(self, seen: Any, rounds: int) -> Self | None:
        reader = self.reader
        not_observed = rounds - reader.rows
        if not_observed == 1 and isinstance(seen, Sight):
            reader.observe(seen.raw)
        elif not_observed > 0:
            reader.observe_rows(np.ascontiguousarray(seen[:not_observed]))
        after = self
        if self.mixture.is_due(rounds):
            mixture = self.mixture.turned()
            after = self._with(mixture, self.baseline.at(self.baseline.shift, step=_step(mixture), rounds=rounds))
        if reader.due:
            after = after._refitted(rounds)
        return None if after is self else after

    def _refitted(self, rounds: int) -> Self:
        """The successor with new scales and edges; models go on in the new units."""
        keys, mixture = self.keys.copy(), self.mixture.copy()
        a, c = keys.reader.refit()
        rescale(mixture.state.members[1], a, c, keys.reader.missing_places)
        baseline = self.baseline
        if not mixture.implicit:
            baseline = baseline.by_average(float(mixture.state.sums[0]), step=_step(mixture), rounds=rounds)
        return self._with(mixture, baseline, keys=keys)

    def _grown(self, context: Any) -> Self:
        """The successor with room for what is unseen in a context: features, categories, missing values."""
        before, reader = self.reader, self.reader.copy()
        reader.admit(context)
        keys, state, first = FeatureKeys(reader), self.mixture.state, self.first
        more, wider = reader.slots - before.slots, reader.places > before.places
        if more == 0 and not wider:
            return self._with(self.mixture.copy(), self.baseline, keys=keys)
        if more == 0 and keys.room == self.keys.room and state.seen > 0:
            state = state.copy()
        else:
            head, ensemble, *rest = state.members
            if state.seen == 0:
                first = reader.slots
                head = _head(first, state.arms)
            else:
                head = add_options(head, CONSTANT, more)
            if keys.room > self.keys.room:
                ensemble = resized_panel(ensemble, keys.room, state.arms)
            trees = _trees(keys, range(before.slots, reader.slots), state.arms)
            state = state.laid_out([head, ensemble, *rest, *trees], _words(keys))
        if wider:
            set_places(state.members[1], keys.groups())
        return self._with(self.mixture.on(state), self.baseline, keys=keys, first=first)

    # -- tables and logs -----------------------------------------------------------------------------------------------

    def check(self, contexts: Any) -> tuple[ContextRows, int]:
        return self.keys.check(contexts), 0

    def validator(self) -> Callable[[Any], object]:
        return self.keys.validator()

    def contexts(self, given: Any, points: ContextRows) -> list[Any]:
        rows = map(points.__getitem__, range(len(points)))
        return [context.copy() if isinstance(context, dict | list) else context for context in rows]

    def cells_of_rows(self, points: ContextRows) -> Ints:
        return self.keys.cells_of(self.keys.keys(points))

    def choose_rows(self, points: Any, masks: Masks | None, us: Floats) -> tuple[Ints, Floats, Floats] | None:
        return self.mixture.choose_rows(self.keys.keys(points), masks, us) if len(us) >= MANY else None

    def choose_contexts(self, contexts: list[Any], us: list[float]) -> list[tuple[Choice, Ints | None] | None]:
        found: list[tuple[Choice, Ints | None] | None] = [None] * len(us)
        raws, fit = [], []
        for index, context in enumerate(contexts):
            try:
                raws.append(self.reader.look(context)[0])
            except InputError:
                continue
            fit.append(index)
        keys = self.keys.keys_of(np.array(raws).reshape(len(raws), self.keys.inputs))
        for index, key, cells in zip(fit, keys, self.keys.cells_of(keys), strict=True):
            found[index] = self.mixture.state.decide(key, None, us[index]), cells
        return found

    def fill_rows(self, rows: LoggedRows, p: Floats) -> bool:
        self.mixture.fill_rows(self.keys.keys(rows.points), rows, p)
        return True

    def read_rows(self, points: ContextRows, start: int) -> Floats | None:
        """Raw rows up to the next that has something unseen, to new scales, or to the end of the phase."""
        rows = self.reader.rows
        left = (1 << max(1, rows.bit_length())) - rows if rows >= 1 else 1
        stop = min(len(points), start + points.ahead, start + left, start + self.mixture.rows_left())
        raw, unseen = points.raw(self.reader, start, stop)
        points.ahead = min(2 * points.ahead, CHUNK)
        if unseen.any():
            raw, points.ahead = raw[: int(np.argmax(unseen))], FEWEST
        return raw if len(raw) else None

    def play(self, seen: Floats, table: Played, start: int, share: float, to_come: int) -> None:
        self.mixture.play(self.keys.keys_of(seen), table, start, share)

    def learn_rows(self, seen: Floats, rows: LoggedRows, probabilities: Floats, start: int) -> None:
        self.mixture.learn_rows(self.keys.keys_of(seen), rows, probabilities, start)

    @property
    def named_columns(self) -> dict[str, str | None] | None:
        return self.reader.named_columns

    # -- arms, copies, files -------------------------------------------------------------------------------------------

    def with_arm(self, arm: Hashable, features: Any = None) -> Self:
        described = self.arm_features.known(self.mixture.arms, arm, features)
        mixture = self.mixture.with_arm(PRIOR)
        baseline = self.baseline.refreshed(step=_step(mixture), rounds=self.seen)
        if features is not None:
            new = mixture.arms - 1
            warm_start(mixture.state.members[1], new, described.similarity(new))
        return self._with(mixture, baseline, arm_features=described)

    def describe_arm(self, index: int, arm: Hashable, features: Any) -> Self:
        return self._with(self.mixture, self.baseline, arm_features=self.arm_features.known(index, arm, features))

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
            "first_slots": self.first,
            **arms,
        }

    def with_reader(self, reader: Any, first: Any, arm_features: Any) -> Self:
        """With the features that a file's settings say were known, none of them observed yet; ValueError if they do not fit."""
        known = from_journal(FeatureReader, reader)
        if known.features != self.reader.features or type(first) is not int or not 0 <= first <= known.slots:
            raise ValueError("its encoder does not fit its features")
        keys, arms = FeatureKeys(known), self.mixture.arms
        described = self.arm_features
        if arm_features is not None:
            of_arms = from_journal(FeatureReader, arm_features)
            described = ArmFeatures(of_arms, np.full((arms, of_arms.slots), np.nan))
        mixture = self.mixture.on(_fresh_state(keys, arms, first))
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
        if described.encoder.slots:
            raw = parts.get("arms", {}).get("features")
            described = ArmFeatures.restore(described.encoder.to_dict(), raw, self.mixture.arms)
        mixture = self.mixture.from_arrays(parts["mixture"], PRIOR, rounds)
        baseline = baseline.refreshed(step=_step(mixture), rounds=rounds)
        return self._with(mixture, baseline, keys=FeatureKeys(reader), arm_features=described)

    def shown(self) -> dict[str, Any]:
        return {"features": self.reader.features} if not self.reader.features.open else {}

    @property
    def nbytes(self) -> int:
        return self.mixture.state.nbytes


def _step(mixture: Mixture) -> float:
    """Arms times rate."""
    return mixture.arms * mixture.rates.rate


def _fresh_state(keys: FeatureKeys, arms: int, first: int) -> State:
    """A head over the ensemble, a single arm, and a tree for each input that the reader knows."""
    inputs = keys.inputs
    head = add_options(_head(first, arms), CONSTANT, inputs - first)
    ensemble = make_panel(keys.room, arms)
    set_places(ensemble, keys.groups())
    members = [head, *hang([ensemble], ENSEMBLE, 0), *hang([make_cells(1, arms)], CONSTANT, 0)]
    return State([*members, *_trees(keys, range(inputs), arms)], _words(keys))


def _head(inputs: int, arms: int) -> Member:
    """Over the ensemble, the single arm and the inputs that there are at first, which share MIXTURE."""
    return make_head([1.0 - MIXTURE, *np.full(1 + inputs, MIXTURE / (1 + inputs))], arms)


def _trees(keys: FeatureKeys, inputs: range, arms: int) -> list[Member]:
    """A tree for each of these inputs."""
    shapes = keys.reader.shapes
    trees = []
    for s in inputs:
        kind, size = shapes[s]
        tree = make_tree(2, size, arms, 0.5) if kind == "binary" else make_tree(size, 1, arms, 0.5)
        trees += hang([tree], 2 + s, 0)
    return trees


def _words(keys: FeatureKeys) -> list[int]:
    """How many words of a key each member takes."""
    return [0, keys.room, *[1] * (1 + keys.inputs)]
