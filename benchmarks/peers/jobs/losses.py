"""How much an algorithm loses: at its default with each encoding, and with the best of its grid, chosen on a seed of its own.

A job has so many seconds. What does not fit is left out and said: the games come in the order of their worth.
"""

from __future__ import annotations

import time
from typing import Any

from ..base import Algorithm, Settings, Table
from ..features import encode
from ..play import Outcome, play, read

TRIAL = 50  # rounds that tell how long the others take
CHOICE = 0.3  # of the time, at most, for the choice
FIRST = 1.0  # seconds that the first game gets, whatever the hour
CHOSEN = "best of grid"


class Clock:
    """The seconds of a job."""

    def __init__(self, seconds: float) -> None:
        self.end = time.perf_counter() + seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return self.end - time.perf_counter()


def once(
    algorithm: Algorithm,
    encoding: str,
    settings: Settings,
    path: str,
    seed: int,
    rounds: int | None = None,
    seconds: float = float("inf"),
) -> Outcome:
    """One game, with a fresh player in a fresh world."""
    world = read(path)
    X = encode(world.contexts, encoding, algorithm.constant)[:rounds]
    player = algorithm.make(Table(world.arms, X.shape[1], len(X), seed), settings)
    return play(player, world, X, batch=algorithm.batch, seconds=seconds)


def choose(algorithm: Algorithm, worlds: list[dict[str, Any]], clock: Clock) -> dict[str, Any]:
    """Encodings and settings on the same rounds: on the longest world for which a part of the time suffices. `worlds` are of growing length.

    Where it does not suffice for the shortest, the last candidates are left out; the defaults come first. A world is played to its end,
    since what changes in it changes at a share of its length.
    """
    candidates = [(encoding, settings) for settings in (algorithm.default, *algorithm.grid) for encoding in algorithm.encodings]
    seconds = CHOICE * clock.left
    path, seed = worlds[0]["path"], worlds[0]["seed"]
    pace = {}
    for encoding in algorithm.encodings:
        once(algorithm, encoding, algorithm.default, path, seed, 2)  # whatever is loaded or compiled at first use
        trial = once(algorithm, encoding, algorithm.default, path, seed, TRIAL, seconds / 6)
        pace[encoding] = trial.seconds / trial.rounds
    together = sum(pace[encoding] for encoding, _ in candidates)
    world = next((world for world in reversed(worlds) if world["rounds"] * together <= seconds), worlds[0])
    path, rounds = world["path"], world["rounds"]
    tried: list[dict[str, Any]] = []
    for encoding, settings in candidates:
        if tried and pace[encoding] * rounds > clock.left - (1 - CHOICE) / CHOICE * seconds:
            continue
        one: dict[str, Any] = {"encoding": encoding, "settings": settings}
        try:
            outcome = once(algorithm, encoding, settings, path, seed, seconds=clock.left)
            tried.append(one | {"loss": outcome.loss, "rounds": outcome.rounds})
        except Exception as error:  # a setting that fails is not chosen
            tried.append(one | {"error": said(error)})
    most = max((one["rounds"] for one in tried if "rounds" in one), default=0)
    whole = [one for one in tried if one.get("rounds") == most]
    if not whole:
        raise RuntimeError(tried[0]["error"])
    best = min(whole, key=lambda one: one["loss"])
    return {
        "encoding": best["encoding"],
        "settings": best["settings"],
        "rounds": rounds,
        "tried": tried,
        "of": len(candidates),
        "pace": pace,
    }


def losses(algorithm: Algorithm, problem: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What was chosen, and every game."""
    clock = Clock(seconds)
    try:
        chosen = choose(algorithm, problem["choice"], clock)
    except Exception as error:  # whatever the library raises is the result
        told = str(error) if type(error) is RuntimeError else said(error)
        return {"chosen": None, "runs": [], "error": told, "seconds": seconds - clock.left}
    rows = {f"default, {encoding}": (encoding, algorithm.default) for encoding in algorithm.encodings}
    defaults = list(rows)
    chosen["row"] = next((name for name, row in rows.items() if row == (chosen["encoding"], chosen["settings"])), CHOSEN)
    rows[chosen["row"]] = (chosen["encoding"], chosen["settings"])
    runs: dict[tuple[str, int, int], dict[str, Any]] = {}  # by row, rounds and seed
    pace = {name: chosen["pace"][encoding] for name, (encoding, _) in rows.items()}  # seconds a round, the last that was seen
    for who, games in problem["games"]:
        names = {"chosen": [chosen["row"]], "defaults": defaults, "best default": [_best(defaults, runs)]}[who]
        for name, game in ((name, game) for name in names for game in games):  # the same for every row and library: paired
            key = (name, game["rounds"], game["seed"])
            if key in runs or (runs and pace[name] * game["rounds"] > clock.left):
                continue
            run = dict(zip(("row", "rounds", "seed"), key, strict=True))
            try:
                outcome = once(algorithm, *rows[name], game["path"], game["seed"], seconds=max(clock.left, FIRST))
            except Exception as error:  # likewise
                runs[key] = run | {"error": said(error)}
                continue
            pace[name] = outcome.seconds / outcome.rounds
            if outcome.rounds == game["rounds"]:
                runs[key] = run | outcome._asdict()
    return {"chosen": chosen, "runs": list(runs.values()), "error": None, "seconds": seconds - clock.left}


def _best(defaults: list[str], runs: dict[tuple[str, int, int], dict[str, Any]]) -> str:
    """The encoding that did best by itself in the longest games so far: the one that the longest of all are played with."""
    losses: dict[int, dict[str, list[float]]] = {}
    for (name, rounds, _), run in runs.items():
        if name in defaults and "loss" in run:
            losses.setdefault(rounds, {}).setdefault(name, []).append(run["loss"])
    if not losses:
        return defaults[0]
    longest = losses[max(losses)]
    return min(longest, key=lambda name: sum(longest[name]) / len(longest[name]))


def said(error: BaseException) -> str:
    """An error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:160]}" if text else type(error).__name__
