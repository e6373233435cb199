"""Check a journal by replaying it from its beginning: streams, decisions, updates, snapshots."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from ..errors import FileError, InputError
from .core.apply import aggregate_rewards, clip_reward
from .core.decided import recompute
from .core.policy_state import Served
from .core.recovery import catch_up
from .core.rows import DecisionRow, Entry, PolicyRow, RewardRow, RowKind, SnapshotRow
from .store import JournalReader

SHOWN = 20  # problems that are printed in full
PART = 1000  # rows at once
RECOMPUTED = ("learner", "arm", "played", "propensity", "u", "available", "ramp", "baseline", "rounds", "advice_share", "seen")


@dataclass
class Report:
    """Result of a check: counts, and the number of problems with the first of them as text."""

    policies: int = 0
    decisions: int = 0
    rewards: int = 0
    late: int = 0
    updates: int = 0
    defaulted: int = 0
    rows: int = 0
    pending: int = 0
    expired: int = 0
    not_learned: int = 0
    snapshots: int = 0
    forgotten: int = 0
    """Decisions whose contexts were forgotten."""
    not_replayable: int = 0
    """Decisions that cannot be recomputed, because contexts of updates since the last snapshot were forgotten."""
    problems: int = 0
    first: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    """Digest of each policy at the end of its stream."""

    @property
    def sound(self) -> bool:
        """Whether there is no problem."""
        return self.problems == 0

    def wrong(self, what: str) -> None:
        """Count a problem and keep its text."""
        self.problems += 1
        if len(self.first) < SHOWN:
            self.first.append(what)

    def __str__(self) -> str:
        counted = (
            f"{self.policies:,} policies, {self.decisions:,} decisions re-derived, {self.rewards:,} rewards ({self.late:,} late), "
            f"{self.updates:,} updates ({self.defaulted:,} by default), {self.pending:,} pending, {self.snapshots:,} snapshots compared"
        )
        if self.forgotten:
            counted += f", {self.forgotten:,} forgotten, {self.not_replayable:,} not replayable because contexts were forgotten"
        if self.sound:
            return f"{counted}: sound."
        return "\n".join([f"{counted}: {self.problems:,} problems.", *(f"- {each}" for each in self.first)])


def check(journal: JournalReader) -> Report:
    """Replay a journal from its beginning and compare its contents with the results."""
    report = Report()
    for what in journal.damage():
        report.wrong(f"the file: {what}")
    for policy in journal.policies():
        report.policies += 1
        try:
            _check_policy(journal, policy, report)
        except FileError as error:
            report.wrong(f"{policy.name}: {error}")
        _check_statuses(journal, policy, report)
    return report


def _check_policy(journal: JournalReader, policy: PolicyRow, report: Report) -> None:
    served, decisions, exact = Served(policy), _Decisions(journal.decisions(policy.id)), True
    blank = 0  # the row of the last update whose context was forgotten
    snapshots = {rows[0].seq: rows for rows in _valid_snapshots(journal, policy, report)}
    for entry, rewards in _with_rewards(journal, policy):
        if entry[0].kind == RowKind.UPDATE:
            _check_update(served, entry, rewards, report)
        served.apply(entry)
        report.rows += 1
        blank = entry[0].seq if entry[1] is not None and entry[1].context == "" else blank
        if any(learner.at < blank for learner in served.candidates.values()):
            exact = False  # it has learned rows that can no longer be read
        if served.candidates:
            catch_up(served, lambda after: journal.entries(policy.id, after))
        exact = exact and (entry[1] is None or entry[1].context != "")
        rows = snapshots.pop(served.version, None)
        if rows is not None and not exact:
            served = Served.restore(policy, rows)  # the snapshot includes what was learned from forgotten contexts
            exact = all(learner.at >= blank for learner in served.candidates.values())
            catch_up(served, lambda after: journal.entries(policy.id, after))
        for row in decisions.of(served.version):
            report.forgotten += not row.context
            if exact and row.context:
                _check_decision(served, row, report)
            else:
                report.not_replayable += not exact
        if rows is not None:
            _check_snapshot(served, rows, report)
    for row in decisions.rest():
        report.wrong(f"{policy.name}: decision {row.id} has version {row.version}, but the stream ends at {served.version}.")
    for seq in snapshots:
        report.wrong(f"{policy.name}: the snapshot at row {seq} is ahead of the stream, which ends at {served.version}.")
    if served.version != policy.head:
        report.wrong(f"{policy.name}: its stream ends at row {served.version}, but should end at row {policy.head}.")
    if served.version and exact:
        report.digests[policy.name] = served.live.policy.digest()
        report.not_learned += served.live.not_learned


class _Decisions:
    """Decisions in the order of their versions, read one version at a time."""

    def __init__(self, rows: Iterator[DecisionRow]) -> None:
        self.rows = rows
        self.next = next(rows, None)

    def of(self, version: int) -> Iterator[DecisionRow]:
        while self.next is not None and self.next.version <= version:
            yield self.next
            self.next = next(self.rows, None)

    def rest(self) -> Iterator[DecisionRow]:
        while self.next is not None:
            yield self.next
            self.next = next(self.rows, None)


def _valid_snapshots(journal: JournalReader, policy: PolicyRow, report: Report) -> Iterator[list[SnapshotRow]]:
    for rows in journal.snapshots(policy.id):
        try:
            Served.restore(policy, rows)
            yield rows
        except FileError as error:
            report.wrong(f"{policy.name}: {error}")


def _with_rewards(journal: JournalReader, policy: PolicyRow) -> Iterator[tuple[Entry, list[RewardRow]]]:
    """Yield the entries of the stream, each update with the rewards of its decision."""
    entries = iter(journal.entries(policy.id, 0))
    while part := list(islice(entries, PART)):
        known = journal.rewards_of([row.decision for row, _ in part if row.decision is not None])
        for entry in part:
            yield entry, known.get(entry[0].decision or "", [])


def _check_decision(served: Served, row: DecisionRow, report: Report) -> None:
    report.decisions += 1
    try:
        again = recompute(served, row)
    except (InputError, ValueError, IndexError) as error:
        report.wrong(f"{served.name}: decision {row.id} cannot be recomputed: {error}")
        return
    for name in RECOMPUTED:
        if getattr(row, name) != getattr(again, name):
            report.wrong(
                f"{served.name}: {name} of decision {row.id} is {getattr(row, name)!r}, but recomputed it is {getattr(again, name)!r}."
            )
            return


def _check_update(served: Served, entry: Entry, rewards: Iterable[RewardRow], report: Report) -> None:
    row, decision = entry
    report.updates += 1
    report.defaulted += row.defaulted
    if decision is None or decision.policy != served.id:
        report.wrong(f"{served.name}: row {row.seq} is an update of a decision that the journal lacks.")
        return
    value = aggregate_rewards(rewards, served.rules.aggregate)
    due = served.rules.default if value is None else value
    if due is None or row.defaulted != (value is None) or row.reward != clip_reward(due, served.rules):
        report.wrong(
            f"{served.name}: row {row.seq} learns the reward {row.reward!r} of decision {row.decision}, but its rewards give {due!r}."
        )


def _check_snapshot(served: Served, rows: list[SnapshotRow], report: Report) -> None:
    learners = {each.id: each for each in (served.live, *served.candidates.values())}
    then = Served.restore(PolicyRow(served.id, served.name, served.secret, 0, 0), rows)
    behind = {each.id for each in then.behind().values()}  # candidates that were still reading the stream
    for row in rows:
        report.snapshots += 1
        name = row.learner
        if name not in learners or (name not in behind and learners[name].policy.digest() != row.digest):
            report.wrong(
                f"{served.name}: the snapshot at row {served.version} of learner {name} differs from a replay of the stream."
            )


def _check_statuses(journal: JournalReader, policy: PolicyRow, report: Report) -> None:
    for status in journal.statuses(policy.id):
        report.rewards += status.in_time + status.late
        report.late += status.late
        report.pending += status.pending
        report.expired += status.closed is not None
        if status.pending + status.learned + (status.closed is not None) != 1:
            report.wrong(
                f"{policy.name}: decision {status.decision} must be pending, learned once or closed, but is {status[3:]}."
            )
        elif status.late and status.pending:
            report.wrong(f"{policy.name}: a reward of decision {status.decision} is late, but the decision is still open.")
        elif status.in_time and status.closed not in (None, "forgotten"):
            report.wrong(f"{policy.name}: a reward of decision {status.decision} was accepted, but never learned.")
