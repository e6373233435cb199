"""HSB, Algorithm 1, and its default without knobs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from .. import reproducible_math, theory
from ..checks import flag, is_number, stop_prior
from ..errors import InputError, quoted
from ..features import Features
from ..features.declared import nearest
from ..learners import one_feature
from ..learners.featured import Featured
from ..learners.priors import Drift, StructurePrior
from ..learners.rates import LearningRate, is_confident
from ..learners.structured import Structured
from ..policy import Certificate, Policy, copying
from ..policy.arms import ArmSet
from ..policy.loss_range import UNIT
from ..policy.transaction import settle
from ..structures import Structure, from_dict
from ..types import Arms, Outside, Range, Seed

if TYPE_CHECKING:
    from ..explain import Explanation
    from ..logs import Batch, Log

STRUCTURE_ONLY = {
    "horizon": None,
    "regions": None,
    "drift": "default",
    "stop": None,
}  # what needs a structure, with its default


class HSB(Policy):
    """Hierarchical Structure based Bandits: the policy to begin with. It needs `arms` and nothing else: no horizon, no rate, no drift.

    `HSB(arms=[...])` takes contexts as they are: dicts, rows or numbers, with text, dates and gaps (`docs/contexts.md`). On average
    over its draws it is never much worse than the best single arm or the best rule on any one feature, whatever the world does: by category, by
    rank, or with a fixed cut (`guarantee` has the exact words).

    `HSB(structure, arms=[...])` keeps a weight for every mapping, an arm for each leaf of the structure. It computes this mixture exactly
    (Algorithm 1 of the paper), and is never much worse than the best mapping. Beside the mixture it keeps an advisor, a model that learns
    quickly and notices changes; the guarantee stays and holds at any time (`docs/proofs.md`). With a `horizon` or `learning_rate` it is the
    paper's algorithm, by default without an advisor.

    - `structure`: how contexts may be divided, e.g. `hsb.BinaryTree(depth=10)`; None for contexts of any kind.
    - `arms`: how many arms there are, which are then 0, 1, ...; or a list of the arms themselves (any hashables).
    - `features`: only without a structure: what the features are (`hsb.Features`). None: inferred from the data.
    - `arm_features`: only without a structure: what each arm is like, {arm: {name: value}}. A new arm is initialised from similar arms.
    - `horizon`: the number of rounds to come, if known. It sets Corollary 1's constant rate, for an optimal partition into `regions` regions
      (None: as many as arms). `horizon`, `regions`, `drift` and `stop` need a structure.
    - `learning_rate`: a constant rate, above 0, in place of a `horizon`. None: the rate follows from the `horizon`, or falls. "confident",
      for the default: it falls when more was lost than the mixture expected, and not before (`docs/proofs.md`, 4b). `docs/tuning.md` has what
      it gains and costs.
    - `drift`: how changes are followed. "auto": by the advisor. None: not at all. "default": "auto" without `horizon` and `learning_rate`,
      None with one of them. A number in [1e-12, 0.5]: in each node learned from, every arm gives that share of its weight to all (fixed
      share); regret is then bounded against mappings that change. With None or a number, and neither a horizon nor a rate, the rate in round
      t is about sqrt(A / (M t)), with M arms and A as in `hsb.theory.learning_rate`, and the bound holds at any time.
    - `stop`: a tree's prior probability of stopping at a node, in [0, 1). None is the paper's, one half. 0 goes down to the leaves, as
      `hsb.SExp3`.
    - `implicit`: implicit exploration, loss / (propensity + rate/2) in place of loss / propensity. It plays a little more of the other arms,
      and `certificate(delta)` then bounds the true regret with probability 1 - delta.
    - `loss_range`: (low, high), in which losses and rewards lie; they are scaled to [0, 1], and a reward r is the loss low + high - r. "auto":
      the range is inferred from the losses, and a reward r is the loss -r (`docs/proofs.md`, 7, says what is proved then). `reward_range` is
      another name for it: give one of the two.
    - `outside`: what to do with a loss or reward outside that range. "error" refuses it. "clip" moves it to the nearest end and counts it in
      `clipped_losses`.
    - `floor`: a share in [0, 1] of the decisions that is uniform over the available arms, so each is played with at least floor/M: for logs
      from which other policies will be valued (`hsb.evaluate.off_policy`). It costs at most that share of the rounds; propensities say so
      exactly.
    - `seed`: an int or a `numpy.random.Generator`; None takes fresh random numbers. Same seed, same run.

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
        "In expectation over its draws, whatever the contexts and losses, if the arm and its loss have no say in whether feedback comes. "
        "With a structure, against every mapping of it: ln(1/beta)/rate + M T rate/2 (Theorem 1), and where the rate falls, ln(1/beta) over "
        "the last rate and M/2 times the sum of the rates. Without one, against every single arm, and every rule on one feature of three "
        "kinds: an arm for each category (the first 64 of a feature; later ones share their places); an arm for each of 31 ranks of a "
        "number, as ranks were in each round; and fixed cuts of a number, told apart by its 24 leading bits, fewer once its tree has 1,024 "
        "rows. regret_bound(T) has the number for the first two kinds, regret_bound(T, cuts=1) for a fixed cut: (ln(1/beta) + ln of 10^6 "
        "times the features and 1) over the last rate, and 0.69 M times the sum of the rates, what is played uniformly where losses are "
        "near 1 included. Also against its own models' advice in the same rounds, regret_bound(T, advice=True). A rate that is 'confident' "
        "has a bound of its own."
    )

    learner: Structured | Featured

    def __init__(
        self,
        structure: Structure | None = None,
        *,
        arms: Arms | None = None,
        features: Features | None = None,
        arm_features: Mapping[Hashable, Any] | None = None,
        horizon: float | None = None,
        regions: int | None = None,
        learning_rate: LearningRate = None,
        drift: Drift | Literal["default"] = "default",
        stop: float | None = None,
        implicit: bool = False,
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
                f"HSB needs a structure, e.g. hsb.BinaryTree(depth=10), or none at all: hsb.HSB(arms=...); given {quoted(structure)}."
            )
        assert arms is not None
        arm_set = ArmSet(arms)
        learner: Structured | Featured
        if structure is None:
            given = {"horizon": horizon, "regions": regions, "drift": drift, "stop": stop}
            _refuse_without_structure([name for name, value in given.items() if value != STRUCTURE_ONLY[name]])
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
                raise InputError(f"A structure and {name} exclude each other. Leave one of them out.")
            constant = horizon is not None or not (learning_rate is None or is_confident(learning_rate))
            prior = StructurePrior.of(
                structure, len(arm_set), regions=regions, drift=_drift(drift, constant), stop=stop_prior(stop)
            )
            learner = Structured.fresh(
                prior, len(arm_set), horizon=horizon, learning_rate=learning_rate, implicit=flag("implicit", implicit)
            )
        super().__init__(
            arms=arm_set,
            learner=learner,
            loss_range=loss_range,
            reward_range=reward_range,
            outside=outside,
            floor=floor,
            seed=seed,
        )

    @property
    def structure(self) -> Structure | None:
        """The structure that it was made with; None if it takes contexts of any kind."""
        prior = getattr(self.learner, "prior", None)
        return prior.structure if isinstance(prior, StructurePrior) else None

    def regret_bound(
        self,
        horizon: float | None = None,
        *,
        regions: int | None = None,
        cuts: int | None = None,
        advice: bool = False,
        delay: float = 0.0,
    ) -> float:
        """A bound on the expected regret over `horizon` rounds, never more than `horizon`.

        With a structure, against mappings of at most `regions` regions, of which the dearest costs `hsb.theory.worst_cost`: with a
        `horizon` no more than Corollary 1's `hsb.theory.regret_bound`, and for the default `hsb.theory.anytime_bound`. Without one, against
        every single arm and every rule on one feature: rules on numbers have `regions` parts by rank, those on categories an arm for each.
        That is for the features and categories known now, and before there are any, for one number.

        - `horizon`: None takes the one that the policy was made with; `InputError` if it was made without.
        - `regions`: None takes those that the policy was made with, else as many as arms.
        - `cuts`: only without a structure: against rules that cut a number at so many fixed values instead, whatever ranks do. `regions` is
          then not used. Values count as different that differ in the leading bits which its tree looks at: 24, fewer once it has 256 rows. A
          missing value counts as the smallest.
        - `advice`: against its own models' advice in the same rounds instead, having learned from what was played. Nothing bounds what that
          loses itself. `InputError` if there are no models: with a `horizon`, a rate, or another `drift` than "auto".
        - `delay`: how many rounds late all feedback comes, if losses are set beforehand. About rate * delay a round is added.

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
            learner = self.learner
            if flag("advice", advice):
                return learner.bound(learner.mixture.advice_cost(), horizon, floor=self.floor, delay=delay)
            if isinstance(learner, Featured):
                return one_feature.regret_bound(learner, horizon, regions=regions, cuts=cuts, delay=delay, floor=self.floor)
            if cuts is not None:
                raise InputError(f"cuts= is for policies without a structure; given {quoted(cuts)}. Give regions=, cuts and 1.")
            arms, prior = len(self.arms), learner.prior
            assert isinstance(prior, StructurePrior)
            regions = (prior.regions or arms) if regions is None else regions
            dearer = float(learner.mixture.arm_costs().max()) - reproducible_math.ln(
                arms
            )  # every part may have an arm that was added
            cost = theory.worst_cost(prior.structure, arms=arms, regions=regions, stop=prior.stop, dearer=dearer)
            return learner.bound(cost, horizon, floor=self.floor, delay=delay)

    def certificate(self, delta: float | None = None) -> Certificate:
        """What the rounds learned so far prove of what was lost: a fact about this run; with `delta`, a bound on the true regret.

        `delta`, in (0, 1), is the probability with which the bound may fail. It needs a policy made with `implicit=True`, else `InputError`.

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
            if isinstance(self.learner, Featured):
                return one_feature.certificate(self.learner, delta, **about)
            return self.learner.certificate(delta, **about)

    def explain(
        self,
        *,
        names: Sequence[str] | None = None,
        contexts: Any = None,
        log: Log | Iterable[Batch] | None = None,
        rules: int | None = 12,
        top: int | None = 12,
        effort: float = 1.0,
        progress: Callable[[int, int], None] | None = None,
    ) -> Explanation:
        """Return the rules that it plays: regions, their arms and probabilities. The `Explanation` prints as rules and has `.plot()`.

        Of the default: the arm played most, everywhere; the policy is asked, and `.agreement` says how often the rules are right. With a
        horizon, a rate or another drift: the most probable mapping.

        A copy is explained, so other threads decide and learn meanwhile.

        - `names`: what the features are called, in order.
        - `contexts`: a table of contexts as they come, on which shares, agreement and importance are then measured. Without it, contexts may
          lie anywhere in a structure's space: of many features most of it is empty, and the rules are then right less often where contexts
          come. A policy without a structure takes those that it learned from (it keeps a sample of 512).
        - `log`: what `hsb.logs.open` returns, or a list of `hsb.logs.Batch`. Each rule then says what its arm earns where it applies, and an
          interval that holds with probability 0.95, whatever wrote the log, if its propensities are right. Give a log that the policy did
          not learn from: else it is judged by what it was fitted to. A rule of which the log has no play says nothing.
        - `rules`: the most rules there may be, however often they are wrong. None: as many as are worth it, for it ends where twice as many
          name the arm played most no more often. `InputError` if the most probable mapping is shown, which has the rules it has.
        - `top`: how many rules are printed, the largest; None prints all.
        - `effort`: how much work it may be: 1 takes about two seconds of a processor at most, 10 about twenty. Work is counted, not timed, so
          the same policy has the same rules everywhere.
        - `progress`: a function, called as `progress(done, total)` meanwhile.

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
        found = frozen._explained(names, contexts, rules, top, effort, progress)
        if log is None:
            return found
        from ..evaluate.off_policy.by_rule import with_earnings

        return with_earnings(found, frozen, log)

    def _explained(
        self,
        names: Sequence[str] | None,
        contexts: Any,
        rules: int | None,
        top: int | None,
        effort: float,
        progress: Callable[[int, int], None] | None,
    ) -> Explanation:
        """`explain` of a policy that nobody else uses."""
        from ..explain.asking import edges_of, explain_mapping, explain_played
        from ..explain.featured import explain_features

        learner = self.learner
        how: dict[str, Any] = {"names": names, "rules": rules, "top": top, "effort": effort, "progress": progress}
        if isinstance(learner, Featured):
            points: Any = None if contexts is None else learner.check(contexts)[0]
            sample = None if points is None else points.raw(learner.reader, 0, len(points))[0]
            return explain_features(self, learner.reader, sample, **how)
        prior = learner.prior
        assert isinstance(prior, StructurePrior)
        if prior.drift == "auto":
            edges = None if prior.ensemble else edges_of(prior.structure, prior.advisor_parts())
            places = prior.structure.space.features if prior.ensemble else 0
            return explain_played(self, prior.structure, edges=edges, contexts=contexts, places=places, **how)
        if rules not in (None, 12):
            raise InputError(
                f"rules= shortens what the default plays; this policy's most probable mapping has the rules it has; given {quoted(rules)}. "
                "top= says how many are printed."
            )
        return explain_mapping(self, prior.mapping(learner.mixture, self.arms), names=names, contexts=contexts, top=top)

    @classmethod
    def from_settings(cls, settings: dict[str, Any], common: dict[str, Any]) -> Self:
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
    """Refuse settings that HSB does not have, and arms that are missing or in the place of the structure, in words."""
    if unknown:
        known = [name for name in inspect.signature(HSB).parameters if name != "unknown"]
        name = next(iter(unknown))
        raise InputError(f"HSB has no setting {quoted(name)}.{nearest(name, known)} It has {', '.join(known)}.")
    if arms is not None:
        return
    if structure is None or isinstance(structure, Structure):
        raise InputError("HSB needs arms=, how many there are or a list of them, e.g. arms=['a', 'b']; given none.")
    raise InputError(f"Arms go by name: hsb.HSB(arms=[...]); given {quoted(structure)} in the place of the structure.")


def _features(features: Any) -> Features:
    if features is not None and not isinstance(features, Features):
        raise InputError(f"features must be hsb.Features(age=hsb.Number(), ...), or left out; given {quoted(features)}.")
    return Features() if features is None else features


def _refuse_without_structure(names: list[str]) -> None:
    """Refuse settings that HSB has with a structure only."""
    if names:
        raise InputError(
            f"{', '.join(names)} needs a structure, e.g. hsb.HSB(hsb.BinaryTree(depth=10), arms=..., {names[0]}=...). "
            "Without a structure leave it out: contexts may be dicts, rows or numbers."
        )


def _drift(drift: Any, constant: bool) -> Drift:
    """The drift, checked; `constant`: is a rate or a horizon given?"""
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
