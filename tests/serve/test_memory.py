"""Policies that have learned nothing, or little, take little memory."""

import subprocess
import sys

import pytest

WORK = """
import sys
from pathlib import Path
from hsb.serve.core import Create, Decide, Reward
from hsb.serve.local import Local

def taken():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

local = Local(sys.argv[1])
used = sys.argv[2] == "used"

def make(k):
    local.ask(Create(0, {"name": f"p{k}", "arms": ["a", "b"]}, bytes(16)))
    if used:
        local.ask(Decide(0, f"p{k}", f"d{k}", {"x": 0.5}))
        local.ask(Reward(0, f"d{k}", 1.0))

for k in range(3):
    make(k)
before = taken()
for k in range(3, 43):
    make(k)
print((taken() - before) / 40)
local.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize(("how", "most"), [("empty", 100_000), ("used", 500_000)])
def test_a_policy_that_has_learned_little_takes_little(tmp_path, how, most):
    result = subprocess.run(
        [sys.executable, "-c", WORK, str(tmp_path / "hsb.db"), how], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) < most
