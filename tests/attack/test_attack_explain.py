"""The long form of `tests/explain/test_explain_storms.py`: HSB_ATTACK says how many rounds of worlds, a fiftieth as many explanations."""

import os

from support.attack.explain_storms import storms

COUNT = int(os.environ.get("HSB_ATTACK", "1000"))
SEED = int(os.environ.get("HSB_ATTACK_SEED", "1"))


def test_explanations():
    assert storms(max(10, COUNT // 50), SEED) == []
