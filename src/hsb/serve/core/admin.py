"""Requests that change a policy: checked by trying them, then a row of its stream each, one at a time."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from ...errors import InputError, quoted
from . import snapshots
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
from .policy_state import Served, created, importable
from .rows import RowKind
from .settings import MOST_ARMS, PolicySettings, arm_name, changed, check_default, checked, checked_name

if TYPE_CHECKING:
    from .engine import Core

MOST_POLICIES = 1000
NO_REASON = "it does not take contexts such as they had."
MOST_CANDIDATES = 8
MOST_FORGOTTEN = 1000


def asked(core: Core, message: Any, now: Now) -> list[Effect]:
    """Check a change and order its row; InputError where it cannot be made."""
    if type(message) is Create:
        return _create(core, message)
    served = core.policies.get(message.policy)
    if served is None:
        return [Answer(message.request, "unknown", {"detail": f"There is no policy {quoted(message.policy)}."})]
    if type(message) is TakeSnapshot:
        return snapshots.asked(core, message, served, now)
    if served.archived and type(message) not in (Purge, Forget, ForgetWords):
        return [Answer(message.request, "gone", {"detail": f"The policy {served.name} is archived."})]
    watch = core.watches[served.id]
    if watch.busy:
        watch.queue.append(message)
        return []
    if type(message) is Purge:
        order: Order = Erase(served.id)
    elif type(message) is Forget:
        if served.behind():  # after a start they would read what is forgotten otherwise than now
            detail = "A candidate is reading the journal. Ask again when it has read all of it, or drop it."
            return [Answer(message.request, "overloaded", {"detail": detail})]
        order = BlankContexts(served.id, _decisions(message.decisions), message.learned, message.closed)
    else:
        kind, data, body = ROWS[type(message)](served, message)
        order = Append(served.id, int(kind), json.dumps(data), body)
    watch.busy = True
    return core.last_order(message, order)


def done(core: Core, request: Hashable, message: Any, outcome: Outcome, now: Now) -> list[Effect]:
    """A change is on disk and folded: the answer, and the change that waited for it."""
    if outcome.policy is not None and outcome.row is not None:
        served = Served(outcome.policy)
        served.apply((outcome.row, None))
        core.take(served, now)
    elif message.policy not in core.policies:
        return [Answer(request, "unknown", {"detail": f"There is no policy {quoted(message.policy)} any more."})]
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


def refused(core: Core, message: Any, why: str, now: Now) -> list[Effect]:
    """A change cannot be carried out after all: the answer, and the change that waited for it."""
    return [Answer(message.request, "refused", {"detail": why}), *_next(core, core.policies[message.policy], now)]


def undone(core: Core, message: Any) -> list[Effect]:
    """A change was not written, and is answered."""
    if type(message) is Create:
        core.names.discard(message.spec["name"])
    elif type(message) in (*ROWS, Purge, Forget):
        watch = core.watches[core.policies[message.policy].id]
        watch.busy = False
        why = "Another change of the policy, before this one, could not be written."
        effects: list[Effect] = [Answer(each.request, "away", {"detail": why}) for each in watch.queue]
        watch.queue.clear()
        return effects
    return []


def _next(core: Core, served: Served, now: Now) -> list[Effect]:
    """Changes that waited: up to the first that is written."""
    watch = core.watches[served.id]
    watch.busy = False
    effects: list[Effect] = []
    while watch.queue and not watch.busy:
        effects += core.handle(watch.queue.popleft(), now)
    return effects


def _create(core: Core, message: Create) -> list[Effect]:
    parts = checked(message.spec)
    name, settings = parts[0], parts[4]
    if not isinstance(message.secret, bytes) or not 16 <= len(message.secret) <= 64:
        raise InputError("A policy's secret is 16 to 64 random bytes.")
    _check_exact(settings, PolicyReplica.idle(1, parts[3], parts[1], parts[2], at=1))
    if name in core.names:
        return [Answer(message.request, "conflict", {"detail": f"There is a policy {quoted(name)} already."})]
    if len(core.names) >= MOST_POLICIES:
        raise InputError(f"There are {MOST_POLICIES} policies already, and no more can be served.")
    core.names.add(name)
    return core.last_order(message, NewPolicy(name, message.secret, created(message.spec, parts)))


def _change(served: Served, message: Change) -> tuple[RowKind, Any, bytes | None]:
    settings = changed(served.settings, message.changes, served.active_arms)
    check_default(settings, served.live.scale)
    _check_exact(settings, served.live)
    return RowKind.SETTINGS, settings.plain(), None


def _check_exact(settings: PolicySettings, learner: PolicyReplica) -> None:
    if not learner.exact and (settings.floor > 0.0 or settings.ramp < 1.0):
        raise InputError(f"{learner.type} only estimates its propensities: floor must be 0 and ramp 1.")


def _add_arm(served: Served, message: AddArm) -> tuple[RowKind, Any, bytes | None]:
    arm = arm_name(message.arm)
    if len(served.arms) >= MOST_ARMS:
        raise InputError(f"There are {MOST_ARMS} arms, removed ones among them, and no more can be added.")
    for learner in (served.live, *served.candidates.values()):
        learner.policy.copy().add_arm(arm)  # on trial
    if message.features is not None:
        served.live.policy.copy().add_arm(arm, features=message.features)
    return RowKind.ARM, {"add": arm, "features": message.features}, None


def _remove_arm(served: Served, message: RemoveArm) -> tuple[RowKind, Any, bytes | None]:
    if message.arm == served.settings.baseline:
        raise InputError(f"{quoted(message.arm)} is the baseline. Name another one first.")
    served.live.policy.copy().remove_arm(message.arm)
    return RowKind.ARM, {"remove": message.arm}, None


def _add_candidate(served: Served, message: AddCandidate) -> tuple[RowKind, Any, bytes | None]:
    name = checked_name("name", message.name)
    if name in served.candidates or name.startswith("before-"):
        raise InputError(f"{quoted(name)} is taken, or begins with 'before-', which is for those that were replaced.")
    if len(served.candidates) >= MOST_CANDIDATES:
        raise InputError(f"There are {MOST_CANDIDATES} candidates already. Drop one first.")
    if not served.live.exact:
        raise InputError(f"{served.live.type} only estimates its propensities, which say nothing of a candidate.")
    check_fits(make_policy(message.spec, served.first_arms, served.arm_features), message.trials, "The candidate")
    return RowKind.CANDIDATE, {"add": name, "policy": message.spec}, None


def _drop_candidate(served: Served, message: DropCandidate) -> tuple[RowKind, Any, bytes | None]:
    _candidate(served, message.name)
    return RowKind.CANDIDATE, {"drop": message.name}, None


def _promote(served: Served, message: Promote) -> tuple[RowKind, Any, bytes | None]:
    candidate = _candidate(served, message.name)
    if candidate.at < served.version:
        raise InputError(
            f"The candidate has read {candidate.at} of the {served.version} rows of the journal; wait for the rest."
        )
    if set(candidate.policy.active_arms) != set(served.active_arms):
        raise InputError("The candidate does not know all the arms that are available.")
    if candidate.not_learned and not candidate.policy.rounds:
        raise InputError(f"The candidate could learn none of {candidate.not_learned:,} updates: {candidate.why or NO_REASON}")
    check_fits(candidate.policy, message.trials, "The candidate", learn=False)
    _check_exact(served.settings, candidate)
    check_default(served.settings, candidate.scale)
    return RowKind.PROMOTE, {"name": message.name}, None


def _import(served: Served, message: Import) -> tuple[RowKind, Any, bytes | None]:
    policy = importable(message.body, served.active_arms, message.read)
    check_fits(policy, message.trials, "The file's policy", learn=False)
    served.arriving = message.body, policy
    _check_exact(served.settings, PolicyReplica(0, policy, {}, at=0, valued=False))
    check_default(served.settings, policy.loss_scale)
    return RowKind.IMPORT, {"bytes": len(message.body)}, message.body


def _forget_words(served: Served, message: ForgetWords) -> tuple[RowKind, Any, bytes | None]:
    if served.behind():
        raise InputError("A candidate is reading the journal. Ask again when it has read all of it, or drop it.")
    return RowKind.FORGET, {"words": sorted({hash_of(served.secret, word) for word in message.words})}, None


def _archive(served: Served, message: Archive) -> tuple[RowKind, Any, bytes | None]:
    return RowKind.ARCHIVE, {}, None


def _decisions(given: Any) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given) or len(given) > MOST_FORGOTTEN:
        raise InputError(f"decisions must be a list of at most {MOST_FORGOTTEN} ids; given {quoted(given)}.")
    return given


def _candidate(served: Served, name: Any) -> PolicyReplica:
    if name not in served.candidates:
        known = ", ".join(map(quoted, served.candidates)) or "none"
        raise InputError(f"There is no candidate {quoted(name)}; there are {known}.")
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
