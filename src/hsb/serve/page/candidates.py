"""What else could play: candidates beside the policy, evaluations, settings."""

import json
from typing import Any

import numpy as np

from ..core.candidate_bets import CandidateBets
from ..core.encoding import available_kinds
from ..store import JournalReader
from .bands import ERROR, differences
from .numbers import NOTHING, Band
from .sheets import Sheet, TallyCache
from .words import interval, number, signed, verdict

View = dict[str, Any]


def candidates(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Each candidate's value on live traffic."""
    return {
        "candidates": [_candidate(each, page) for each in page.candidates],
        "error": ERROR,
        "ramp": page.settings["ramp"],
        "baseline": page.baseline,
        "arms": page.active_arms,
        "kinds": available_kinds(exact=page.settings["floor"] > 0.0 or page.settings["ramp"] < 1.0),
        "archived": page.archived,
        "kind": page.kind,
    }


def _candidate(given: View, page: Sheet) -> View:
    tallies, bets = given["tallies"], given["bets"]
    band, why = compared(bets, page.scale, exact=given["exact"] and page.exact, behind=given["behind"])
    said, look = verdict(band, "would have earned more: promote it", "would have earned less", why or "cannot be told yet")
    n = tallies["updates"]
    return {
        "name": given["name"],
        "kind": given["kind"],
        "kind_words": json.dumps(given["kind"]),
        "behind": given["behind"],
        "updates": int(n),
        "value": tallies["value"] / n if n else None,
        "live": tallies["reward"] / n if n else None,
        "average_weight": tallies["weight"] / n if n else None,
        "compared": bets.updates,
        "difference": band._asdict(),
        "words": f"{signed(band.value)} ({interval(band, True)})" if band.low is not None else signed(band.value),
        "verdict": said,
        "look": look,
        "rolls_back": given["name"].startswith("before-"),
    }


def compared(bets: CandidateBets, scale: tuple[float, float] | None, *, exact: bool, behind: int) -> tuple[Band, str]:
    """Candidate less what played, and in words why there is no interval; no words where there is one."""
    if not exact:
        return NOTHING, "probabilities are estimates: no value"
    if behind:
        return NOTHING, "reads the journal first"
    return difference(bets, scale), "the range of rewards is not declared: no interval" if scale is None else ""


def difference(bets: CandidateBets, scale: tuple[float, float] | None, error: float = ERROR) -> Band:
    """Candidate less what played, a decision: the average of w r - r, with a confidence sequence in the range of rewards `scale`.

    The sequence is ever wrong with a probability of at most `error`, however often somebody looks: `hsb.serve.core.candidate_bets` has the
    terms and `bands` the proof.

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
    """Evaluations that were asked for, and a form for more."""
    for each in extra["evaluations"]:
        if each.get("result"):
            each["result"]["table"] = each["result"]["table"].split("\nWarning:")[0]  # they follow one by one
    return {
        "evaluations": extra["evaluations"],
        "arms": page.active_arms,
        "kinds": available_kinds(exact=False),
        "updates": page.updates,
    }


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
        "available": page.active_arms,
        "archived": page.archived,
        "keys": extra["keys"],
        "limits": extra["limits"],
        "journal": extra["journal"],
        "range": None if page.scale is None else f"{number(page.scale[0])} to {number(page.scale[1])}",
        "version": page.version,
    }
