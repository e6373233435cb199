"""How far a policy can be trusted: what is proved, what is logged, who did what."""

import json
import math
from itertools import islice
from typing import Any

from ..core.arithmetic import arithmetic
from ..core.rows import RowKind
from ..store import JournalReader
from .feedback import NOTICE, SUSPECT, missing, missing_alarm
from .sheets import Sheet, TallyCache
from .words import counted, number, stamp

View = dict[str, Any]
AUDIT_ENTRIES = {
    RowKind.CREATE: "made",
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
    """Digests, honesty of propensities, admin actions."""
    tally, behind = cache.tally(reader, page)
    doubt, evidence = tally.suspicion(), cache.evidence(reader, page)
    lacking = missing(evidence)
    sure = "yes: feedback that is missing by arm does this, too" if lacking["look"] == "fails" else "yes: do not trust this log"
    return {
        "journal": extra["journal"],
        "honesty": [
            _doubt(
                "Was some arm played more often than its logged probability says, over all decisions whose wait is over?",
                evidence.log_honesty(),
            ),
            _doubt("The same over updates alone, where missing feedback shows, too", doubt["arms"], sure),
            {"question": "Does it depend on the arm whether feedback comes?", **lacking},
            _doubt("Are the draws that decide too large, over updates?", doubt["large"], sure),
            _doubt("Are they too small?", doubt["small"], sure),
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
    said, look = ("no sign of it", "holds")
    if logarithm > SUSPECT:
        said, look = sure, "fails"
    elif logarithm > NOTICE:
        said, look = "perhaps: keep an eye on it", "tie"
    return {
        "question": question,
        "e": math.exp(min(logarithm, 700.0)),
        "words": number(math.exp(min(logarithm, 100.0)), 2),
        "verdict": said,
        "look": look,
    }


def _snapshots(reader: JournalReader, page: Sheet, digest: str) -> list[View]:
    found = []
    for rows in islice(reader.snapshots(page.id), 5):
        row = max(rows, key=lambda each: each.at)
        same = None if row.seq != page.version else digest in {each.digest for each in rows}
        found.append(
            {
                "seq": row.seq,
                "at": row.at,
                "digests": [each.digest for each in rows],
                "bytes": sum(len(each.body) for each in rows),
                "same": same,
                "arithmetic": json.loads(row.about).get("arithmetic"),
            }
        )
    return found


def actions(rows: list[Any]) -> list[View]:
    """Rows of a stream that admins caused, the newest first."""
    found = []
    for row in rows:
        data = json.loads(row.data or "{}")
        found.append(
            {
                "seq": row.seq,
                "at": row.at,
                "when": stamp(row.at)["iso"],
                "what": AUDIT_ENTRIES.get(RowKind(row.kind), "?"),
                "words": audit_entry(row.kind, data),
            }
        )
    return found[::-1][:SHOWN]


def audit_entry(kind: int, data: View) -> str:
    """An admin's row in words.

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
        return counted(len(data["words"]), "word")
    if kind == RowKind.PROMOTE:
        return f"{data['name']} plays now"
    if kind == RowKind.CREATE:
        return f"{counted(len(data.get('arms', [])), 'arm')}, {json.dumps(data.get('policy', {}))}"
    return json.dumps(data) if data else ""


def brief(policy: View) -> View:
    """A kind of policy without the encoding of contexts that was fitted for it."""
    return {name: value for name, value in policy.items() if name != "encoding"}


def guarantee(reader: JournalReader, cache: TallyCache, page: Sheet, extra: View) -> View:
    """Certificate and bound, and what is not proved."""
    lacking = missing_alarm(page, cache.evidence(reader, page))
    return {**extra, "updates": page.updates, "not_proved": ([] if lacking is None else [lacking]) + _not_proved(page, extra)}


def _not_proved(page: Sheet, extra: View) -> list[str]:
    found = []
    if extra["certificate"] is None:
        found.append("This kind of policy keeps no certificate: nothing is proved of these very rounds.")
    if extra["bound"] is None:
        found.append("There is no bound on regret for this kind of policy as it is set.")
    if page.settings["ramp"] < 1.0:
        found.append(
            "While part of the traffic gets the baseline, what is proved is about the policy's updates, and not about what the baseline costs."
        )
    if page.settings["floor"] > 0.0:
        found.append(
            f"The floor plays arms at random in {number(100 * page.settings['floor'], 3)} % of decisions, which the bound does not count."
        )
    if len(page.arms) > len(extra["first_arms"]) or page.removed:
        found.append("Arms came or went: before an arm was added, it is compared with whatever else there was.")
    if not page.exact:
        found.append("The probabilities of this kind are estimates, so nothing that rests on them is proved.")
    if page.not_learned:
        some = counted(page.not_learned, "row could not be learned and is", "rows could not be learned and are")
        found.append(f"{some} in no bound.")
    found.append(
        "Decisions that were never answered, and have no default reward, are in no bound. If it depends on the arm or on the reward whether "
        "feedback comes, nothing is proved."
    )
    found.append("Nothing is said of the future if the world changes; a bound is about the same number of rounds as it names.")
    return found
