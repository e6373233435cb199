"""Files: what is read back goes on bit for bit, damage is noticed, and a crash leaves the old file whole."""

import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_policy import play, state
from test_structures import EXAMPLES

import hsb
from hsb import members
from hsb.kernels import header as h

TREE = hsb.BinaryTree(depth=3)
OTHERS = ["binary", "3-ary", "lexicographic", "own", "one of"]


def again(policy: hsb.HSB, folder: Path) -> hsb.HSB:
    policy.save(folder / "policy.hsb")
    return hsb.load(folder / "policy.hsb")


def small(**how: Any) -> hsb.HSB:
    """A policy with a past: rounds learned, decisions open, an arm removed."""
    policy = hsb.HSB(TREE, **({"arms": ["a", "b", "c"], "learning_rate": 0.3, "seed": 1} | how))
    play(policy, 20)
    for _ in range(5):
        policy.decide(0.7)
    policy.remove_arm(policy.arms[1])
    return policy


def same_future(one: hsb.HSB, other: hsb.HSB, rounds: int = 40) -> None:
    """Equal now, and after both go on by themselves."""
    assert state(one) == state(other)
    assert play(one, rounds, seed=9) == play(other, rounds, seed=9)
    assert state(one) == state(other)


# -- going on --------------------------------------------------------------------------------------------------------


LAYOUTS = [(name, words) for name, s in EXAMPLES.items() for words in ((1 << 24, 0) if isinstance(s, hsb.KaryTree) else (0,))]


@pytest.mark.parametrize(("name", "dense_words"), LAYOUTS)  # trees both dense and compressed
def test_every_structure_goes_on_bit_for_bit(name, dense_words, tmp_path, monkeypatch):
    monkeypatch.setattr(members, "DENSE_WORDS", dense_words)
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
    policy._rng.integers(10, dtype=np.uint32)  # half a word stays behind
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
    for name in ("arms", "horizon", "regions", "learning_rate", "stop", "loss_range", "rounds", "clipped", "structure"):
        assert getattr(twin, name) == getattr(policy, name)
    policy.arms = twin.arms  # equal, but no longer numpy's
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
        with pytest.raises(hsb.InputError, match="learned from already"):
            twin.learn(decision, loss=0.5)
    assert twin.decide(0.1).id == policy.decide(0.1).id == 27


ARMS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda arm: st.tuples(arm) | st.tuples(arm, arm),
    max_leaves=4,
)


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
        assert archive.namelist() == ["header.json", "ledger", "sums", "0.floats", "0.ints"]
        header = json.loads(archive.read("header.json"))
        assert (header["format"], header["version"]) == ("hsb-policy", 2)


# -- damage ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    """A small file."""
    path = tmp_path_factory.mktemp("whole") / "policy.hsb"
    policy = hsb.HSB(hsb.BinaryTree(depth=40), arms=["a", "b"], learning_rate=0.3, seed=1)
    play(policy, 6)
    policy.save(path)
    return path.read_bytes()


def read(data: bytes, folder: Path) -> hsb.HSB | None:
    """The policy, or None where the file is refused as it should be."""
    path = folder / "damaged.hsb"
    path.write_bytes(data)
    try:
        return hsb.load(path)
    except hsb.FileError:
        return None


def test_every_truncation_is_refused(whole, tmp_path):
    for length in [*range(0, len(whole), 7), len(whole) - 1, len(whole) - 2]:
        assert read(whole[:length], tmp_path) is None


def test_flipped_bytes_are_refused_or_harmless(whole, tmp_path):
    """One byte or several: never another kind of error, never another policy."""
    right = state(read(whole, tmp_path))
    rng = np.random.default_rng(0)
    directory = range(whole.rindex(b"PK\x01\x02") - 200, len(whole))
    changes = [[place] for place in (*range(60), *directory, *rng.integers(len(whole), size=200).tolist()) for _ in range(2)]
    changes += [rng.integers(len(whole), size=rng.integers(2, 30)).tolist() for _ in range(200)]
    refused = 0
    for places in changes:
        data = bytearray(whole)
        for place in places:
            data[place] = rng.choice([0, 1, 255, rng.integers(256)])
        found = read(bytes(data), tmp_path)
        assert found is None or state(found) == right
        refused += found is None
    assert refused > len(changes) / 2


