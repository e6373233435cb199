"""What a served policy is told: checked, completed, and as plain data. Unknown names are refused."""

import math
import re
from typing import Any, NamedTuple

from ...checks import NAME, floor_share, is_number
from ...errors import InputError, quoted
from ...policy.loss_range import LossScale
from .flags import FlagSettings, checked_values
from .kinds import INEXACT, Plain, make_policy
from .orders import Rules

AGGREGATES = ("first", "last", "sum", "mean", "min", "max")
FLOOR = 0.02  # by default: no arm is rarer than 0.02 / arms, so that others can be judged by what was played; it costs at most that share
DURABILITIES = ("fsync", "receipt")
LONGEST = 400 * 86_400  # seconds that feedback is waited for
LONGEST_KEPT = 36_500 * 86_400  # seconds for which contexts are kept
MOST_ARMS = 1000
MOST_LETTERS = 256  # of an arm
UNFIT = {"\x00", *map(chr, range(0xD800, 0xE000))}  # what text in a file cannot hold
DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
KEYS = {
    "name",
    "arms",
    "arm_features",
    "policy",
    "feedback",
    "floor",
    "baseline",
    "ramp",
    "durability",
    "keep_contexts",
    "flag",
}
CHANGED = {"feedback", "floor", "baseline", "ramp", "durability", "keep_contexts", "flag"}
FLAG = {"sticky", "values"}
FEEDBACK = {"wait", "default_reward", "aggregate", "learn"}


class PolicySettings(NamedTuple):
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
    keep_contexts: float | None = None
    """For how many seconds it is kept what decisions were asked; None: for ever."""
    flag: FlagSettings = FlagSettings()
    """How OFREP's clients see the policy."""

    def plain(self) -> Plain:
        """As it is given."""
        feedback = {name: getattr(self, name) for name in ("wait", "default_reward", "aggregate", "learn")}
        return {"floor": self.floor, "ramp": self.ramp, "baseline": self.baseline, "feedback": feedback} | {
            "durability": self.durability,
            "keep_contexts": self.keep_contexts,
            "flag": self.flag.plain(),
        }

    def rules(self, scale: LossScale) -> Rules:
        """How feedback is learned, in the range of a policy's losses."""
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


def checked(spec: Any) -> tuple[str, list[str], Plain, Plain, PolicySettings]:
    """Name, arms, their features, the kind of policy and the settings that a request to make one says."""
    if not isinstance(spec, dict):
        raise InputError(
            f"A policy is described by an object, e.g. {{'name': 'home', 'arms': ['a', 'b']}}; given {quoted(spec)}."
        )
    _known(spec, KEYS, "")
    name, arms = checked_name("name", spec.get("name")), arm_names(spec.get("arms"))
    features = spec.get("arm_features") or {}
    if not isinstance(features, dict) or not set(features) <= set(arms):
        raise InputError(f"arm_features must be an object with some of the arms for names; given {quoted(features)}.")
    kind = spec.get("policy", {"kind": "HSB"})
    policy = make_policy(kind, arms, features)
    usual = {"floor": 0.0 if type(policy).__name__ in INEXACT else FLOOR}
    settings = changed(None, usual | {name: spec[name] for name in CHANGED & spec.keys()}, arms)
    check_default(settings, policy.loss_scale)
    return name, arms, features, kind, settings


def changed(before: PolicySettings | None, changes: Any, arms: list[str]) -> PolicySettings:
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
    keep = changes.get("keep_contexts", None if before is None else before.keep_contexts)
    keep = None if keep is None else seconds(keep, "keep_contexts")
    feedback = _feedback(before, changes.get("feedback"))
    return PolicySettings(
        floor_share(floor), float(ramp), baseline, *feedback, durability, keep, _flag(before, changes.get("flag"), arms)
    )


def _feedback(before: PolicySettings | None, given: Any) -> tuple[float, float | None, str, str]:
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


def _flag(before: PolicySettings | None, given: Any, arms: list[str]) -> FlagSettings:
    found = FlagSettings() if before is None else before.flag
    if given is None:
        return found
    if not isinstance(given, dict):
        raise InputError(f"flag must be an object with some of {', '.join(sorted(FLAG))}; given {quoted(given)}.")
    _known(given, FLAG, "flag.")
    if "sticky" in given:
        found = found._replace(sticky=None if given["sticky"] is None else seconds(given["sticky"], "flag.sticky"))
    return found._replace(values=checked_values(given["values"], arms)) if "values" in given else found


def check_default(settings: PolicySettings, scale: LossScale) -> None:
    """Refuse a default reward that the policy could not learn."""
    if settings.default_reward is not None:
        scale.check_feedback(None, settings.default_reward)


def seconds(given: Any, name: str = "feedback.wait") -> float:
    """A duration: a number of seconds, or as ISO 8601 writes it.

    >>> seconds("PT24H"), seconds("P1DT30M"), seconds(2.5)
    (86400.0, 88200.0, 2.5)
    """
    found, most = None, LONGEST if name == "feedback.wait" else LONGEST_KEPT
    if isinstance(given, str) and len(given) <= 40:
        match = DURATION.fullmatch(given)
        if match and any(match.groups()):
            days, hours, minutes, rest = (float(part or 0) for part in match.groups())
            found = 86_400 * days + 3_600 * hours + 60 * minutes + rest
    elif is_number(given):
        found = float(given)
    if found is None or not 0.001 <= found <= most:
        raise InputError(
            f"{name} must be a duration of at most {most // 86_400:,} days, seconds or as in 'PT24H'; given {quoted(given)}."
        )
    return found


def checked_name(what: str, given: Any) -> str:
    """A name or an id, which a URL needs no escapes for; InputError if it is none."""
    if not isinstance(given, str) or not NAME.fullmatch(given):
        raise InputError(f"{what} must be 1 to 64 letters, digits and ._~- , and not . or .. alone; given {quoted(given)}.")
    return given


def arm_name(given: Any) -> str:
    """An arm's name."""
    if not isinstance(given, str) or not 1 <= len(given) <= MOST_LETTERS or not UNFIT.isdisjoint(given):
        raise InputError(f"An arm is named by text of 1 to {MOST_LETTERS} letters; given {quoted(given)}.")
    if given in (".", ".."):
        raise InputError(f"An arm cannot be named {quoted(given)}: that is a step in the path of a URL. Give it another name.")
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
