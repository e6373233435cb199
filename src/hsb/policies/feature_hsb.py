"""HSB without a structure: any context, a panel of models, and a tree over each feature for the guarantee."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..checks import arm_list, is_hashable
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
from ..errors import InputError, quoted
from ..features import Encoder, Features
from ..features.arms import ArmFeatures
from ..learners.encoded import Encoded
from ..policy.decision import Decision
from ..policy.loss_range import UNIT
from ..types import Arms, Arrays, Ints, Masks, Outside, Range, Seed
from .feature_tables import FeatureTables
from .hsb import check_settings, own_signature
from .mixture import Mixture
from .one_feature import FIXED, MIXTURE, PANEL

if TYPE_CHECKING:
    from ..explain import Explanation


class FeatureHSB(FeatureTables):
    """What `hsb.HSB(arms=...)` makes where no structure is given: contexts are dicts, rows or numbers, as people have them.

    A panel of models (`engine/kernels/panel.py`) advises; beside it stand, for the guarantee, the best single arm and a tree over each
    feature: of numbers by their rank in 31 steps, of categories one by one. Encoders, models and trees learn in the order of `learn`.

    `arm_features`, a dict for each arm or for some, say what arms are like: one that is added with features (`add_arm`) begins with what
    similar ones taught.

    >>> import hsb
    >>> policy = hsb.HSB(arms=["a", "b"], seed=0)
    >>> decision = policy.decide({"country": "FR", "age": None, "hour": 14, "member": True})
    >>> policy.learn(decision, reward=1)
    >>> policy.encoder.slot_names
    ['country', 'hour', 'member']
    """

    found_out = ("encoder", "first_slots", "arm_features")

    def __init__(
        self,
        structure: None = None,
        *,
        arms: Arms,
        features: Features | None = None,
        arm_features: Mapping[Hashable, Any] | None = None,
        learning_rate: float | None = None,
        implicit: bool = False,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
        **more: Any,
    ) -> None:
        if structure is not None:
            raise InputError(
                f"A structure and features exclude each other; given {quoted(structure)}. Use hsb.HSB(structure, arms=...)."
            )
        if more:
            check_settings(structure, {"arms": arms} | more)
            raise InputError(_refused(more))
        if features is not None and not isinstance(features, Features):
            raise InputError(f"features must be hsb.Features(age=hsb.Number(), ...), or left out; given {quoted(features)}.")
        self.features = Features() if features is None else features
        self.drift, self.stop, self.regions, self._panel = "auto", None, None, True
        self._first_slots = 0  # that there were before anything was learned
        self._noted = -1.0
        width = width_for(len(arms := arm_list(arms)), self.features.limits["width"])
        self._encoder = Encoder(self.features, width)
        self._arm_features = ArmFeatures.of(arms, arm_features)
        Mixture.__init__(
            self,
            arms=arms,
            learning_rate=learning_rate,
            implicit=implicit,
            loss_range=loss_range,
            reward_range=reward_range,
            outside=outside,
            floor=floor,
            seed=seed,
        )
        self._against = "the best rule on one feature, or the best single arm"

    # -- what it is made of --------------------------------------------------------------------------------------------

    def _locator(self) -> Encoded:  # type: ignore[override]
        return Encoded(self._encoder)

    def _fresh(self) -> State:
        """A head over the panel, a single arm, and a tree for each slot that the encoder knows."""
        arms, encoder, first = len(self.arms), self.encoder, self._first_slots
        head = add_options(self._head(first), FIXED, encoder.slots - first)
        panel = make_panel(self.locator.room, arms)
        set_places(panel, self.locator.groups())
        members = [head, *hang([panel], PANEL, 0), *hang([make_cells(1, arms)], FIXED, 0)]
        members += self._trees(range(encoder.slots))
        return State(members, [0, self.locator.room, *[1] * (1 + encoder.slots)])

    def _head(self, slots: int) -> Member:
        """Over the panel, the single arm and the slots that there are at first, which share MIXTURE."""
        return make_head([1.0 - MIXTURE, *np.full(1 + slots, MIXTURE / (1 + slots))], len(self.arms))

    def _trees(self, slots: range) -> list[Member]:
        shapes = self.encoder.shapes
        return [
            hang(
                [make_tree(2, size, len(self.arms), 0.5) if kind == "binary" else make_tree(size, 1, len(self.arms), 0.5)],
                2 + s,
                0,
            )[0]
            for s in slots
            for kind, size in [shapes[s]]
        ]

    # -- a round -------------------------------------------------------------------------------------------------------

    def _locate(self, context: Any, *, count: bool) -> None:
        self._visited = False
        self.locator.locate(context)

    def _locate_decision(self, decision: Decision, own: bool) -> None:
        seen = decision.seen if own else None
        if seen is not None and seen is self.locator.cells:  # it was decided just now
            self.locator.context = decision.context  # which the caller cannot have changed since
        else:
            self._locate(decision.context, count=False)
            if seen is not None and self._fits(seen):
                self.locator.put(np.asarray(seen))
            elif own:
                decision.seen = None
        self._lean_for(decision, own)

    def _fits(self, cells: Any) -> bool:
        """Can these be the cells of a decision of its own?"""
        sizes = [1 << size if kind == "binary" else size for kind, size in self.encoder.shapes]
        return len(cells) <= len(sizes) and all(0 <= cell < size for cell, size in zip(cells, sizes, strict=False))

    def _saw(self) -> Ints:
        return self.locator.cells

    def _saw_rows(self, points: Any) -> Any:
        return self.locator.keys(points)[:, self.locator.room + 1 :] >> self.locator.shifts

    def _rows_given(self, contexts: Any, points: Any) -> list[Any]:
        return [
            context.copy() if isinstance(context, dict | list) else context
            for context in map(points.__getitem__, range(len(points)))
        ]

    def _recall(self, decision: Decision) -> None:
        super()._recall(decision)
        self._noted = decision.advised

    def _note(self, index: int) -> None:
        self._noted = self._advice_on(index)

    def _rereader(self) -> Callable[[Any], object]:
        return self.locator.reader()

    def _update(self, offered: Masks, index: int, loss: float, propensity: float) -> None:
        locator, noted = self.locator, self._noted
        self._noted = -1.0
        if locator.news:
            twin = self._apart()
            twin._learn_news(locator, noted, offered, index, loss, propensity)
            self._commit(vars(self).update, vars(twin))
        else:
            self._raws = self.rounds, locator.raw[None]
            super()._update(offered, index, loss, propensity)

    def _learn_news(self, seen: Encoded, noted: float, offered: Masks, index: int, loss: float, propensity: float) -> None:
        """In a twin: what is new is taken in first, so that the models learn it; trees and advice are as they were decided by."""
        self._take_in(seen.context)
        self.locator.context = seen.context
        self.locator.again()
        self.locator.put(seen.cells if noted >= 0.0 else None)
        self._visited = False
        if noted >= 0.0 and self._advised < 0.0:
            self._advised = noted
        super()._update(offered, index, loss, propensity)
        self.encoder.observe(self.locator.raw)

    def _apart(self) -> Self:
        """A twin whose encoder and state are its own: what is changed there is taken over in one step, or not at all."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin._idle()
        twin.locator, twin.state = self.locator.copy(), self.state.copy()
        return twin

    def _catch_up(self) -> None:
        super()._catch_up()
        behind = self.rounds - self.encoder.rows
        if behind > 0:
            begun, raw = self._raws
            last = self.rounds - begun
            self.encoder.observe_rows(np.ascontiguousarray(raw[last - behind : last]))
        if self.encoder.due:
            self._refit(self.rounds)

    def _forget(self) -> None:
        super()._forget()
        self._noted = -1.0
        self.locator.forget()

    def _take_in(self, context: Any) -> None:
        """Make room for what is new in a context: features, categories, missing values."""
        encoder, slots, places = self.encoder, self.encoder.slots, self.encoder.places
        encoder.admit(context)
        if encoder.slots == slots and encoder.places == places:
            return
        before, state = self.locator.room, self.state
        self.locator.fit()
        head, panel, *rest = state.members
        if self.rounds == 0:
            self._first_slots = encoder.slots
            head = self._head(encoder.slots)
        else:
            head = add_options(head, FIXED, encoder.slots - slots)
        if self.locator.room > before:
            panel = resized_panel(panel, self.locator.room, len(self.arms))
        members = [head, panel, *rest, *self._trees(range(slots, encoder.slots))]
        state.relay(members, [0, self.locator.room, *[1] * (1 + encoder.slots)])
        if encoder.places > places:
            set_places(state.members[1], self.locator.groups())

    def _refit(self, rounds: int) -> None:
        """After `rounds` rounds: new scales and edges; models go on in the new units."""
        twin = self._apart()
        a, c = twin.encoder.refit()
        rescale(twin.state.members[1], a, c, twin.encoder.missing_places)
        twin._lean(rounds)
        twin._visited = False
        twin.version += 1
        vars(self).update(vars(twin))

    def add_arm(self, arm: Hashable, *, features: Any = None) -> None:
        """Add an arm while running, or bring a removed one back; `features`, a dict, say what it is like.

        The models' forecasts for a new arm begin as an average of the others', by how similar their features are, worth 30 plays at most
        (`engine/state/warm.py`); the guarantee treats it as any other. Where an arm has no features, nobody learns from it, nor it from others.
        An arm that comes back has what it learned, and these features from now on if they are given.

        >>> import hsb
        >>> policy = hsb.HSB(arms=["boot", "cap"], arm_features={"boot": {"kind": "shoes"}, "cap": {"kind": "hats"}}, seed=0)
        >>> for t in range(300):
        ...     decision = policy.decide({"foot": t % 2})
        ...     policy.learn(decision, reward=(decision.arm == "boot") == (t % 2 == 1))
        >>> policy.add_arm("sandal", features={"kind": "shoes"})
        >>> policy.probabilities({"foot": 0}, available=["cap", "sandal"]).round(1)
        array([0., 1., 0.])
        """
        new = is_hashable(arm) and arm not in self.offer.index
        known = self._arm_features
        if new or (features is not None and is_hashable(arm)):
            known = known.known(len(self.arms) if new else self.offer.number(arm), arm, features)
        if new:
            self._take_arm(arm, known=known, warm=features is not None)
        else:
            super().add_arm(arm)
            self._arm_features = known

    def _added(self, *, known: ArmFeatures, warm: bool) -> None:  # type: ignore[override]
        self._arm_features = known
        if warm:
            warm_start(self.state.members[1], len(self.arms) - 1, known.similarity(len(self.arms) - 1))

    # -- in words ------------------------------------------------------------------------------------------------------

    def explain(
        self, *, names: Sequence[str] | None = None, contexts: Any = None, rules: int | None = None, top: int | None = 12
    ) -> Explanation:
        """What it plays, as rules in the names and units of the contexts; `.agreement` says how often they are right.

        `contexts`: a table of contexts to measure on; without it, those that were learned from (a sample of 512 is kept). `rules`: the most
        rules there may be, however often they are wrong. `top`: how many rules are printed; None prints all. `names`: other names of columns.

        >>> import hsb
        >>> policy = hsb.HSB(arms=["a", "b"], seed=0)
        >>> for t in range(300):
        ...     decision = policy.decide({"device": "ios" if t % 2 else "web", "age": 20 + t % 40})
        ...     policy.learn(decision, reward=(decision.arm == "a") == (t % 2 == 1))
        >>> print(policy.explain())
        device is ios: play 'a' (sure 1.00, share 0.50)
        device is web: play 'b' (sure 1.00, share 0.50)
        """
        from ..explain.featured import explain_features

        points: Any = None if contexts is None else self.check(contexts)[0]
        sample = None if points is None else points.raw(self.encoder, 0, len(points))[0]
        return explain_features(self, self.encoder, sample, names=names, rules=rules, top=top)

    # -- files ---------------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        return {
            "features": self.features.to_dict(),
            "learning_rate": self.learning_rate,
            **({"implicit": True} if self.implicit else {}),
            "encoder": self.encoder.to_dict(),
            "first_slots": self._first_slots,
            **({"arm_features": self._arm_features.encoder.to_dict()} if self._arm_features.some else {}),
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        stored = settings.pop("encoder"), settings.pop("first_slots"), settings.pop("arm_features", None)
        features = Features.from_dict(settings.pop("features"))
        policy = cls(features=features, **settings, **common)
        policy._stored = stored
        return policy

    def to_arrays(self) -> Arrays:
        arms = {"arms.features": self._arm_features.raw.copy()} if self._arm_features.some else {}
        return {**super().to_arrays(), **{f"encoder.{name}": array for name, array in self.encoder.arrays().items()}, **arms}

    def take_arrays(self, arrays: Arrays) -> None:
        data, first, of_arms = self._stored
        theirs = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith("encoder.")}
        encoder = Encoder.restore(data, theirs)
        if encoder.features != self.features or type(first) is not int or not 0 <= first <= encoder.slots:
            raise ValueError("its encoder does not fit its features")
        if of_arms is not None:
            self._arm_features = ArmFeatures.restore(of_arms, arrays.get("arms.features"), len(self.arms))
        self._encoder, self._first_slots = encoder, first
        self.locator = self._locator()
        self.state = self._fresh()
        self._take_leaning(arrays["leaning"])
        Mixture.take_arrays(
            self,
            {name: array for name, array in arrays.items() if name.partition(".")[0] not in ("encoder", "arms", "leaning")},
        )

    __signature__ = own_signature(__init__)

    _stored: tuple[Any, Any, Any] = ({}, 0, None)

    def _shown(self) -> dict[str, Any]:
        return {"features": self.features} if not self.features.open else {}


def _refused(more: Mapping[str, Any]) -> str:
    """Why these settings cannot be taken: HSB has them with a structure only."""
    return (
        f"{', '.join(more)} needs a structure, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=..., {next(iter(more))}=...). "
        "Without a structure leave it out: contexts may be dicts, rows or numbers."
    )
