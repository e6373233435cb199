"""Settings of a served policy: check, complete and convert them. Unknown names raise InputError."""

import math
import re
from typing import Any, NamedTuple

from ...checks import NAME, floor_share, is_number
from ...errors import InputError, quoted
from ...policy.loss_range import LossScale
from .arms import arm_name
from .flags import FlagSettings, check_values
from .kinds import INEXACT, Plain, make_policy
from .orders import Rules
from .requests import Arms, check_arms

AGGREGATES = ("first", "last", "sum", "mean", "min", "max")
FLOOR = 0.02  # default: every arm has probability 0.02 / arms or more, so that logs can evaluate others; it costs at most that share
DURABILITIES = ("fsync", "receipt")
LONGEST = 400 * 86_400  # seconds that a policy waits for feedback
LONGEST_KEPT = 36_500 * 86_400  # seconds for which contexts are kept
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
    """Settings that may change while a policy plays."""

    floor: float
    ramp: float
    baseline: str | None
    wait: float
    default_reward: float | None
    aggregate: str
    learn: str
    durability: str = "fsync"
    """When a decision is answered: after its commit ("fsync"), or before it with a receipt ("receipt")."""
    keep_contexts: float | None = None
    """Seconds for which contexts of decisions are kept; None: for ever."""
    flag: FlagSettings = FlagSettings()
    """Settings for OFREP's clients."""

    def plain(self) -> Plain:
        """Return the settings as plain data, as in a request."""
        feedback = {name: getattr(self, name) for name in ("wait", "default_reward", "aggregate", "learn")}
        return {"floor": self.floor, "ramp": self.ramp, "baseline": self.baseline, "feedback": feedback} | {
            "durability": self.durability,
            "keep_contexts": self.keep_contexts,
            "flag": self.flag.plain(),
        }

    def rules(self, scale: LossScale) -> Rules:
        """Return the rules of feedback, with the range of a policy's losses."""
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


def check_spec(spec: Any) -> tuple[str, Arms, Plain, Plain, PolicySettings]:
    """Check a request to create a policy. Returns its name, arms, arm features, kind and settings."""
    if not isinstance(spec, dict):
        raise InputError(
            f"A policy must be described by an object, e.g. {{'name': 'home', 'arms': ['a', 'b']}}; given {quoted(spec)}."
        )
    _check_keys(spec, KEYS, "")
    name, arms = check_name("name", spec.get("name")), check_arms(spec.get("arms"))
    features = spec.get("arm_features") or {}
    if features and isinstance(arms, dict):
        raise InputError(
            "arm_features: the arms of this policy come with each request, and so do their features. Leave it out."
        )
    if not isinstance(features, dict) or not set(features) <= set(arms):
        raise InputError(f"arm_features must be an object whose names are arms; given {quoted(features)}.")
    kind = spec.get("policy", {"kind": "HSB"})
    policy = make_policy(kind, arms, features)
    usual = {"floor": 0.0 if type(policy).__name__ in INEXACT else FLOOR}
    settings = apply_changes(None, usual | {name: spec[name] for name in CHANGED & spec.keys()}, listed(arms))
    check_default(settings, policy.loss_scale)
    return name, arms, features, kind, settings


def listed(arms: Arms) -> list[str] | None:
    """Return the arms that settings may name; None if arms come with each request: then any."""
    return None if isinstance(arms, dict) else arms


def apply_changes(before: PolicySettings | None, changes: Any, arms: list[str] | None) -> PolicySettings:
    """Return the settings after a change; `before` is None for a new policy, `arms` are the arms that they may name (None: any)."""
    if not isinstance(changes, dict):
        raise InputError(f"Changes must be an object with some of {', '.join(sorted(CHANGED))}; given {quoted(changes)}.")
    _check_keys(changes, CHANGED, "")
    floor = changes.get("floor", 0.0 if before is None else before.floor)
    ramp = changes.get("ramp", 1.0 if before is None else before.ramp)
    baseline = changes.get("baseline", None if before is None else before.baseline)
    if baseline is not None and arms is None:
        arm_name(baseline, "baseline")
    elif baseline is not None and (not isinstance(baseline, str) or baseline not in (arms or ())):
        raise InputError(
            f"baseline must be one of the arms, {', '.join(map(quoted, arms or ()))}, or null; given {quoted(baseline)}."
        )
    if not is_number(ramp) or not 0.0 <= ramp <= 1.0:
        raise InputError(
            f"ramp must be a number in [0, 1], the share of decisions that the policy plays; given {quoted(ramp)}."
        )
    durability = changes.get("durability", "fsync" if before is None else before.durability)
    if durability not in DURABILITIES:
        raise InputError(f"durability must be {' or '.join(DURABILITIES)}; given {quoted(durability)}.")
    keep = changes.get("keep_contexts", None if before is None else before.keep_contexts)
    keep = None if keep is None else seconds(keep, "keep_contexts")
    feedback = _feedback(before, changes.get("feedback"))
    return PolicySettings(
        floor_share(floor), float(ramp), baseline, *feedback, durability, keep, _flag(before, changes.get("flag"), arms)
    )


