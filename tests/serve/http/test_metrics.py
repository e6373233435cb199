"""Metrics in the text format of Prometheus, and the keys that they need."""

import pytest
from support.serve.http_cases import key, running

from hsb.serve.http import ServerSettings


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    with running(tmp_path_factory.mktemp("http") / "hsb.db") as result:
        result.make()
        result.make("other")
        yield result


def test_metrics_name_all_policies(one):
    assert one.get("/metrics", key=None).status == 401
    assert one.get("/metrics", key=key(one, "read")["key"]).status == 200
    assert one.get("/metrics", key=key(one, "read", policies=["home"])["key"]).status == 403


def test_metrics_need_a_key(one, tmp_path):
    """Also from this machine: a proxy is on it."""
    assert one.get("/metrics", key=None).status == 401 and one.get("/metrics").status == 200
    some = one.post("/v1/keys", {"name": "some", "scopes": ["read"], "policies": ["home"]}).json["key"]
    assert one.get("/metrics", key=some).status == 403
    with running(tmp_path / "hsb.db", ServerSettings(open_metrics=True)) as opened:
        assert opened.get("/metrics", key=None).status == 200 and opened.get("/v1/policies", key=None).status == 401
