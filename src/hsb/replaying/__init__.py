"""What `hsb.replay` is made of: the result, the rounds, checkpoints; and learning from a log's own decisions."""

from .ahead import ahead
from .checkpoint import Checkpoint, Progressed
from .learning import learn_from
from .result import Replay
from .rounds import Play

__all__ = ["Checkpoint", "Play", "Progressed", "Replay", "ahead", "learn_from"]
