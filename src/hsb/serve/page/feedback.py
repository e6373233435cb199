"""Is feedback coming, and from where does it not; what was refused."""

import json
from itertools import islice
from typing import Any

from ..store import JournalReader
from .numbers import RECENT
from .sheets import Sheet, TallyCache
from .words import named, span

View = dict[str, Any]
EDGES = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0)  # seconds
MANY = 20_000  # rows that are looked at
ENOUGH = 30  # delays of an arm, to be compared with those of others


def feedback(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Pending by age, delays by arm, late, defaulted, doubled."""
    tally, behind = cache.tally(reader, page)
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
        "late": late,
        "doubled": more,
        "defaulted": defaulted,
        "expired": closed.get("expired", 0),
        "void": closed.get("void", 0),
        "closed_more": sum(closed.values()) == MANY,
        "lessons": tally.rows,
        "behind": behind,
        "total": len(page.arms),
    }


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
        "troubles": extra["troubles"],
        "elsewhere": extra["elsewhere"],
        "passed_over": page.passed_over,
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
