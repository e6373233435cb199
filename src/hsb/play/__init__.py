"""Running policies: simulation on tables, learning from logs, and replay."""

from .ahead import ahead
from .learn import learn_from
from .replays import replay, replay_all
from .result import Replay
from .tables import Run, simulate

__all__ = ["Replay", "Run", "ahead", "learn_from", "replay", "replay_all", "simulate"]
