"""Figures of the first views: all policies, one policy's rewards, its arms."""

from itertools import islice
from typing import Any

from ...e_values import FeedbackEvidence
from ..store import JournalReader
from . import curves
from .bands import arm_error
from .feedback import missing_alarm
from .numbers import Band, UpdateTally
from .sheets import Sheet, TallyCache
from .words import interval, number, one_line, percent, quantity, signed, span, stamp, verdict

View = dict[str, Any]
SOME = 5000  # pending decisions counted at most
FEW = 50  # decisions without feedback that cause no alarm
SUSPECT = 6.9  # log(1000): an e-value that is hard to explain by chance
SHOWN_ARMS = 60  # arms shown at most


def policies(reader: JournalReader, cache: TallyCache, pages: list[Sheet]) -> View:
    """Return a summary of each policy."""
    return {"policies": [_line(reader, cache, each) for each in pages]}


def _line(reader: JournalReader, cache: TallyCache, page: Sheet) -> View:
    tally, behind = cache.tally(reader, page)
    waiting, due = waits(reader, page)
    raised = alarms(page, tally, cache.evidence(reader, page), due, waiting)
    return {
        "name": page.name,
        "state": state(page, tally, waiting),
        "alarms": raised,
        "updates": page.updates,
        "arms": len(page.active_arms) if page.known is None else page.known.number,
        "reward": tally.policy()._asdict(),
        "spark": curves.means(tally)[-40:] if tally.buckets else [],
        "behind": behind,
    }


def waits(reader: JournalReader, page: Sheet) -> tuple[int, int | None]:
    """Return the number of decisions that wait for feedback, up to 5,000, and the deadline of the first."""
    some = list(islice(reader.pending(page.id), SOME))
    return len(some), some[0].deadline if some else None


def state(page: Sheet, tally: UpdateTally, waiting: int) -> str:
    """Return a policy's state in a sentence."""
    if page.archived:
        return "archived: it makes no more decisions"
    if not page.updates and not waiting:
        return "new: no decisions yet"
    rate = tally.rate(page.now)
    digits, unit = (number(rate, 2), "second") if rate >= 0.1 else (number(60 * rate, 2), "minute")
    often = f"{digits} {'update' if digits == '1' else 'updates'} per {unit}" if rate else "no updates in the last minute"
    ramp = page.settings["ramp"]
    mode = "learning" if ramp == 1.0 else "in shadow mode" if ramp == 0.0 else f"on {percent(ramp)} of traffic"
    wait = f"{waiting:,} or more decisions wait" if waiting == SOME else quantity(waiting, "decision waits", "decisions wait")
    more = f"{wait} for feedback" if waiting else "no decision waits for feedback"
    return f"{mode}, {often}, {more}"


def alarms(page: Sheet, tally: UpdateTally, evidence: FeedbackEvidence, due: int | None, waiting: int = 0) -> list[str]:
    """Return the alarms of a policy. `due` is the deadline of the decision that has waited longest."""
    raised = []
    if page.held:
        raised.append("The clock jumped. No decision is closed until the clock is right again or an admin confirms it.")
    if tally.rows and tally.ahead().high is not None and (tally.ahead().high or 0.0) < 0.0:
        raised.append(f"{'The traffic' if tally.shared else 'The policy'} earns less than uniform play would.")
    doubt = tally.suspicion()
    lacking = missing_alarm(page, evidence)
    if lacking is not None:
        raised.append(lacking)
    if evidence.log_honesty() > SUSPECT:
        raised.append("The logged probabilities do not fit the arms played. See Audit.")
    elif lacking is None and max(doubt.values()) > SUSPECT:
        raised.append(
            "The updates do not fit the logged probabilities: these are wrong, or missing feedback depends on the arm. See Audit."
        )
    if waiting > FEW and page.settings["feedback"]["default_reward"] is None and len({row[-1] for row in tally.recent}) == 1:
        raised.append(
            f"All updates have the same reward, and {waiting:,} decisions wait for one. If no feedback means no success, set a default reward."
        )
    raised += page.warnings
    if page.not_learned:
        raised.append(f"{quantity(page.not_learned, 'row')} could not be learned. See Problems.")
    last = tally.recent[-1][0] if tally.recent else None
    wait = page.settings["feedback"]["wait"]
    waited = 0.0 if due is None else wait - (due - page.now) / 1e6
    if last is not None and waited > min(3600.0, 0.9 * wait) and (page.now - last) / 1e6 > max(3600.0, 2.0 * wait):
        raised.append(f"No feedback for {span((page.now - last) / 1e6)}.")
    return raised


