"""Generated examples are the same every time, and each test has a tier: see `support/tiers.py`."""

import os

import pytest
from hypothesis import settings
from support import tiers

if os.environ.get("NUMBA_BOUNDSCHECK") == "1":  # a negative index is an error in kernels
    from hsb.engine.native.lower import count_from_the_start

    count_from_the_start()

settings.register_profile("same every time", derandomize=True, deadline=None)
settings.load_profile("same every time")


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tiers.mark(items)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """A service for the tests of one file. Where uvicorn is missing, what asks for it is skipped."""
    pytest.importorskip("uvicorn")
    from support.serve.http_cases import running

    with running(tmp_path_factory.mktemp("http") / "hsb.db") as result:
        yield result


@pytest.fixture
def name(one, request):
    """A policy of that service for one test, called like it."""
    result = "".join(c if c.isalnum() else "-" for c in request.node.name)[:50]
    one.make(result)
    return result
