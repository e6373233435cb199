"""A policy on many rows at once: decisions, feedback, tables and logs.

Each function takes the policy first and holds its lock. Rows are learned in parts, each a transaction of its own: a learner with compiled
loops learns as many rows as it can at once, another learns them one by one, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import is_number, listed
from ..errors import InputError, quoted
from ..structures.spaces import numbers
from ..types import Floats, Ints, Masks
from .checking import check_decision
from .decision import Decision
from .decisions import Decisions
from .floor import draw, mix, share_of
from .learner import LoggedRows, Memo, Played
from .loss_range import LossScale
from .rows import losses_or_rewards
from .transaction import Rounds, settle

if TYPE_CHECKING:
    from .policy import Policy

NOW = 1 << 62  # as `Memo.rounds`: decided in the round in which it is learned


# -- decisions and feedback ------------------------------------------------------------------------------------------------


def decide_many(policy: Policy, contexts: Any, available: Any, u: Any) -> Decisions:
    """`Policy.decide_many`."""
    learner, arm_set = policy.learner, policy.arm_set
    points, clipped = learner.check(contexts)
    n = len(points)
    masks, given = _masks(policy, available, n), learner.contexts(contexts, points)
    us = policy.rng.random(n) if u is None else each_u(u, n)
    arms, probabilities, advice = decide_rows(policy, points, masks, us)
    cells = learner.cells_of_rows(points)
    policy.clipped += clipped
    policy.ledger.feedback.decisions.update(map(arm_set.arms.__getitem__, arms.tolist()))
    made = []
    for t, (arm, probability, share) in enumerate(zip(arms.tolist(), probabilities.tolist(), advice.tolist(), strict=True)):
        names = None if masks is None or masks[t].all() else arm_set.names(masks[t])
        memo = Memo(policy.rounds, len(arm_set), share, None if cells is None else cells[t])
        made.append(Decision.made(policy, given[t], arm_set.arms[arm], probability, names, memo))
    return Decisions(made)


def decide_rows(policy: Policy, points: Any, masks: Masks | None, us: Floats) -> tuple[Ints, Floats, Floats]:
    """For each row of a checked table the index of the arm, its propensity, and the share of the advice on it. Changes nothing."""
    learner, n = policy.learner, len(us)
    if share_of(policy) == 0.0 and (found := learner.choose_rows(points, masks, us)) is not None:
        return found
    arms, probabilities, advice = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    for t in range(n):
        mask = None if masks is None or masks[t].all() else masks[t]
        arms[t], probabilities[t], advice[t] = draw(policy, learner.read_row(points[t]), mask, float(us[t]))
    return arms, probabilities, advice


def check_many(policy: Policy, decisions: Any, losses: Any, rewards: Any, missing: Any) -> list[tuple[Any, ...]]:
    """The rows that `Policy.learn_many` learns, all of them found fit, as arguments of `Policy._learn`."""
    name, table = losses_or_rewards("learn_many", losses, rewards)
    if not isinstance(missing, str) or missing not in ("error", "skip"):
        raise InputError(f"missing must be 'error' or 'skip', what to do with a row without feedback; given {quoted(missing)}.")
    rows, values = each_row("decisions", decisions), each_row(name, table)
    if len(rows) != len(values):
        raise InputError(f"learn_many needs one of {name} for each decision; given {len(values)} for {len(rows)}.")
    fit: list[tuple[Any, ...]] = []
    validate = policy.learner.validator()
    seen: dict[Any, int] = {}
    for t, (decision, value) in enumerate(zip(rows, values, strict=True)):
        if missing == "skip" and (value is None or (is_number(value) and value != value)):
            continue
        try:
            mask, arm, own = check_decision(policy, decision)
            first = seen.setdefault(policy.ledger.name_of(decision), t)
            if first != t:
                raise InputError(f"{quoted(decision)} is in row {first} already. Each decision counts once.")
            if value is None:
                raise InputError(f"There is none of the {name}. missing='skip' leaves such decisions open.")
            number, rewarded = policy.loss_scale.given(*((value, None) if name == "losses" else (None, value)))
            validate(decision.context)
        except InputError as error:
            raise InputError(f"Row {t}: {error} Nothing of this call was learned.") from None
        fit.append((decision, mask, arm, own, number, rewarded))
    return fit


def _masks(policy: Policy, available: Any, n: int) -> Masks | None:
    """A mask for each of n rows; None if every row pools every arm."""
    if available is None or (isinstance(available, np.ndarray) and available.ndim == 2):
        return policy.arm_set.table(available, n)
    rows = each_row("available", available)
    if len(rows) != n:
        raise InputError(f"available needs an entry for each of the {n} contexts, a list of arms or None; given {len(rows)}.")
    masks = np.ones((n, len(policy.arm_set)), dtype=np.uint8)
    for t, each in enumerate(rows):
        try:
            mask = policy.arm_set.mask(each)
        except InputError as error:
            raise InputError(f"Row {t}: {error}") from None
        if mask is not None:
            masks[t] = mask
    return masks


# -- tables and logs -------------------------------------------------------------------------------------------------------


def check(policy: Policy, contexts: Any) -> tuple[Any, int]:
    """A whole table of contexts, checked, one row each, and how many were clipped."""
    with policy.lock:
        settle(policy)
        return policy.learner.check(contexts)


def play(
    policy: Policy,
    points: Any,
    masks: Masks | None,
    losses: Floats,
    *,
    to_come: int,
    given: Floats | None = None,
    rewarded: bool = False,
) -> tuple[Ints, Floats]:
    """Decide and learn in each row of a table that `check` returned: the arms played, by index, and their propensities.

    `masks` is None if every arm is available; `losses` are scaled, a column for each arm; `to_come` is the number of rounds that follow, these
    among them. `given` are the losses, or with `rewarded` the rewards, before they were scaled: a range of losses that is found while playing
    takes in those that were met.
    """
    with policy.lock:
        settle(policy)
        if losses.shape[1] != len(policy.arm_set):
            raise InputError(
                f"The table has {losses.shape[1]} arms, the policy {len(policy.arm_set)} by now. Add arms before or after."
            )
        n, begun, drawn, scale = len(losses), policy.rounds, policy.rng.bit_generator.state, policy.loss_scale
        table = Played(points, masks, losses, np.empty(n), np.empty(n, dtype=np.int64), np.empty(n))
        try:
            policy.rng.random(out=table.us)
            while (t := policy.rounds - begun) < n:
                _play_some(policy, table, t, to_come - t)
        except BaseException:
            settle(policy)
            policy.rng.bit_generator.state = drawn
            policy.rng.random(policy.rounds - begun)  # as many as rounds were played
            raise
        finally:
            if given is not None:
                k = policy.rounds - begun
                _met(policy, scale, given[np.arange(k), table.arms[:k]], rewarded=rewarded)
        return table.arms, table.probabilities


def _play_some(policy: Policy, table: Played, t: int, to_come: int) -> None:
    """Play rows from t on: as many as the learner can at once, at least one."""
    learner = policy.learner
    share = share_of(policy)
    rows = learner.read_rows(table.points, t) if share == 0.0 or learner.bulk_floor else None
    if rows is not None:
        _step(policy, rows, learner.play, rows, table, t, share, to_come)
        return
    seen, mask = learner.read_row(table.points[t]), table.mask(t)
    table.arms[t], table.probabilities[t], advice = arm, probability, _ = draw(policy, seen, mask, float(table.us[t]))
    memo = Memo(NOW, len(policy.arm_set), advice, learner.cells(seen))
    seen = learner.prepare(seen, memo)
    _step(policy, seen, learner.learn, seen, mask, arm, float(table.losses[t, arm]), probability, memo)


def learn_rows(policy: Policy, rows: LoggedRows, probabilities: Floats, rewards: Floats) -> None:
    """Learn every row of a log, shown with these propensities; a range of losses takes in the rewards that were learned."""
    with policy.lock:
        settle(policy)
        n, begun, scale = len(rows.arm), policy.rounds, policy.loss_scale
        try:
            while (t := policy.rounds - begun) < n:
                learner = policy.learner
                some = learner.read_rows(rows.points, t) if learner.bulk_logs else None
                if some is not None:
                    _step(policy, some, learner.learn_rows, some, rows, probabilities, t)
                    continue
                seen = learner.prepare(learner.read_row(rows.points[t]), None)
                arm, loss, probability = int(rows.arm[t]), float(rows.losses[t]), float(probabilities[t])
                _step(policy, seen, learner.learn, seen, rows.mask(t), arm, loss, probability, None)
        finally:
            settle(policy)
            _met(policy, scale, rewards[: policy.rounds - begun], rewarded=True)


def replay_rows(policy: Policy, rows: LoggedRows, rewards: Floats) -> Ints:
    """Decide on every row of a log and learn where the choice is the arm that was shown: which rows it learned."""
    with policy.lock:
        settle(policy)
        begun, scale = policy.rounds, policy.loss_scale
        us = policy.rng.random(len(rows.arm))
        run = policy.learner.begin_replay(rows, us) if share_of(policy) == 0.0 else None
        learned: Any = [] if run is None else run.learned.rows
        try:
            if run is None:
                for t in range(len(us)):
                    _replay_row(policy, rows, t, float(us[t]), learned)
            else:
                while not run.over:
                    _step(policy, run, policy.learner.replay, run)
        finally:
            settle(policy)
            which = np.array(learned[: policy.rounds - begun], dtype=np.int64)
            _met(policy, scale, rewards[which], rewarded=True)
        return which


def _replay_row(policy: Policy, rows: LoggedRows, t: int, u: float, learned: list[int]) -> None:
    """Decide on row t, and learn it if the choice is the arm that was shown."""
    learner, mask = policy.learner, rows.mask(t)
    seen = learner.read_row(rows.points[t])
    arm, probability, advice = draw(policy, seen, mask, u)
    if arm == rows.arm[t]:
        memo = Memo(NOW, len(policy.arm_set), advice, learner.cells(seen))
        seen = learner.prepare(seen, memo)
        learned.append(t)
        _step(policy, seen, learner.learn, seen, mask, arm, float(rows.losses[t]), probability, memo)


def is_table(contexts: Any) -> bool:
    """Is this a table, and no context: a data frame, an array with rows, a list of dicts?"""
    if hasattr(contexts, "columns") or hasattr(contexts, "column_names"):
        return True
    if isinstance(contexts, np.ndarray):
        return contexts.ndim == 2
    return isinstance(contexts, list) and bool(contexts) and all(isinstance(each, Mapping) for each in contexts)


def table_probabilities(policy: Policy, contexts: Any, available: Any) -> Floats:
    """`Policy.probabilities` of each row of a table."""
    points, _ = policy.learner.check(contexts)
    n, mask = len(points), policy.arm_set.mask(available)
    masks = np.ones((1, len(policy.arm_set)), dtype=np.uint8) if mask is None else mask[None]
    shown = np.zeros(n, dtype=np.int64)
    return distributions(policy, LoggedRows(points, masks, shown, shown, np.zeros(n)))


def distributions(policy: Policy, rows: LoggedRows) -> Floats:
    """The probability of every arm on every row of a log, a column for each arm. Changes nothing."""
    with policy.lock:
        settle(policy)
        learner, table = policy.learner, np.empty((len(rows.pool), len(policy.arm_set)))
        if not learner.fill_rows(rows, table):
            for t in range(len(table)):
                learner.fill(learner.read_row(rows.points[t]), rows.mask(t), table[t])
        return mix(table, rows.masks[rows.pool], share_of(policy))


def _step(policy: Policy, seen: Any, learn: Callable[..., Any], *given: Any) -> None:
    """Call a method of the policy's learner that learns some rows, and finish what follows from it: one transaction."""
    try:
        policy.pending = pending = Rounds(policy.rounds, seen)
        grown = learn(*given)
        if grown is not None:
            policy.learner = grown
        pending.finish(policy, policy.learner.seen)
        policy.pending = None
    except BaseException:
        settle(policy)
        raise


def _met(policy: Policy, before: LossScale, values: Floats, *, rewarded: bool) -> None:
    """The range of losses goes on from what it was before, and takes in the losses, or rewards, of rows that were learned."""
    if len(values):
        after = before.copy()
        after.learned(values, rewarded)
        policy.loss_scale = after


# -- arguments -------------------------------------------------------------------------------------------------------------


def each_row(name: str, given: Any) -> list[Any]:
    """What has an entry for each row, as a list."""
    if isinstance(given, str | bytes | dict) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) != 1:
        raise InputError(f"{name} must have an entry for each row, in a list; given {quoted(given)}.")
    return listed(name, given, 10**9)


def each_u(u: Any, n: int) -> Floats:
    """A number in [0, 1) for each of n contexts; InputError if that is not what is given."""
    us = numbers("u", u)
    if us.shape != (n,) or not ((us >= 0.0) & (us < 1.0)).all():
        raise InputError(f"u must be {n} numbers in [0, 1), one for each context; given {quoted(u)}.")
    return us
