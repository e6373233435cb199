"""What the core answers, request by request."""

import base64
import hashlib
import json
import sqlite3

import pytest
from support.serve.core_cases import EXP3, HOUR, SECOND, SECRET, At, make
from support.serve.simulated_receipts import forged, unpacked

import hsb
from hsb.files.policy_file import pack
from hsb.serve.checking import check
from hsb.serve.core import (
    Activate,
    AddArm,
    AddCandidate,
    Change,
    ConfirmClock,
    CoreLimits,
    Create,
    Decide,
    DropCandidate,
    Import,
    Now,
    Promote,
    RemoveArm,
    Reward,
    TakeSnapshot,
    Void,
)
from hsb.serve.core.apply import MOST_REWARDS, needs
from hsb.serve.core.orders import NewReward, OrderBatch
from hsb.serve.core.settings import check_spec
from hsb.serve.store.writer import commit_batch


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    yield local
    assert check(local.store).sound
    local.close()


DEADLINE = {"wait": 60, "default_reward": 0, "aggregate": "sum"}


def test_rewards_at_the_deadline(at):
    make(at, feedback=DEADLINE)
    for name in ("one", "two", "three"):
        assert at.says(Decide(0, "home", name, None)) == "created"
    assert at.says(Reward(0, "one", 0.5)) == "accepted"
    assert at.says(Reward(0, "one", 0.5)) == "duplicate"
    assert at.says(Reward(0, "one", 0.25)) == "conflict"
    assert at.says(Reward(0, "one", 0.75, "more")) == "accepted"
    assert at.says(Reward(0, "nobody", 1.0)) == "unknown"
    assert at.says(Reward(0, "one", 7.0, "big")) == "refused"
    at.later(59 * SECOND)
    assert at.home.updates == 0
    at.later(2 * SECOND)
    updates = {row.decision: (row.reward, row.defaulted) for row, _ in at.store.stream(1) if row.kind == 1}
    assert updates == {"one": (1.0, False), "two": (0.0, True), "three": (0.0, True)}
    assert at.says(Reward(0, "two", 1.0)) == "late"
    assert at.says(Reward(0, "two", 1.0)) == "late"
    assert at.says(Reward(0, "one", 0.5)) == "duplicate"


def test_rewards_on_arrival_and_none(at):
    make(at, feedback={"wait": "PT1M"})
    assert at.home.settings.learn == "on_arrival"
    at.says(Decide(0, "home", "one", None))
    at.says(Decide(0, "home", "two", None))
    assert at.says(Reward(0, "one", True)) == "learned"
    assert at.says(Reward(0, "one", True, "2")) == "late"
    at.later(61 * SECOND)
    assert at.home.updates == 1 and at.core.counts["expired"] == 1
    assert at.says(Reward(0, "two", 1.0)) == "late"


def test_shown_or_not(at):
    make(at, feedback=DEADLINE)
    for name in ("shown", "void", "forgotten", "rewarded"):
        at.says(Decide(0, "home", name, None, activate=False))
    at.later(30 * SECOND)
    assert [at.says(Activate(0, "shown")) for _ in range(2)] == ["done", "duplicate"]
    assert [at.says(Void(0, "void")) for _ in range(2)] == ["done", "duplicate"]
    assert at.says(Reward(0, "rewarded", 1.0)) == "accepted"
    assert at.says(Void(0, "rewarded")) == "conflict"
    at.later(35 * SECOND)
    assert {row.decision for row, _ in at.store.stream(1) if row.kind == 1} == {"rewarded"}
    assert at.says(Activate(0, "forgotten")) == "late"
    assert at.says(Reward(0, "void", 1.0)) == "late"
    at.later(30 * SECOND)
    assert {row.decision for row, _ in at.store.stream(1) if row.kind == 1} == {"rewarded", "shown"}


