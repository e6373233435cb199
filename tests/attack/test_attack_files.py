"""The long form of `tests/files/test_forged.py`: HSB_ATTACK says how many files are forged; a hundredth as many storms, a
fiftieth as many bombs."""

import os

from support.attack.bombs import bombs
from support.attack.forged import attack
from support.attack.storms import storms

COUNT = int(os.environ.get("HSB_ATTACK", "1000"))
SEED = int(os.environ.get("HSB_ATTACK_SEED", "0"))


def test_forged_files():
    found = attack(COUNT, SEED)
    print(found["found"])
    assert found["wrong"] == []
    assert found["found"]["refused"] > COUNT / 4  # else nothing was forged


def test_storms():
    assert storms(max(10, COUNT // 100), SEED) == []


def test_bombs():
    found = bombs(max(10, COUNT // 50), SEED)
    print(found)
    assert set(found) <= {"refused", "read"}
