"""The long form of `tests/files/test_forged.py`: HSB_ATTACK says how many files are forged; a hundredth as many storms, a
fiftieth as many bombs."""

import os

from support.attack.bombs import bombs
from support.attack.forged import attack
from support.attack.storms import storms

COUNT = int(os.environ.get("HSB_ATTACK", "1000"))
SEED = int(os.environ.get("HSB_ATTACK_SEED", "0"))


def test_forged_files():
    result = attack(COUNT, SEED)
    print(result["found"])
    assert result["wrong"] == []
    assert result["found"]["refused"] > COUNT / 4  # else nothing was forged


def test_storms():
    assert storms(max(10, COUNT // 100), SEED) == []


def test_bombs():
    result = bombs(max(10, COUNT // 50), SEED)
    print(result)
    assert set(result) <= {"refused", "read"}