def test_the_same_id_again(at):
    make(at)
    first = at.ask(Decide(0, "home", "one", {"x": 1, "y": 2}))
    assert at.ask(Decide(0, "home", "one", {"y": 2, "x": 1})) == first._replace(status="stored")
    for other in ({"context": {"x": 2}}, {"available": ["a"]}, {"activate": False}, {"baseline": "a"}):
        assert at.says(Decide(0, "home", "one", {"x": 1, "y": 2})._replace(**other)) == "conflict"
    both = at.ask_all([Decide(1, "home", "two", None), Decide(2, "home", "two", None)])
    assert [each.status for each in both] == ["created", "stored"] and both[0].body == both[1].body


@pytest.mark.parametrize("change", [RemoveArm(0, "home", "b"), Change(0, "home", {"ramp": 0.5})])
def test_the_same_id_again_where_it_could_not_be_made_now(at, change):
    make(at)
    asked = Decide(0, "home", "one", {"x": 1}, ["a", "b"])
    first = at.ask(asked)
    at.says(change)
    assert at.ask(asked) == first._replace(status="stored")
    assert at.says(asked._replace(context={"x": 2})) == "conflict"
    refused = [at.ask(asked._replace(id="two")), at.ask(asked._replace(id="two", fresh=True))]
    assert refused[0] == refused[1] and refused[0].status == "refused" and at.core.counts["refused"] == 2
    for wrong in ({"available": object()}, {"baseline": object()}, {"context": object()}, {"available": {"a"}}):
        assert at.says(asked._replace(**wrong)) in ("refused", "conflict"), wrong
    assert at.says(Reward(0, "one", 1.0)) == "learned" and check(at.store).sound


def test_a_clock_that_jumps_closes_nothing(at):
    make(at, feedback=DEADLINE | {"wait": "PT1H"})
    at.says(Decide(0, "home", "one", None))
    at.wall += 24 * HOUR
    at.later(SECOND)
    assert at.core.clock.held and at.home.updates == 0
    at.says(Decide(0, "home", "two", None))
    assert at.says(Reward(0, "one", 1.0)) == "accepted"
    at.wall -= 24 * HOUR
    at.later(HOUR)
    assert not at.core.clock.held and at.home.updates == 2
    at.says(Decide(0, "home", "three", None))
    at.wall += 24 * HOUR
    at.later(SECOND)
    assert at.home.updates == 2
    assert at.says(ConfirmClock(0)) == "done"
    at.later(SECOND)
    assert at.home.updates == 3


def test_what_is_refused_changes_nothing(at):
    make(at)
    wide = {"name": "wide", "arms": ["a", "b"], "policy": {"kind": "Exp3", "reward_range": [0, 100]}, "floor": 0.1}
    at.says(Create(0, wide | {"feedback": {"default_reward": 50}}, SECRET))
    before = at.home.version
    for message, status in [
        (Decide(0, "home", "no such id!", None), "refused"),
        (Decide(0, "home", "x", float("nan")), "refused"),
        (Decide(0, "home", "x", None, []), "refused"),
        (Decide(0, "home", "x", None, ["z"]), "refused"),
        (Decide(0, "house", "x", None), "unknown"),
        (Decide(0, "home", "x", None, min_version=9), "behind"),
        (Reward(0, "x", float("inf")), "refused"),
        (Reward(0, "x", "much"), "refused"),
        (Create(0, {"name": "home", "arms": ["a"]}, SECRET), "conflict"),
        (Create(0, {"name": "new", "arms": ["a"], "colour": "red"}, SECRET), "refused"),
        (Create(0, {"name": "new", "arms": ["a"], "policy": {"kind": "os:system"}}, SECRET), "refused"),
        (Create(0, {"name": "new", "arms": ["a", "b"], "policy": {"kind": "CsbFtpl"}}, SECRET), "refused"),
        (Create(0, {"name": "new", "arms": ["a"]}, b""), "refused"),
        (
            Create(
                0,
                {"name": "new", "arms": ["a"], "policy": {"kind": "SExp3", "structure": {"kind": "BinaryTree", "depth": 26}}},
                SECRET,
            ),
            "refused",
        ),
        (Change(0, "home", {"ramp": 2}), "refused"),
        (Change(0, "home", {"feedback": {"default_reward": 5}}), "refused"),
        (Change(0, "home", {"feedback": {"aggregate": "sum"}}), "refused"),
        (Change(0, "home", {"baseline": "z"}), "refused"),
        (AddArm(0, "home", ""), "refused"),
        (AddArm(0, "home", "\ud800"), "refused"),
        (RemoveArm(0, "home", "z"), "refused"),
        (AddCandidate(0, "home", "x", {"kind": "Nonsense"}), "refused"),
        (AddCandidate(0, "home", "before-1", EXP3), "refused"),
        (Promote(0, "home", "x"), "refused"),
        (DropCandidate(0, "home", "x"), "refused"),
        (Import(0, "home", b"PK nonsense"), "refused"),
        (Import(0, "home", pack(hsb.Exp3(arms=["z"]))), "refused"),
        (Import(0, "wide", pack(hsb.Exp3(arms=["a", "b"]))), "refused"),  # its default reward, 50, is not in [0, 1]
        (Import(0, "wide", pack(hsb.CsbFtpl(hsb.BinaryTree(depth=2), arms=["a", "b"], reward_range=(0, 100)))), "refused"),
        (TakeSnapshot(0, "house"), "unknown"),
    ]:
        assert at.says(message) == status, message
    assert at.home.version == before and "new" not in at.core.names