def overview(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return the rewards of a policy and of the rules that it is compared with."""
    tally, behind = cache.tally(reader, page)
    waiting, due = waits(reader, page)
    times, best = curves.times(tally), tally.best(page.arm_index(arm) for arm in page.active_arms)
    sound, fair = tally.support()
    who = player(page, tally)
    rows, lines = [_row(who, "policy", tally.policy(), None)], []
    lines.append(("policy", curves.policy_curve(tally, who)))
    if tally.shared and page.exact:
        rows.append(_row("the policy alone, estimated", "estimated", tally.estimated(), tally.ahead_of_estimated(), who))
    if tally.rows and page.exact and fair:
        if not plays_uniformly(page, tally):  # it would be compared with itself
            rows.append(_row("uniform play", "uniform", tally.even_play(), tally.ahead(), who))
            lines.append(("uniform", curves.uniform_curve(tally, "uniform play")))
        for name, line, index in _rivals(page, best):
            error = arm_error(index, page.first_arms)
            rows.append(_row(name, line, tally.arm(index, error), tally.ahead_of(index, error), who))
            lines.append((line, curves.arm_curve(tally, name, index, error)))
    return {
        "state": state(page, tally, waiting),
        "alarms": alarms(page, tally, cache.evidence(reader, page), due, waiting),
        "updates": tally.rows,
        "defaulted": tally.defaulted,
        "behind": behind,
        "waiting": {"count": waiting, "more": waiting == SOME, "due": due},
        "rows": rows,
        "less": f"{who.partition(',')[0].removeprefix('this ')} less this rule",
        "shared": tally.shared,
        "chosen": tally.chosen.rows,
        "times": times,
        "lines": [{"line": line, **curve._asdict()} for line, curve in lines],
        "means": curves.means(tally) if tally.buckets else [],
        "bucket_seconds": tally.width / 1e6,
        "exact": page.exact,
        "fair": fair,
        "average_weight": sound,
        "banded": page.scale is not None,
        "least": tally.least if tally.rows else None,
        "last": tally.recent[-1][0] if tally.recent else None,
    }


def _rivals(page: Sheet, best: int | None) -> list[tuple[str, str, int]]:
    """Return name, line and index of baseline and best arm. Their intervals are those of all arms, since updates may have selected them."""
    rivals = []
    base = page.arm_index(page.baseline) if page.baseline in page.arms else None  # an arm that comes with requests has no index
    if base is not None:
        also = ", also the best single arm" if base == best else ""
        rivals.append((f"baseline{also}: always {one_line(page.baseline, 30)}", "baseline", base))
    if best is not None and best != base:
        what = "group: always one of" if page.open else "single arm: always"
        rivals.append((f"best {what} {one_line(page.arms[best], 30)}", "best", best))
    return rivals


def plays_uniformly(page: Sheet, tally: UpdateTally) -> bool:
    """Return True if the policy has played uniformly from the beginning, with a floor of 1."""
    return page.settings["floor"] == 1.0 and not tally.uneven


def player(page: Sheet, tally: UpdateTally) -> str:
    """Return whose rewards the updates have: the policy's only if no baseline ever had a share."""
    if tally.shared:
        return "all traffic"
    return "this policy, which plays uniformly" if plays_uniformly(page, tally) else "this policy"


def _row(name: str, line: str, value: Band, ahead: Band | None, who: str = "") -> View:
    who, answer, look = who.partition(",")[0].removeprefix("this "), "", ""
    if ahead is not None and ahead.value is not None:
        answer, look = verdict(ahead, f"{who} is better", f"{who} is worse", "undecided so far")
    return {
        "name": name,
        "line": line,
        **value._asdict(),
        "interval": interval(value),
        "ahead": None if ahead is None else ahead._asdict(),
        "ahead_words": "" if ahead is None or ahead.value is None else f"{signed(ahead.value)} ({interval(ahead, True)})",
        "verdict": answer,
        "look": look,
    }


def arms(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return how often each arm is played, and what it would earn if it were always played."""
    tally, behind = cache.tally(reader, page)
    _, fair = tally.support()
    waiting, _ = waits(reader, page)
    rows = [_arm(tally, page, index, fair) for index in range(len(page.arms))]
    ends = [each for row in rows for each in (row["low"], row["high"]) if each is not None]
    return {
        "arms": rows[:SHOWN_ARMS],
        "left_out": max(0, len(rows) - SHOWN_ARMS),
        "total": len(rows),
        "open": page.open,
        "known": None if page.known is None else page.known.number,
        "most_played": [] if page.known is None else [each._asdict() for each in page.known.most_played],
        "ends": [min(ends), max(ends)] if ends else None,
        "times": curves.times(tally),
        "shares": curves.shares(tally),
        "positions": curves.positions(tally),
        "updates": tally.rows,
        "exact": page.exact,
        "fair": fair,
        "banded": page.scale is not None,
        "behind": behind,
        "waiting": {"count": waiting},
        "last": stamp(tally.recent[-1][0])["iso"] if tally.recent else None,
    }


def _arm(tally: UpdateTally, page: Sheet, index: int, fair: bool) -> View:
    name, seen = page.arms[index], index < tally.arms.count
    band = tally.arm(index, arm_error(index, page.first_arms)) if page.exact else Band(None, None, None)
    played = int(tally.arms.played[index]) if seen else 0
    late = [arm for *_, arm, _ in tally.recent]
    return {
        "name": name,
        "index": index,
        "available": name not in page.removed,
        "baseline": name == page.baseline,
        "played": played,
        "share": played / tally.rows if tally.rows else None,
        "share_lately": late.count(index) / len(late) if late else None,
        **band._asdict() | ({} if played else {"value": None}),  # nothing was seen of it: 0 would be no estimate
        "interval": interval(band),
        "raw": tally.raw(index),
    }
