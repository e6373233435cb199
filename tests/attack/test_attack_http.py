"""The long form of the storm in `tests/serve/http/test_connections.py`: HSB_ATTACK says how many requests."""

import os

import pytest

pytest.importorskip("uvicorn")

from support.attack.http_storms import tried

COUNT = int(os.environ.get("HSB_ATTACK", "1000"))
SEED = int(os.environ.get("HSB_ATTACK_SEED", "0"))


def test_requests_that_nobody_sends(tmp_path):
    print(tried(tmp_path / "hsb.db", COUNT, 1 + SEED))