def test_too_many_wait(tmp_path):
    at = At(tmp_path / "hsb.db", limits=CoreLimits(waiting=10))
    make(at)
    answers = at.ask_all([Decide(k, "home", f"d{k}", None) for k in range(15)])
    assert [each.status for each in answers] == ["overloaded"] * 5 + ["created"] * 10
    at.close()


@pytest.mark.parametrize(("orders", "commits"), [(1024, 2), (5, 4)])  # the second is the control: batches too small for all
def test_a_decision_waits_for_two_commits(orders, commits, tmp_path):
    """For the one under way, which began before it came, and for its own."""
    at = At(tmp_path / "hsb.db", limits=CoreLimits(orders=orders))
    make(at)
    core, now, answered = at.core, Now(at.wall, at.mono), []
    core.handle(Decide(0, "home", "d0", None), now)
    under_way = core.flush(now)
    for k in range(1, 16):
        assert core.handle(Decide(k, "home", f"d{k}", None), now) == core.flush(now) == []
    while under_way:
        answered.append([each.request for each in core.handle(commit_batch(at.store, under_way[0].batch), now)])
        under_way = core.flush(now)
    assert answered[0] == [0] and [each for some in answered for each in some] == list(range(16)) and len(answered) == commits
    at.close()


def test_specs():
    name, arms, _, kind, settings = check_spec(
        {"name": "home", "arms": ["a"], "feedback": {"wait": "P1DT1H", "default_reward": 0}}
    )
    assert (name, arms, kind) == ("home", ["a"], {"kind": "HSB"})
    assert (settings.wait, settings.learn, settings.aggregate) == (90_000.0, "at_deadline", "first")
    for wrong in ("P", "PT", "1H", "PT1X", -1, 0, 10**9, None, True, "PT9999999999999999999999999999999999999H"):
        with pytest.raises(hsb.InputError, match=r"feedback\.wait"):
            check_spec({"name": "home", "arms": ["a"], "feedback": {"wait": wrong}})


def test_a_context_that_holds_itself(at):
    make(at)
    round_and_round = []
    round_and_round.append(round_and_round)
    assert at.says(Decide(0, "home", "x", round_and_round)) == "refused"
    assert at.says(Decide(0, "home", "x", {(1, 2): 3})) == "refused"


def another_row(path, kind, data=None):
    """Append a row to the stream of the first policy as another process would."""
    with sqlite3.connect(path, isolation_level=None) as other:
        (head,) = other.execute("SELECT head FROM policy WHERE id = 1").fetchone()
        other.execute("INSERT INTO stream VALUES (1, ?, ?, NULL, NULL, 0, ?, NULL, 0)", (head + 1, kind, data))
        other.execute("UPDATE policy SET head = ? WHERE id = 1", (head + 1,))
    other.close()


