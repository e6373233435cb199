"""Requests with an Idempotency-Key count once, through a real socket."""

import threading


def keyed(name):
    return {"headers": {"Idempotency-Key": name}}


def test_a_request_that_is_sent_again_counts_once(one):
    body = {"name": "once", "arms": ["a"]}
    first = one.post("/v1/policies", body, **keyed("k1"))
    again = one.post("/v1/policies", body, **keyed('"k1"'))
    assert first.status == again.status == 201 and first.raw == again.raw and again.headers["idempotent-replayed"] == "true"
    assert again.headers["location"] == "/v1/policies/once" and "idempotent-replayed" not in first.headers
    assert one.post("/v1/policies", body).status == 409
    other = one.post("/v1/policies", body | {"arms": ["b"]}, **keyed("k1"))
    assert other.status == 422 and other.json["type"] == "/problems/idempotency-key"
    assert one.post("/v1/policies/once/snapshots", **keyed("k1")).status == 422
    for wrong in ("", "a b", "x" * 256):
        assert one.post("/v1/policies", body, **keyed(wrong)).status == 422


def test_a_key_is_shown_once(one):
    before = len(one.get("/v1/keys").json["keys"])
    results = [one.post("/v1/keys", {"name": "robot", "scopes": ["read"]}, **keyed("k2")).json for _ in range(3)]
    assert results[0]["key"].startswith("hsb_") and results[1]["key"] is None and results[1]["id"] == results[0]["id"]
    assert len(one.get("/v1/keys").json["keys"]) == before + 1
    assert results[0]["key"].encode() not in one.service.path.read_bytes()
    other = one.post("/v1/keys", {"name": "admin", "scopes": ["admin"]}).json["key"]
    theirs = one.post("/v1/keys", {"name": "robot", "scopes": ["read"]}, key=other, **keyed("k2"))
    assert theirs.status == 201 and theirs.json["key"] and theirs.json["id"] != results[0]["id"]  # another's name for a request


def test_what_failed_may_be_tried_again(one, name):
    wrong = one.post("/v1/policies", {"name": name, "arms": ["a"]}, **keyed("k3"))
    assert wrong.status == 409
    assert one.post("/v1/policies", {"name": f"{name}-2", "arms": ["a"]}, **keyed("k3")).status == 201


def test_a_request_that_was_cut_off_is_not_carried_out_again(one, name):
    reply = one.post(f"/v1/policies/{name}/snapshots", **keyed("k4"))
    assert reply.status == 201
    one.service.writer.also(
        lambda store: store.connection.execute("UPDATE once SET status = NULL WHERE name = 'k4'"), lambda *_: None
    )
    response = one.post(f"/v1/policies/{name}/snapshots", **keyed("k4"))
    assert response.status == 409 and response.json["type"] == "/problems/not-known"
    one.service.under_way.add((1, "k4"))
    response = one.post(f"/v1/policies/{name}/snapshots", **keyed("k4"))
    one.service.under_way.clear()
    assert response.status == 409 and response.json["type"] == "/problems/under-way" and response.headers["retry-after"] == "1"
    one.service.writer.also(lambda store: store.connection.execute("UPDATE once SET at = 0 WHERE name = 'k4'"), lambda *_: None)
    assert one.post(f"/v1/policies/{name}/snapshots", **keyed("k4")).status == 201  # a day later


def test_many_at_once(one):
    answers = []
    body = {"name": "rush", "arms": ["a"]}
    some = [threading.Thread(target=lambda: answers.append(one.post("/v1/policies", body, **keyed("k5")))) for _ in range(8)]
    for each in some:
        each.start()
    for each in some:
        each.join()
    assert {each.status for each in answers} <= {201, 409} and sum(each.status == 201 for each in answers) >= 1
    assert one.post("/v1/policies", body, **keyed("k5")).status == 201
