"""HSB, Algorithm 1, and its default without knobs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from .. import reproducible_math, theory
from ..checks import arm_list, is_number, stop_prior
from ..engine.kernels import header as h
from ..engine.state import State, depth_for, hang, make_advisor, make_head, make_panel, room_for, set_places, width_for
from ..errors import InputError, quoted
from ..features import Features
from ..features.declared import nearest
from ..learners.keys import Keys, cells, places
from ..policy.loss_range import UNIT
from ..structures import Structure, from_dict
from ..structures.quantise import halvings
from ..theory.anytime import anytime_schedule
from ..theory.schedule import Constant, Falling, Schedule
from ..types import Arms, Arrays, Outside, Range, Seed
from .mixture import Mixture

if TYPE_CHECKING:
    from ..explain import Explanation

Drift = float | Literal["auto"] | None


class _Unsaid:
    """What `drift` is where nothing is said: signatures show it."""

    def __repr__(self) -> str:
        return "UNSAID"


_UNSAID: Any = _Unsaid()
MOST_FEATURES = 256  # of a structure, that a panel of models looks at


class HSB(Mixture):
    """Hierarchical Structure based Bandits: the policy to begin with. It needs `arms` and nothing else: no horizon, no rate, no drift.

    `HSB(arms=[...])` takes contexts as they are: dicts, rows or numbers, with text, dates and gaps (`docs/contexts.md`). It is never much worse
    than the best rule on any one feature, or the best single arm, whatever the world does.

    `HSB(structure, arms=[...])` keeps a weight for every mapping, an arm for each leaf of the structure. It computes this mixture exactly
    (Algorithm 1 of the paper), and is never much worse than the best mapping. Beside the mixture it keeps an advisor, a model that learns
    quickly and notices changes; the guarantee stays and holds at any time (`docs/proofs.md`). With a `horizon` or `learning_rate` it is the
    paper's algorithm, by default without an advisor.

    - `structure`: how contexts may be divided, e.g. `hsb.BinaryTree(depth=10)`; None for contexts of any kind.
    - `arms`: how many arms there are, which are then 0, 1, ...; or a list of the arms themselves (any hashables).
    - `features`: only without a structure: what the features are (`hsb.Features`). None: that is found on the way.
    - `arm_features`: only without a structure: what each arm is like, {arm: {name: value}}. A new arm begins with what similar ones taught.
    - `horizon`: the number of rounds to come, if known. It sets Corollary 1's constant rate, for an optimal partition into `regions` regions
      (None: as many as arms). `horizon`, `regions`, `drift` and `stop` need a structure.
    - `learning_rate`: a constant rate, above 0, in place of a `horizon`. None: the rate follows from the `horizon`, or falls.
    - `drift`: how changes are followed. "auto", the default without `horizon` and `learning_rate`: by the advisor. None, the default with one
      of them: not at all. A number in [1e-12, 0.5]: in each node learned from, every arm gives that share of its weight to all (fixed share);
      regret is then bounded against mappings that change. With None or a number, and neither a horizon nor a rate, the rate in round t is
      about sqrt(A / (M t)), with M arms and A as in `hsb.theory.learning_rate`, and the bound holds at any time.
    - `stop`: a tree's prior probability of stopping at a node, in [0, 1). None is the paper's, one half. 0 goes down to the leaves, as
      `hsb.SExp3`.
    - `implicit`: implicit exploration, loss / (propensity + rate/2) in place of loss / propensity. It plays a little more of the other arms,
      and `certificate(delta)` then bounds the true regret with probability 1 - delta.
    - `loss_range`: (low, high), in which losses and rewards lie; they are scaled to [0, 1], and a reward r is the loss low + high - r. "auto":
      the range is found on the way, and a reward r is the loss -r (`docs/proofs.md`, 7, says what is proved then). `reward_range` is another
      name for it: give one of the two.
    - `outside`: what becomes of a loss or reward outside that range. "error" refuses it. "clip" moves it to the nearest end and counts it in
      `clipped_losses`.
    - `floor`: a share in [0, 1] of the decisions that is uniform over the offered arms, so each is played with at least floor/M: for logs from
      which other policies will be valued (`hsb.evaluate.off_policy`). It costs at most that share of the rounds; propensities say so exactly.
    - `seed`: an int or a `numpy.random.Generator`; None takes fresh random numbers. Same seed, same run.

    >>> import hsb
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=3, seed=0)
    >>> decision = policy.decide(0.37)
    >>> policy.learn(decision, loss=1.0)
    >>> policy.probabilities(0.37).sum().round(12)
    np.float64(1.0)
    """

    guarantee: ClassVar[str] = (
        "Against every mapping of the structure, whatever the contexts and losses: ln(1/beta)/rate + M T rate/2 (Theorem 1), and where the "
        "rate falls, ln(1/beta) over the last rate and M/2 times the sum of the rates."
    )

    def __new__(cls, structure: Structure | None = None, **given: Any) -> HSB:
        """Without a structure, an HSB of features; what no HSB takes is refused in words."""
        if cls is HSB and (given or structure is not None):
            check_settings(structure, given)
        if cls is HSB and structure is None and "arms" in given:
            from .feature_hsb import FeatureHSB

            return object.__new__(FeatureHSB)
        return object.__new__(cls)

    def __init__(
        self,
        structure: Structure | None = None,
        *,
        arms: Arms,
        features: Features | None = None,
        arm_features: Mapping[Hashable, Any] | None = None,
        horizon: float | None = None,
        regions: int | None = None,
        learning_rate: float | None = None,
        drift: Drift = _UNSAID,
        stop: float | None = None,
        implicit: bool = False,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
    ) -> None:
        if not isinstance(structure, Structure):
            raise InputError(
                f"HSB needs a structure, e.g. hsb.BinaryTree(depth=10), or none at all: hsb.HSB(arms=...); given {quoted(structure)}."
            )
        if features is not None or arm_features is not None:
            name = "features" if features is not None else "arm_features"
            raise InputError(f"A structure and {name} exclude each other. Leave one of them out.")
        self.structure, self.regions, self.stop = structure, regions, stop_prior(stop)
        self.drift = _checked_drift(drift, default="auto" if horizon is None and learning_rate is None else None)
        if self.drift == "auto":
            self._against = "the mapping that its advisor has learned"
        self._depth = depth_for(structure.leaves, len(arms := arm_list(arms)))  # of the advisor: as deep as the arms allow
        several = 1 < len(structure.finest.features) < width_for(len(arms), MOST_FEATURES)
        self._panel = self.drift == "auto" and several  # then models advise, not a tree of cells
        super().__init__(
            arms=arms,
            horizon=horizon,
            learning_rate=learning_rate,
            implicit=implicit,
            loss_range=loss_range,
            reward_range=reward_range,
            outside=outside,
            floor=floor,
            seed=seed,
        )
        self.regions = None if regions is None else int(regions)

    def _scheduled(self) -> Schedule:
        if self.drift == "auto":
            return anytime_schedule(arms=len(self.arms), rate=self.learning_rate)
        drift = self.drift or 0.0
        if self.learning_rate is None:
            return Falling(self._prior_bound(), arms=len(self.arms), drift=drift)
        return Constant(self.learning_rate, drift)

    def _locator(self) -> Keys:
        if self.drift != "auto":
            return Keys(self.structure)
        return Keys(
            self.structure, [places(self.structure, self._room()) if self._panel else cells(self.structure, self._depth)]
        )

    def _room(self) -> int:
        """Words of a key that its advisor takes."""
        return room_for(1 + len(self.structure.finest.features), MOST_FEATURES) if self._panel else 1

    def _fresh(self) -> State:
        """The structure's members; in the default, below a head, beside an advisor."""
        arms, structure = len(self.arms), self.structure
        members, words, walks = structure.members(arms, self.stop), structure.key_words(), structure.walks()
        if self.drift != "auto":
            return State(members, words, walks)
        head = make_head(anytime_schedule(arms=arms).head, arms)
        advisor = make_panel(self._room(), arms) if self._panel else make_advisor(self._depth, arms)
        if self._panel:
            set_places(advisor, range(len(structure.finest.features)))
        hang([advisor], option=1, offset=0)
        return State([head, advisor, *hang(members, option=0, offset=2)], [0, self._room(), *words], [None, None, *walks])

    def _look(self, depth: int) -> None:
        """Begin anew with an advisor that looks that closely."""
        if not 0 <= depth <= depth_for(self.structure.leaves, 1):
            raise ValueError("its advisor does not fit its structure")
        self._depth = depth
        self.locator, self.state = self._locator(), self._fresh()

    def regret_bound(self, horizon: float | None = None, *, regions: int | None = None, delay: float = 0.0) -> float:
        """Theorem 2's bound on the expected regret over `horizon` rounds, against mappings of at most `regions` regions.

        At Corollary 1's rate, that is sqrt(2 A M T); for the default, `hsb.theory.anytime_bound`. It is never more than `horizon`.

        - `horizon`: None takes the one that the policy was made with; `InputError` where it was made without.
        - `regions`: None takes those that the policy was made with, else as many as arms.
        - `delay`: how many rounds late all feedback comes, if losses are set beforehand. About rate * delay a round is added.

        >>> import hsb
        >>> tree = hsb.BinaryTree(depth=10)
        >>> round(hsb.HSB(tree, arms=3, horizon=100_000).regret_bound()), round(hsb.theory.regret_bound(tree, arms=3, horizon=100_000))
        (6720, 6720)
        """
        arms = len(self.arms)
        regions = (self.regions or arms) if regions is None else regions
        dearer = float(self._arm_costs().max()) - reproducible_math.ln(arms)  # every part may have an arm that was added
        cost = theory.prior_bound(self.structure, arms=arms, regions=regions, stop=self.stop, dearer=dearer)
        return self._bound(cost, horizon, implicit=self.implicit, delay=delay)

    def explain(
        self, *, names: Sequence[str] | None = None, contexts: Any = None, rules: int | None = None, top: int | None = 12
    ) -> Explanation:
        """What it plays, as rules: regions, their arms, how sure. The `Explanation` prints as rules and can be drawn (`.plot()`).

        Of the default: the arm played most, everywhere; the policy is asked, and `.agreement` says how often the rules are right. With a
        horizon, a rate or another drift: the most probable mapping.

        - `names`: what the features are called, in order.
        - `contexts`: a table of contexts as they come, on which shares, agreement and importance are then measured. Without it, contexts may
          lie anywhere in the space: of many features most of it is empty, and the rules are then right less often where contexts come.
        - `rules`: the most rules there may be, however often they are wrong: only the most important things are said. None: no limit.
          `InputError` where the most probable mapping is shown, which has the rules it has.
        - `top`: how many rules are printed, the largest; None prints all.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], learning_rate=1.0)
        >>> for context, bad in ((0.2, "a"), (0.7, "b")):
        ...     policy.learn(hsb.Decision(context=context, arm=bad, propensity=0.05), loss=1.0)
        >>> print(policy.explain(names=["age"]))
        0 <= age < 0.5: play 'b' (sure 1.00)
        0.5 <= age <= 1: play 'a' (sure 1.00)
        """
        from ..explain.asking import edges_of, explain_mapping, explain_played

        if self.drift != "auto":
            if rules is not None:
                raise InputError(
                    f"rules= shortens what the default plays; this policy's most probable mapping has the rules it has; given {quoted(rules)}. "
                    "top= says how many are printed."
                )
            return explain_mapping(self, self._mapping(), names=names, contexts=contexts, top=top)
        edges = None if self._panel else edges_of(self.structure, self._advisor_parts())
        return explain_played(self, self.structure, edges=edges, names=names, contexts=contexts, rules=rules, top=top)

    def _mapping(self) -> Explanation:
        """What it has learned: the mixture's most probable mapping; of a policy with an advisor, how that splits the space."""
        from ..explain import explain, explain_advisor

        if self.drift == "auto" and not self._panel:
            return explain_advisor(self.structure, self.state.members[1], self.arms)
        members = self.state.members[2 if self._panel else 0 :]
        return explain(self.structure, members, self.arms, self.stop)

    def _advisor_parts(self) -> list[int]:
        """Into how many equal parts the advisor divides each feature of the space."""
        features = self.structure.finest.features
        turns = dict(zip(features, halvings(self._depth, len(features)), strict=True))
        return [1 << turns.get(j, 0) for j in range(self.structure.space.features)]

    def _best_cost(self) -> float:
        from ..explain.price import price

        return price(self._mapping(), stop=self.stop, arm_costs=self._arm_costs())

    def _prior_bound(self) -> float:
        arms = len(self.arms)
        return theory.prior_bound(self.structure, arms=arms, regions=arms if self.regions is None else self.regions)

    def take_arrays(self, arrays: Arrays) -> None:
        arrays = self._upgraded(arrays) if "advisor" in arrays else dict(arrays)
        if self.drift == "auto" and "counted" not in arrays and len(arrays["0.floats"]) == len(self.state.members[0].F):
            fresh = self.state.members[0]  # formats up to 3 had another prior at the head
            prior = slice(int(fresh.I[h.PRIOR]), int(fresh.I[h.PRIOR] + fresh.I[h.OPTIONS]))
            arrays["0.floats"] = arrays["0.floats"].copy()
            arrays["0.floats"][prior] = fresh.F[prior]
        if self.drift == "auto" and not self._panel and self._depth != (depth := int(arrays["1.ints"][h.DEPTH])):
            self._look(depth)  # as closely as it could when there were fewer arms
        super().take_arrays(arrays)

    def _rate_before(self, rounds: int) -> float:
        """The default of formats up to 3 had epochs that ended after 4^5, 4^6, ... rounds."""
        if self.drift != "auto" or self.learning_rate is not None:
            return super()._rate_before(rounds)
        arms, length = len(self.arms), 1024 if rounds < 1024 else 3 << (rounds.bit_length() - 1) // 2 * 2
        return math.sqrt(4.0 * reproducible_math.ln(2.0 * arms) / (arms * length))

    def _upgraded(self, arrays: Arrays) -> Arrays:
        """Arrays of formats 1 and 2: the advisor by itself, the weights at the head in its first two words."""
        arrays = dict(arrays)
        given = arrays.pop("advisor")
        head, advisor, *_ = self.state.members
        if given.ndim != 1 or len(given) != advisor.I[h.ROWS_END]:
            raise ValueError("its advisor does not fit its settings")
        upgraded = {name: array for name, array in arrays.items() if "." not in name}
        for name, array in arrays.items():
            number, dot, what = name.partition(".")
            if dot:
                upgraded[f"{int(number) + 2}.{what}"] = array = array.copy()
                if what == "ints" and len(array) >= h.HEADER:
                    nested = array[h.PARENT] >= 0
                    array[h.PARENT] = array[h.PARENT] + 2 if nested else 0
        F = head.F.copy()
        F[head.I[h.NODE] + 1 : head.I[h.NODE] + 3] = given[:2]
        upgraded |= {"0.floats": F, "0.ints": head.I, "1.floats": given.copy(), "1.ints": advisor.I}
        upgraded["1.floats"][:2] = 0.0
        return upgraded

    def settings(self) -> dict[str, Any]:
        more: dict[str, Any] = {"regions": self.regions, "drift": self.drift, "stop": self.stop}
        more |= {"advisor": "panel"} if self._panel else {}
        return {"structure": self.structure.to_dict(), **self._settings(), **more}

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        advisor = settings.pop("advisor", "tree")  # files of before there were panels do not say
        policy = cls(from_dict(settings.pop("structure")), **settings, **common)
        if policy._panel != (advisor == "panel"):
            if policy._panel is False:
                raise ValueError("its advisor does not fit its structure")
            policy._panel = False
            policy.locator, policy.state = policy._locator(), policy._fresh()
            policy._refresh()
        return policy

    def _shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"structure": self.structure, "learning_rate": self.learning_rate}
        return shown if self.drift is None else shown | {"drift": self.drift}


