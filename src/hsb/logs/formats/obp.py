"""Conversion from and to the Open Bandit Pipeline's `bandit_feedback` dictionary; and batches from decisions."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...checks import arm_list
from ...errors import InputError, quoted
from ...policy.decision import Decision
from ...types import Floats
from ..batch import Batch
from ..columns import ColumnRoles, require
from ..decided import check_decisions
from ..log import Log, check_log, each_batch
from ..row_log import RowLog
from ..rows import Meaning
from .table import Frame


def from_obp(feedback: Mapping[str, Any], *, on_error: Any = "skip", rows: int = 1 << 13) -> Log:
    """Make a log from the Open Bandit Pipeline's (OBP's) dictionary of logged feedback. All actions count as available.

    `feedback` needs n_actions, context (n, d), action, reward, and pscore or pi_b (n, actions, 1). Rows with a pscore of 0 or NaN, an action
    beyond n_actions, ... are in the log's `problems`; with `on_error="raise"` they raise `FileError`. The position is ignored: give the rows of
    one position. `rows` is the most rows of a batch.

    >>> log = from_obp({"n_rounds": 2, "n_actions": 3, "context": [[0.1], [0.2]], "action": [2, 0], "reward": [1, 0], "pscore": [0.5, 0.2]})
    >>> [batch] = log
    >>> batch.arm.tolist(), batch.propensity.tolist(), log.arms
    ([2, 0], [0.5, 0.2], [0, 1, 2])
    """
    if not isinstance(feedback, Mapping):
        raise InputError(f"from_obp needs OBP's dictionary, bandit_feedback; given {type(feedback).__name__}.")
    require(["n_actions", "context", "action", "reward"], list(feedback), "bandit_feedback")
    context, action = np.asarray(feedback["context"], dtype=np.float64), np.asarray(feedback["action"])
    if context.ndim != 2 or action.shape != (len(context),):
        raise InputError(f"context needs shape (n, d) and action (n,); given {context.shape} and {action.shape}.")
    if (probabilities := feedback.get("pscore")) is None:
        probabilities = _probabilities(feedback.get("pi_b"), action)
    names = [f"context[{j}]" for j in range(context.shape[1])]
    table = dict(zip(names, context.T, strict=True))
    table |= {"action": action, "pscore": np.asarray(probabilities), "reward": np.asarray(feedback["reward"])}
    arms = tuple(range(int(feedback["n_actions"])))
    columns = ColumnRoles(Meaning(tuple(names), arms=arms, on_error=on_error), "action", "pscore", "reward")
    return RowLog(Frame(table, columns), rows=rows)


def _probabilities(pi_b: Any, action: Any) -> Any:
    table = None if pi_b is None else np.asarray(pi_b)
    if table is None or table.ndim != 3 or len(table) != len(action) or table.shape[2] != 1:
        raise InputError("bandit_feedback needs pscore, or pi_b of shape (n, actions, 1).")
    inside = (action >= 0) & (action < table.shape[1])
    return np.where(inside, table[np.arange(len(action)), np.where(inside, action, 0), 0], np.nan)


def to_obp(log: Iterable[Batch]) -> dict[str, Any]:
    """Return a whole log as the Open Bandit Pipeline's (OBP's) dictionary, in memory. Action k is the log's arm k.

    pi_b is None unless every draw was uniform. OBP assumes that all actions are always available: any other log raises `InputError`.

    >>> batch = Batch.of(contexts=[[0.1], [0.7]], arm=[0, 1], reward=[1, 0], propensity=[0.5, 0.5], arms=["a", "b"])
    >>> feedback = to_obp([batch])
    >>> feedback["n_rounds"], feedback["n_actions"], feedback["pi_b"].shape
    (2, 2, (2, 2, 1))
    """
    check_log("to_obp", log)
    batches = [batch for batch in each_batch("to_obp", log) if len(batch)]
    if not batches:
        raise InputError("The log has no row that can be used. See log.problems.")
    m = len(batches[-1].arms)
    for batch in batches:
        if (batch.pools.sizes[np.unique(batch.pool)] < m).any():
            raise InputError(
                f"OBP assumes that all {m} actions are always available; in this log they are not. Write the log as parquet."
            )
    n = sum(map(len, batches))
    is_uniform = all(batch.is_uniform for batch in batches)
    return {
        "n_rounds": n,
        "n_actions": m,
        "context": np.concatenate([batch.contexts for batch in batches]),
        "action_context": np.eye(m),
        "action": np.concatenate([batch.arm for batch in batches]),
        "position": np.zeros(n, dtype=np.int64),
        "reward": np.concatenate([batch.reward for batch in batches]),
        "expected_reward": None,
        "pi_b": np.full((n, m, 1), 1.0 / m) if is_uniform else None,
        "pscore": np.concatenate([batch.propensity for batch in batches]),
    }


def from_decisions(decisions: Iterable[Decision], rewards: Sequence[float], *, arms: Sequence[Hashable]) -> Batch:
    """Make a `Batch` of decisions and their rewards, e.g. to write it with `hsb.logs.write`.

    `rewards` has a number for each decision; `arms` are the policy's arms. Contexts must be numbers; for dicts use `hsb.logs.decisions_table`.

    >>> import hsb
    >>> policy = hsb.Exp3(arms=["a", "b"], seed=0)
    >>> decisions = [policy.decide(0.5) for _ in range(3)]
    >>> from_decisions(decisions, [1.0, 0.0, 1.0], arms=policy.arms)
    Batch(rows=3, features=1, arms=2, pools=1)
    """
    decided, rewards = check_decisions(decisions, rewards)
    arms = arm_list(arms)
    indices = {arm: k for k, arm in enumerate(arms)}
    available = np.ones((len(decided), len(indices)), dtype=np.bool_)
    for i, decision in enumerate(decided):
        named = (decision.arm, *(decision.available or ()))
        if strange := [arm for arm in named if arm not in indices]:
            raise InputError(f"Decision {i} names the arm {quoted(strange[0])}, which is not one of arms.")
        if decision.available is not None:
            available[i] = False
            available[i, [indices[arm] for arm in decision.available]] = True
    return Batch.of(
        contexts=_contexts(decided),
        arm=[indices[decision.arm] for decision in decided],
        reward=rewards,
        propensity=[decision.propensity for decision in decided],
        arms=list(arms),
        available=available,
    )


def _contexts(decisions: Sequence[Decision]) -> Floats:
    try:
        return np.array([np.atleast_1d(np.asarray(decision.context, dtype=np.float64)) for decision in decisions])
    except (TypeError, ValueError):
        example = quoted(decisions[0].context)
        raise InputError(
            f"from_decisions takes contexts of numbers, all of one length; given e.g. {example}. "
            "For contexts with names use hsb.logs.decisions_table."
        ) from None
