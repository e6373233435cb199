"""Whatever ordinary use leads to, it can be explained; `make test-attack` tries more of it."""

import pytest
from support.attack.explain_storms import storm


@pytest.mark.parametrize("seed", range(6))
def test_any_ordinary_use_can_be_explained(seed: int) -> None:
    assert storm(seed, 80) == "told"
