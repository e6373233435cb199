"""Many rows at once: decisions, feedback, tables to play, and logs.

Each function takes the policy first and holds its lock. Rows are learned in parts, and each part is a transaction. A learner with compiled
loops learns as many rows as it can at once; another learns them one by one, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import is_number, listed
from ..errors import InputError, quoted
from ..structures.spaces import numbers
from ..types import Floats, Ints, Masks
from . import requests
from .checking import check_decision
from .decision import Decision
from .decisions import Decisions
from .floor import draw, mix, uniform_share
from .learner import LoggedRows, Memo, Played
from .loss_range import LossScale
from .rows import losses_or_rewards
from .transaction import Rounds, settle

if TYPE_CHECKING:
    from .policy import Policy

NOW = 1 << 62  # as `Memo.rounds`: learned in the round in which it was decided


# -- decisions and feedback ------------------------------------------------------------------------------------------------


def decide_many(policy: Policy, contexts: Any, available: Any, u: Any) -> Decisions:
    """Make the decisions of `Policy.decide_many`."""
    learner, arm_set = policy.learner, policy.arm_set
    points, clipped = learner.check(contexts)
    n = len(points)
    if learner.takes_requests:
        requests.refuse_available(available)
        return requests.decide_many(policy, points, policy.rng.random(n) if u is None else each_u(u, n))
    masks, rows = _masks(policy, available, n), learner.contexts(contexts, points)
    us = policy.rng.random(n) if u is None else each_u(u, n)
    arms, probabilities, advice = decide_rows(policy, points, masks, us)
    cells = learner.cells_of_rows(points)
    policy.clipped += clipped
    policy.ledger.feedback.decisions.update(map(arm_set.arms.__getitem__, arms.tolist()))
    decisions = []
    for t, (arm, probability, share) in enumerate(zip(arms.tolist(), probabilities.tolist(), advice.tolist(), strict=True)):
        names = None if masks is None or masks[t].all() else arm_set.names(masks[t])
        memo = Memo(policy.rounds, len(arm_set), share, None if cells is None else cells[t])
        decisions.append(Decision.issue(policy, rows[t], arm_set.arms[arm], probability, names, memo))
    return Decisions(decisions)


def decide_rows(policy: Policy, points: Any, masks: Masks | None, us: Floats) -> tuple[Ints, Floats, Floats]:
    """Return, for each row of a checked table, the index of the arm, its propensity and its share of the advice. Changes nothing."""
    learner, n = policy.learner, len(us)
    if uniform_share(policy) == 0.0 and (choices := learner.choose_rows(points, masks, us)) is not None:
        return choices
    arms, probabilities, advice = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    for t in range(n):
        mask = None if masks is None or masks[t].all() else masks[t]
        arms[t], probabilities[t], advice[t] = draw(policy, learner.read_row(points[t]), mask, float(us[t]))
    return arms, probabilities, advice


def check_many(policy: Policy, decisions: Any, losses: Any, rewards: Any, missing: Any) -> list[tuple[Any, ...]]:
    """Check all rows of `Policy.learn_many` and return those to learn, as arguments of `transaction.learn_round`."""
    name, table = losses_or_rewards("learn_many", losses, rewards)
    if not isinstance(missing, str) or missing not in ("error", "skip"):
        raise InputError(f"missing must be 'error' or 'skip', what to do with a row without feedback; given {quoted(missing)}.")
    rows, values = each_row("decisions", decisions), each_row(name, table)
    if len(rows) != len(values):
        raise InputError(f"learn_many needs one of {name} for each decision; given {len(values)} for {len(rows)} decisions.")
    checked: list[tuple[Any, ...]] = []
    validate = policy.learner.validator()
    first_rows: dict[Any, int] = {}
    for t, (decision, value) in enumerate(zip(rows, values, strict=True)):
        if missing == "skip" and (value is None or (is_number(value) and value != value)):
            continue
        try:
            mask, arm, own = check_decision(policy, decision)
            first = first_rows.setdefault(policy.ledger.identity(decision), t)
            if first != t:
                raise InputError(f"{quoted(decision)} is in row {first} already. Each decision counts once.")
            if value is None:
                raise InputError(f"{name} has None here. missing='skip' skips such rows, to be learned later.")
            number, is_reward = policy.loss_scale.check_feedback(*((value, None) if name == "losses" else (None, value)))
            validate(decision.context)
        except InputError as error:
            raise InputError(f"Row {t}: {error} Nothing of this call was learned.") from None
        checked.append((decision, mask, arm, own, number, is_reward))
    return checked


def _masks(policy: Policy, available: Any, n: int) -> Masks | None:
    """Return a mask for each of n rows; None if every arm is available in every row."""
    if available is None or (isinstance(available, np.ndarray) and available.ndim == 2):
        return policy.arm_set.table(available, n)
    rows = each_row("available", available)
    if len(rows) != n:
        raise InputError(f"available needs an entry for each of the {n} contexts, a list of arms or None; given {len(rows)}.")
    masks = np.ones((n, len(policy.arm_set)), dtype=np.uint8)
    for t, arms in enumerate(rows):
        try:
            mask = policy.arm_set.mask(arms)
        except InputError as error:
            raise InputError(f"Row {t}: {error}") from None
        if mask is not None:
            masks[t] = mask
    return masks


# -- tables and logs -------------------------------------------------------------------------------------------------------


def check(policy: Policy, contexts: Any) -> tuple[Any, int]:
    """Check a whole table of contexts and return it, a row for each context, with the number of contexts clipped."""
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
    values: Floats | None = None,
    are_rewards: bool = False,
) -> tuple[Ints, Floats]:
    """Decide and learn in each row of a table that `check` returned; return the arms played, by index, and their propensities.

    - `masks`: the arms available in each row; None if all arms always are.
    - `losses`: scaled to [0, 1], a column for each arm.
    - `to_come`: the number of rounds that follow, including these.
    - `values`: the losses, or with `are_rewards` the rewards, before scaling. A range of losses that is inferred takes in those learned.
    """
    with policy.lock:
        settle(policy)
        if losses.shape[1] != len(policy.arm_set) and not policy.learner.takes_requests:
            raise InputError(
                f"The table has {losses.shape[1]} arms, the policy now {len(policy.arm_set)}. Add arms before or after playing a table."
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
            policy.rng.random(policy.rounds - begun)  # a number for each round played
            raise
        finally:
            if values is not None:
                k = policy.rounds - begun
                _update_range(policy, scale, values[np.arange(k), table.arms[:k]], are_rewards=are_rewards)
        return table.arms, table.probabilities


def _play_some(policy: Policy, table: Played, t: int, to_come: int) -> None:
    """Play rows from row `t` on: as many as the learner can at once, at least one."""
    learner = policy.learner
    share = uniform_share(policy)
    rows = learner.read_rows(table.points, t) if share == 0.0 or learner.bulk_floor else None
    if rows is not None:
        _step(policy, rows, learner.play, rows, table, t, share, to_come)
        return
    view, mask = learner.read_row(table.points[t]), table.mask(t)
    table.arms[t], table.probabilities[t], advice = arm, probability, _ = draw(policy, view, mask, float(table.us[t]))
    memo = Memo(NOW, len(policy.arm_set), advice, learner.cells(view))
    view = learner.prepare(view, memo)
    _step(policy, view, learner.learn, view, mask, arm, float(table.losses[t, arm]), probability, memo)


def learn_rows(policy: Policy, rows: LoggedRows, probabilities: Floats, rewards: Floats) -> None:
    """Learn every row of a log with its propensity; an inferred range of losses takes in the rewards learned."""
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
                view = learner.prepare(learner.read_row(rows.points[t]), None)
                arm, loss, probability = int(rows.arm[t]), float(rows.losses[t]), float(probabilities[t])
                _step(policy, view, learner.learn, view, rows.mask(t), arm, loss, probability, None)
        finally:
            settle(policy)
            _update_range(policy, scale, rewards[: policy.rounds - begun], are_rewards=True)


def replay_rows(policy: Policy, rows: LoggedRows, rewards: Floats) -> Ints:
    """Decide on every row of a log, learn a row if the choice is its arm, and return the rows learned."""
    with policy.lock:
        settle(policy)
        begun, scale = policy.rounds, policy.loss_scale
        us = policy.rng.random(len(rows.arm))
        run = policy.learner.begin_replay(rows, us) if uniform_share(policy) == 0.0 else None
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
            _update_range(policy, scale, rewards[which], are_rewards=True)
        return which


def _replay_row(policy: Policy, rows: LoggedRows, t: int, u: float, learned: list[int]) -> None:
    """Decide on row `t`, and learn it if the choice is its arm."""
    learner, mask = policy.learner, rows.mask(t)
    view = learner.read_row(rows.points[t])
    arm, probability, advice = draw(policy, view, mask, u)
    if arm == rows.arm[t]:
        memo = Memo(NOW, len(policy.arm_set), advice, learner.cells(view))
        view = learner.prepare(view, memo)
        learned.append(t)
        _step(policy, view, learner.learn, view, mask, arm, float(rows.losses[t]), probability, memo)


def is_table(contexts: Any) -> bool:
    """Return whether this is a table (a data frame, an array with rows, a list of dicts) and not a context."""
    if hasattr(contexts, "columns") or hasattr(contexts, "column_names"):
        return True
    if isinstance(contexts, np.ndarray):
        return contexts.ndim == 2
    return isinstance(contexts, list) and bool(contexts) and all(isinstance(context, Mapping) for context in contexts)


def table_probabilities(policy: Policy, contexts: Any, available: Any) -> Floats:
    """Return `Policy.probabilities` of each row of a table."""
    points, _ = policy.learner.check(contexts)
    n, mask = len(points), policy.arm_set.mask(available)
    masks = np.ones((1, len(policy.arm_set)), dtype=np.uint8) if mask is None else mask[None]
    zeros = np.zeros(n, dtype=np.int64)
    return distributions(policy, LoggedRows(points, masks, zeros, zeros, np.zeros(n)))


def distributions(policy: Policy, rows: LoggedRows) -> Floats:
    """Return the probability of every arm on every row of a log, a column for each arm. Changes nothing."""
    with policy.lock:
        settle(policy)
        learner, table = policy.learner, np.empty((len(rows.pool), len(policy.arm_set)))
        if not learner.fill_rows(rows, table):
            for t in range(len(table)):
                learner.fill(learner.read_row(rows.points[t]), rows.mask(t), table[t])
        return mix(table, rows.masks[rows.pool], uniform_share(policy))


def _step(policy: Policy, view: Any, learn: Callable[..., Any], *arguments: Any) -> None:
    """Call a method of the learner that learns some rows, and finish what follows: one transaction."""
    try:
        policy.pending = pending = Rounds(policy.rounds, view)
        successor = learn(*arguments)
        if successor is not None:
            policy.learner = successor
        pending.finish(policy, policy.learner.rounds)
        policy.pending = None
    except BaseException:
        settle(policy)
        raise


def _update_range(policy: Policy, before: LossScale, values: Floats, *, are_rewards: bool) -> None:
    """Set the range of losses to the one before the rows, widened for the losses, or rewards, that were learned."""
    if len(values):
        after = before.copy()
        after.take_rows(values, are_rewards)
        policy.loss_scale = after


# -- arguments -------------------------------------------------------------------------------------------------------------


def each_row(name: str, argument: Any) -> list[Any]:
    """Return an argument that has an entry for each row, as a list."""
    if isinstance(argument, str | bytes | dict) or not isinstance(argument, Iterable) or getattr(argument, "ndim", 1) != 1:
        raise InputError(f"{name} must be a list with an entry for each row; given {quoted(argument)}.")
    return listed(name, argument, 10**9)


def each_u(u: Any, n: int) -> Floats:
    """Return the argument `u` as an array of n numbers in [0, 1), one for each context; InputError if it is not."""
    us = numbers("u", u)
    if us.shape != (n,) or not ((us >= 0.0) & (us < 1.0)).all():
        raise InputError(f"u must be {n} numbers in [0, 1), one for each context; given {quoted(u)}.")
    return us
