"""The long form of `tests/files/test_own_files.py`: HSB_ATTACK says how many rounds of ordinary use, a fiftieth as many worlds."""

import os

import pytest
from support.own_file_cases import World, go_through

COUNT = int(os.environ.get("HSB_ATTACK", "1000"))
SEED = int(os.environ.get("HSB_ATTACK_SEED", "0"))


@pytest.mark.parametrize("seed", range(1000 * (1 + SEED), 1000 * (1 + SEED) + max(5, COUNT // 50)))
def test_any_ordinary_use(seed, tmp_path):
    assert go_through(World(seed), 200, 20, tmp_path) == 10
