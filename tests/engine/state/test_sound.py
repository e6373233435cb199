"""Files that are damaged, foreign or forged: `load` refuses whatever would lead the kernels out of their arrays."""

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.forgery_cases import read
from support.policy_cases import play, state
from support.storage_cases import TREE, small
from support.structures import EXAMPLES

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import graph as graph_words
from hsb.engine.kernels.words import tree as tree_words

OTHERS = ["binary", "3-ary", "lexicographic", "own", "one of"]


# -- damage ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    """A small file."""
    path = tmp_path_factory.mktemp("whole") / "policy.hsb"
    policy = hsb.HSB(hsb.BinaryTree(depth=40), arms=["a", "b"], learning_rate=0.3, seed=1)
    play(policy, 6)
    policy.save(path)
    return path.read_bytes()


def test_every_truncation_is_refused(whole, tmp_path):
    for length in [*range(0, len(whole), 7), len(whole) - 1, len(whole) - 2]:
        assert read(whole[:length], tmp_path) is None


def test_flipped_bytes_are_refused_or_harmless(whole, tmp_path):
    """One byte or several: never another kind of error, never another policy."""
    right = state(read(whole, tmp_path))
    rng = np.random.default_rng(0)
    directory = range(whole.rindex(b"PK\x01\x02") - 200, len(whole))
    changes = [[offset] for offset in (*range(60), *directory, *rng.integers(len(whole), size=200).tolist()) for _ in range(2)]
    changes += [rng.integers(len(whole), size=rng.integers(2, 30)).tolist() for _ in range(200)]
    refused = 0
    for offsets in changes:
        data = bytearray(whole)
        for offset in offsets:
            data[offset] = rng.choice([0, 1, 255, rng.integers(256)])
        result = read(bytes(data), tmp_path)
        assert result is None or state(result) == right
        refused += result is None
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
    last = len(policy.learner.mixture.state.members) - 1
    arrays = np.frombuffer(entries[f"{last}.floats"]).copy(), np.frombuffer(entries[f"{last}.ints"], dtype=np.int64).copy()
    F, I = change(header, *arrays) or arrays
    entries |= {"header.json": json.dumps(header).encode(), f"{last}.floats": F.tobytes(), f"{last}.ints": I.tobytes()}
    return read(archive_of(**entries), folder)


PCG = {"bit_generator": "PCG64", "has_uint32": 0, "uinteger": 0}
HEADERS: dict[str, list[Any]] = {
    "version": [1, 5, 7, 10**30, None, "1"],
    "structure": [{"structure": "Exec"}, TREE.to_dict() | {"depth": 10**18}, *(EXAMPLES[n].to_dict() for n in OTHERS)],
    "arms": [[], ["a", "b"], ["a", "b", "c", "d"], ["a", "b", "b"], ["a", "b", ["c"]], 3],
    "removed": [["a", "b", "c"], ["z"], [["a"]], None],
    "policy": ["Policy", "Exec", None, "Uniform", "Exp3"],
    "arrays": [{}, None, {"0.floats": ["f", -1]}, {"0.floats": ["O", -1], "0.ints": ["i", -1]}],
    "learning_rate": [-1.0, 0.0, 0, float("nan"), "fast", True, 10**400],
    "stop": [1.5, -0.1, "half", 0.9],  # 0.9 is not the prior in the arrays
    "loss_range": [[1, 0], [1], 5, ["a", "b"], "wide"],
    "outside": ["drop", None, 1],
    "clipped_losses": [-1, 1, 0.5, True, "all"],  # nothing is clipped without outside="clip"
    "range_found": [[0.0, 1.0], 3],  # nor found
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


FOUND = [[1, 0], [1], 5, ["a", "b"], [float("nan"), 1.0], [0.0, 1e300], [0.0, 1.0, 2.0], {"0": 1}, [True, 2]]


@pytest.mark.parametrize("found", FOUND, ids=str)
def test_forged_ranges(found, tmp_path):
    policy = hsb.HSB(TREE, arms=2, learning_rate=0.3, loss_range="auto", seed=1)
    policy.learn_many(policy.decide_many([0.1, 0.9]), losses=[2.0, -3.0])
    assert forged(policy, tmp_path, lambda header, F, I: None).loss_range == policy.loss_range
    assert forged(policy, tmp_path, lambda header, F, I: put(header, "range_found", found)) is None
    assert forged(policy, tmp_path, lambda header, F, I: put(header, "outside", "clip")) is None


def test_a_newer_file_says_what_to_do(tmp_path):
    assert forged(small(), tmp_path, lambda header, F, I: header.update(version=7)) is None
    with pytest.raises(hsb.FileError, match=r"format 7.*reads format 6.*newer hsb"):
        hsb.load(tmp_path / "damaged.hsb")


@pytest.mark.parametrize("name", ["binary", "5-ary, deep", "lexicographic", "own", "position", "arbitrary", "one of"])
def test_forged_arrays(name, tmp_path):
    policy = hsb.HSB(EXAMPLES[name], arms=2, learning_rate=0.3, seed=1)
    play(policy, 12)
    scratch = [tree_words.WHOLE] + [tree_words.ROWS] * bool(
        policy.learner.mixture.state.members[-1].I[h.KIND] == h.DENSE
    )  # lead nowhere

    def refused(change) -> bool:
        return forged(policy, tmp_path, change) is None

    def put(array, offset, value):
        array[offset] = value

    assert not refused(lambda header, F, I: None)
    for offset in range(h.HEADER):
        for value in {-2, 1 << 40} - {int(policy.learner.mixture.state.members[-1].I[offset])}:
            assert refused(lambda header, F, I: put(I, offset, value)) or offset in scratch  # noqa: B023
    for few in (0, h.HEADER - 1, h.HEADER, -1):
        assert refused(lambda header, F, I: (F, I[:few]))  # noqa: B023
        assert refused(lambda header, F, I: (F[:few], I))  # noqa: B023
    assert refused(lambda header, F, I: (F, np.append(I, 0)))
    assert refused(lambda header, F, I: (np.append(F, 0.0), I))
    for value in (np.nan, np.inf, -np.inf):
        result = forged(policy, tmp_path, lambda header, F, I: put(F, -1, value))  # noqa: B023
        assert result is None or state(result) == state(policy)  # what no arm and no node has is not read
    if policy.learner.mixture.state.members[-1].I[h.KIND] == h.GRAPH:
        for offset in range(
            policy.learner.mixture.state.members[-1].I[graph_words.SPEC], len(policy.learner.mixture.state.members[-1].I)
        ):
            assert refused(lambda header, F, I: put(I, offset, I[offset] + 1))  # noqa: B023


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
        I[I[tree_words.LINKS] :][: I[tree_words.LINK_STRIDE]][where] = what

    assert forged(policy, tmp_path, forge) is None
