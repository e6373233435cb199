"""What a served policy is told: checked, completed, and as plain data. Unknown names are refused."""

import math
import re
from typing import Any, NamedTuple

from ...checks import floor_share, is_number
from ...errors import InputError, quoted
from ...policy import Policy
from .kinds import Plain, make_policy
from .orders import Rules

AGGREGATES = ("first", "last", "sum", "mean", "min", "max")
DURABILITIES = ("fsync", "receipt")
NAME = re.compile(r"[A-Za-z0-9._~-]{1,64}")
LONGEST = 400 * 86_400  # seconds that feedback is waited for
MOST_ARMS = 1000
MOST_LETTERS = 256  # of an arm
UNFIT = {"\x00", *map(chr, range(0xD800, 0xE000))}  # what text in a file cannot hold
DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
KEYS = {"name", "arms", "arm_features", "policy", "feedback", "floor", "baseline", "ramp", "durability"}
CHANGED = {"feedback", "floor", "baseline", "ramp", "durability"}
FEEDBACK = {"wait", "default_reward", "aggregate", "learn"}


class Settings(NamedTuple):
    """What may be changed while a policy plays."""

    floor: float
    ramp: float
    baseline: str | None
    wait: float
    default_reward: float | None
    aggregate: str
    learn: str
    durability: str = "fsync"
    """When a decision is answered: after its commit ("fsync"), or before it, with a receipt ("receipt")."""

    def plain(self) -> Plain:
        """As it is given."""
        feedback = {name: getattr(self, name) for name in ("wait", "default_reward", "aggregate", "learn")}
        return {"floor": self.floor, "ramp": self.ramp, "baseline": self.baseline, "feedback": feedback} | {
            "durability": self.durability
        }

    def rules(self, policy: Policy) -> Rules:
        """How feedback is learned, in the range of rewards that a policy has."""
        scale = policy.loss_scale
        low, high = (None, None) if scale.auto else scale.rewards
        return Rules(
            round(self.wait * 1e6),
            self.default_reward,
            self.aggregate,
            self.learn == "on_arrival",
            low,
            high,
            scale.outside == "clip",
        )


def checked(spec: Any) -> tuple[str, list[str], Plain, Plain, Settings]:
    """Name, arms, their features, the kind of policy and the settings that a request to make one says."""
    if not isinstance(spec, dict):
        raise InputError(
            f"A policy is described by an object, e.g. {{'name': 'home', 'arms': ['a', 'b']}}; given {quoted(spec)}."
        )
    _known(spec, KEYS, "")
    name, arms = named("name", spec.get("name")), arm_names(spec.get("arms"))
    features = spec.get("arm_features") or {}
    if not isinstance(features, dict) or not set(features) <= set(arms):
        raise InputError(f"arm_features must be an object with some of the arms for names; given {quoted(features)}.")
    kind = spec.get("policy", {"kind": "HSB"})
    settings = changed(None, {name: spec[name] for name in CHANGED & spec.keys()}, arms)
    check_default(settings, make_policy(kind, arms, features))
    return name, arms, features, kind, settings


def changed(before: Settings | None, changes: Any, arms: list[str]) -> Settings:
    """The settings after a change; None before there are any."""
    if not isinstance(changes, dict):
        raise InputError(f"Changes are an object with some of {', '.join(sorted(CHANGED))}; given {quoted(changes)}.")
    _known(changes, CHANGED, "")
    floor = changes.get("floor", 0.0 if before is None else before.floor)
    ramp = changes.get("ramp", 1.0 if before is None else before.ramp)
    baseline = changes.get("baseline", None if before is None else before.baseline)
    if baseline is not None and (not isinstance(baseline, str) or baseline not in arms):
        raise InputError(
            f"baseline must be one of the arms, {', '.join(map(quoted, arms))}, or null; given {quoted(baseline)}."
        )
    if not is_number(ramp) or not 0.0 <= ramp <= 1.0:
        raise InputError(f"ramp must be a share in [0, 1]: how much is played by the policy; given {quoted(ramp)}.")
    durability = changes.get("durability", "fsync" if before is None else before.durability)
    if durability not in DURABILITIES:
        raise InputError(f"durability must be {' or '.join(DURABILITIES)}; given {quoted(durability)}.")
    return Settings(floor_share(floor), float(ramp), baseline, *_feedback(before, changes.get("feedback")), durability)


