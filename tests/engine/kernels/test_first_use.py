"""A process that compiles says so, once, unless told not to; where nothing can be kept, hsb works and says what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hsb

SOURCE = Path(hsb.__file__).parent

LONG = """
import hsb
from hsb.engine.kernels import numba_engine
numba_engine.LONG = 0.0  # whatever is compiled takes longer
policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, learning_rate=0.1, seed=0)
policy.learn(policy.decide(0.3), loss=1.0)
print(policy.rounds)
"""


def ran(code: str, cache: Path, **environment: str) -> subprocess.CompletedProcess:
    """A fresh process with a cache of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "HSB", "NUMBA"))} | {
        "HSB_ENGINE": "numba"
    }
    return subprocess.run(
        [sys.executable, "-c", code],
        env=clean | {"NUMBA_CACHE_DIR": str(cache)} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_one_line_while_it_compiles_and_none_from_the_cache(tmp_path):
    first = ran(LONG, tmp_path)
    assert first.stdout == "1\n", first.stderr
    assert first.stderr.count("hsb: compiling") == 1 and "hsb warmup" in first.stderr
    assert ran(LONG, tmp_path).stderr == ""


def test_nothing_is_said_where_nobody_wants_to_hear_it(tmp_path):
    assert ran(LONG, tmp_path, HSB_QUIET="1", NUMBA_DISABLE_JIT="0").stderr == ""


def test_only_what_the_policy_needs_is_compiled(tmp_path):
    code = """
import hsb
from hsb.engine.kernels import graph, intervals, chains, rounds, tables
policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, seed=0)
policy.learn(policy.decide(0.3), loss=1.0)
print([len(f.signatures) for f in (rounds.update, tables.play, graph.visit, intervals.visit, chains.grow)])
one = [hsb.BinaryTree(depth=d) for d in (3, 4, 5)]
for n in (2, 3):
    policy = hsb.HSB(hsb.OneOf(*one[:n]), arms=2, learning_rate=0.1, seed=0)
    policy.learn(policy.decide(0.3), loss=1.0)
print(len(rounds.update.signatures))  # one more, for both
"""
    done = ran(code, tmp_path, HSB_QUIET="1")
    assert done.stdout.split("\n")[:2] == ["[1, 0, 0, 0, 0]", "2"], done.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders that cannot be written are made the POSIX way")
def test_without_a_place_for_the_cache_it_works_and_says_what_to_do(tmp_path):
    """Numba is told of no folder that can be written, as with read-only site-packages and home."""
    code = """
import os, warnings
from hsb.engine.kernels import compiled_files
compiled_files._Results._locator_classes = ()
warnings.simplefilter("always")
import hsb
policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, learning_rate=0.1, seed=0)
policy.learn(policy.decide(0.3), loss=1.0)
print(policy.rounds)
"""
    done = ran(code, tmp_path, HSB_QUIET="1")
    assert done.stdout == "1\n", done.stderr
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1


@pytest.mark.parametrize("more", [0, 18])
def test_after_a_warmup_the_default_compiles_nothing(more):
    """Whatever is asked of HSB(arms=...) later: the signatures of all kernels are those that the warmup met. Compiled code is shared here."""
    code = """
import os
import sys
import hsb, hsb.logs
from hsb.cli import warmup

def met():
    modules = [module for name, module in sys.modules.items() if name.startswith("hsb.engine.kernels.")]
    return {(module.__name__, name, str(each)) for module in modules for name, kernel in vars(module).items()
            for each in getattr(kernel, "signatures", ())}

warmup.states = lambda everything: [("no structure", hsb.HSB(arms=3, seed=0))]
warmup.warmup()
before = met()
contexts = [{"country": "ABC"[t % 3], "age": 20 + t, "member": t % 2 == 0} for t in range(40)]
more = [f"more {k}" for k in range(int(os.environ["MORE"]))]
policy = hsb.HSB(arms=["a", "b", *more], seed=0)
for context in contexts:
    policy.learn(policy.decide(context), reward=1)
    policy.learn(policy.decide(context, available=["a", "b"]), reward=0)
policy.add_arm("c")
for t in range(3):
    policy.learn(policy.decide(contexts[t]), reward=1)
policy.remove_arm("a")
policy.learn_many(policy.decide_many(contexts), rewards=[0.5] * 40)
policy.propose_many(contexts[:2], u=[0.1, 0.9])
table = {"age": [1, 2], "country": ["A", "B"], "member": [True, False], "arm": ["b", "c"], "p": [0.5, 0.5], "click": [1, 0]}
log = hsb.logs.open(table, arm="arm", propensity="p", reward="click")
hsb.learn_from(policy, log)
policy.explain()
hsb.evaluate.off_policy(policy, log)
featured = hsb.HSB(arms=["a", "b", *more], arm_features={"a": {"size": 1}, "b": {"size": 2}}, seed=0)
featured.learn(featured.decide({"age": 3}), reward=1)
featured.add_arm("c", features={"size": 1})
print(sorted(met() - before))
"""
    done = ran(code, Path(), HSB_QUIET="1", NUMBA_CACHE_DIR="", MORE=str(more))
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr
