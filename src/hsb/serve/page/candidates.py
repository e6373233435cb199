"""What else could play: candidates beside the policy, evaluations, settings."""

import json
import math
from typing import Any

from ..core.kinds import kinds
from ..store import JournalReader
from .numbers import Band
from .sheets import Sheet, TallyCache
from .words import interval, number, signed, verdict

View = dict[str, Any]
TUNED = 500.0  # lessons at which the sequence below is narrowest
FEW = 100  # lessons before which it says nothing
ERROR = 0.05


def candidates(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Each candidate's value on live traffic."""
    return {
        "candidates": [_candidate(each) for each in page.candidates],
        "ramp": page.settings["ramp"],
        "baseline": page.baseline,
        "arms": page.offered,
        "kinds": kinds(),
        "archived": page.archived,
        "kind": page.kind,
    }


def _candidate(given: View) -> View:
    tallies = given["tallies"]
    band = difference(tallies)
    said, look = verdict(band, "earns more: promote it", "earns less than what plays", "cannot be told yet")
    if not given["exact"]:
        said, look = "its probabilities are estimates: no value", "tie"
    n = tallies["lessons"]
    return {
        "name": given["name"],
        "kind": given["kind"],
        "kind_words": json.dumps(given["kind"]),
        "behind": given["behind"],
        "lessons": int(n),
        "value": tallies["value"] / n if n else None,
        "live": tallies["reward"] / n if n else None,
        "average_weight": tallies["weight"] / n if n else None,
        "difference": band._asdict(),
        "words": f"{signed(band.value)} ({interval(band, True)})" if band.low is not None else signed(band.value),
        "verdict": said,
        "look": look,
        "rolls_back": given["name"].startswith("before-"),
    }


def difference(tallies: dict[str, float], error: float = ERROR) -> Band:
    """Candidate less policy, a decision: mean of w r - r, with an asymptotic confidence sequence.

    With s the spread and n lessons: s sqrt(2 (n q + 1) / (n^2 q) log(sqrt(n q + 1) / a)), q set so that it is narrowest at 500 lessons.
    It holds at all times at once once n is large; that is why it says nothing of the first hundred.

    >>> sums = {"lessons": 1000.0, "value": 600.0, "value_squared": 700.0, "reward": 500.0, "reward_squared": 500.0, "product": 450.0}
    >>> band = difference(sums)
    >>> round(band.value, 3), band.low > 0.0
    (0.1, True)
    """
    n = tallies["lessons"]
    if not n:
        return Band(None, None, None)
    mean = (tallies["value"] - tallies["reward"]) / n
    if n < FEW:
        return Band(mean, None, None)
    square = (tallies["value_squared"] - 2.0 * tallies["product"] + tallies["reward_squared"]) / n
    spread = math.sqrt(max(square - mean * mean, 0.0))
    q = (-2.0 * math.log(error) + math.log(-2.0 * math.log(error)) + 1.0) / TUNED
    half = spread * math.sqrt(2.0 * (n * q + 1.0) / (n * n * q) * math.log(math.sqrt(n * q + 1.0) / error))
    return Band(mean, mean - half, mean + half)


def what_if(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Evaluations that were asked for, and a form for more."""
    for each in extra["evaluations"]:
        if each.get("result"):
            each["result"]["table"] = each["result"]["table"].split("\nWarning:")[0]  # they follow one by one
    return {"evaluations": extra["evaluations"], "arms": page.offered, "kinds": kinds(), "lessons": page.lessons}


def asked(form: dict[str, str], arms: list[str]) -> View:
    """What a form asks to be evaluated, as the API takes it; ValueError in words where it asks for nothing.

    >>> asked({"arm": "a", "uniform": "on"}, ["a", "b"])["candidates"]
    {'uniform': {'uniform': True}, 'always a': {'arm': 'a'}}
    """
    wanted: View = {}
    if form.get("live"):
        wanted["as it is now"] = {"live": True}
    if form.get("uniform"):
        wanted["uniform"] = {"uniform": True}
    if form.get("arm") in arms:
        wanted[f"always {form['arm']}"] = {"arm": form["arm"]}
    if form.get("kind"):
        wanted[form["kind"]] = spec(form["kind"], form.get("settings", ""))
    if not wanted:
        raise ValueError("Choose at least one thing to evaluate.")
    return {"candidates": wanted, "baseline": None, "estimator": form.get("estimator") or "dr", "confidence": 0.95, "seed": 0}


def spec(kind: str, settings: str) -> View:
    """A kind of policy from a form: its name, and its settings as JSON."""
    try:
        more = json.loads(settings) if settings.strip() else {}
    except (ValueError, RecursionError):
        raise ValueError('Settings must be JSON, e.g. {"structure": {"kind": "BinaryTree", "depth": 10}}.') from None
    if not isinstance(more, dict):
        raise ValueError("Settings must be an object, e.g. {}.")
    return {"kind": kind, **more}


def settings(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Settings and keys."""
    return {
        "settings": page.settings,
        "kind": page.kind,
        "kind_words": json.dumps(page.kind),
        "arms": page.arms,
        "removed": page.removed,
        "offered": page.offered,
        "archived": page.archived,
        "keys": extra["keys"],
        "limits": extra["limits"],
        "journal": extra["journal"],
        "range": None if page.scale is None else f"{number(page.scale[0])} to {number(page.scale[1])}",
        "version": page.version,
    }
