"""Views of a policy's guarantees and of its audit: bounds, logged probabilities, admin actions."""

import json
import math
from itertools import islice
from typing import Any

from ..core.arithmetic import arithmetic
from ..core.rows import RowKind
from ..store import JournalReader
from .feedback import NOTICE, SUSPECT, missing, missing_alarm
from .sheets import Sheet, TallyCache
from .words import number, quantity, stamp

View = dict[str, Any]
AUDIT_ENTRIES = {
    RowKind.CREATE: "created",
    RowKind.ARM: "arm",
    RowKind.SETTINGS: "settings",
    RowKind.CANDIDATE: "candidate",
    RowKind.PROMOTE: "promoted",
    RowKind.IMPORT: "imported",
    RowKind.ARCHIVE: "archived",
    RowKind.FORGET: "forgot",
}
SHOWN = 50


def audit(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return digests, tests of the logged probabilities, and admin actions."""
    tally, behind = cache.tally(reader, page)
    doubt, evidence = tally.suspicion(), cache.evidence(reader, page)
    lacking = missing(evidence)
    sure = (
        "yes: missing feedback that depends on the arm also causes this"
        if lacking["look"] == "fails"
        else "yes: do not trust this log"
    )
    return {
        "journal": extra["journal"],
        "honesty": [
            _doubt(
                "Was any arm played more often than its logged probability, over all decisions whose deadline is past?",
                evidence.log_honesty(),
            ),
            _doubt("The same over updates only: missing feedback shows here, too", doubt["arms"], sure),
            {"question": "Does missing feedback depend on the arm?", **lacking},
            _doubt("Are the random draws of the decisions too large, over updates?", doubt["large"], sure),
            _doubt("Are the random draws too small, over updates?", doubt["small"], sure),
        ],
        "updates": tally.rows,
        "average_weight": tally.support()[0],
        "fair": tally.support()[1],
        "digest": extra["digest"],
        "arithmetic": arithmetic(),
        "notes": page.notes,
        "version": page.version,
        "snapshots": _snapshots(reader, page, extra["digest"]),
        "actions": actions(cache.audit_entries(reader, page)),
        "audit_entries": extra["audit_entries"],
        "held": page.held,
        "behind": behind,
    }


def _doubt(question: str, logarithm: float, sure: str = "yes: do not trust this log") -> View:
    answer, look = ("no sign of it", "holds")
    if logarithm > SUSPECT:
        answer, look = sure, "fails"
    elif logarithm > NOTICE:
        answer, look = "perhaps: check again later", "tie"
    return {
        "question": question,
        "e": math.exp(min(logarithm, 700.0)),
        "words": number(math.exp(min(logarithm, 100.0)), 2),
        "verdict": answer,
        "look": look,
    }


def _snapshots(reader: JournalReader, page: Sheet, digest: str) -> list[View]:
    snapshots = []
    for rows in islice(reader.snapshots(page.id), 5):
        row = max(rows, key=lambda each: each.at)
        same = None if row.seq != page.version else digest in {each.digest for each in rows}
        snapshots.append(
            {
                "seq": row.seq,
                "at": row.at,
                "digests": [each.digest for each in rows],
                "bytes": sum(len(each.body) for each in rows),
                "same": same,
                "arithmetic": json.loads(row.about).get("arithmetic"),
            }
        )
    return snapshots


def actions(rows: list[Any]) -> list[View]:
    """Return the rows of a stream that admins caused, the newest first."""
    entries = []
    for row in rows:
        data = json.loads(row.data or "{}")
        entries.append(
            {
                "seq": row.seq,
                "at": row.at,
                "when": stamp(row.at)["iso"],
                "what": AUDIT_ENTRIES.get(RowKind(row.kind), "?"),
                "words": audit_entry(row.kind, data),
            }
        )
    return entries[::-1][:SHOWN]


def audit_entry(kind: int, data: View) -> str:
    """Describe an admin's row in words.

    >>> audit_entry(RowKind.ARM, {"add": "d"}), audit_entry(RowKind.PROMOTE, {"name": "deeper"})
    ('added d', 'deeper plays now')
    """
    if kind == RowKind.ARM:
        return f"removed {data['remove']}" if "remove" in data else f"added {data['add']}"
    if kind == RowKind.CANDIDATE:
        return (
            f"dropped {data['drop']}" if "drop" in data else f"added {data['add']}: {json.dumps(brief(data.get('policy', {})))}"
        )
    if kind == RowKind.FORGET:
        return quantity(len(data["words"]), "word")
    if kind == RowKind.PROMOTE:
        return f"{data['name']} plays now"
    if kind == RowKind.CREATE:
        arms = data.get("arms", [])
        words = "arms that come with each request" if isinstance(arms, dict) else quantity(len(arms), "arm")
        return f"{words}, {json.dumps(data.get('policy', {}))}"
    return json.dumps(data) if data else ""


def brief(policy: View) -> View:
    """Return a policy's settings without the encoding of contexts that was fitted for it."""
    return {name: value for name, value in policy.items() if name != "encoding"}


def guarantee(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Return certificate and bound, and their limits."""
    lacking = missing_alarm(page, cache.evidence(reader, page))
    return {**extra, "updates": page.updates, "not_proved": ([] if lacking is None else [lacking]) + _not_proved(page, extra)}


def _not_proved(page: Sheet, extra: View) -> list[str]:
    limits = []
    if extra["certificate"] is None:
        limits.append("This kind of policy has no certificate, so nothing is proved for this run.")
    if extra["bound"] is None:
        limits.append("There is no regret bound for this kind of policy with its settings.")
    if page.settings["ramp"] < 1.0:
        limits.append(
            "Part of the traffic gets the baseline. The guarantees cover the policy's updates, not what the baseline costs."
        )
    if page.settings["floor"] > 0.0:
        limits.append(
            f"The floor plays arms at random in {number(100 * page.settings['floor'], 3)} % of decisions. The bound does not count its cost."
        )
    if len(page.arms) > len(extra["first_arms"]) or page.removed:
        limits.append(
            "Arms were added or removed. In rounds before an arm was added, the bound compares the policy with the arms that existed then."
        )
    if not page.exact:
        limits.append("The probabilities of this kind of policy are estimates, so no result that uses them is proved.")
    if page.not_learned:
        some = quantity(page.not_learned, "row could not be learned and is", "rows could not be learned and are")
        limits.append(f"{some} not covered by any bound.")
    limits.append(
        "No bound covers decisions without feedback and without a default reward. If missing feedback depends on the arm or on the reward, "
        "nothing is proved."
    )
    limits.append(
        "A bound covers only the number of rounds that it names. If rewards change later, it makes no claim about them."
    )
    return limits
