"""Files: what is read back goes on bit for bit, and a crash leaves the old file whole."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.policy_cases import play, state
from support.storage_cases import ARMS, TREE, small
from support.structures import EXAMPLES

import hsb
from hsb.engine.state import trees


def again(policy: hsb.HSB, folder: Path) -> hsb.HSB:
    policy.save(folder / "policy.hsb")
    return hsb.load(folder / "policy.hsb")


def same_future(one: hsb.HSB, other: hsb.HSB, rounds: int = 40) -> None:
    """Equal now, and after both go on by themselves."""
    assert state(one) == state(other)
    assert play(one, rounds, seed=9) == play(other, rounds, seed=9)
    assert state(one) == state(other)


# -- going on --------------------------------------------------------------------------------------------------------


LAYOUTS = [(name, words) for name, s in EXAMPLES.items() for words in ((1 << 24, 0) if isinstance(s, hsb.KaryTree) else (0,))]


@pytest.mark.parametrize(("name", "dense_words"), LAYOUTS)  # trees both dense and compressed
def test_every_structure_goes_on_bit_for_bit(name, dense_words, tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "DENSE_WORDS", dense_words)
    policy = hsb.HSB(EXAMPLES[name], arms=3, learning_rate=0.4, seed=3)
    same_future(policy, again(policy, tmp_path), rounds=5)  # nothing learned yet
    play(policy, 60, masks=True)
    same_future(policy, again(policy, tmp_path))


@pytest.mark.parametrize("stop", [None, 0.0])
@pytest.mark.parametrize("depth", [3, 40])
def test_weights_far_below_the_smallest_double(depth, stop, tmp_path):
    """Hidden arms and options, and decisions among arms that have no chance worth speaking of."""
    policy = hsb.HSB(hsb.BinaryTree(depth=depth), arms=3, learning_rate=1.0, stop=stop, seed=3)
    for context in (0.1, 0.6, 0.1, 0.9):
        policy.learn(hsb.Decision(context=context, arm=0, propensity=1e-3), loss=1.0)
    policy.learn(hsb.Decision(context=0.2, arm=1, propensity=1e-4), loss=1.0)
    policy.probabilities(0.1, available=[0, 1])
    twin = again(policy, tmp_path)
    assert twin.probabilities(0.1, available=[0, 1]).tolist() == policy.probabilities(0.1, available=[0, 1]).tolist()
    same_future(policy, twin)


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_every_bit_generator(kind, tmp_path):
    policy = hsb.HSB(TREE, arms=3, learning_rate=0.4, seed=np.random.Generator(getattr(np.random, kind)(5)))
    play(policy, 7)
    policy.rng.integers(10, dtype=np.uint32)  # half a word stays behind
    same_future(policy, again(policy, tmp_path))


def test_an_unknown_generator_is_refused_when_saving(tmp_path):
    class Mine(np.random.PCG64):
        pass

    policy = hsb.HSB(TREE, arms=2, learning_rate=0.4, seed=np.random.Generator(Mine(5)))
    with pytest.raises(hsb.InputError, match="generator"):
        policy.save(tmp_path / "policy.hsb")


SETTINGS = [
    {"arms": 1},
    {"arms": 2, "horizon": 1000},
    {"arms": 9, "horizon": np.int64(1000)},
    {"arms": 70, "horizon": 1e6, "regions": 5},
    {"arms": np.array([3, 5]), "horizon": 1000, "regions": np.int32(4)},
    {"arms": np.array([0.25, 0.5]), "regions": 2},
    {"arms": np.array(["a", "b"]), "stop": 0.0},
    {"arms": [np.float32(0.1), True], "stop": 0.9},
    {"arms": 3, "learning_rate": np.float64(0.25), "loss_range": (-3, 7), "stop": 0.05},
    {"arms": 3, "learning_rate": 1, "loss_range": np.array([0.0, 2.0])},
]


@pytest.mark.parametrize("depth", [3, 40])
@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_every_setting(how, depth, tmp_path):
    policy = hsb.HSB(hsb.BinaryTree(depth=depth), seed=0, **how)
    play(policy, 60)
    twin = again(policy, tmp_path)
    for name in ("arms", "loss_range", "rounds", "clipped", "structure"):
        assert getattr(twin, name) == getattr(policy, name)
    assert twin.settings() == policy.settings()
    assert twin.learner.mixture.rates.learning_rate == policy.learner.mixture.rates.learning_rate
    assert twin.learner.prior == policy.learner.prior
    policy.arm_set = twin.arm_set  # equal, but no longer numpy's
    same_future(policy, twin)


def test_arms_added_and_removed(tmp_path):
    policy = small(horizon=1000, learning_rate=None)
    policy.add_arm(("d", 4))
    policy.remove_arm("a")
    play(policy, 20)
    twin = again(policy, tmp_path)
    assert twin.active_arms == ["c", ("d", 4)]
    same_future(policy, twin)
    for each in (policy, twin):
        each.add_arm("a")
    same_future(policy, twin)


def test_the_ledger(tmp_path):
    policy = small()
    done, pending = policy.decide(0.2), policy.decide(0.4)
    policy.learn(done, loss=1.0)
    twin = again(policy, tmp_path)
    twin.learn(pending, loss=0.5)
    for decision in (done, pending):
        with pytest.raises(hsb.InputError, match="learned already"):
            twin.learn(decision, loss=0.5)
    assert twin.decide(0.1).number == policy.decide(0.1).number == 27


@settings(deadline=None, derandomize=True, max_examples=60)
@given(arms=st.lists(ARMS, min_size=1, max_size=6, unique=True), rounds=st.integers(0, 8), seed=st.integers(0, 2**70))
def test_round_trip(arms, rounds, seed, tmp_path_factory):
    policy = hsb.HSB(TREE, arms=arms, learning_rate=0.4, seed=seed)
    play(policy, rounds)
    twin = again(policy, tmp_path_factory.mktemp("round"))
    assert repr(twin.arms) == repr(policy.arms)
    same_future(policy, twin, rounds=3)


@pytest.mark.parametrize(
    "arm",
    [frozenset("a"), b"bytes", 1j, object, (1, frozenset()), np.datetime64("2020-01-01", "ns"), np.datetime64("2020-01-01")],
)
def test_arms_that_cannot_be_stored(arm, tmp_path):
    policy = hsb.HSB(TREE, arms=["a", arm], learning_rate=0.4)
    before = state(policy)
    with pytest.raises(hsb.InputError, match=r"cannot be written to a file.*Use a name"):
        policy.save(tmp_path / "policy.hsb")
    assert list(tmp_path.iterdir()) == []
    assert state(policy) == before


def test_nothing_in_a_file_is_code(tmp_path):
    small().save(tmp_path / "policy.hsb")
    with zipfile.ZipFile(tmp_path / "policy.hsb") as archive:
        assert archive.namelist() == ["header.json", "ledger", "elsewhere", "rate", "counted", "0.floats", "0.ints"]
        header = json.loads(archive.read("header.json"))
        assert (header["format"], header["version"]) == ("hsb-policy", 6)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_formats_of_before_there_were_releases_are_refused(version, tmp_path):
    """In a clear sentence, and nothing is changed."""
    path = tmp_path / "old.hsb"
    small().save(path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(entries["header.json"])
    entries["header.json"] = json.dumps(header | {"version": version}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    before = path.read_bytes()
    with pytest.raises(hsb.FileError) as refused:
        hsb.load(path)
    assert str(refused.value) == (
        f"{path}: written in format {version}; this version reads format 6. That format was never released: make a new policy."
    )
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


# -- crashes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_crash_while_writing_leaves_the_old_file(moment, failure, tmp_path, monkeypatch):
    path = tmp_path / "policy.hsb"
    policy = small()
    policy.save(path)
    old = path.read_bytes()
    play(policy, 5)

    def crash(*_):
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(os, moment, crash)
        with pytest.raises(type(failure)):
            policy.save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
    policy.save(path)
    assert state(hsb.load(path)) == state(policy)


def test_paths_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.hsb"):
        hsb.load(tmp_path / "none.hsb")
    policy = small()
    before = state(policy)
    with pytest.raises(FileNotFoundError, match=r"There is no folder for policy\.hsb. Make it first: '.*nowhere'$"):
        policy.save(tmp_path / "nowhere" / "policy.hsb")
    with pytest.raises(hsb.InputError, match=rf"{tmp_path.name}' is a folder"):
        policy.save(tmp_path)
    assert state(policy) == before
    assert not (tmp_path / "nowhere").exists()
    assert list(tmp_path.parent.glob(f".{tmp_path.name}.*")) == []


def test_the_file_may_be_read_by_whom_the_umask_lets(tmp_path):
    (tmp_path / "plain").touch()
    small().save(tmp_path / "policy.hsb")
    assert (tmp_path / "policy.hsb").stat().st_mode == (tmp_path / "plain").stat().st_mode
