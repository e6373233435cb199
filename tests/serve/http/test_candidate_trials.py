"""Policies are tried on recent contexts before they become candidates."""

import asyncio
from types import SimpleNamespace

import pytest
from support.serve import request_cases
from support.serve.core_cases import EXP3, At, make

import hsb
from hsb.serve.core import AddArm, AddCandidate, Decide, Promote, Reward
from hsb.serve.http.candidate_trials import change, check_evaluated


class Stand:
    """The part of a service that changes need; it counts its reads of the journal."""

    def __init__(self, at):
        self.at, self.core, self.reads = at, at.core, 0
        self.readers = SimpleNamespace(quick=self.read, scan=self.read)

    async def read(self, view, *arguments):
        self.reads += 1
        return view(self.at.store, *arguments)

    async def beside(self, work, *arguments):
        return work(*arguments)

    async def ask(self, kind, policy, *arguments):
        return self.at.ask(kind(0, policy, *arguments))


@pytest.fixture
def stand(tmp_path):
    local = At(tmp_path / "hsb.db")
    make(local, feedback={"learn": "on_arrival"})
    local.ask_all([Decide(k, "home", f"d{k}", {"age": k, "country": "df"[k % 2]}) for k in range(20)])
    local.ask_all([Reward(k, f"d{k}", k / 20) for k in range(20)])
    yield Stand(local)
    local.close()


def changed(stand, *arguments):
    return asyncio.run(change(stand, *arguments))


def test_other_changes_read_no_contexts(stand):
    assert changed(stand, AddArm, "home", "d").status == "created" and stand.reads == 0
    assert changed(stand, AddCandidate, "nobody", "new", EXP3).status == "unknown" and stand.reads == 0


def test_a_candidate_of_numbers_is_fitted_to_the_contexts(stand):
    before = stand.at.home.version
    with pytest.raises(hsb.InputError, match="kind"):
        changed(stand, AddCandidate, "home", "new", {"kind": "Nothing"})
    assert stand.at.home.version == before and not stand.at.home.candidates
    assert changed(stand, AddCandidate, "home", "new", {"kind": "LinUCB"}).status == "created" and stand.reads == 2
    assert "encoding" in stand.at.home.candidates["new"].kind
    assert changed(stand, AddCandidate, "home", "plain", EXP3).status == "created"
    assert stand.at.home.candidates["plain"].kind == EXP3
    assert changed(stand, Promote, "home", "plain").status == "done"


def test_an_evaluation_is_checked_beforehand(stand):
    asyncio.run(check_evaluated(stand, stand.at.home, {"same": {"arm": "a"}, "tree": EXP3}))
    with pytest.raises(hsb.InputError, match="candidates must be 1 to 20, by name; given 0"):
        asyncio.run(check_evaluated(stand, stand.at.home, {}))


def test_candidates_for_open_arms_are_tried_on_requests_with_few_arms(tmp_path, monkeypatch):
    local, tried = At(tmp_path / "hsb.db"), []
    request_cases.make(local)
    request_cases.fill(local, 20)
    stand = Stand(local)
    monkeypatch.setattr("hsb.serve.http.candidate_trials.MOST_TRIED", 30)
    monkeypatch.setattr(
        stand, "ask", lambda kind, policy, *arguments: tried.append(arguments) or Stand.ask(stand, kind, policy, *arguments)
    )
    answer = asyncio.run(change(stand, AddCandidate, "home", "careful", {"implicit": True}))
    assert answer.status == "created"
    _, spec, requests = tried[0]
    assert spec == {"implicit": True} and 1 < sum(len(each.arms) for each in requests) <= 30
    with pytest.raises(hsb.InputError, match="Add a candidate instead"):
        asyncio.run(check_evaluated(stand, local.home, {"x": {"uniform": True}}))
    local.close()
