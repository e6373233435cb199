"""The rows of a log that a policy has learned, kept so that models can be fitted to all of them at the end."""

from typing import Any

import numpy as np

from ..policy import Policy
from ..policy.learner import LoggedRows
from ..policy.transaction import replace, settle
from ..types import Floats, Ints

MOST_ROWS = 1 << 18
MOST_WORDS = 1 << 26  # numbers kept, and again as models read them: 512 MB each


class LoggedHistory:
    """The rows that a policy has learned from a log, if it has learned nothing else.

    Keeps nothing beyond MOST_ROWS rows or MOST_WORDS numbers: models then stay as they learned row by row.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy, self.alone = policy, policy.rounds == 0
        self.rows = 0
        self.keeps = self.alone
        self.parts: list[tuple[Any, Ints, Floats]] = []  # raw rows, arms, rewards

    def add(self, rows: LoggedRows, rewards: Floats) -> None:
        """Add rows that were just learned."""
        self.rows += len(rewards)
        if self.keeps:
            learner = self.policy.learner
            raw = learner.rows_to_fit(rows.points)
            self.keeps = raw is not None and self.rows <= min(
                MOST_ROWS, MOST_WORDS // max(raw.shape[1], learner.numbers_to_fit, 1)
            )
            if self.keeps:
                self.parts.append((raw, rows.arm.copy(), rewards.copy()))
            else:
                self.parts.clear()

    def fit(self) -> None:
        """Fit the policy's models to the rows, if it has learned nothing else. The fit is one assignment, so an interrupt changes nothing."""
        policy = self.policy
        with policy.lock:
            settle(policy)
            if not self.alone or not self.rows or policy.learner.rounds != self.rows:
                return
            if not self.keeps:
                replace(policy, learner=policy.learner.end_log())
                return
            raws, arms, rewards = zip(*self.parts, strict=True)
            raw = np.full((self.rows, raws[-1].shape[1]), np.nan)  # early rows knew fewer columns
            begin = 0
            for part in raws:
                raw[begin : begin + len(part), : part.shape[1]] = part
                begin += len(part)
            del raws
            self.parts.clear()
            losses = policy.loss_scale.scale_rows(np.concatenate(rewards)[:, None], is_reward=True)[1][:, 0]
            replace(policy, learner=policy.learner.refit_models(raw, np.concatenate(arms), losses))
