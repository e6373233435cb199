"""A real process, killed in the middle of its work: what it said is there, and all of it follows."""

import json
import random
import signal
import subprocess
import sys

import pytest
from support.serve.sizes import size

from hsb.serve.checking import check
from hsb.serve.local import Local

KILLS = size("library kills")
WORK = """
import itertools, json, os, sys
from hsb.serve.core import Create, Decide, CoreLimits, Reward
from hsb.serve.local import Local
local = Local(sys.argv[1], limits=CoreLimits(updates=50))
if not local.core.policies:
    local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}, "floor": 0.1}, b"0123456789abcdef"))
for k in itertools.count():
    names = [f"{os.getpid()}-{k}-{j}" for j in range(1 + k % 7)]
    for answer in local.ask_all([Decide(name, "home", name, {"k": k}) for name in names]):
        print(json.dumps(["decision", answer.body["id"], answer.body["arm"], answer.body["propensity"]]), flush=True)
    for answer in local.ask_all([Reward(name, name, 1.0) for name in names[::2]]):
        print(json.dumps(["reward", answer.body["decision"], answer.status, 0]), flush=True)
"""


@pytest.mark.sized
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_killed_in_the_middle(tmp_path):
    path, rng, messages = tmp_path / "hsb.db", random.Random(0), []
    for _ in range(KILLS):
        with subprocess.Popen([sys.executable, "-c", WORK, str(path)], stdout=subprocess.PIPE, text=True) as process:
            messages += [process.stdout.readline() for _ in range(rng.randrange(11, 300))]
            process.kill()  # wherever it is by now
            messages += [line for line in process.stdout if line.endswith("]\n")]
    local = Local(path)
    assert check(local.store).sound
    arms = local.core.policies["home"].arms
    decisions = {row.id: [arms[row.arm], row.propensity] for row in local.store.decisions(1)}
    learned = {row.decision for row, _ in local.store.stream(1) if row.kind == 1}
    for what, name, *more in map(json.loads, messages):
        assert decisions[name] == more if what == "decision" else name in learned
    assert len(messages) > 10 * KILLS
    local.close()
