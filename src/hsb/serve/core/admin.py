"""Changes of a policy. Each is checked by a trial, then written as one row of the policy's stream, one at a time."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from ...errors import InputError, quoted
from . import snapshots
from .arms import MOST_ARMS, arm_name
from .encoding import check_fits
from .forgetting import hash_of
from .kinds import make_policy
from .learner import PolicyReplica
from .messages import (
    AddArm,
    AddCandidate,
    Answer,
    Archive,
    Change,
    Create,
    DropCandidate,
    Effect,
    Forget,
    ForgetWords,
    Import,
    Now,
    Promote,
    Purge,
    RemoveArm,
    TakeSnapshot,
)
from .orders import Append, BlankContexts, Erase, NewPolicy, Order, Outcome
from .policy_state import Served, check_import, created
from .requests import same_arms
from .rows import RowKind
from .settings import PolicySettings, apply_changes, check_default, check_name, check_spec

if TYPE_CHECKING:
    from .engine import Core

MOST_POLICIES = 1000
NO_REASON = "it does not accept contexts such as theirs."
MOST_CANDIDATES = 8
MOST_FORGOTTEN = 1000


def order_change(core: Core, message: Any, now: Now) -> list[Effect]:
    """Check a change and order its row. Raises InputError if the change is impossible."""
    if type(message) is Create:
        return _create(core, message)
    served = core.policies.get(message.policy)
    if served is None:
        return [Answer(message.request, "unknown", {"detail": f"There is no policy {quoted(message.policy)}."})]
    if type(message) is TakeSnapshot:
        return snapshots.request_snapshot(core, message, served, now)
    if served.archived and type(message) not in (Purge, Forget, ForgetWords):
        return [Answer(message.request, "gone", {"detail": f"The policy {served.name} is archived."})]
    watch = core.watches[served.id]
    if watch.busy:
        watch.queue.append(message)
        return []
    if type(message) is Purge:
        order: Order = Erase(served.id)
    elif type(message) is Forget:
        if served.behind():  # after a restart, candidates would read the forgotten contexts differently than now
            detail = "A candidate is still reading the journal. Try again when it has finished, or delete the candidate."
            return [Answer(message.request, "overloaded", {"detail": detail})]
        order = BlankContexts(served.id, _decisions(message.decisions), message.learned, message.closed)
    else:
        kind, data, body = ROWS[type(message)](served, message)
        order = Append(served.id, int(kind), json.dumps(data), body)
    watch.busy = True
    return core.last_order(message, order)


def finish_change(core: Core, request: Hashable, message: Any, outcome: Outcome, now: Now) -> list[Effect]:
    """Answer a change that is on disk and applied, and begin the next one that waits."""
    if outcome.policy is not None and outcome.row is not None:
        served = Served(outcome.policy)
        served.apply((outcome.row, None))
        core.take(served, now)
    elif message.policy not in core.policies:
        return [Answer(request, "unknown", {"detail": f"The policy {quoted(message.policy)} no longer exists."})]
    else:
        served = core.policies[message.policy]
    body = {"policy": served.name, "version": served.version, "at": now.wall}
    if type(message) is Purge:
        waiting = core.drop(served)
        return [Answer(request, "done", body), *(effect for each in waiting for effect in core.handle(each, now))]
    if type(message) is TakeSnapshot:
        body["snapshot"] = outcome.next
    if type(message) is Forget:
        core.counts["forgotten"] += outcome.forgotten
        body |= {"forgotten": outcome.forgotten, "more": outcome.more}
    status = "created" if type(message) in (Create, AddArm, AddCandidate) else "done"
    effects: list[Effect] = [Answer(request, status, body)]
    return effects + ([] if type(message) in (Create, TakeSnapshot) else _next(core, served, now))


def refuse_change(core: Core, message: Any, why: str, now: Now) -> list[Effect]:
    """Answer a change that turned out to be impossible, and begin the next one that waits."""
    return [Answer(message.request, "refused", {"detail": why}), *_next(core, core.policies[message.policy], now)]


def cancel_change(core: Core, message: Any) -> list[Effect]:
    """Undo what a change reserved, since it was not written. Returns answers to the changes that waited for it."""
    if type(message) is Create:
        core.names.discard(message.spec["name"])
    elif type(message) in (*ROWS, Purge, Forget):
        watch = core.watches[core.policies[message.policy].id]
        watch.busy = False
        why = "An earlier change of the policy could not be written. Repeat this one."
        effects: list[Effect] = [Answer(each.request, "away", {"detail": why}) for each in watch.queue]
        watch.queue.clear()
        return effects
    return []


def _next(core: Core, served: Served, now: Now) -> list[Effect]:
    """Begin the changes that wait, up to the first that must be written."""
    watch = core.watches[served.id]
    watch.busy = False
    effects: list[Effect] = []
    while watch.queue and not watch.busy:
        effects += core.handle(watch.queue.popleft(), now)
    return effects


def _create(core: Core, message: Create) -> list[Effect]:
    parts = check_spec(message.spec)
    name, settings = parts[0], parts[4]
    if not isinstance(message.secret, bytes) or not 16 <= len(message.secret) <= 64:
        raise InputError("secret must be 16 to 64 random bytes.")
    _check_exact(settings, PolicyReplica.idle(1, parts[3], parts[1], parts[2], at=1))
    if name in core.names:
        return [
            Answer(message.request, "conflict", {"detail": f"There is already a policy {quoted(name)}. Choose another name."})
        ]
    if len(core.names) >= MOST_POLICIES:
        raise InputError(f"There are already {MOST_POLICIES} policies, the most that a service can have. Purge one first.")
    core.names.add(name)
    return core.last_order(message, NewPolicy(name, message.secret, created(message.spec, parts)))


def _change(served: Served, message: Change) -> tuple[RowKind, Any, bytes | None]:
    settings = apply_changes(served.settings, message.changes, None if served.open is not None else served.active_arms)
    check_default(settings, served.live.scale)
    _check_exact(settings, served.live)
    return RowKind.SETTINGS, settings.plain(), None


def _check_exact(settings: PolicySettings, learner: PolicyReplica) -> None:
    if not learner.exact and (settings.floor > 0.0 or settings.ramp < 1.0):
        raise InputError(f"{learner.type} only estimates its propensities. Set floor to 0 and ramp to 1.")


def _check_fixed(served: Served) -> None:
    if served.open is not None:
        raise InputError(
            "The arms of this policy come with each request: a new arm just appears there, and an old one no longer does."
        )


def _add_arm(served: Served, message: AddArm) -> tuple[RowKind, Any, bytes | None]:
    _check_fixed(served)
    arm = arm_name(message.arm)
    if len(served.arms) >= MOST_ARMS:
        raise InputError(f"There are already {MOST_ARMS} arms, including removed ones: the most that a policy can have.")
    for learner in (served.live, *served.candidates.values()):
        learner.policy.copy().add_arm(arm)  # a trial
    if message.features is not None:
        served.live.policy.copy().add_arm(arm, features=message.features)
    return RowKind.ARM, {"add": arm, "features": message.features}, None


def _remove_arm(served: Served, message: RemoveArm) -> tuple[RowKind, Any, bytes | None]:
    _check_fixed(served)
    if message.arm == served.settings.baseline:
        raise InputError(f"{quoted(message.arm)} is the baseline. Set another baseline first.")
    served.live.policy.copy().remove_arm(message.arm)
    return RowKind.ARM, {"remove": message.arm}, None


def _add_candidate(served: Served, message: AddCandidate) -> tuple[RowKind, Any, bytes | None]:
    name = check_name("name", message.name)
    if name in served.candidates or name.startswith("before-"):
        raise InputError(
            f"The name {quoted(name)} is taken, or begins with 'before-', which is reserved for replaced policies. Choose another name."
        )
    if len(served.candidates) >= MOST_CANDIDATES:
        raise InputError(f"There are already {MOST_CANDIDATES} candidates. Delete one first.")
    if not served.live.exact:
        raise InputError(
            f"{served.live.type} only estimates its propensities, and a candidate needs exact ones. Create a policy of another kind."
        )
    check_fits(make_policy(message.spec, served.first_arms, served.arm_features), message.trials, "The candidate")
    return RowKind.CANDIDATE, {"add": name, "policy": message.spec}, None


def _drop_candidate(served: Served, message: DropCandidate) -> tuple[RowKind, Any, bytes | None]:
    _candidate(served, message.name)
    return RowKind.CANDIDATE, {"drop": message.name}, None


def _promote(served: Served, message: Promote) -> tuple[RowKind, Any, bytes | None]:
    candidate = _candidate(served, message.name)
    if candidate.at < served.version:
        raise InputError(
            f"The candidate has read {candidate.at} of the {served.version} rows of the journal. Wait until it has read them all."
        )
    if not same_arms(candidate.policy, served.open, served.active_arms):
        raise InputError("The candidate's arms differ from the available arms, so it cannot play. Delete it.")
    if candidate.not_learned and not candidate.policy.rounds:
        raise InputError(f"The candidate has learned none of {candidate.not_learned:,} updates: {candidate.why or NO_REASON}")
    check_fits(candidate.policy, message.trials, "The candidate", learn=False)
    _check_exact(served.settings, candidate)
    check_default(served.settings, candidate.scale)
    return RowKind.PROMOTE, {"name": message.name}, None


def _import(served: Served, message: Import) -> tuple[RowKind, Any, bytes | None]:
    policy = check_import(message.body, served, message.read)
    check_fits(policy, message.trials, "The file's policy", learn=False)
    served.arriving = message.body, policy
    _check_exact(served.settings, PolicyReplica(0, policy, {}, at=0, valued=False))
    check_default(served.settings, policy.loss_scale)
    return RowKind.IMPORT, {"bytes": len(message.body)}, message.body


def _forget_words(served: Served, message: ForgetWords) -> tuple[RowKind, Any, bytes | None]:
    if served.behind():
        raise InputError("A candidate is still reading the journal. Try again when it has finished, or delete the candidate.")
    return RowKind.FORGET, {"words": sorted({hash_of(served.secret, word) for word in message.words})}, None


def _archive(served: Served, message: Archive) -> tuple[RowKind, Any, bytes | None]:
    return RowKind.ARCHIVE, {}, None


def _decisions(ids: Any) -> list[str]:
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids) or len(ids) > MOST_FORGOTTEN:
        raise InputError(f"decisions must be a list of at most {MOST_FORGOTTEN} ids; given {quoted(ids)}.")
    return ids


def _candidate(served: Served, name: Any) -> PolicyReplica:
    if name not in served.candidates:
        known = ", ".join(map(quoted, served.candidates)) or "none"
        raise InputError(f"There is no candidate {quoted(name)}. The candidates are: {known}.")
    return served.candidates[name]


ROWS: Any = {
    Change: _change,
    AddArm: _add_arm,
    RemoveArm: _remove_arm,
    AddCandidate: _add_candidate,
    DropCandidate: _drop_candidate,
    Promote: _promote,
    Import: _import,
    Archive: _archive,
    ForgetWords: _forget_words,
}