def own_signature(init: Callable[..., None]) -> inspect.Signature:
    """What a class with a `__new__` takes: its constructor's arguments."""
    given = inspect.signature(init)
    return given.replace(parameters=list(given.parameters.values())[1:])


HSB.__signature__ = own_signature(HSB.__init__)  # type: ignore[attr-defined]


def check_settings(structure: Any, given: Mapping[str, Any]) -> None:
    """Refuse settings that HSB has not, and arms that are missing or in the place of the structure."""
    known = own_signature(HSB.__init__).parameters
    if strange := [name for name in given if name not in known]:
        raise InputError(f"HSB has no setting {quoted(strange[0])}.{nearest(strange[0], known)} It has {', '.join(known)}.")
    if "arms" in given:
        return
    if structure is None or isinstance(structure, Structure):
        raise InputError("HSB needs arms=, how many there are or a list of them, e.g. arms=['a', 'b']; given none.")
    raise InputError(f"Arms go by name: hsb.HSB(arms=[...]); given {quoted(structure)} in the place of the structure.")


def _checked_drift(drift: Drift, default: Drift) -> Drift:
    if drift is _UNSAID:
        return default
    if drift is None or (isinstance(drift, str) and drift == "auto"):
        return drift
    if not is_number(drift) or not 1e-12 <= drift <= 0.5:
        raise InputError(
            f"drift must be 'auto', None (no drift), or a share of weight in [1e-12, 0.5], e.g. 1e-5; given {quoted(drift)}."
        )
    return float(drift)
