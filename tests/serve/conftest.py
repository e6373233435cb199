"""A service for the tests of one file, and a policy for each test of it. Where uvicorn is missing, what asks for them is skipped."""

import pytest


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    pytest.importorskip("uvicorn")
    from support.serve.http_cases import running

    with running(tmp_path_factory.mktemp("http") / "hsb.db") as found:
        yield found


@pytest.fixture
def name(one, request):
    found = "".join(c if c.isalnum() else "-" for c in request.node.name)[:50]
    one.make(found)
    return found
