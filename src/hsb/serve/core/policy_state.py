"""The state of a served policy at a version: a replay of its stream, row by row."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from ... import __version__
from ...errors import FileError, InputError, quoted
from ...files.memory_limit import limited
from ...policy.decision import Decision
from ...policy.open import Open
from .candidate_bets import Conditions, FloorHistory
from .kinds import Plain
from .learner import PolicyReplica, read_policy
from .messages import Decide
from .orders import Rules
from .requests import Arms, baseline_of, count_groups, group_names, make_open, same_arms, takes_arms, write_request
from .rows import DecisionRow, Entry, PolicyRow, RowKind, SnapshotRow, StreamRow
from .sampling import bits_of, context_json, fingerprint, mixture, u_of
from .sealed_snapshots import Frozen
from .settings import PolicySettings, apply_changes, check_default, listed

SLOW = 1000.0  # microseconds per decision
KINDS = frozenset(map(int, RowKind))
MOST_READ = 1 << 30  # bytes of memory for reading an uploaded file


class Served:
    """state(version), a replay of the stream up to there: settings, arms, the learner that plays, candidates.

    Deciding changes nothing. Only `apply` changes the state, and its effect depends on the row alone. Rows that make no sense, which this
    code would not have written, are skipped.
    """

    def __init__(self, row: PolicyRow) -> None:
        self.id, self.name, self.secret = row.id, row.name, row.secret
        self.version = self.updates = self.not_learned = 0
        self.updates_kept = 0  # updates in the snapshot from which it was restored
        self.arms: list[str] = []
        self.removed: set[str] = set()
        self.first_arms: Arms = []
        self.open: Open | None = None
        """The description of arms that come with each request; `arms` are then their groups."""
        self.arm_features: Plain = {}
        self.settings: PolicySettings
        self.live: PolicyReplica
        self.candidates: dict[str, PolicyReplica] = {}
        self.archived = False
        self.words_forgotten = 0  # the last row by which words were forgotten: snapshots before it still have them
        self.rules: Rules
        self.floors = FloorHistory()
        self.arriving: tuple[bytes, Any] = b"", None  # a file whose row is being written, and its policy
        self.notes: list[str] = []  # remarks of its recovery

    # -- replay ---------------------------------------------------------------------------------------------------------

    def apply(self, entry: Entry) -> None:
        """Apply the next row of the stream."""
        row = entry[0]
        if row.seq != self.version + 1:
            raise FileError(f"the stream of {self.name} goes from row {self.version} to row {row.seq}; rows are missing.")
        if row.kind not in KINDS:  # without it, the state would differ from that of the hsb that wrote it
            raise FileError(
                f"row {row.seq} of the stream of {self.name} is of a kind, {row.kind}, that this hsb does not know. Use the hsb that "
                "wrote it, or a newer one."
            )
        if row.kind == RowKind.CREATE:
            self._create(json.loads(row.data or "{}"))
        else:
            self.updates += row.kind == RowKind.UPDATE
            conditions = self._conditions()
            self.live.apply(entry, self.arms, conditions)
            for candidate in self.candidates.values():
                if candidate.at == row.seq - 1:
                    candidate.apply(entry, self.arms, conditions)
            if row.kind != RowKind.UPDATE:
                self._administer(row)
        self.version = row.seq

    def _create(self, data: Plain) -> None:
        self._take_arms(data["arms"])
        self.arm_features = data["arm_features"]
        self.settings = apply_changes(None, data["settings"], listed(self.first_arms))
        self.floors = FloorHistory(0, self.settings.floor)
        self.live = PolicyReplica.idle(1, data["policy"], self.first_arms, self.arm_features, at=1)
        self._rule()

    def _take_arms(self, arms: Arms) -> None:
        self.first_arms = arms
        self.open = make_open(arms) if isinstance(arms, dict) else None
        self.arms = list(arms) if self.open is None else group_names(self.open)

    def _administer(self, row: StreamRow) -> None:
        data = json.loads(row.data or "{}")
        try:
            self._steps[row.kind](self, row, data)
        except (InputError, FileError, KeyError):
            self.not_learned += 1
        self._rule()

    def _arm(self, row: StreamRow, data: Plain) -> None:
        if "remove" in data:
            self.removed.add(data["remove"])
        else:
            self.removed.discard(data["add"])
            if data["add"] not in self.arms:
                self.arms = [*self.arms, data["add"]]

    def _change(self, row: StreamRow, data: Plain) -> None:
        self.settings = apply_changes(self.settings, data, None if self.open is not None else self.arms)
        self.floors.note(row.seq, self.settings.floor)

    def _candidate(self, row: StreamRow, data: Plain) -> None:
        if "drop" in data:
            del self.candidates[data["drop"]]
        else:
            self.candidates[data["add"]] = PolicyReplica.fresh(
                row.seq, data["policy"], self.first_arms, self.arm_features, at=1, valued=True
            )

    def _promote(self, row: StreamRow, data: Plain) -> None:
        candidate = self.candidates.pop(data["name"])
        self.candidates[f"before-{row.seq}"] = self.live
        self.live.valued, candidate.valued, self.live = True, False, candidate

    def _import(self, row: StreamRow, data: Plain) -> None:
        body, read = self.arriving
        self.arriving = b"", None
        policy = check_import(row.body or b"", self, read if body == row.body else None)
        self.live = PolicyReplica(row.seq, policy, self.live.kind, at=row.seq, valued=False)

    def _archive(self, row: StreamRow, data: Plain) -> None:
        self.archived = True

    def _forget(self, row: StreamRow, data: Plain) -> None:
        self.words_forgotten = row.seq
        for each in (self.live, *self.candidates.values()):
            each.forget(self.secret, data["words"])

    _steps: ClassVar[Any] = {
        RowKind.ARM: _arm,
        RowKind.SETTINGS: _change,
        RowKind.CANDIDATE: _candidate,
        RowKind.PROMOTE: _promote,
        RowKind.IMPORT: _import,
        RowKind.ARCHIVE: _archive,
        RowKind.FORGET: _forget,
    }

    def _rule(self) -> None:
        """Update what derives from settings and arms."""
        self.rules = self.settings.rules(self.live.scale)
        self.active_arms = [arm for arm in self.arms if arm not in self.removed]
        self.indices = {arm: index for index, arm in enumerate(self.arms)}
        self._all_bits = bits_of([self.indices[arm] for arm in self.active_arms], len(self.arms))

    def warnings(self) -> list[str]:
        """Return warnings to whoever configured the policy."""
        cost = self.live.microseconds
        if cost < SLOW:
            return []
        return [
            f"With {len(self.active_arms)} arms and these features a decision takes about {cost / 1000:.1f} ms, during which "
            "the service answers no other request. Use fewer arms, leave features out, or give the policy a structure."
        ]

    def behind(self) -> dict[str, PolicyReplica]:
        """Return the candidates that have not read the whole stream yet."""
        return {name: each for name, each in self.candidates.items() if each.at < self.version}

    def catch_up(self, entries: Iterable[Entry]) -> None:
        """Apply rows of the stream, from any row on, to the candidates that have not read them."""
        conditions = self._conditions()
        for entry in entries:
            for candidate in self.candidates.values():
                if candidate.at == entry[0].seq - 1 and entry[0].seq <= self.version:
                    candidate.apply(entry, self.arms, conditions)

    def _conditions(self) -> Conditions:
        """Return the conditions of the policy that plays. Bets restart at the row at which it took over, so earlier updates do not count."""
        low, high = self.rules.low, self.rules.high
        return Conditions(None if low is None or high is None else (low, high), self.floors)

    # -- deciding -------------------------------------------------------------------------------------------------------

    def decide(
        self,
        id: str,
        context: Any,
        available: list[str] | None,
        baseline: str | None,
        activate: bool,
        timestamp: int,
        key: int | None = None,
        *,
        arms: Any = None,
    ) -> DecisionRow:
        """Return the decision of this version for an id, without changing anything. Raises InputError if it is impossible.

        `arms` are those that come with the request, with their features.
        """
        if takes_arms(self.open, arms, available, len(self.active_arms)):
            return self._decide_request(id, context, arms, baseline, activate, timestamp, key)
        text = self._context(context)
        indices = None if available is None else self._arms_of(available)
        settings, u = self.settings, u_of(self.secret, id)
        base = self._baseline(baseline, indices) if settings.ramp < 1.0 else None
        names = None if indices is None and not self.removed else [self.arms[k] for k in indices or self._active()]
        mixed = None
        if settings.floor > 0.0 or settings.ramp < 1.0:
            mixed = self._mixture(self._active() if indices is None else indices, base)
        decision = self.live.policy.propose(context, u=u, available=names, mixed=mixed)
        bits = self._all_bits if indices is None else bits_of(indices, len(self.arms))
        body = fingerprint(self.name, context, available, baseline, activate, text)
        return self._row(id, decision, self.indices[decision.arm], u, text, bits, base, body, timestamp, key)  # type: ignore[index]

    def _decide_request(
        self, id: str, context: Any, arms: Any, baseline: str | None, activate: bool, timestamp: int, key: int | None
    ) -> DecisionRow:
        """Return the decision for a context and the arms that came with it."""
        assert self.open is not None
        self._context(context)
        request, text = write_request(context, arms)
        settings, u, names = self.settings, u_of(self.secret, id), [str(arm) for arm in request.arms]
        base = (
            baseline_of(names, settings.baseline if baseline is None else baseline, settings.ramp)
            if settings.ramp < 1.0
            else None
        )
        mixed = mixture(np.ones(len(names)), floor=settings.floor, ramp=settings.ramp, baseline=base)
        decision = self.live.policy.propose(request, u=u, mixed=mixed)
        counts, groups = count_groups(self.open, request)
        body = self.question(context, None, baseline, activate, arms)
        index = names.index(str(decision.arm))
        return self._row(id, decision, groups[index], u, text, counts, base, body, timestamp, key)._replace(played=names[index])

    def decide_all(self, messages: Sequence[Decide], timestamp: int) -> list[DecisionRow | None]:
        """Decide on messages that name neither arms nor a baseline, as `decide` would. None for each that needs `decide` itself."""
        settings, base, mixed = self.settings, None, None
        shared = settings.ramp < 1.0
        if (
            self.removed
            or self.open is not None
            or (shared and (settings.baseline is None or settings.baseline in self.removed))
        ):
            return [None] * len(messages)
        if shared:
            base = self._baseline(None, None)
        if settings.floor > 0.0 or shared:
            mixed = self._mixture(self._active(), base)
        us = [u_of(self.secret, message.id) for message in messages]
        decisions = self.live.policy.propose_many([message.context for message in messages], u=us, mixed=mixed)
        return [
            None if decision is None else self._plain_row(message, decision, u, base, timestamp)
            for message, decision, u in zip(messages, decisions, us, strict=True)
        ]

    def _plain_row(self, message: Decide, decision: Decision, u: float, base: int | None, timestamp: int) -> DecisionRow | None:
        try:
            text = context_json(message.context)
            body = fingerprint(self.name, message.context, None, None, bool(message.activate), text)
        except (ValueError, TypeError, RecursionError):
            return None
        index = self.indices[decision.arm]  # type: ignore[index]
        return self._row(message.id, decision, index, u, text, self._all_bits, base, body, timestamp, message.key)

    def _row(
        self,
        id: str,
        decision: Decision,
        arm: int,
        u: float,
        text: str,
        bits: bytes,
        base: int | None,
        body: bytes,
        timestamp: int,
        key: int | None,
    ) -> DecisionRow:
        memo, own = (
            decision.memo,
            self.settings.ramp == 1.0,
        )  # otherwise an arm may be rarer than the proofs for the learner's own decisions allow
        return DecisionRow(
            id,
            self.id,
            self.version,
            self.live.id,
            arm,
            decision.propensity,
            u,
            bits,
            self.settings.ramp,
            base,
            text,
            memo.rounds if own else -1,
            memo.advice if own else -1.0,
            None if memo.cells is None or not own else np.asarray(memo.cells, dtype="<i8").tobytes(),
            body,
            timestamp + self.rules.wait,
            timestamp,
            key,
        )

    def question(self, context: Any, available: Any, baseline: str | None, activate: bool, arms: Any = None) -> bytes:
        """Return the fingerprint of a request, whether or not it can be answered."""
        text: str | None = self._context(context)
        if arms is not None:
            context, text = {"$request": [context, arms]}, None
        try:
            return fingerprint(self.name, context, available, baseline, activate, text)
        except (ValueError, TypeError, RecursionError):
            return b"?"  # matches no decision: no valid request has it

    def _context(self, context: Any) -> str:
        try:
            return context_json(context)
        except (ValueError, TypeError, RecursionError):
            raise InputError(f"context must be a JSON value without NaN; given {quoted(context)}.") from None

    def _active(self) -> list[int]:
        return [self.indices[arm] for arm in self.active_arms]

    def _arms_of(self, available: Any) -> list[int]:
        if not isinstance(available, list) or not available:
            raise InputError(
                f"available must be a non-empty list of arms; given {quoted(available)}. Leave it out for all arms."
            )
        for arm in available:
            if not isinstance(arm, str) or arm not in self.indices or arm in self.removed:
                raise InputError(
                    f"Unknown arm {quoted(arm)} in available. The arms are {', '.join(map(quoted, self.active_arms))}."
                )
        return sorted({self.indices[arm] for arm in available})

    def _baseline(self, baseline: Any, indices: list[int] | None) -> int:
        name = self.settings.baseline if baseline is None else baseline
        index = self.indices.get(name) if isinstance(name, str) else None
        if index is None or index not in (self._active() if indices is None else indices):
            raise InputError(
                f"With ramp {self.settings.ramp} the baseline must be one of the available arms; given {quoted(name)}. Name such an arm in the "
                "request or in the settings, or make it available."
            )
        return index

    def _mixture(self, indices: list[int], baseline: int | None) -> Any:
        """Return the mixture in the order of the learner's arms, which may differ from the service's after an import."""
        order = {arm: k for k, arm in enumerate(self.live.policy.arms)}
        available = np.zeros(len(order))
        available[[order[self.arms[index]] for index in indices]] = 1.0
        base = None if baseline is None else order[self.arms[baseline]]
        return mixture(available, floor=self.settings.floor, ramp=self.settings.ramp, baseline=base)

    # -- snapshots ------------------------------------------------------------------------------------------------------

    def digests(self) -> dict[str, str]:
        """Return the digest of the learner that plays, under the name '', and of each candidate."""
        return {name: each.policy.digest() for name, each in {"": self.live, **self.candidates}.items()}

    def frozen(self, timestamp: int, *, copied: bool = True) -> Frozen:
        """Return the state of this version for a snapshot. It is copied, so that the policy may learn while it is packed."""
        state = {
            "hsb": __version__,
            "arms": self.arms,
            "removed": sorted(self.removed),
            "first_arms": self.first_arms,
            "arm_features": self.arm_features,
            "settings": self.settings.plain(),
            "updates": self.updates,
            "not_learned": self.not_learned,
            "archived": self.archived,
            "words_forgotten": self.words_forgotten,
            "floors": self.floors.plain(),
            "learners": {name: each.about() for name, each in {"": self.live, **self.candidates}.items()},
        }
        learners = [(each.id, each.policy.copy() if copied else each.policy) for each in (self.live, *self.candidates.values())]
        return Frozen(self.id, self.version, timestamp, json.dumps(state, sort_keys=True), tuple(learners))

    @classmethod
    def restore(cls, policy: PolicyRow, rows: list[SnapshotRow]) -> "Served":
        """Restore the policy from a snapshot. Raises FileError if one of its rows is missing or damaged."""
        try:
            return cls._restore(policy, rows)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FileError(f"the snapshot of {policy.name} at row {rows[0].seq if rows else 0}: {error}") from None

    @classmethod
    def _restore(cls, policy: PolicyRow, rows: list[SnapshotRow]) -> "Served":
        served, texts, learners = cls(policy), set(), {}
        for row in rows:
            about = json.loads(row.about)
            if hashlib.blake2b(about["state"].encode() + row.body, digest_size=16).hexdigest() != about["seal"]:
                raise FileError("it is damaged.")
            texts.add(about["state"])
            learners[row.learner] = row
        (text,) = texts
        state = json.loads(text)
        replicas = {
            name: PolicyReplica.restore(it, learners[it["id"]].body, learners[it["id"]].digest)
            for name, it in state["learners"].items()
        }
        served._take_arms(state["first_arms"])
        served.arms, served.removed = state["arms"], set(state["removed"])
        served.arm_features, served.archived = state["arm_features"], state["archived"]
        served.updates = served.updates_kept = state["updates"]
        served.words_forgotten = state["words_forgotten"]
        served.not_learned, served.version = state["not_learned"], rows[0].seq
        served.settings = apply_changes(None, state["settings"], None if served.open is not None else served.arms)
        floors = state.get("floors")  # an earlier hsb did not record them
        served.floors = FloorHistory(served.version, served.settings.floor) if floors is None else FloorHistory.of(floors)
        served.live = replicas.pop("")
        served.candidates = replicas
        served._rule()
        return served


def read_file(body: bytes) -> Any:
    """Read the policy of an uploaded file, within a limit of memory. Raises FileError if it is no policy file."""
    with limited(MOST_READ / 8):
        return read_policy(body)


def check_import(body: bytes, served: Served, read: Any = None) -> Any:
    """Return the policy of a file, or `read`, the policy if it was read before. Raises InputError if its arms are not the available ones."""
    policy = read_file(body) if read is None else read
    if not same_arms(policy, served.open, served.active_arms):
        names = ", ".join(map(quoted, served.active_arms))
        fix = (
            "Add or remove arms first."
            if served.open is None
            else "With arms that come with each request both must have the same groups."
        )
        raise InputError(f"The file's arms are {', '.join(map(quoted, policy.active_arms))}; here they are {names}. {fix}")
    return policy


def created(spec: Any, parts: tuple[str, Arms, Plain, Plain, PolicySettings]) -> str:
    """Return the data of a stream's first row, from the result of `settings.checked`."""
    _, arms, features, kind, settings = parts
    return json.dumps({"arms": arms, "arm_features": features, "policy": kind, "settings": settings.plain()})


__all__ = ["Served", "check_default", "check_import", "created", "read_file"]