def _feedback(before: Settings | None, given: Any) -> tuple[float, float | None, str, str]:
    given = {} if given is None else given
    if not isinstance(given, dict):
        raise InputError(f"feedback must be an object with some of {', '.join(sorted(FEEDBACK))}; given {quoted(given)}.")
    _known(given, FEEDBACK, "feedback.")
    wait = seconds(given.get("wait", 86_400.0 if before is None else before.wait))
    default = given.get("default_reward", None if before is None else before.default_reward)
    if default is not None and not (is_number(default) and math.isfinite(default)):
        raise InputError(f"feedback.default_reward must be a number, or null for none; given {quoted(default)}.")
    usual = ("on_arrival" if default is None else "at_deadline") if before is None else before.learn
    aggregate, learn = given.get("aggregate", "first" if before is None else before.aggregate), given.get("learn", usual)
    if "aggregate" in given and aggregate != "first" and before is None and "learn" not in given:
        learn = "at_deadline"
    if aggregate not in AGGREGATES:
        raise InputError(f"feedback.aggregate must be one of {', '.join(AGGREGATES)}; given {quoted(aggregate)}.")
    if learn not in ("at_deadline", "on_arrival"):
        raise InputError(f"feedback.learn must be at_deadline or on_arrival; given {quoted(learn)}.")
    if learn == "on_arrival" and aggregate != "first":
        raise InputError(f"feedback.learn on_arrival learns the first reward; aggregate {aggregate} needs at_deadline.")
    return wait, None if default is None else float(default), aggregate, learn


def check_default(settings: Settings, policy: Policy) -> None:
    """Refuse a default reward that the policy could not learn."""
    if settings.default_reward is not None:
        policy.loss_scale.given(None, settings.default_reward)


def seconds(given: Any) -> float:
    """A duration: a number of seconds, or as ISO 8601 writes it.

    >>> seconds("PT24H"), seconds("P1DT30M"), seconds(2.5)
    (86400.0, 88200.0, 2.5)
    """
    found = None
    if isinstance(given, str) and len(given) <= 40:
        match = DURATION.fullmatch(given)
        if match and any(match.groups()):
            days, hours, minutes, rest = (float(part or 0) for part in match.groups())
            found = 86_400 * days + 3_600 * hours + 60 * minutes + rest
    elif is_number(given):
        found = float(given)
    if found is None or not 0.001 <= found <= LONGEST:
        raise InputError(
            f"feedback.wait must be a duration of at most 400 days, seconds or as in 'PT24H'; given {quoted(given)}."
        )
    return found


def named(what: str, given: Any) -> str:
    """A name as it may stand in an address."""
    if not isinstance(given, str) or not NAME.fullmatch(given):
        raise InputError(f"{what} must be 1 to 64 letters, digits and ._~- ; given {quoted(given)}.")
    return given


def arm_name(given: Any) -> str:
    """An arm's name."""
    if not isinstance(given, str) or not 1 <= len(given) <= MOST_LETTERS or not UNFIT.isdisjoint(given):
        raise InputError(f"An arm is named by text of 1 to {MOST_LETTERS} letters; given {quoted(given)}.")
    return given


def arm_names(given: Any) -> list[str]:
    """The arms of a policy, all different."""
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_ARMS:
        raise InputError(f"arms must be a list of 1 to {MOST_ARMS} names; given {quoted(given)}.")
    names = [arm_name(arm) for arm in given]
    if len(set(names)) < len(names):
        raise InputError(f"arms must differ; given {quoted(given)}.")
    return names


def _known(given: Plain, known: set[str], where: str) -> None:
    for key in given:
        if key not in known:
            raise InputError(f"{where}{key}: there is no such setting. There are {', '.join(sorted(known))}.")
