"""Views of candidates, evaluations and settings."""

import json
from typing import Any

import numpy as np

from ..core.candidate_bets import CandidateBets
from ..core.encoding import available_kinds
from ..core.kinds import OPEN
from ..store import JournalReader
from .bands import ERROR, differences
from .numbers import NOTHING, Band
from .sheets import Sheet, TallyCache
from .words import interval, number, signed, verdict

View = dict[str, Any]


def candidates(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return each candidate's estimated reward on live traffic."""
    return {
        "candidates": [_candidate(each, page) for each in page.candidates],
        "error": ERROR,
        "ramp": page.settings["ramp"],
        "baseline": page.baseline,
        "arms": page.active_arms,
        "kinds": list(OPEN)
        if page.open
        else available_kinds(exact=page.settings["floor"] > 0.0 or page.settings["ramp"] < 1.0),
        "archived": page.archived,
        "kind": page.kind,
    }


def _candidate(state: View, page: Sheet) -> View:
    tallies, bets = state["tallies"], state["bets"]
    band, why = compared(bets, page.scale, exact=state["exact"] and page.exact, behind=state["behind"])
    answer, look = verdict(band, "better: promote it", "worse", why or "undecided so far")
    n = tallies["updates"]
    return {
        "name": state["name"],
        "kind": state["kind"],
        "kind_words": json.dumps(state["kind"]),
        "behind": state["behind"],
        "updates": int(n),
        "value": tallies["value"] / n if n else None,
        "live": tallies["reward"] / n if n else None,
        "average_weight": tallies["weight"] / n if n else None,
        "compared": bets.updates,
        "difference": band._asdict(),
        "words": f"{signed(band.value)} ({interval(band, True)})" if band.low is not None else signed(band.value),
        "verdict": answer,
        "look": look,
        "rolls_back": state["name"].startswith("before-"),
    }


def compared(bets: CandidateBets, scale: tuple[float, float] | None, *, exact: bool, behind: int) -> tuple[Band, str]:
    """Return the candidate's reward less the actual one, and why there is no interval; "" if there is one."""
    if not exact:
        return NOTHING, "not comparable: the probabilities are estimates"
    if behind:
        return NOTHING, "still reading the journal"
    return difference(bets, scale), "no interval: the range of rewards is not declared" if scale is None else ""


def difference(bets: CandidateBets, scale: tuple[float, float] | None, error: float = ERROR) -> Band:
    """Return the candidate's reward less the actual one, per decision: the average of w r - r, with a confidence sequence.

    `scale` is the range of rewards. The probability that the sequence is ever wrong is at most `error`, however often you look:
    `hsb.serve.core.candidate_bets` has the terms and `bands` the proof.

    >>> bets = CandidateBets(0)
    >>> for k in range(1000):
    ...     bets.add(1.6 if k % 2 else 0.4, float(k % 2))
    >>> band = difference(bets, (0.0, 10.0))
    >>> round(band.value, 3), round(band.low, 1), round(band.high, 1)
    (3.0, 2.7, 3.3)
    """
    if not bets.updates:
        return NOTHING
    value = (bets.value - bets.reward) / bets.updates
    if scale is None:
        return Band(value, None, None)
    low, high = differences(bets.logarithms()[None], np.array([float(bets.updates)]), error)
    width = scale[1] - scale[0]
    return Band(width * value, float(width * low[0]), float(width * high[0]))


def what_if(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return the evaluations requested so far, and the choices for another."""
    for each in extra["evaluations"]:
        if each.get("result"):
            each["result"]["table"] = each["result"]["table"].split("\nWarning:")[0]  # the page lists them separately
    return {
        "evaluations": extra["evaluations"],
        "arms": page.active_arms,
        "kinds": available_kinds(exact=False),
        "updates": page.updates,
    }


def evaluation_request(form: dict[str, str], arms: list[str]) -> View:
    """Return the request of a form as the API takes it. Raises ValueError if the form selects no policy.

    >>> evaluation_request({"arm": "a", "uniform": "on"}, ["a", "b"])["candidates"]
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
        raise ValueError("The form selects nothing to evaluate. Select at least one policy or arm.")
    return {"candidates": wanted, "baseline": None, "estimator": form.get("estimator") or "dr", "confidence": 0.95, "seed": 0}


def spec(kind: str, settings: str) -> View:
    """Return a policy's kind and settings from a form. Raises ValueError if `settings` is not a JSON object."""
    try:
        more = json.loads(settings) if settings.strip() else {}
    except (ValueError, RecursionError):
        raise ValueError('Settings must be JSON, e.g. {"structure": {"kind": "BinaryTree", "depth": 10}}.') from None
    if not isinstance(more, dict):
        raise ValueError("Settings must be an object, e.g. {}.")
    return {"kind": kind, **more}


def settings(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return settings, limits and keys."""
    return {
        "settings": page.settings,
        "kind": page.kind,
        "kind_words": json.dumps(page.kind),
        "arms": page.arms,
        "removed": page.removed,
        "available": page.active_arms,
        "archived": page.archived,
        "keys": extra["keys"],
        "limits": extra["limits"],
        "journal": extra["journal"],
        "range": None if page.scale is None else f"{number(page.scale[0])} to {number(page.scale[1])}",
        "version": page.version,
    }