def test_what_goes_wrong_in_the_fold_answers_everyone_and_ends_the_process(tmp_path):
    at = At(tmp_path / "hsb.db")
    make(at)
    at.says(Decide(0, "home", "one", None))
    at.says(Decide(0, "home", "two", None))
    another_row(tmp_path / "hsb.db", 4, '{"floor": 0.1}')
    asked = [Reward(1, "one", 1.0), Decide(2, "home", "three", None), Change(3, "home", {"floor": 0.2}), Reward(4, "two", 1.0)]
    answers = at.ask_all([*asked, Change(5, "home", {"floor": 0.3})])
    assert sorted((answer.request, answer.status) for answer in answers) == [(k, "away") for k in range(1, 6)]
    assert at.stopped.code == 70 and "rows are missing" in at.stopped.why and "policy_state.py" in at.stopped.why
    assert at.says(Decide(6, "home", "four", None)) == "away"
    at.close()
    again = At(tmp_path / "hsb.db")
    assert again.home.version == 5 and again.says(Reward(0, "one", 1.0)) == "duplicate"  # it was on disk
    again.close()


def of_another_version(receipt, secret):
    """As an hsb would have made it whose decisions had one word less."""
    body = json.loads(unpacked(receipt))
    raw = json.dumps([*body[:13], *body[14:]]).encode()
    text = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    seal = hashlib.blake2b(raw, key=secret, digest_size=16, person=b"hsb receipt").digest()
    return f"hsb1.{text}.{base64.urlsafe_b64encode(seal).decode().rstrip('=')}"


def test_a_receipt_that_cannot_be_read_matters_only_where_the_decision_is_lost(at):
    make(at, feedback=DEADLINE)
    receipt = at.ask(Decide(0, "home", "one", None, receipt=True)).body["receipt"]
    older = of_another_version(receipt, SECRET)
    for k, unreadable in enumerate((older, "hsb2.abc.def", "hsb1.", "what?")):
        assert at.says(Reward(0, "one", 0.25, str(k), receipt=unreadable)) == "accepted"
        lost = at.ask(Reward(0, "lost", 0.25, receipt=unreadable))
        assert lost.status == "refused" and "receipt must be what came with the decision" in lost.body["detail"]
    assert at.says(Reward(0, "one", 0.5, "f", receipt=forged(receipt))) == "refused"
    assert at.says(Reward(0, "one", 0.5, "r", receipt=receipt)) == "accepted"


@pytest.mark.parametrize("feedback", [{"learn": "on_arrival"}, DEADLINE])
def test_a_decision_takes_so_many_rewards_and_no_more(at, feedback):
    make(at, feedback=feedback)
    at.says(Decide(0, "home", "one", None))
    answers = at.ask_all([Reward(k, "one", 0.001, f"r{k}") for k in range(MOST_REWARDS + 5)])
    answers.sort(key=lambda answer: answer.request)
    assert {answer.status for answer in answers[MOST_REWARDS:]} == {"refused"}
    assert "1000 rewards" in answers[-1].body["detail"]
    assert "refused" not in {answer.status for answer in answers[:MOST_REWARDS]}
    again = "late" if feedback is not DEADLINE else "duplicate"
    assert at.says(Reward(0, "one", 0.001, "r999")) == again and at.says(Reward(0, "one", 0.002, "r7")) == "conflict"
    assert at.says(Reward(0, "one", 0.001, "more")) == "refused" and at.says(Void(0, "one")) in ("late", "conflict")
    at.later(61 * SECOND)
    (row,) = [row for row, _ in at.store.stream(1) if row.kind == 1]
    assert row.reward == pytest.approx(1.0 if feedback is DEADLINE else 0.001)


def test_a_reward_of_a_closed_decision_loads_no_others(at):
    make(at)
    at.says(Decide(0, "home", "one", None))
    at.ask_all([Reward(k, "one", 0.5, f"r{k}") for k in range(900)])
    order = NewReward("one", "r5", 0.5, None)
    facts = at.store.facts(needs(OrderBatch(1, at.wall, [order], at.core.rules)))
    assert facts.decisions["one"].count == 900 and list(facts.decisions["one"].rewards) == ["r5"]
