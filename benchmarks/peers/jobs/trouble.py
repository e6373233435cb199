"""What happens when something is wrong: NaN, an arm that nobody knows, feedback that comes late."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import Algorithm, Player, Table
from ..features import encode
from ..play import play, read
from .losses import said

BEFORE, AFTER = 120, 400  # rounds before and after the accident
GOOD = 1  # the arm that never loses, after it


def trouble(algorithm: Algorithm, item: dict[str, Any], seconds: float) -> dict[str, Any]:
    """A sentence for each kind of trouble."""
    encoding = algorithm.encodings[-1]
    world = read(item["path"])
    X = encode(world.contexts, encoding, algorithm.constant)

    def fresh() -> Player:
        player = algorithm.make(Table(world.arms, X.shape[1], len(X), 1), algorithm.default)
        rows = player.prepare(X)
        for t in range(BEFORE):
            one = player.decide(rows[t])
            player.learn(rows[t], one, float(one.arm != t % world.arms))
        return player

    nan_row = np.full((1, X.shape[1]), np.nan)
    row = X[BEFORE : BEFORE + 1]
    control = _after(fresh(), X)

    def nan_context(player: Player) -> None:
        x = player.prepare(nan_row)[0]
        player.learn(x, player.decide(x), 1.0)

    def nan_loss(player: Player) -> None:
        x = player.prepare(row)[0]
        player.learn(x, player.decide(x), float("nan"))

    def unknown_arm(player: Player) -> None:
        x = player.prepare(row)[0]
        player.learn(x, player.decide(x)._replace(arm=world.arms), 0.0)

    return {
        "encoding": encoding,
        "NaN context": _accident(fresh(), X, nan_context, control) if X.shape[1] else "there are no contexts",
        "NaN loss": _accident(fresh(), X, nan_loss, control),
        "unknown arm": _accident(fresh(), X, unknown_arm, control),
        "propensity": _propensity(fresh(), fresh(), X),
        "late": _late(algorithm, item, encoding, seconds / 2),
    }


def _accident(player: Player, X: Any, accident: Any, control: float) -> str:
    try:
        accident(player)
    except Exception as error:  # a refusal is what we look for, of whatever kind
        refused = said(error)
        try:
            share = _after(player, X)
        except Exception as broken:  # likewise
            return f"refused ({refused}), and then broken: {said(broken)}"
        return f"refused ({refused})" + ("" if share > control / 2 else ", but it no longer learns")
    try:
        share = _after(player, X)
    except Exception as broken:  # likewise
        return f"accepted, and then broken: {said(broken)}"
    return "accepted without a word, and learns on" if share > control / 2 else "accepted without a word; it no longer learns"


def _after(player: Player, X: Any) -> float:
    """The share of the good arm in the last quarter of the rounds after the accident."""
    rows = player.prepare(X)
    arms = []
    for t in range(BEFORE + 1, BEFORE + 1 + AFTER):
        one = player.decide(rows[t])
        arms.append(one.arm)
        player.learn(rows[t], one, float(one.arm != GOOD))
    return float(np.mean(np.array(arms[-AFTER // 4 :]) == GOOD))


def _propensity(one: Player, other: Player, X: Any) -> str:
    """Two equal players learn the same decisions, one told that those that lost had been improbable. Do they differ soon?"""
    rows = one.prepare(X), other.prepare(X)
    first = None
    for t in range(BEFORE, BEFORE + 100):
        a, b = one.decide(rows[0][t]), other.decide(rows[1][t])
        if a.propensity is None or b.propensity is None:
            return "tells none"
        if a.arm != b.arm or abs(a.propensity - b.propensity) > 1e-9:
            return "learns with the decision's own" if t > BEFORE else "two players with one seed differ"
        first = a.arm if first is None else first
        loss = float(a.arm == first and t % 2 == 0)
        one.learn(rows[0][t], a._replace(propensity=0.9), loss)
        other.learn(rows[1][t], b._replace(propensity=0.02 if loss else 0.9), loss)
    return "tells one, learns without it"


def _late(algorithm: Algorithm, item: dict[str, Any], encoding: str, seconds: float) -> Any:
    """The average loss over the same rounds, with feedback at once and late."""
    found = []
    rounds = item["rounds"]
    for delay in (0, rounds // 10):
        world = read(item["path"])
        X = encode(world.contexts, encoding, algorithm.constant)[:rounds]
        player = algorithm.make(Table(world.arms, X.shape[1], len(X), 1), algorithm.default)
        try:
            outcome = play(player, world, X, delay=delay, seconds=seconds)
        except Exception as error:  # whatever the library raises is the result
            return said(error)
        found.append(outcome.loss)
        rounds = min(rounds, outcome.rounds)
    return found
