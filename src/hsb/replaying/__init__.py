"""What `hsb.replay` is made of: the result, the rounds, checkpoints; and learning from a log's own decisions."""

from .checkpoint import Checkpoint, Progressed
from .learning import learn_from
from .result import Replay
from .rounds import Play

__all__ = ["Checkpoint", "Play", "Progressed", "Replay", "learn_from"]