def _feedback(before: PolicySettings | None, changes: Any) -> tuple[float, float | None, str, str]:
    changes = {} if changes is None else changes
    if not isinstance(changes, dict):
        raise InputError(f"feedback must be an object with some of {', '.join(sorted(FEEDBACK))}; given {quoted(changes)}.")
    _check_keys(changes, FEEDBACK, "feedback.")
    wait = seconds(changes.get("wait", 86_400.0 if before is None else before.wait))
    default = changes.get("default_reward", None if before is None else before.default_reward)
    if default is not None and not (is_number(default) and math.isfinite(default)):
        raise InputError(f"feedback.default_reward must be a number, or null for no default; given {quoted(default)}.")
    usual = ("on_arrival" if default is None else "at_deadline") if before is None else before.learn
    aggregate, learn = changes.get("aggregate", "first" if before is None else before.aggregate), changes.get("learn", usual)
    if "aggregate" in changes and aggregate != "first" and before is None and "learn" not in changes:
        learn = "at_deadline"
    if aggregate not in AGGREGATES:
        raise InputError(f"feedback.aggregate must be one of {', '.join(AGGREGATES)}; given {quoted(aggregate)}.")
    if learn not in ("at_deadline", "on_arrival"):
        raise InputError(f"feedback.learn must be at_deadline or on_arrival; given {quoted(learn)}.")
    if learn == "on_arrival" and aggregate != "first":
        raise InputError(
            f"feedback.learn: on_arrival learns the first reward, but aggregate {aggregate} needs all. Use at_deadline, or aggregate first."
        )
    return wait, None if default is None else float(default), aggregate, learn


def _flag(before: PolicySettings | None, changes: Any, arms: list[str] | None) -> FlagSettings:
    flag = FlagSettings() if before is None else before.flag
    if changes is None:
        return flag
    if not isinstance(changes, dict):
        raise InputError(f"flag must be an object with some of {', '.join(sorted(FLAG))}; given {quoted(changes)}.")
    _check_keys(changes, FLAG, "flag.")
    if "sticky" in changes:
        flag = flag._replace(sticky=None if changes["sticky"] is None else seconds(changes["sticky"], "flag.sticky"))
    return flag._replace(values=check_values(changes["values"], arms)) if "values" in changes else flag


def check_default(settings: PolicySettings, scale: LossScale) -> None:
    """Raise InputError if the policy could not learn its default reward."""
    if settings.default_reward is not None:
        scale.check_feedback(None, settings.default_reward)


def seconds(value: Any, name: str = "feedback.wait") -> float:
    """Convert a duration to seconds: a number of seconds, or text as in ISO 8601.

    >>> seconds("PT24H"), seconds("P1DT30M"), seconds(2.5)
    (86400.0, 88200.0, 2.5)
    """
    duration, most = None, LONGEST if name == "feedback.wait" else LONGEST_KEPT
    if isinstance(value, str) and len(value) <= 40:
        match = DURATION.fullmatch(value)
        if match and any(match.groups()):
            days, hours, minutes, rest = (float(part or 0) for part in match.groups())
            duration = 86_400 * days + 3_600 * hours + 60 * minutes + rest
    elif is_number(value):
        duration = float(value)
    if duration is None or not 0.001 <= duration <= most:
        raise InputError(
            f"{name} must be a duration of at most {most // 86_400:,} days, in seconds or as in 'PT24H'; given {quoted(value)}."
        )
    return duration


def check_name(what: str, value: Any) -> str:
    """Check a name or an id, which needs no escapes in a URL. Raises InputError if it is invalid."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise InputError(
            f"{what} must be 1 to 64 letters, digits or ._~- characters, but not . or .. alone; given {quoted(value)}."
        )
    return value


def _check_keys(settings: Plain, known: set[str], where: str) -> None:
    for key in settings:
        if key not in known:
            raise InputError(f"{where}{key}: there is no such setting. The settings are {', '.join(sorted(known))}.")
