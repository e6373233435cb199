"""Views of feedback (delays, missing rewards) and of refused requests."""

import json
import math
from itertools import islice
from typing import Any

from ...e_values import FeedbackEvidence
from ..store import JournalReader
from .numbers import RECENT
from .sheets import Sheet, TallyCache
from .words import number, one_line, percent, span

View = dict[str, Any]
EDGES = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0)  # seconds
MANY = 20_000  # rows read at most
ENOUGH = 30  # delays of an arm that are enough to compare it with others
SUSPECT, NOTICE = math.log(1000.0), math.log(20.0)  # logarithms of e-values: hard to explain by chance; worth attention


def feedback(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return pending decisions by age, delays by arm, and counts of late, default and extra rewards."""
    tally, behind = cache.tally(reader, page)
    evidence = cache.evidence(reader, page)
    wait = page.settings["feedback"]["wait"]
    ages = [wait - (row.deadline - page.now) / 1e6 for row in islice(reader.pending(page.id), MANY)]
    asleep = sum(1 for row in islice(reader.pending(page.id), MANY) if not row.active)
    entries = [each for each in reader.stream(page.id, max(0, page.version - RECENT)) if each[1] is not None]
    rewards = reader.rewards_of([decision.id for _, decision in entries if decision is not None])
    delays: dict[int, list[float]] = {}
    late = more = defaulted = 0
    for row, decision in entries:
        assert decision is not None
        own = rewards.get(decision.id, [])
        timely = [each.at for each in own if not each.late]
        late, more, defaulted = late + (len(own) - len(timely)), more + max(0, len(timely) - 1), defaulted + row.defaulted
        if timely:
            delays.setdefault(decision.arm, []).append((min(timely) - decision.at) / 1e6)
    closed: dict[str, int] = {}
    for each in islice(reader.closed(page.id), MANY):
        closed[each.how] = closed.get(each.how, 0) + 1
    together = [delay for some in delays.values() for delay in some]
    return {
        "settings": page.settings["feedback"],
        "wait_words": span(wait),
        "pending": {"count": len(ages), "more": len(ages) == MANY, "asleep": asleep, "by_age": histogram(ages)},
        "looked_at": len(entries),
        "delays": histogram(together),
        "by_arm": [_delay(page.arms[arm], arm, some, together) for arm, some in sorted(delays.items())],
        "came": _came(page, evidence),
        "missing": missing(evidence),
        "late": late,
        "doubled": more,
        "defaulted": defaulted,
        "expired": closed.get("expired", 0),
        "void": closed.get("void", 0),
        "closed_more": sum(closed.values()) == MANY,
        "updates": tally.rows,
        "behind": behind,
        "total": len(page.arms),
    }


def _came(page: Sheet, evidence: FeedbackEvidence) -> list[View]:
    """Return for each arm the number of closed decisions, and the share of them that was learned."""
    rows = zip(evidence.decisions.astype(int).tolist(), evidence.answered.astype(int).tolist(), strict=True)
    return [
        {"arm": page.arms[index], "index": index, "decisions": all_of_them, "answered": some, "share": some / all_of_them}
        for index, (all_of_them, some) in enumerate(rows)
        if all_of_them
    ]


def missing(evidence: FeedbackEvidence) -> View:
    """Test whether missing feedback depends on the arm. The test needs correct logged probabilities.

    >>> test = missing(FeedbackEvidence(2))
    >>> test["e"], test["verdict"], test["look"]
    (1.0, 'no sign of it', 'holds')
    """
    logarithm, answer, look = evidence.log_e_value(), "no sign of it", "holds"
    if evidence.log_honesty() > SUSPECT:
        answer, look = "unknown: the logged probabilities are wrong", "tie"
    elif logarithm > SUSPECT:
        answer, look = "yes: missing feedback depends on the arm", "fails"
    elif logarithm > NOTICE:
        answer, look = "perhaps: check again later", "tie"
    words = number(math.exp(min(logarithm, 100.0)), 2)
    return {"e": math.exp(min(logarithm, 700.0)), "words": words, "verdict": answer, "look": look}


def missing_alarm(page: Sheet, evidence: FeedbackEvidence) -> str | None:
    """Return an alarm if missing feedback depends on the arm, else None. It names the arms with the smallest and the largest share."""
    if missing(evidence)["look"] != "fails":
        return None
    rows = _came(page, evidence)
    rows = [row for row in rows if row["decisions"] >= ENOUGH] or rows
    least, most = (choose(rows, key=lambda row: row["share"]) for choose in (min, max))
    shares = (
        f"{percent(least['share'])} of decisions for {one_line(least['arm'], 30)}, but {percent(most['share'])} of those for "
    )
    return (
        f"Missing feedback depends on the arm: feedback came for {shares}{one_line(most['arm'], 30)}. The policy may then prefer arms whose "
        "feedback is missing, and no guarantee holds. Find the cause, or set a default reward if no feedback means no success."
    )


def histogram(values: list[float]) -> list[View]:
    """Count the values between consecutive edges.

    >>> [each["count"] for each in histogram([0.5, 5.0, 7.0, 1e9])]
    [1, 2, 0, 0, 0, 0, 0, 1]
    """
    bins, low = [], 0.0
    for high in (*EDGES, None):
        count = sum(1 for value in values if (value >= low or low == 0.0) and (high is None or value < high))
        words = (
            f"under {span(high)}" if low == 0.0 else f"{span(low)} or more" if high is None else f"{span(low)} to {span(high)}"
        )
        bins.append({"from": low, "to": high, "words": words, "count": count, "share": count / len(values) if values else 0.0})
        low = high or low
    return bins


def within(values: list[float], tenths: int) -> float:
    """Return the smallest value that at least `tenths` / 10 of the values do not exceed.

    >>> within([3.0, 0.06], 5), within([3.0, 0.06], 9)
    (0.06, 3.0)
    """
    return sorted(values)[-(-tenths * len(values) // 10) - 1]


def _delay(name: str, index: int, some: list[float], everything: list[float]) -> View:
    middle, most, typical = within(some, 5), within(some, 9), within(everything, 5)
    slow = len(some) >= ENOUGH and middle > 2.0 * typical + 0.5
    return {
        "arm": name,
        "index": index,
        "count": len(some),
        "median": middle,
        "median_words": span(middle),
        "ninetieth": most,
        "ninetieth_words": span(most),
        "slow": slow,
    }


def problems(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return refused requests, and the number of rows that could not be learned."""
    return {
        "rejections": extra["rejections"],
        "elsewhere": extra["elsewhere"],
        "not_learned": page.not_learned,
        "counts": page.counts,
    }


def context_of(text: str) -> Any:
    """Return a context from the journal; None if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def brief(context: Any, most: int = 200) -> str:
    """Return a context on one line of at most `most` letters."""
    return one_line(json.dumps(context, ensure_ascii=False), most)
