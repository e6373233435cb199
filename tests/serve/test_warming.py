"""Nothing compiles on the loop: after the exercise of a kind, a policy of it processes without compiling or loading anything."""

import os
import subprocess
import sys

import pytest
from support.serve import warmed
from support.serve.sizes import LEVEL
from support.serve.warmed import KINDS, Client

from hsb.serve.core import AddArm, AddCandidate, Create
from hsb.serve.core.messages import Import
from hsb.serve.warming import job_of, key_of

MORE = ["file", "features", "control"]


@pytest.mark.parametrize("what", ["Exp3", "control"] if LEVEL == "small" else [*KINDS, *MORE])
def test_a_policy_runs_without_compiling(what):
    """In a process of its own: whatever was compiled or loaded for another test would be there already."""
    pytest.importorskip("numba")
    env = os.environ | {"HSB_ENGINE": "numba"}  # with the native library nothing is compiled anywhere
    done = subprocess.run([sys.executable, warmed.__file__, what], capture_output=True, text=True, timeout=1200, env=env)
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_what_is_wrong_is_said_where_it_is_asked_for(tmp_path):
    client = Client(tmp_path / "hsb.db")
    wrong = [{}, {"name": "p"}, {"name": "p", "arms": 3}, {"name": "p", "arms": ["a"], "policy": 3}, [], None]
    wrong += [
        {"name": "p", "arms": ["a"], "policy": {"kind": "None such"}},
        {"name": "p", "arms": ["a"], "arm_features": {"a": 3}},
    ]
    for spec in wrong:
        assert client.ask(Create, spec, b"s" * 32).status == "refused", spec
    client.ask(Create, {"name": "p", "arms": ["a", "b"], "policy": {"kind": "Exp3"}}, b"s" * 32)
    assert client.ask(AddCandidate, "p", "c", {"kind": "None such"}).status == "refused"
    assert client.ask(AddArm, "none such", "c").status == "unknown"
    assert client.ask(Import, "p", b"nonsense").status == "refused"
    client.local.close()


def test_jobs_differ_where_their_code_may(tmp_path):
    client = Client(tmp_path / "hsb.db")
    client.ask(Create, {"name": "p", "arms": [f"a{k}" for k in range(16)], "policy": {"kind": "Exp3"}}, b"s" * 32)
    served = client.local.core.policies["p"]
    assert key_of(job_of(served)) != key_of(job_of(served, more=1)) and key_of(job_of(served)) in client.warmth.known
    assert key_of(job_of(served)) != key_of(job_of(served, {"kind": "HSB"}))
    client.local.close()
