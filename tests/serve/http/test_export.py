"""Downloads: the journal, logs and snapshots."""

import json

from support.serve.http_cases import decide

import hsb
import hsb.logs


def test_journal_export_snapshots_state(one, name, tmp_path):
    for k in range(4):
        decision = decide(one, name, context={"age": k})
        one.post(f"/v1/decisions/{decision['id']}/reward", {"reward": k % 2})
    p = f"/v1/policies/{name}"
    lines = [json.loads(line) for line in one.get(f"{p}/journal").raw.splitlines()]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4, 5] and lines[4]["decision"]["context"] == {"age": 3}
    assert len(one.get(f"{p}/journal?after=3&limit=1").raw.splitlines()) == 1
    (tmp_path / "log.dsjson").write_bytes(one.get(f"{p}/export").raw)
    (batch,) = hsb.logs.open(tmp_path / "log.dsjson")
    assert batch.reward.tolist() == [0, 1, 0, 1]
    parquet = one.get(f"{p}/export?format=parquet")
    assert parquet.raw[:4] == b"PAR1" or "pyarrow" in parquet.json["detail"]
    assert one.get(f"{p}/export?format=csv").status == 422
    taken = one.post(f"{p}/snapshots")
    assert taken.status == 201 and one.get(f"{p}/snapshots").json["snapshots"][0]["seq"] == 5
    file = one.get(taken.headers["location"])
    (tmp_path / "home.hsb").write_bytes(file.raw)
    policy = hsb.load(tmp_path / "home.hsb")
    assert policy.digest() == file.headers["x-hsb-digest"] == one.get(f"{p}?digest=true").json["digests"][""]
    assert policy.rounds == 4 and one.get(f"{p}/snapshots/4.hsb").status == 404
    binary = {"Content-Type": "application/octet-stream"}
    assert one.ask("PUT", f"{p}/state", raw=file.raw, headers=binary).json["version"] == 6
    broken = one.ask("PUT", f"{p}/state", raw=file.raw[:-40], headers=binary)
    assert broken.status == 422 and "policy file" in broken.json["detail"]
