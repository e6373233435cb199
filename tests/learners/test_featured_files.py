"""Files of HSB without a structure that were tampered with: refused, or harmless; never a crash, never a distribution that is none."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.featured_cases import ARMS, loop, world
from support.forgery_cases import read

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import ensemble as p

CONTEXTS, LOSSES = world(400)
ODD = [0.0, -1.0, 1.0, 2.0, 0.5, 7.0, 1e9, -1e9, 1e300, -1e300, 1e-300, np.nan, np.inf, -np.inf, 2.0**40]
ODD_INTS = [0, 1, -1, 2, 17, 1 << 20, -(1 << 40), (1 << 62), (1 << 63) - 1, -(1 << 63)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "policy.hsb"
    policy = hsb.HSB(arms=ARMS, seed=3)
    loop(policy, CONTEXTS[:300], LOSSES[:300])
    policy.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def header_of(whole) -> np.ndarray:
    """The integers of the ensemble."""
    return arrays_of(whole)["1.ints"]


def arrays_of(data: bytes) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        said = json.loads(archive.read("header.json"))["arrays"]
        kinds = {"f": "<f8", "i": "<i8", "u": "<u8"}
        return {name: np.frombuffer(archive.read(name), kinds[k]).reshape(shape).copy() for name, (k, *shape) in said.items()}


def told(data: bytes, change: Callable[[dict[str, Any]], None], **arrays: bytes) -> bytes:
    """The file with another header, and other arrays of those names."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.namelist():
            content = arrays.get(entry, old.read(entry))
            if entry == "header.json":
                said = json.loads(content)
                change(said)
                content = json.dumps(said).encode()
            new.writestr(entry, content)
    return out.getvalue()


def forged(data: bytes, name: str, array: np.ndarray) -> bytes:
    """The file with another array of that name."""

    def change(said: dict[str, Any]) -> None:
        said["arrays"][name] = [array.dtype.kind, *array.shape]

    return told(data, change, **{name: array.tobytes()})


def works(policy) -> None:
    """It plays on; what it plays is a distribution."""
    for t in range(300, 330):
        p = policy.probabilities(CONTEXTS[t])
        assert np.isfinite(p).all() and abs(p.sum() - 1.0) < 1e-6 and p.min() >= 0.0
    hsb.simulate(policy, CONTEXTS[300:], LOSSES[300:])
    p = policy.probabilities(CONTEXTS[0])
    assert np.isfinite(p).all() and abs(p.sum() - 1.0) < 1e-6 and p.min() >= 0.0


def test_the_file_itself_is_whole(whole, tmp_path):
    works(read(whole, tmp_path))
    works(read(forged(whole, "1.ints", arrays_of(whole)["1.ints"]), tmp_path))


@pytest.mark.parametrize("name", ["1.floats", "1.ints", "0.floats", "0.ints", "leaning", "counted", "rate"])
def test_numbers_changed_at_random_are_refused_or_harmless(whole, name, tmp_path):
    """Sixty of each array, one number at a time; those of the ensemble in all its parts."""
    rng, refused = np.random.default_rng(len(name)), 0
    array = arrays_of(whole)[name]
    for _ in range(60):
        other = array.copy()
        other[rng.integers(len(other))] = rng.choice(ODD_INTS) if array.dtype.kind == "i" else rng.choice(ODD)
        policy = read(forged(whole, name, other), tmp_path)
        if policy is None:
            refused += 1
        else:
            works(policy)
    assert refused > 5


@pytest.mark.parametrize("name", ["counts", "moments", "cuts", "edges", "sample"])
def test_numbers_of_the_reader_are_refused_or_harmless(whole, name, tmp_path):
    rng = np.random.default_rng(len(name))
    array = arrays_of(whole)[f"encoder.{name}"]
    for _ in range(40):
        other = array.copy()
        at = rng.integers(other.size)
        other.reshape(-1)[at] = rng.choice(ODD_INTS) if array.dtype.kind == "i" else rng.choice(ODD)
        policy = read(forged(whole, f"encoder.{name}", other), tmp_path)
        if policy is not None:
            works(policy)
    for other in (
        array[:-1],
        np.concatenate([array, array[-1:]]),
        np.zeros(array.shape, "<f8" if array.dtype.kind == "i" else "<i8"),
    ):
        assert read(forged(whole, f"encoder.{name}", other), tmp_path) is None


def node(I: np.ndarray, k: int, word: int) -> int:
    return int(I[p.NODE]) + k * (2 * int(I[h.ARMS]) + p.COUNTS) + word


