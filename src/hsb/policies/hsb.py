"""`HSB`: Algorithm 1 of the paper, and its default that needs no settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from .. import reproducible_math, theory
from ..checks import flag, floor_share, is_number, stop_prior, whole
from ..errors import InputError, quoted
from ..features import Features
from ..features.declared import nearest
from ..learners import one_feature
from ..learners.featured import Featured
from ..learners.open_arms import OpenArms
from ..learners.priors import Drift, StructurePrior
from ..learners.ranked import Ranked
from ..learners.rates import LearningRate, is_confident
from ..learners.structured import Structured
from ..policy import Certificate, Policy, copying
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.open import Open
from ..policy.transaction import settle
from ..structures import Structure, from_dict
from ..types import Arms, Outside, Range, Seed

if TYPE_CHECKING:
    from ..explain import ArmsExplanation, Explanation
    from ..logs import Batch, Log

MOST_SLOTS = 1000  # with open arms
STRUCTURE_ONLY = {
    "horizon": None,
    "regions": None,
    "drift": "default",
    "stop": None,
}  # settings that need a structure, with their defaults


OPEN_GUARANTEE = (
    "On average over its random draws, it never loses much more than its own models' advice, the best single group of arms, or the best rule "
    "that names a group for each category, rank or side of a cut of one feature of the context. In each group its models choose the arm, "
    "before the group is drawn; each arm of always= is a group, and all arms in no group are one. Nothing is proved about how well the models "
    "choose within a group. regret_bound(T) and the conditions are those of hsb.HSB.guarantee, with groups for arms. Rounds in which a group "
    "has no available arm do not count for rules that name it."
)


class HSB(Policy):
    """Hierarchical Structure based Bandits: the policy to begin with. It needs only `arms`: no horizon, no rate, no drift.

    `HSB(arms=[...])` takes contexts without preparation: dicts, rows or numbers, with text, dates and missing values (`docs/contexts.md`). On
    average over its random draws, it never loses much more than the best single arm, its own models' advice, or the best rule on any one
    feature. A rule names an arm for each category (64 of a feature; others share cells), each of 31 ranks of a number, or each side of a fixed
    cut, at the precision that the policy keeps. That holds whatever the world does, if neither the arm nor its loss decides whether feedback
    comes.

    `HSB(structure, arms=[...])` keeps a weight for every mapping, an arm for each leaf of the structure. It computes this mixture exactly
    (Algorithm 1 of the paper), and never loses much more than the best mapping. Next to the mixture it has an advisor, a model that learns
    quickly and notices changes; the guarantee still holds, and at any time (`docs/proofs.md`). With a `horizon` or `learning_rate` it is the
    paper's algorithm, by default without an advisor.

    - `structure`: how contexts may be divided, e.g. `hsb.BinaryTree(depth=10)`. Default: none, for contexts of any kind.
    - `arms`: the number of arms, which are then 0, 1, ...; or a list of the arms (any hashables); or `hsb.Open()`, for arms with features that
      come with each request. The guarantee is then about groups of arms (`hsb.Open`).
    - `features`: only without a structure: the features and their kinds (`hsb.Features`). Default: inferred from the data.
    - `arm_features`: only without a structure: features of each arm, {arm: {name: value}}. A new arm is initialised from similar arms.
    - `horizon`: the number of rounds to come, if known. It sets Corollary 1's constant rate, for an optimal partition into `regions` regions
      (default: as many as arms). `horizon`, `regions`, `drift` and `stop` need a structure.
    - `learning_rate`: a constant rate, above 0, in place of a `horizon`. Default: the rate follows from the `horizon`, or falls. "confident"
      is for the default policy: the rate falls only when the losses exceed what the mixture expected (`docs/proofs.md`, 4b). `docs/tuning.md`
      lists gains and costs.
    - `drift`: how the policy follows changes. "auto": by the advisor. None: not at all. "default": "auto" without `horizon` and
      `learning_rate`, None with one of them. A number in [1e-12, 0.5]: fixed share. In each node learned from, every arm gives that share of
      its weight to all, and the regret bound holds against mappings that change. With None or a number, and neither a horizon nor a rate,
      the rate in round t is about sqrt(A / (M t)), with M arms and A as in `hsb.theory.learning_rate`, and the bound holds at any time.
    - `stop`: a tree's prior probability of stopping at a node, in [0, 1). Default: one half, as in the paper. 0 never stops above the leaves,
      as `hsb.SExp3`.
    - `implicit`: implicit exploration, loss / (propensity + rate/2) in place of loss / propensity. It plays the other arms a little more, and
      `certificate(delta)` then bounds the true regret with probability 1 - delta.
    - `slots`: the number of learners, one for each slot of a page. Default: one learner for all slots. `decide(context, k=slots)` draws a page,
      and each learner learns the feedback of its slot. If that is what the slot added to the page, and gains diminish, the page earns nearly
      1 - 1/e times as much as the best k mappings together (`docs/recipes/several-slots.md`).
    - `loss_range`: (low, high), the range of losses and rewards. They are scaled to [0, 1], and a reward r is the loss low + high - r. "auto":
      the range is inferred from the losses, and a reward r is the loss -r (`docs/proofs.md`, 7, has the bounds). `reward_range` is another
      name for it: give one of the two.
    - `outside`: what to do with a loss or reward outside that range. "error" raises `InputError`. "clip" moves it to the nearest end and
      counts it in `clipped_losses`.
    - `floor`: the share in [0, 1] of decisions that is uniform over the available arms (epsilon), so each is played with probability at least
      floor/M. Use it for logs that will evaluate other policies (`hsb.evaluate.off_policy`). It costs at most that share of the rounds, and
      propensities include it.
    - `seed`: an int or a `numpy.random.Generator`. Default: fresh random numbers. The same seed gives the same run.

    >>> import hsb
    >>> policy = hsb.HSB(hsb.BinaryTree(depth=10), arms=3, seed=0)
    >>> decision = policy.decide(0.37)
    >>> policy.learn(decision, loss=1.0)
    >>> policy.probabilities(0.37).sum().round(12)
    np.float64(1.0)
    >>> policy = hsb.HSB(arms=["a", "b"], seed=0)
    >>> policy.learn(policy.decide({"country": "FR", "age": None, "hour": 14, "member": True}), reward=1)
    >>> policy.learner.reader.raw_input_names
    ['country', 'hour', 'member']
    """

    guarantee: ClassVar[str] = (
        "On average over its random draws, it never loses much more than the best single arm, its own models' advice, or the best rule on "
        "any one feature. A rule names an arm for each category (64 of a feature; others share cells), each of 31 ranks of a number, or each "
        "side of a fixed cut, at the precision that the policy keeps. That holds whatever the world does, if neither the arm nor its loss "
        "decides whether feedback comes. With a structure, it never loses much more than the best mapping of its regions to arms, or its own "
        "models' advice if it has models. regret_bound(T) says how much, for the features and categories known by now, if each feedback comes "
        "before the next decision: compared with mappings that have as many regions, and rules that have as many parts by rank, as there are "
        "arms. regions=, cuts= and advice= compare with others, delay= is for late feedback. Ranks are those of the time. Precision is 24 "
        "leading bits, fewer as more values are seen. Losses count in units of loss_range; if that is 'auto', of the range at the time."
    )

    learner: Structured | Featured | OpenArms | Ranked

    def __init__(
        self,
        structure: Structure | None = None,
        *,
        arms: Arms | Open | None = None,
        features: Features | None = None,
        arm_features: Mapping[Hashable, Any] | None = None,
        horizon: float | None = None,
        regions: int | None = None,
        learning_rate: LearningRate = None,
        drift: Drift | Literal["default"] = "default",
        stop: float | None = None,
        implicit: bool = False,
        slots: int = 1,
        loss_range: Range = UNIT,
        reward_range: Range | None = None,
        outside: Outside = "error",
        floor: float = 0.0,
        seed: Seed = None,
        **unknown: Any,
    ) -> None:
        _check_names(structure, arms, unknown)
        if structure is not None and not isinstance(structure, Structure):
            raise InputError(
                f"structure must be a structure, e.g. hsb.BinaryTree(depth=10), or left out: hsb.HSB(arms=...); given {quoted(structure)}."
            )
        assert arms is not None
        opened = arms if isinstance(arms, Open) else None
        arm_set = ArmSet(arms.labels if isinstance(arms, Open) else arms)
        learner: Structured | Featured | OpenArms
        if opened is not None:
            _refuse_with_open(structure=structure, horizon=horizon, regions=regions, stop=stop, arm_features=arm_features)
            options: Any = {"learning_rate": learning_rate, "implicit": flag("implicit", implicit)}
            learner = OpenArms.fresh(opened, _features(features), **options, floor=floor_share(floor))
        elif structure is None:
            settings = {"horizon": horizon, "regions": regions, "drift": drift, "stop": stop}
            _refuse_without_structure([name for name, value in settings.items() if value != STRUCTURE_ONLY[name]])
            learner = Featured.fresh(
                arm_set.arms,
                _features(features),
                arm_features,
                learning_rate=learning_rate,
                implicit=flag("implicit", implicit),
            )
        else:
            if features is not None or arm_features is not None:
                name = "features" if features is not None else "arm_features"
                raise InputError(f"HSB takes a structure or {name}, not both. Leave one of them out.")
            constant = horizon is not None or not (learning_rate is None or is_confident(learning_rate))
            prior = StructurePrior.of(
                structure, len(arm_set), regions=regions, drift=_drift(drift, constant), stop=stop_prior(stop)
            )
            learner = Structured.fresh(
                prior, len(arm_set), horizon=horizon, learning_rate=learning_rate, implicit=flag("implicit", implicit)
            )
        slots = whole("slots", slots, 1, len(arm_set) if opened is None else MOST_SLOTS)
        super().__init__(
            arms=arm_set,
            learner=learner if slots == 1 else Ranked([learner, *(learner.copy() for _ in range(slots - 1))]),
            loss_range=loss_range,
            reward_range=reward_range,
            outside=outside,
            floor=floor,
            seed=seed,
        )
        if opened is not None:
            self.guarantee = OPEN_GUARANTEE  # type: ignore[misc]

    @property
    def structure(self) -> Structure | None:
        """The structure; None if the policy takes contexts of any kind."""
        prior = getattr(self.learner.rank(0), "prior", None)
        return prior.structure if isinstance(prior, StructurePrior) else None

    def regret_bound(
        self,
        horizon: float | None = None,
        *,
        regions: int | None = None,
        cuts: int | None = None,
        advice: bool = False,
        delay: float = 0.0,
        slot: int = 0,
    ) -> float:
        """Return an upper bound on the expected regret over `horizon` rounds, at most `horizon`.

        With a structure, the bound holds against mappings of at most `regions` regions, the most costly of which costs `hsb.theory.worst_cost`.
        With a `horizon` it is at most Corollary 1's `hsb.theory.regret_bound`; for the default it is `hsb.theory.anytime_bound`. Without a
        structure, it holds against every single arm and every rule on one feature: rules on numbers have `regions` parts by rank, rules on
        categories an arm for each. It is for the features and categories known now; before there are any, for one number.

        - `horizon`: default: the policy's own; `InputError` if it has no horizon.
        - `regions`: default: the policy's own, else as many as arms.
        - `cuts`: only without a structure: bound the regret against rules that cut a number at `cuts` fixed values instead, whatever its
          ranks; `regions` is then ignored. The rules distinguish values by the leading bits that the tree of the number looks at: 24, fewer
          once it has 256 rows. A missing value counts as the smallest.
        - `advice`: bound the regret against the advice of its models in the same rounds instead. The models learn from the arms played, and
          their own loss has no bound. `InputError` without models: with a `horizon`, a rate, or another `drift` than "auto".
        - `delay`: the number of rounds by which all feedback is late, if losses are set beforehand. It adds about rate * delay a round.
        - `slot`: for a policy with `slots`: the bound is for this slot's rounds, one a page. `hsb.theory.ranked_bound` adds those of all slots.

        >>> import hsb
        >>> tree = hsb.BinaryTree(depth=10)
        >>> round(hsb.HSB(tree, arms=3, horizon=100_000).regret_bound()), round(hsb.theory.regret_bound(tree, arms=3, horizon=100_000))
        (5333, 6720)
        >>> round(hsb.HSB(arms=2).regret_bound(100_000)), round(hsb.HSB(arms=2).regret_bound(100_000, cuts=1))
        (6480, 12574)
        >>> round(hsb.HSB(arms=2).regret_bound(100_000, advice=True))
        3031
        """
        with self.lock:
            settle(self)
            learner = self._rank(slot)
            if flag("advice", advice):
                return learner.bound(learner.mixture.advice_cost(), horizon, floor=self.floor, delay=delay)
            if isinstance(learner, Featured):
                return one_feature.regret_bound(learner, horizon, regions=regions, cuts=cuts, delay=delay, floor=self.floor)
            if cuts is not None:
                raise InputError(
                    f"cuts= is for policies without a structure; given {quoted(cuts)}. Use regions=, one more than cuts."
                )
            arms, prior = len(self.arms), learner.prior
            assert isinstance(prior, StructurePrior)
            regions = (prior.regions or arms) if regions is None else regions
            dearer = float(learner.mixture.arm_costs().max()) - reproducible_math.ln(
                arms
            )  # every part may have an arm that was added
            cost = theory.worst_cost(prior.structure, arms=arms, regions=regions, stop=prior.stop, dearer=dearer)
            return learner.bound(cost, horizon, floor=self.floor, delay=delay)

    def _rank(self, slot: int) -> Structured | Featured:
        """Return the learner of a slot that the guarantee is about: with open arms, the one that plays their groups."""
        learner = self.learner.rank(whole("slot", slot, 0))
        learner = learner.inner if isinstance(learner, OpenArms) else learner
        assert isinstance(learner, Structured | Featured)
        return learner

    def certificate(self, delta: float | None = None, *, slot: int = 0) -> Certificate:
        """Return the `Certificate` of the rounds learned: a bound on the estimated regret of this run; with `delta`, on the true regret.

        `delta`, in (0, 1), is the probability with which the bound may fail. It needs a policy with `implicit=True`, else `InputError`. `slot`
        is for a policy with `slots`: the certificate is about the rounds of this slot.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=2, learning_rate=0.1, seed=0)
        >>> for t in range(100):
        ...     decision = policy.decide(t % 2 / 2)
        ...     policy.learn(decision, loss=float(decision.arm == t % 2))
        >>> policy.certificate().average < 0.5
        True
        """
        with self.lock:
            settle(self)
            about: Any = {"arms": self.arms, "units": self.loss_scale.units, "who": type(self).__name__}
            learner = self._rank(slot)
            if isinstance(learner, Featured):
                groups = isinstance(self.learner.rank(slot), OpenArms)
                return one_feature.certificate(learner, delta, **about, groups=groups)
            return learner.certificate(delta, **about)

    def explain(
        self,
        *,
        names: Sequence[str] | None = None,
        contexts: Any = None,
        log: Log | Iterable[Batch] | None = None,
        rules: int | None = 12,
        top: int | None = 12,
        effort: float = 1.0,
        slot: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> Explanation | ArmsExplanation:
        """Return what the policy plays as rules: regions, their arms, and probabilities. The `Explanation` prints and has `.plot()`.

        For the default, the rules name the arm played most in each region; they are fitted to the policy's decisions, and `.agreement` is the
        share of decisions that they match. With a horizon, a rate or another drift, the rules are the most probable mapping. With
        `arms=hsb.Open()` there are no rules: the `ArmsExplanation` says which features of arms matter (`docs/arms.md`), and takes only `top`.

        The method explains a copy, so other threads can decide and learn meanwhile.

        - `names`: names of the features, in order.
        - `contexts`: a table of typical contexts, for measuring shares, agreement and importance. Default: all of a structure's space, which
          with many features is mostly empty, so that the rules match less often where contexts lie. A policy without a structure uses its
          sample of 512 of the contexts learned.
        - `log`: what `hsb.logs.open` returns, or a list of `hsb.logs.Batch`. Each rule then shows what its arm earns where it applies, and an
          interval that holds with probability 0.95 for any log with correct propensities. Use a log that the policy did not learn from: on
          its own training data the estimate is biased. A rule without plays in the log shows no figures.
        - `rules`: the maximum number of rules, however often they are wrong. None: as many as help, that is, until twice as many rules do not
          match more often. `InputError` for a most probable mapping, whose number of rules is fixed.
        - `top`: the number of rules to print, the largest first; None prints all.
        - `effort`: a limit on the work: 1 takes at most about two seconds of a processor, 10 about twenty. Work is counted, not timed, so the
          same policy has the same rules everywhere.
        - `slot`: the slot to explain, for a policy with `slots`. Its rules are what it plays if all arms are left.
        - `progress`: a function, called as `progress(done, total)` while it works.

        >>> import hsb
        >>> policy = hsb.HSB(hsb.BinaryTree(depth=4), arms=["a", "b"], learning_rate=1.0)
        >>> for context, bad in ((0.2, "a"), (0.7, "b")):
        ...     policy.learn(hsb.Decision(context=context, arm=bad, propensity=0.05), loss=1.0)
        >>> print(policy.explain(names=["age"]))
        0 <= age < 0.5: play 'b' (probability 1.00)
        0.5 <= age <= 1: play 'a' (probability 1.00)
        >>> policy = hsb.HSB(arms=["a", "b"], seed=0)
        >>> for t in range(300):
        ...     decision = policy.decide({"device": "ios" if t % 2 else "web", "age": 20 + t % 40})
        ...     policy.learn(decision, reward=(decision.arm == "a") == (t % 2 == 1))
        >>> print(policy.explain())
        device is web: play 'b' (probability 1.00, coverage 0.50)
        device is ios: play 'a' (probability 1.00, coverage 0.50)
        """
        with self.lock:
            settle(self)
            frozen = copying.copy(self)
            whole_learner = frozen.learner.rank(whole("slot", slot, 0))
            frozen.learner = frozen._rank(slot)
            frozen.rounds = frozen.learner.rounds
        if isinstance(whole_learner, OpenArms):
            _refuse_with_open(names=names, contexts=contexts, log=log, rules=None if rules == 12 else rules)
            return frozen._explain_arms(whole_learner, top)
        explanation = frozen._explain(names, contexts, rules, top, effort, progress)
        if log is None:
            return explanation
        from ..evaluate.off_policy.by_rule import with_earnings

        return with_earnings(explanation, frozen, log)

    def _explain_arms(self, learner: OpenArms, top: int | None) -> ArmsExplanation:
        """Return `explain` of a learner with open arms that nothing else uses."""
        from ..explain.open_arms import explain_arms

        return explain_arms(learner.models, self.loss_scale, learner.inner.mixture.state.members, self.arms, top)

    def _explain(
        self,
        names: Sequence[str] | None,
        contexts: Any,
        rules: int | None,
        top: int | None,
        effort: float,
        progress: Callable[[int, int], None] | None,
    ) -> Explanation:
        """`explain` of a copy that nothing else uses."""
        from ..explain.asking import edges_of, explain_mapping, explain_played
        from ..explain.featured import explain_features

        learner = self._rank(0)
        options: dict[str, Any] = {"names": names, "rules": rules, "top": top, "effort": effort, "progress": progress}
        assert not isinstance(learner, OpenArms)
        if isinstance(learner, Featured):
            points: Any = None if contexts is None else learner.check(contexts)[0]
            sample = None if points is None else points.raw(learner.reader, 0, len(points))[0]
            return explain_features(self, learner.reader, sample, **options)
        prior = learner.prior
        assert isinstance(prior, StructurePrior)
        if prior.drift == "auto":
            edges = None if prior.ensemble else edges_of(prior.structure, prior.advisor_parts())
            design_columns = prior.structure.space.features if prior.ensemble else 0
            return explain_played(
                self, prior.structure, edges=edges, contexts=contexts, design_columns=design_columns, **options
            )
        if rules not in (None, 12):
            raise InputError(
                f"rules= is for the default; the number of rules of this policy's most probable mapping is fixed; given {quoted(rules)}. "
                "Use top= to print fewer."
            )
        return explain_mapping(self, prior.mapping(learner.mixture, self.arms), names=names, contexts=contexts, top=top)

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
        if "open" in settings:
            stored = settings.pop("encoder"), settings.pop("first_inputs"), settings.pop("models")
            common = common | {"arms": Open.from_dict(settings.pop("open"))}
            policy = cls(features=Features.from_dict(settings.pop("features")), **settings, **common)
            assert isinstance(policy.learner, OpenArms)
            policy.learner = policy.learner.with_stored(*stored)
            return policy
        if "ranks" in settings:
            policies = [cls.from_settings(dict(rank), common) for rank in settings["ranks"]]
            policies[0].learner = Ranked([policy.learner for policy in policies])
            return policies[0]
        if "structure" in settings:
            ensemble = settings.pop("advisor", "tree") == "ensemble"
            policy = cls(from_dict(settings.pop("structure")), **settings, **common)
            assert isinstance(policy.learner, Structured)
            policy.learner = policy.learner.with_advisor(ensemble=ensemble)
            return policy
        stored = settings.pop("encoder"), settings.pop("first_inputs"), settings.pop("arm_features", None)
        policy = cls(features=Features.from_dict(settings.pop("features")), **settings, **common)
        assert isinstance(policy.learner, Featured)
        policy.learner = policy.learner.with_reader(*stored)
        return policy


def _check_names(structure: Any, arms: Any, unknown: Mapping[str, Any]) -> None:
    """Raise InputError for unknown settings, and for arms that are missing or in place of the structure."""
    if unknown:
        settings = [name for name in inspect.signature(HSB).parameters if name != "unknown"]
        name = next(iter(unknown))
        raise InputError(f"HSB has no setting {quoted(name)}.{nearest(name, settings)} Its settings are {', '.join(settings)}.")
    if arms is not None:
        return
    if structure is None or isinstance(structure, Structure):
        raise InputError("HSB needs arms=, their number or a list of them, e.g. arms=['a', 'b']; given no arms.")
    raise InputError(f"HSB needs arms=, e.g. hsb.HSB(arms=[...]); given {quoted(structure)} in place of a structure.")


def _refuse_with_open(**settings: Any) -> None:
    """Raise InputError for settings that open arms do not take."""
    for name, value in settings.items():
        if value is not None:
            raise InputError(f"arms=hsb.Open() takes no {name}=; given {quoted(value):.200}. Leave it out.")


def _features(features: Any) -> Features:
    if features is not None and not isinstance(features, Features):
        raise InputError(f"features must be hsb.Features(age=hsb.Number(), ...), or left out; given {quoted(features)}.")
    return Features() if features is None else features


def _refuse_without_structure(names: list[str]) -> None:
    """Raise InputError for settings that need a structure."""
    if names:
        raise InputError(
            f"{', '.join(names)} needs a structure, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=..., {names[0]}=...). "
            "Without a structure leave it out; contexts may be dicts, rows or numbers."
        )


def _drift(drift: Any, constant: bool) -> Drift:
    """Check the drift and resolve "default"; `constant`: whether there is a constant rate or a horizon."""
    if isinstance(drift, str) and drift == "default":
        return None if constant else "auto"
    if drift is None:
        return None
    if isinstance(drift, str) and drift == "auto":
        return "auto"
    if not is_number(drift) or not 1e-12 <= drift <= 0.5:
        raise InputError(
            f"drift must be 'auto', None (no drift), or a share of weight in [1e-12, 0.5], e.g. 1e-5; given {quoted(drift)}."
        )
    return float(drift)
