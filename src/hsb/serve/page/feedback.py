"""Is feedback coming, and from where does it not; what was refused."""

import json
import math
from itertools import islice
from typing import Any

from ...e_values import FeedbackEvidence
from ..store import JournalReader
from .numbers import RECENT
from .sheets import Sheet, TallyCache
from .words import named, number, percent, span

View = dict[str, Any]
EDGES = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0)  # seconds
MANY = 20_000  # rows that are looked at
ENOUGH = 30  # delays of an arm, to be compared with those of others
SUSPECT, NOTICE = math.log(1000.0), math.log(20.0)  # logarithms of e-values: nobody should get it by chance; worth a look


def feedback(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Pending by age, delays by arm, late, defaulted, doubled."""
    tally, behind = cache.tally(reader, page)
    evidence = cache.evidence(reader, page)
    wait = page.settings["feedback"]["wait"]
    ages = [wait - (row.deadline - page.now) / 1e6 for row in islice(reader.pending(page.id), MANY)]
    asleep = sum(1 for row in islice(reader.pending(page.id), MANY) if not row.active)
    entries = [each for each in reader.stream(page.id, max(0, page.version - RECENT)) if each[1] is not None]
    rewards = reader.rewards_of([made.id for _, made in entries if made is not None])
    delays: dict[int, list[float]] = {}
    late = more = defaulted = 0
    for row, made in entries:
        assert made is not None
        own = rewards.get(made.id, [])
        timely = [each.at for each in own if not each.late]
        late, more, defaulted = late + (len(own) - len(timely)), more + max(0, len(timely) - 1), defaulted + row.defaulted
        if timely:
            delays.setdefault(made.arm, []).append((min(timely) - made.at) / 1e6)
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
    """Of each arm: decisions whose feedback is over, and in what share of them it came."""
    rows = zip(evidence.decisions.astype(int).tolist(), evidence.answered.astype(int).tolist(), strict=True)
    return [
        {"arm": page.arms[place], "place": place, "decisions": all_of_them, "answered": some, "share": some / all_of_them}
        for place, (all_of_them, some) in enumerate(rows)
        if all_of_them
    ]


def missing(evidence: FeedbackEvidence) -> View:
    """Does it depend on the arm whether feedback comes? Where the logged probabilities are wrong, nothing is said of it.

    >>> found = missing(FeedbackEvidence(2))
    >>> found["e"], found["verdict"], found["look"]
    (1.0, 'no sign of it', 'holds')
    """
    logarithm, said, look = evidence.log_e_value(), "no sign of it", "holds"
    if evidence.log_honesty() > SUSPECT:
        said, look = "cannot be told: the logged probabilities are wrong", "tie"
    elif logarithm > SUSPECT:
        said, look = "yes: feedback is missing by arm", "fails"
    elif logarithm > NOTICE:
        said, look = "perhaps: keep an eye on it", "tie"
    words = number(math.exp(min(logarithm, 100.0)), 2)
    return {"e": math.exp(min(logarithm, 700.0)), "words": words, "verdict": said, "look": look}


def missing_alarm(page: Sheet, evidence: FeedbackEvidence) -> str | None:
    """What to say if it depends on the arm whether feedback comes: with the arms that get least and most, of those with enough decisions."""
    if missing(evidence)["look"] != "fails":
        return None
    rows = _came(page, evidence)
    rows = [row for row in rows if row["decisions"] >= ENOUGH] or rows
    least, most = (choose(rows, key=lambda row: row["share"]) for choose in (min, max))
    shares = (
        f"for {percent(least['share'])} of decisions for {named(least['arm'], 30)}, for {percent(most['share'])} of those for "
    )
    return (
        f"Feedback is missing by arm: it came {shares}{named(most['arm'], 30)}. The policy may then prefer arms whose feedback is missing, and "
        "nothing is proved of it. Find out why, or set a default reward if no feedback means no success."
    )


def histogram(values: list[float]) -> list[View]:
    """How many lie below each edge, and not below the one before.

    >>> [each["count"] for each in histogram([0.5, 5.0, 7.0, 1e9])]
    [1, 2, 0, 0, 0, 0, 0, 1]
    """
    found, low = [], 0.0
    for high in (*EDGES, None):
        count = sum(1 for value in values if (value >= low or low == 0.0) and (high is None or value < high))
        said = (
            f"under {span(high)}" if low == 0.0 else f"{span(low)} or more" if high is None else f"{span(low)} to {span(high)}"
        )
        found.append({"from": low, "to": high, "words": said, "count": count, "share": count / len(values) if values else 0.0})
        low = high or low
    return found


def within(values: list[float], tenths: int) -> float:
    """The smallest of some values that so many tenths of them do not exceed.

    >>> within([3.0, 0.06], 5), within([3.0, 0.06], 9)
    (0.06, 3.0)
    """
    return sorted(values)[-(-tenths * len(values) // 10) - 1]


def _delay(name: str, place: int, some: list[float], everything: list[float]) -> View:
    middle, most, typical = within(some, 5), within(some, 9), within(everything, 5)
    slow = len(some) >= ENOUGH and middle > 2.0 * typical + 0.5
    return {
        "arm": name,
        "place": place,
        "count": len(some),
        "median": middle,
        "median_words": span(middle),
        "ninetieth": most,
        "ninetieth_words": span(most),
        "slow": slow,
    }


def problems(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """What was refused, and what could not be learned."""
    return {
        "rejections": extra["rejections"],
        "elsewhere": extra["elsewhere"],
        "not_learned": page.not_learned,
        "counts": page.counts,
    }


def context_of(text: str) -> Any:
    """A context from the journal; None where it cannot be read."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def brief(context: Any, most: int = 200) -> str:
    """A context on one line."""
    return named(json.dumps(context, ensure_ascii=False), most)