MUST: dict[str, Callable[[np.ndarray, np.ndarray], None]] = {
    "a link back to the root": lambda F, I: F.__setitem__(node(I, 0, p.LEFT), 0.5),
    "a link beyond the nodes": lambda F, I: F.__setitem__(node(I, 0, p.LEFT), 1e6),
    "a link to itself": lambda F, I: F.__setitem__(node(I, int(I[p.NODES_USED]) - 1, p.LEFT), float(I[p.NODES_USED]) - 1),
    "a cut at no column": lambda F, I: F.__setitem__(node(I, 0, p.AT), float(I[p.COLUMNS])),
    "a block beyond all": lambda F, I: F.__setitem__(node(I, int(I[p.NODES_USED]) - 1, p.CUT), float(I[p.BLOCKS_USED]) + 1),
    "a count below 0": lambda F, I: F.__setitem__(node(I, 0, p.COUNTS), -1.0),
    "a count beyond belief": lambda F, I: F.__setitem__(node(I, 0, p.COUNTS), 1e300),
    "a probability above 1": lambda F, I: F.__setitem__(node(I, 0, p.STOP), 1.5),
    "a column too many": lambda F, I: I.__setitem__(p.COLUMNS, I[p.COLUMNS] + 1),
    "more room": lambda F, I: I.__setitem__(p.ROOM, I[p.ROOM] * 2),
    "more cosines": lambda F, I: I.__setitem__(p.COSINES, I[p.COSINES] + 1),
    "more nodes": lambda F, I: I.__setitem__(p.NODES_USED, I[p.NODES_USED] + 2),
    "fewer nodes": lambda F, I: I.__setitem__(p.NODES_USED, 0),
    "more blocks": lambda F, I: I.__setitem__(p.BLOCKS_USED, I[p.BLOCKS_USED] + 1),
    "a seed below 0": lambda F, I: I.__setitem__(p.SEED, -1),
    "another offset": lambda F, I: I.__setitem__(p.TRACE, 1 << 40),
    "another parent": lambda F, I: I.__setitem__(h.PARENT, 3),
    "another kind": lambda F, I: I.__setitem__(h.KIND, h.ADVISOR),
    "no precision": lambda F, I: F.__setitem__(int(I[p.RIDGE]), 0.0),
    "a precision below 0": lambda F, I: F.__setitem__(int(I[p.RIDGE] + I[p.ROOM]) + 3, -1.0),
    "other probabilities": lambda F, I: F.__setitem__(int(I[p.PROBABILITY]) + 1, 0.9),
    "other phases": lambda F, I: F.__setitem__(int(I[p.COSINE] + I[p.COSINES] * I[p.ROOM]), 0.123),
    "a variance below 0": lambda F, I: F.__setitem__(int(I[p.LINEAR] + I[h.ARMS] * I[p.ROOM]), -1.0),
    "a covariance that cannot be": lambda F, I: F.__setitem__(int(I[p.LINEAR] + I[h.ARMS] * I[p.ROOM]) + 1, 1e9),
    "weights beyond belief": lambda F, I: F.__setitem__(int(I[p.LINEAR]), 1e300),
    "rounds below 0": lambda F, I: F.__setitem__(int(I[p.STACK]) + p.ROUNDS, -1.0),
    "more lost than played": lambda F, I: F.__setitem__(int(I[p.STACK]) + p.LOST, 1e9),
    "no evidence": lambda F, I: F.__setitem__(int(I[p.STACK]) + p.EVIDENCE, 0.0),
    "a memory below 0": lambda F, I: F.__setitem__(int(I[p.STACK]) + p.MEMORIES + 1, -4.0),
    "what is no number": lambda F, I: F.__setitem__(int(I[p.COSINE]), np.nan),
}


@pytest.mark.parametrize("what", MUST)
def test_what_kernels_could_not_bear_is_refused(whole, what, tmp_path):
    arrays = arrays_of(whole)
    F, I = arrays["1.floats"], arrays["1.ints"]
    MUST[what](F, I)
    assert read(forged(forged(whole, "1.floats", F), "1.ints", I), tmp_path) is None


HEADERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "no encoder": lambda said: said["settings"].pop("encoder"),
    "an encoder of nothing": lambda said: said["settings"].update(encoder={}),
    "a journal out of order": lambda said: said["settings"]["encoder"]["journal"].reverse(),
    "a journal cut short": lambda said: said["settings"]["encoder"]["journal"].pop(),
    "another width": lambda said: said["settings"]["encoder"].update(width=4),
    "features that differ": lambda said: said["settings"]["features"].update(kinds=[["x", {"kind": "number"}]]),
    "more first inputs": lambda said: said["settings"].update(first_inputs=99),
    "other first inputs": lambda said: said["settings"].update(first_inputs=0),
    "first inputs that are none": lambda said: said["settings"].update(first_inputs=True),
    "one arm more": lambda said: said["arms"].append("z"),
}


@pytest.mark.parametrize("what", HEADERS)
def test_settings_that_do_not_fit_are_refused(whole, what, tmp_path):
    assert read(told(whole, HEADERS[what]), tmp_path) is None


def test_a_model_gone_mad_says_so(whole, tmp_path):
    """Covariances that passed every check of the file and then explode: there is no distribution, and nothing more is learned."""
    policy = read(whole, tmp_path)
    F, I = policy.learner.mixture.state.members[1]
    at = int(I[p.LINEAR])
    F[at : at + int(I[h.ARMS]) * int(I[p.ROOM]) * (int(I[p.ROOM]) + 1)] = np.nan
    for attempt in (
        lambda: policy.probabilities(CONTEXTS[300]),
        lambda: policy.decide(CONTEXTS[300]),
        lambda: hsb.simulate(policy, CONTEXTS[300:], LOSSES[300:]),
        lambda: policy.learn(hsb.Decision(context=CONTEXTS[300], arm="a", propensity=0.5), loss=1.0),
    ):
        with pytest.raises(hsb.BrokenState, match="no longer a distribution"):
            attempt()
    assert policy.rounds == 300
