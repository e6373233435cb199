"""Models of arms with features (`engine/kernels/open_arms.py`): what they have learned, which arms they know, and how requests are encoded."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np

from ..features import FeatureReader, Features
from ..features.refit import strayed_inputs
from ..features.request import Request
from ..files.json_values import decode_arm, encode_arm
from ..types import Arrays, Floats, Ints
from .known_arms import FEWEST, RECENT, EncodedArms, Entry, KnownArms, Recent

SHARED = 0.25  # prior precision of the shared model, for each pair of an input and one of the arms
MOST_COLUMNS = 256  # of the shared model; further products share columns
MOST_OUTCOMES = 2.0**53  # in files
ENCODED = 1 << 23  # numbers of encoded arms that are kept, 64 MiB
LOOKED = 256  # rounds between two looks for numbers that left their range


class Outcome(NamedTuple):
    """An arm and its loss."""

    arm: Hashable
    features: Mapping[str, Any] | None
    loss: float


class PlayedRound(NamedTuple):
    """A round, for the models."""

    outcome: Outcome
    """That of the arm played."""
    available: list[Hashable]
    also: tuple[Outcome, ...] = ()
    """Those of other arms, if they are known."""


@cache
def compiled() -> Any:
    """Return the kernels, loaded on first use."""
    from ..engine.kernels import open_arms

    return open_arms


def product_columns(before: Ints, columns: int, of_arms: int) -> Ints:
    """Return the column of each product, for more columns than `before`: single columns first, then products; beyond the limit they share."""
    where = np.full((columns, of_arms), -1, dtype=np.int64)
    where[: before.shape[0], : before.shape[1]] = before
    flat, numbers = where.ravel(), np.arange(columns * of_arms).reshape(where.shape)
    order = np.concatenate([numbers[:, 0], numbers[0, 1:], numbers[1:, 1:].ravel()])
    new, used = order[flat[order] < 0], int(before.max(initial=-1)) + 1
    own, shared = np.split(new, [max(0, MOST_COLUMNS - used)])
    flat[own] = used + np.arange(len(own))
    flat[shared] = 1 + (shared // of_arms * 131 + shared % of_arms * 31) % (MOST_COLUMNS - 1)
    return where


def room_for_columns(columns: int) -> int:
    """Return the room for the columns of a shared model: a power of two."""
    return min(MOST_COLUMNS, 1 << max(2, (columns - 1).bit_length()))


class ArmModels:
    """The models and their readers. Learning changes arrays in place, in one compiled call; growth and new units return a successor."""

    def __init__(
        self, x_reader: FeatureReader, arm_reader: FeatureReader, models: Any, known: KnownArms, recent: Recent, begun: int
    ) -> None:
        self.x_reader, self.arm_reader = x_reader, arm_reader
        self.models, self.known, self.recent = models, known, recent
        self.begun = begun  # the round in which the present series of new units began
        self.encoded = EncodedArms(arm_reader.columns)
        self._cells: Ints = np.empty(x_reader.trees, dtype=np.int64)

    @classmethod
    def fresh(cls, features: Features, limit: int) -> Self:
        """Make models that have learned nothing."""
        x_reader, arm_reader = FeatureReader(features), FeatureReader(Features())
        models = fresh_models(product_columns(np.zeros((0, 0), dtype=np.int64), 1, 1), FEWEST, 0, 0)
        return cls(x_reader, arm_reader, models, KnownArms(limit), Recent.empty(0, 0), 0)

    @property
    def rounds(self) -> int:
        """The number of rounds learned."""
        return int(self.models.stack.item(compiled().ROUNDS))

    # -- deciding --------------------------------------------------------------------------------------------------------

    def columns(self, raw: Floats) -> Floats:
        """Return the encoded context of a raw row."""
        x: Floats = np.empty(self.x_reader.columns)
        self.x_reader.encode(raw, x, self._cells)
        return x

    def rows(self, request: Request) -> tuple[Ints, dict[Hashable, Mapping[str, Any] | None]]:
        """Return the row of each arm among the encoded ones, and copies of their features."""
        entries, arms = self.encoded.entries, request.arms
        if len(entries) > min(4 * self.known.limit, ENCODED // self.encoded.columns):
            entries.clear()
        rows, kept = [], {}
        for arm, features in arms.items():
            entry = entries.get(arm)
            if entry is None or entry.features != features:
                slot = self.known.slot.get(arm, -1)
                entry = self.encoded.add(arm, features, self.arm_reader, slot)
            rows.append(entry.row)
            kept[arm] = entry.features
        return np.array(rows, dtype=np.int64), kept

    def rank(self, x: Floats, rows: Ints) -> Floats:
        """Return the index of each arm."""
        kernels, index = compiled(), np.empty(len(rows))
        kernels.rank(self.models, x, kernels.Ranked(self.encoded.g, rows, self.encoded.slots[rows], index))
        return index

    # -- learning --------------------------------------------------------------------------------------------------------

    def after(self, context: Any, raw: Floats, grown: bool, played: PlayedRound, rounds: int) -> ArmModels:
        """Learn the round if that has not been done, and return what follows: these models, or a successor.

        `raw`: the raw row of the context. `grown`: it has something that these models do not know. A second call has the same result.
        """
        self = self._grown(context, grown, played)
        if self.rounds < rounds:
            self._learn(raw, played, rounds)
        return self._refitted(rounds) if self._is_due(rounds) else self

    def _grown(self, context: Any, grown: bool, played: PlayedRound) -> ArmModels:
        """Return the models that know what is new in a context and in the features of the arm played."""
        unseen = self._entry(played.outcome).unseen
        if not grown and not unseen:
            return self
        x_reader, arm_reader = self.x_reader, self.arm_reader
        if grown:
            x_reader = x_reader.copy()
            x_reader.admit(context)
        if unseen:
            arm_reader = arm_reader.copy()
            arm_reader.admit(dict(played.outcome.features or {}))
        models, recent, begun = wider_models(self.models, x_reader, arm_reader), self.recent, self.begun
        if x_reader.inputs > self.x_reader.inputs or arm_reader.inputs > self.arm_reader.inputs:
            recent = recent.resized(x_reader.inputs, arm_reader.inputs, len(recent.losses))
            begun = self.rounds
        return ArmModels(x_reader, arm_reader, models, self.known.copy(), recent, begun)

    def _learn(self, raw: Floats, played: PlayedRound, rounds: int) -> None:
        """Learn a round: its last step is the compiled call that counts it, and all before can be done twice."""
        self._register(played.outcome.arm)
        known, recent, kernels = self.known, self.recent, compiled()
        outcomes = (played.outcome, *played.also)
        entries = [self._entry(outcome) for outcome in outcomes]
        for reader, values in ((self.x_reader, raw), (self.arm_reader, entries[0].raw)):
            if reader.rows < rounds:
                reader.observe(values)
        slots = [known.slot.get(outcome.arm, -1) for outcome in outcomes]
        losses = [outcome.loss for outcome in outcomes]
        while len(recent.losses) < min(self.outcomes + len(outcomes), RECENT):
            self.recent = recent = recent.resized(*recent.widths, 2 * len(recent.losses))
        for k, (entry, slot, loss) in enumerate(zip(entries, slots, losses, strict=True), start=self.outcomes):
            recent.write(k % RECENT, raw, entry.raw, slot, loss)
        self.encoded.slots[entries[0].row] = slots[0]
        known.available[[slot for slot in map(known.slot.get, played.available) if slot is not None]] = rounds
        g = self.encoded.g[[entry.row for entry in entries]]
        kernels.learn(self.models, self.columns(raw), g, np.array(slots, dtype=np.int64), np.array(losses), known.totals)

    @property
    def outcomes(self) -> int:
        """The number of outcomes learned."""
        return int(self.models.stack.item(compiled().ROWS))

    def _register(self, arm: Hashable) -> None:
        """Give an arm a slot if it has none."""
        known, recent = self.known, self.recent
        slot, is_new = known.find_slot(arm)
        if not is_new:
            return
        if slot < len(known.names):
            recent.slots[recent.slots == slot] = -1
            gone = self.encoded.entries.get(known.names[slot])
            if gone is not None:
                self.encoded.slots[gone.row] = -1
        self._make_room(slot)
        compiled().reset_slot(self.models.own, slot, self.models.stack[compiled().OWN_PRECISION])
        known.register(arm, slot)

    def _entry(self, outcome: Outcome) -> Entry:
        """Return an arm as this reader encodes it."""
        entry = self.encoded.entries.get(outcome.arm)
        if entry is None or entry.features != outcome.features:
            entry = self.encoded.add(outcome.arm, outcome.features, self.arm_reader, self.known.slot.get(outcome.arm, -1))
        return entry

    def _make_room(self, slot: int) -> None:
        own, words = self.models.own, compiled().SLOT
        if (slot + 1) * words > len(own):
            self.models = self.models._replace(own=np.concatenate([own, np.zeros_like(own)]))

    def _is_due(self, rounds: int) -> bool:
        """Return whether the round calls for new units: after 2, 4, 8 ... RECENT rounds, and if numbers left their range."""
        since = rounds - self.begun
        if 2 <= since <= RECENT and since & (since - 1) == 0:
            return True
        if rounds % LOOKED:
            return False
        return any(len(strayed_inputs(reader.layout)) for reader in (self.x_reader, self.arm_reader))

    def _refitted(self, rounds: int) -> ArmModels:
        """Return models in new units that have learned the recent rounds again."""
        x_reader, arm_reader = self.x_reader.copy(), self.arm_reader.copy()
        x_reader.refit()
        arm_reader.refit()
        kernels, order = compiled(), self.recent.order(self.outcomes)
        models = fresh_models(self.models.where, len(self.models.own) // kernels.SLOT, x_reader.inputs, arm_reader.inputs)
        x, g = np.empty((len(order), x_reader.columns)), np.empty((len(order), arm_reader.columns))
        for reader, values, encoded in ((x_reader, self.recent.context, x), (arm_reader, self.recent.arm, g)):
            cells = np.empty((len(order), reader.trees), dtype=np.int64)
            reader.encode_rows(np.ascontiguousarray(values[order]), encoded, cells)
        kernels.learn_rows(models, x, g, self.recent.slots[order], self.recent.losses[order])
        models.stack[[kernels.ROUNDS, kernels.ROWS]] = rounds, self.outcomes
        return ArmModels(x_reader, arm_reader, models, self.known, self.recent, self.begun)

    def rename_texts(self, rename: Callable[[str, int], str | None]) -> ArmModels | None:
        """Return models whose readers have other names for some categories and tags; None if no name changes."""
        x_reader, arm_reader = self.x_reader.rename_values(rename), self.arm_reader.rename_values(rename)
        if x_reader is None and arm_reader is None:
            return None
        x_reader, arm_reader = x_reader or self.x_reader, arm_reader or self.arm_reader
        return ArmModels(x_reader, arm_reader, self.models, self.known, self.recent, self.begun)

    # -- copies and files ------------------------------------------------------------------------------------------------

    def copy(self) -> ArmModels:
        """Return independent models in the same state."""
        models = type(self.models)(*[array.copy() for array in self.models])
        recent = self.recent.copy()
        return ArmModels(self.x_reader.copy(), self.arm_reader.copy(), models, self.known.copy(), recent, self.begun)

    def settings(self) -> dict[str, Any]:
        """Return what is not in arrays, as plain data."""
        return {
            "context": self.x_reader.to_dict(),
            "arms": self.arm_reader.to_dict(),
            "known": [encode_arm(arm) for arm in self.known.names],
            "begun": self.begun,
        }

    def to_arrays(self) -> Arrays:
        """Return what was learned, arrays by name."""
        known, n, rows = self.known, len(self.known.names), min(self.outcomes, RECENT)
        where, shared, own, stack, _ = self.models
        arrays: Arrays = {"where": where, "shared": shared, "own": own[: n * compiled().SLOT], "stack": stack}
        arrays |= {"available": known.available[:n], "totals": known.totals[:n], "gone": known.gone}
        for name, array in zip(Recent._fields, self.recent, strict=True):
            arrays[f"recent.{name}"] = array[:rows]
        for name, reader in (("x", self.x_reader), ("g", self.arm_reader)):
            arrays |= {f"{name}.{part}": array for part, array in reader.arrays().items()}
        return {name: array.copy() for name, array in arrays.items()}

    @classmethod
    def restore(cls, settings: Any, arrays: Arrays, features: Features, limit: int, rounds: int) -> Self:
        """Restore what `settings` and `to_arrays` returned; ValueError if they do not fit each other."""
        if not isinstance(settings, dict) or set(settings) != {"context", "arms", "known", "begun"}:
            raise ValueError("its models of arms are not as they are written")
        parts: dict[str, Arrays] = {"x": {}, "g": {}, "recent": {}, "": {}}
        for name, array in arrays.items():
            part, dot, rest = name.partition(".")
            parts[part if dot else ""][rest if dot else name] = array
        readers = [FeatureReader.restore(settings[key], parts[part]) for key, part in (("context", "x"), ("arms", "g"))]
        if readers[0].features != features or readers[1].features != Features():
            raise ValueError("its readers do not fit its features")
        known = KnownArms(limit)
        for arm in settings["known"]:
            known.register(decode_arm(arm), len(known.names))
        begun, n = settings["begun"], len(known.names)
        if len(known.slot) != n or n > limit or type(begun) is not int or not 0 <= begun <= rounds:
            raise ValueError("its known arms do not fit its limit")
        rows = min(RECENT, max(FEWEST, len(parts["recent"]["losses"])))
        recent = Recent.empty(readers[0].inputs, readers[1].inputs, rows)
        for mine, name in zip(recent, Recent._fields, strict=True):
            theirs = parts["recent"][name]
            _take(mine[: len(theirs)], theirs)
        slots = recent.slots
        if ((slots < -1) | (slots >= n)).any() or not ((recent.losses >= 0.0) & (recent.losses <= 1.0)).all():
            raise ValueError("its recent rounds do not fit its arms")
        own = parts[""]
        where = _checked_columns(own["where"], readers[0].columns, readers[1].columns)
        models = fresh_models(where, max(FEWEST, n), readers[0].inputs, readers[1].inputs)
        words = compiled().SLOT
        stored = (models.shared, own["shared"]), (models.own[: n * words], own["own"]), (models.stack, own["stack"])
        for mine, theirs in stored:
            _take(mine, theirs)
            if not np.isfinite(theirs).all():
                raise ValueError("its models hold numbers that are not finite")
        for mine, name in ((known.available[:n], "available"), (known.totals[:n], "totals"), (known.gone, "gone")):
            _take(mine, own[name])
        models.stack[compiled().USED] = where.max() + 1
        outcomes = float(models.stack[compiled().ROWS])
        if models.stack[compiled().ROUNDS] != rounds or not (rounds <= outcomes <= MOST_OUTCOMES and outcomes == int(outcomes)):
            raise ValueError("its models have learned another number of rounds")
        if len(parts["recent"]["losses"]) != min(int(outcomes), RECENT):
            raise ValueError("its recent rounds are not as many as it learned")
        return cls(readers[0], readers[1], models, known, recent, begun)

    @property
    def nbytes(self) -> int:
        """The size in memory, in bytes."""
        arrays: list[Any] = [*self.models, *self.recent, self.known.available, self.known.totals]
        return int(sum(array.nbytes for array in arrays)) + self.x_reader.nbytes + self.arm_reader.nbytes


def fresh_models(where: Ints, slots: int, inputs: int, of_arms: int) -> Any:
    """Make models that have learned nothing, for contexts with `inputs` numbers and arms with `of_arms`."""
    kernels, room = compiled(), room_for_columns(int(where.max()) + 1)
    columns = where.shape[1]
    scratch = 2 * (room + kernels.COLUMNS) + columns * (2 + room + columns) + max(columns, kernels.COLUMNS)
    arrays = [np.zeros(size) for size in (room * (room + 1), slots * kernels.SLOT, kernels.WORDS, scratch)]
    models = kernels.ArmModels(where, *arrays)
    models.stack[[kernels.PRECISION, kernels.OWN_PRECISION]] = SHARED * (1 + inputs) * (1 + of_arms), 1.0 + inputs
    models.stack[kernels.USED] = where.max() + 1
    kernels.begin(models)
    return models


def wider_models(models: Any, x_reader: FeatureReader, arm_reader: FeatureReader) -> Any:
    """Return models with the columns of these readers, which share no memory with the others."""
    columns, of_arms = x_reader.columns, arm_reader.columns
    if models.where.shape == (columns, of_arms):
        return type(models)(*[array.copy() for array in models])
    fresh = fresh_models(product_columns(models.where, columns, of_arms), 0, x_reader.inputs, arm_reader.inputs)
    old, new = compiled().room_of(models), compiled().room_of(fresh)
    fresh.shared[:old] = models.shared[:old]
    covariance = fresh.shared[new:].reshape(new, new)
    covariance[:old, :old] = models.shared[old:].reshape(old, old)
    stack = models.stack.copy()
    stack[compiled().USED] = fresh.stack[compiled().USED]
    return fresh._replace(own=models.own.copy(), stack=stack)


def _take(mine: Any, theirs: Any) -> None:
    """Copy an array of a file; ValueError unless it has the same shape and type."""
    if theirs.shape != mine.shape or theirs.dtype != mine.dtype:
        raise ValueError("its arrays do not fit its settings")
    mine[...] = theirs


def _checked_columns(where: Any, columns: int, of_arms: int) -> Ints:
    """Return the columns of the products of a file; ValueError if they are not columns."""
    if where.shape != (columns, of_arms) or where.dtype != np.int64 or where[0, 0] != 0:
        raise ValueError("its products do not fit its features")
    if where.min() < 0 or where.max() >= MOST_COLUMNS or len(np.unique(where)) != where.max() + 1:
        raise ValueError("its products have no columns")
    return np.ascontiguousarray(where)