def archive_of(**entries: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return buffer.getvalue()


FOREIGN = {
    "empty": b"",
    "text": b"hello, this is not a policy\n" * 20,
    "pickle": pickle.dumps({"format": "hsb-policy"}),
    "npz": archive_of(**{"a.npy": b"\x93NUMPY\x01\x00"}),
    "another header": archive_of(**{"header.json": b'{"format": "other"}'}),
    "header is no json": archive_of(**{"header.json": b"\xff\xfe"}),
    "header goes very deep": archive_of(**{"header.json": b"[" * 200_000}),
    "header only": archive_of(**{"header.json": b'{"format": "hsb-policy", "version": 1}'}),
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
def test_foreign_files(data, tmp_path):
    assert read(data, tmp_path) is None


# -- forgeries -------------------------------------------------------------------------------------------------------
# The kernels check nothing, so `load` must refuse whatever would lead them out of their arrays.


def forged(policy: hsb.HSB, folder: Path, change) -> hsb.HSB | None:
    """The file of a policy after `change(header, F, I)` of its last member, with right checksums; None where it is refused."""
    policy.save(folder / "true.hsb")
    with zipfile.ZipFile(folder / "true.hsb") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(entries["header.json"])
    last = len(policy._members) - 1
    arrays = np.frombuffer(entries[f"{last}.floats"]).copy(), np.frombuffer(entries[f"{last}.ints"], dtype=np.int64).copy()
    F, I = change(header, *arrays) or arrays
    entries |= {"header.json": json.dumps(header).encode(), f"{last}.floats": F.tobytes(), f"{last}.ints": I.tobytes()}
    return read(archive_of(**entries), folder)


PCG = {"bit_generator": "PCG64", "has_uint32": 0, "uinteger": 0}
HEADERS: dict[str, list[Any]] = {
    "version": [3, 10**30, None, "1"],
    "structure": [{"structure": "Exec"}, TREE.to_dict() | {"depth": 10**18}, *(EXAMPLES[n].to_dict() for n in OTHERS)],
    "arms": [[], ["a", "b"], ["a", "b", "c", "d"], ["a", "b", "b"], ["a", "b", ["c"]], 3],
    "removed": [["a", "b", "c"], ["z"], [["a"]], None],
    "policy": ["Policy", "Exec", None, "Uniform", "Exp3"],
    "arrays": [{}, None, {"0.floats": ["f", -1]}, {"0.floats": ["O", -1], "0.ints": ["i", -1]}],
    "learning_rate": [-1.0, 0.0, 0, float("nan"), "fast", True, 10**400],
    "stop": [1.5, -0.1, "half", 0.9],  # 0.9 is not the prior in the arrays
    "loss_range": [[1, 0], [1], 5, ["a", "b"]],
    "rounds": [-1, float("inf"), "many", 0.5],
    "clipped": [-1, float("nan")],
    "issued": [-1, 10**9, "all"],
    "horizon": [0, float("nan"), "long"],
    "regions": [0, "few"],
    "generator": [{}, {"bit_generator": "default_rng"}, PCG, PCG | {"state": {"state": 2**200, "inc": 1}}, None],
}


def put(header: dict[str, Any], name: str, value: Any) -> None:
    """Change an entry of the header, or one of the policy's settings in it."""
    (header["settings"] if name in header["settings"] else header)[name] = value


@pytest.mark.parametrize("horizon", [None, 1000])
@pytest.mark.parametrize(("name", "values"), HEADERS.items(), ids=HEADERS)
def test_forged_headers(name, values, horizon, tmp_path):
    policy = small(horizon=horizon, learning_rate=0.3 if horizon is None else None)
    assert forged(policy, tmp_path, lambda header, F, I: None) is not None
    for value in values:
        assert forged(policy, tmp_path, lambda header, F, I: put(header, name, value)) is None, value  # noqa: B023


def test_the_first_format_is_still_read(tmp_path):
    policy = small()

    def older(header, F, I):
        header |= header.pop("settings") | {"version": 1, "members": 1}
        del header["policy"], header["arrays"]

    twin = forged(policy, tmp_path, older)
    assert twin is not None
    assert play(policy, 40, seed=9) == play(twin, 40, seed=9)


def test_a_newer_file_says_what_to_do(tmp_path):
    assert forged(small(), tmp_path, lambda header, F, I: header.update(version=3)) is None
    with pytest.raises(hsb.FileError, match=r"format 3.*reads up to 2.*newer hsb"):
        hsb.load(tmp_path / "damaged.hsb")


@pytest.mark.parametrize("name", ["binary", "5-ary, deep", "lexicographic", "own", "position", "arbitrary", "one of"])
def test_forged_arrays(name, tmp_path):
    policy = hsb.HSB(EXAMPLES[name], arms=2, learning_rate=0.3, seed=1)
    play(policy, 12)
    scratch = [getattr(h, "WHOLE", -1)] + [h.ROWS] * bool(policy._Is[-1][h.KIND] == h.DENSE)  # lead nowhere

    def refused(change) -> bool:
        return forged(policy, tmp_path, change) is None

    def put(array, place, value):
        array[place] = value

    assert not refused(lambda header, F, I: None)
    for place in range(h.HEADER):
        for value in {-2, 1 << 40} - {int(policy._Is[-1][place])}:
            assert refused(lambda header, F, I: put(I, place, value)) or place in scratch  # noqa: B023
    for few in (0, h.HEADER - 1, h.HEADER, -1):
        assert refused(lambda header, F, I: (F, I[:few]))  # noqa: B023
        assert refused(lambda header, F, I: (F[:few], I))  # noqa: B023
    assert refused(lambda header, F, I: (F, np.append(I, 0)))
    assert refused(lambda header, F, I: (np.append(F, 0.0), I))
    for value in (np.nan, np.inf, -np.inf):
        assert refused(lambda header, F, I: put(F, -1, value))  # noqa: B023
    if policy._Is[-1][h.KIND] == h.GRAPH:
        for place in range(policy._Is[-1][h.SPEC], len(policy._Is[-1])):
            assert refused(lambda header, F, I: put(I, place, I[place] + 1))  # noqa: B023


# name: (where in the root's link: span, five children, key; what to write there)
LINKS = {
    "a child beyond the rows": (1, 10**6),
    "a child before the rows": (1, -2),
    "the root as a child": (1, 0),
    "the same child twice": (slice(1, 6), 1),
    "a lost child": (slice(1, 6), -1),
    "a chain below the leaves": (0, 4000),
    "a chain upside down": (0, 2 + (9 << 12)),
    "a chain above the root": (0, -1),
    "digits that the tree has not": (slice(6, None), 2**62 - 1),
}


@pytest.mark.parametrize(("where", "what"), LINKS.values(), ids=LINKS)
def test_forged_links(where, what, tmp_path):
    policy = hsb.HSB(EXAMPLES["5-ary, deep"], arms=2, learning_rate=0.3, seed=1)
    play(policy, 12)

    def forge(header, F, I):
        I[I[h.LINKS] :][: I[h.LINK_STRIDE]][where] = what

    assert forged(policy, tmp_path, forge) is None


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


def test_places_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.hsb"):
        hsb.load(tmp_path / "none.hsb")
    policy = small()
    before = state(policy)
    with pytest.raises(OSError, match="nowhere"):
        policy.save(tmp_path / "nowhere" / "policy.hsb")
    with pytest.raises(OSError, match=tmp_path.name):
        policy.save(tmp_path)
    assert state(policy) == before
    assert not (tmp_path / "nowhere").exists()
    assert list(tmp_path.parent.glob(f".{tmp_path.name}.*")) == []


def test_the_file_may_be_read_by_whom_the_umask_lets(tmp_path):
    (tmp_path / "plain").touch()
    small().save(tmp_path / "policy.hsb")
    assert (tmp_path / "policy.hsb").stat().st_mode == (tmp_path / "plain").stat().st_mode
