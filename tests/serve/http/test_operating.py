"""Endpoints for operation, through a real socket."""

from support.serve.http_cases import decide


def test_health_limits_metrics_audit_entries_clock(one, name):
    assert one.get("/healthz", key=None).json["status"] == "ok" and one.get("/readyz", key=None).json["status"] == "ready"
    assert one.get("/v1/limits").json["waiting"] == 4096
    decide(one, name)
    text = one.get("/metrics").raw.decode()
    assert f'hsb_policy_version{{policy="{name}"}} 1.0' in text and "hsb_commit_seconds_count" in text
    audit_entries = one.get(f"/v1/audit?policy={name}").json["audit_entries"]
    assert audit_entries[0]["what"] == "Create" and audit_entries[0]["who"] == "first"
    assert one.post("/v1/clock/confirm").json == {"held": False}
