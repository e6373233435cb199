"""Forged policy files: genuine files of every policy and structure, changed so that they stay well-formed, and others.

`python tests/support/attack/forged.py COUNT [SEED]` tries COUNT files and prints the outcomes. Each is loaded equal, or
refused with `FileError`, in bounded time; or it is another policy that rounds could have led to: then it must decide and learn as any does, its
probabilities being probabilities, and its own file must be readable. With NUMBA_BOUNDSCHECK=1 or NUMBA_DISABLE_JIT=1 every place outside an
array is an error.
"""

import collections
import copy
import faulthandler
import io
import json
import sys
import time
import traceback
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

import hsb
from hsb.engine.state import trees
from hsb.files import policy_file
from hsb.learners.featured import Featured
from hsb.policy import copying

LIMIT = 60.0  # seconds, compiling included, that loading and playing one file may take
PLANE = hsb.Box([18, 0], [90, 1])
OWN = {
    "all": {"leaves": [0, 1, 2, 3], "groups": [["left", "right"], ["ends", "middle"]]},
    "left": {"leaves": [0, 1]},
    "right": {"leaves": [2, 3]},
    "ends": {"leaves": [0, 3]},
    "middle": {"leaves": [1, 2]},
}


def compressed(depth: int, arms: int, **how: Any) -> hsb.Policy:
    """Return a small tree stored in the layout of a deep one."""
    before, trees.DENSE_WORDS = trees.DENSE_WORDS, 0
    try:
        return hsb.HSB(hsb.BinaryTree(depth=depth), arms=arms, seed=3, **how)
    finally:
        trees.DENSE_WORDS = before


def of_bits(name: str) -> np.random.Generator:
    """Return a generator of another kind."""
    return np.random.Generator(getattr(np.random, name)(5))


MAKERS: dict[str, Callable[[], hsb.Policy]] = {
    "tree": lambda: hsb.HSB(hsb.BinaryTree(depth=3), arms=3, learning_rate=0.4, seed=1),
    "tree, one arm": lambda: hsb.HSB(hsb.BinaryTree(depth=2), arms=1, learning_rate=0.4, seed=1),
    "tree, nine arms": lambda: hsb.HSB(hsb.BinaryTree(depth=2), arms=9, learning_rate=0.4, drift=1e-3, seed=of_bits("Philox")),
    "tree, 70 arms": lambda: hsb.HSB(hsb.BinaryTree(depth=2), arms=70, horizon=1000, seed=of_bits("MT19937")),
    "tree, never stopping": lambda: hsb.HSB(hsb.BinaryTree(depth=3), arms=2, learning_rate=3.0, stop=0.0, seed=1),
    "3-ary, implicit": lambda: hsb.HSB(hsb.KaryTree(k=3, depth=2), arms=2, horizon=1000, implicit=True, seed=of_bits("SFC64")),
    "deep": lambda: hsb.HSB(hsb.BinaryTree(depth=52), arms=2, learning_rate=0.5, seed=1),
    "deep, 20 arms": lambda: hsb.HSB(hsb.KaryTree(k=5, depth=20), arms=20, learning_rate=50.0, seed=of_bits("PCG64DXSM")),
    "compressed": lambda: compressed(4, 2, learning_rate=0.5),
    "lexicographic": lambda: hsb.HSB(hsb.Lexicographic(leaves=6), arms=2, learning_rate=0.5, seed=1),
    "3-group, 20 arms": lambda: hsb.HSB(hsb.GroupedLexicographic(leaves=6, groups=3), arms=20, learning_rate=5.0, seed=1),
    "position": lambda: hsb.HSB(hsb.PositionSplits(bits=[2, 1]), arms=2, learning_rate=0.5, seed=1),
    "arbitrary": lambda: hsb.HSB(hsb.ArbitrarySplits(leaves=4), arms=3, learning_rate=30.0, seed=1),
    "own": lambda: hsb.HSB(hsb.Hierarchy(OWN, space=hsb.Box.unit()), arms=18, learning_rate=0.5, seed=1),
    "one of": lambda: hsb.HSB(
        hsb.OneOf(hsb.Lexicographic(leaves=4), hsb.BinaryTree(depth=3)), arms=3, learning_rate=0.5, loss_range="auto", seed=1
    ),
    "default": lambda: hsb.HSB(hsb.BinaryTree(depth=3), arms=3, floor=0.05, seed=1),
    "default, deep, 20 arms": lambda: hsb.HSB(hsb.BinaryTree(depth=40), arms=20, seed=1),
    "default, plane": lambda: hsb.HSB(hsb.BinaryTree(depth=4, space=PLANE), arms=3, seed=1),
    "features": lambda: hsb.HSB(arms=["a", "b", "c"], seed=1),
    "features, of arms": lambda: hsb.HSB(arms=["a", "b"], arm_features={"a": {"price": 3}, "b": {"price": 9}}, seed=1),
    "Exp3": lambda: hsb.Exp3(arms=20, horizon=1000, seed=1),
    "SExp3": lambda: hsb.SExp3(5, arms=3, seed=1),
    "Exp4": lambda: hsb.Exp4(3, arms=3, horizon=1000, prior=[1, 2, 3], seed=1),
    "Exp4, mappings": lambda: hsb.Exp4(hsb.mappings(4, arms=3, regions=2), arms=3, seed=1),
    "MixtureOfMappings": lambda: hsb.MixtureOfMappings(hsb.BinaryTree(depth=2), arms=2, learning_rate=0.3, seed=1),
    "CsbFtpl": lambda: hsb.CsbFtpl(hsb.BinaryTree(depth=2), arms=3, horizon=1000, seed=1),
    "CsbFtpl, regions": lambda: hsb.CsbFtpl(4, arms=3, regions=2, seed=1),
    "EpochGreedy": lambda: hsb.EpochGreedy(hsb.BinaryTree(depth=2), arms=3, seed=1),
    "LinUCB": lambda: hsb.LinUCB(2, arms=3, seed=1),
    "TreeThompson": lambda: hsb.TreeThompson(hsb.BinaryTree(depth=4), arms=3, seed=1),
    "TreeThompson, forgetting": lambda: hsb.TreeThompson(hsb.KaryTree(k=3, depth=9), arms=2, forgetting=0.99, seed=1),
    "Uniform": lambda: hsb.Uniform(arms=3, seed=1),
    "BestFixed": lambda: hsb.BestFixed(4, arms=3, mapping=[0, 1, 2, 0], seed=1),
}


def context_of(policy: hsb.Policy, rng: np.random.Generator) -> Any:
    """Return a context that the policy accepts."""
    if isinstance(policy, hsb.Exp4) and isinstance(policy.experts, int):
        return [policy.arms[i] for i in rng.integers(len(policy.arms), size=policy.experts)]
    if isinstance(policy.learner, Featured):
        return {"age": float(rng.normal(40, 9)), "country": "abcde"[rng.integers(5)], "member": bool(rng.random() < 0.3)}
    if isinstance(policy, hsb.LinUCB):
        return rng.random(policy.features)
    space = getattr(getattr(policy, "structure", None), "space", None)
    if isinstance(space, hsb.Cells):
        return int(rng.integers(space.n))
    return float(rng.random()) if space is None else rng.uniform(space.low, space.high)


def loss_of(policy: hsb.Policy, rng: np.random.Generator) -> float:
    """Return a loss that the policy accepts."""
    low, high = policy.loss_range
    low, high = (low, high) if low <= high else (0.0, 1.0)
    return float(rng.choice([low, high, low + rng.random() * (high - low)]))


def play(policy: hsb.Policy, rounds: int, seed: int) -> list[Any]:
    """Play rounds with some arms not available, and check each decision and distribution; return the decisions."""
    rng, done = np.random.default_rng(seed), []
    for t in range(rounds):
        context = context_of(policy, rng)
        active = policy.active_arms
        some = [active[i] for i in np.flatnonzero(rng.random(len(active)) < 0.6)] if t % 3 == 0 else []
        available = some or None
        p = policy.probabilities(context, available=available)
        names = set(some or active)
        assert np.isfinite(p).all(), f"probabilities {p}"
        assert (p >= 0.0).all(), f"probabilities {p}"
        assert abs(p.sum() - 1.0) < 1e-9, f"probabilities add to {p.sum()}"
        assert all(q == 0.0 for arm, q in zip(policy.arms, p, strict=True) if arm not in names), "an arm that is not available"
        decision = policy.decide(context, available=available)
        assert decision.arm in names, "played an arm that is not available"
        assert 0.0 < decision.propensity <= 1.0, f"propensity {decision.propensity}"
        policy.learn(decision, loss=loss_of(policy, rng))
        done.append((policy.arms.index(decision.arm), decision.propensity))
    return done


def simulate(policy: hsb.Policy, rounds: int, seed: int) -> None:
    """A whole table."""
    rng = np.random.default_rng(seed)
    contexts: Any = [context_of(policy, rng) for _ in range(rounds)]
    if not isinstance(policy.learner, Featured):
        contexts = np.array(contexts)
    losses = np.array([[loss_of(policy, rng) for _ in policy.arms] for _ in range(rounds)])
    result = hsb.simulate(policy, contexts, losses)
    assert set(result.arms.tolist()) <= set(policy.arms)


def facts(policy: hsb.Policy) -> dict[str, Any]:
    """Return everything that two equal policies have in common."""
    return {
        "arrays": {name: (array.shape, array.tobytes()) for name, array in policy.to_arrays().items()},
        "header": repr(policy_file.described(policy)),
        "counts": [min(count, policy_file.MOST) for count in (policy.rounds, policy.clipped, policy.ledger.issued)],
        "losses": policy.clipped_losses,
        "open": policy.ledger.packed(),
    }


class Original:
    """A genuine file in parts."""

    def __init__(self, name: str, rounds: int = 60) -> None:
        policy = MAKERS[name]()
        play(policy, rounds, seed=1)
        if len(policy.arms) > 2 and name != "MixtureOfMappings":
            policy.remove_arm(policy.arms[1])
        policy.decide(context_of(policy, np.random.default_rng(2)))
        self.data = policy_file.pack(policy)
        self.facts = facts(policy)
        with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
            self.entries = {entry: archive.read(entry) for entry in archive.namelist()}
        self.header = json.loads(self.entries["header.json"])


NUMBERS = [0, -1, 1, 2, 3, 7, 64, 255, 4096, 2**31, 2**32 - 1, 2**53, 2**62, 2**63, 10**30, 10**400]
NUMBERS += [0.5, -0.5, 1e-320, 1e-300, 1e300, 1.7e308, -1e308, float("nan"), float("inf"), -float("inf")]  # type: ignore[list-item]
OTHERS = [None, True, False, "", "a", "auto", "clip", [], {}, [0], [[]], {"array": [1], "dtype": "U9"}, "\0", "x" * 1000]
FLOATS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-320, 1e-300, 1e-200, 1e-100, 1e100, 1e200, 1e300, 1.7e308, -1e308, 700.0, -1e5]
FLOATS += [float("nan"), float("inf"), -float("inf"), 4096.0, 2.0**53, 1e15, 1.0 + 1e-9]


def leaves_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return paths to everything in a header; of a long list, some."""
    results = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value[:6]) if isinstance(value, list) else ()
    for key, inner in items:
        results += leaves_of(inner, (*path, key))
    return results


def forge_header(header: dict[str, Any], rng: np.random.Generator) -> None:
    """Change, move or remove something in a header."""
    for _ in range(1 + (rng.random() < 0.2)):
        paths = leaves_of(header)
        path = paths[rng.integers(len(paths))]
        inside = header
        for key in path[:-1]:
            inside = inside[key]
        old, kind = inside[path[-1]], rng.integers(8)
        if kind == 0:
            del inside[path[-1]]
        elif kind <= 2 and isinstance(old, int | float) and not isinstance(old, bool):
            inside[path[-1]] = [old + 1, old - 1, old * 2, -old, old / 3][rng.integers(5)]
        elif kind == 3:
            source = header
            other = paths[rng.integers(len(paths))]
            try:
                for key in other:
                    source = source[key]
                inside[path[-1]] = copy.deepcopy(source)
            except (LookupError, TypeError):
                pass
        else:
            pool = NUMBERS if rng.random() < 0.7 else OTHERS
            inside[path[-1]] = copy.deepcopy(pool[rng.integers(len(pool))])


def forge_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Change some words of an array, or its length."""
    array = array.copy()
    n, kind = len(array), rng.integers(9)
    if n == 0:
        return np.append(array, array.dtype.type(0))
    at = rng.integers(n, size=1 + int(rng.random() < 0.3) * int(rng.integers(4)))
    if rng.random() < 0.5:  # what holds something is more worth changing
        some = np.flatnonzero(array)
        at = rng.choice(some, size=len(at)) if len(some) else at
    if kind == 0:
        return array[: rng.integers(n)]
    if kind == 1:
        array[at] = rng.choice(array, size=len(at))
    elif kind == 2:
        part = slice(at[0], at[0] + int(rng.integers(1, 40)))
        array[part] = array[part][::-1].copy()
    elif kind == 3 and array.dtype.kind == "f":
        part = slice(at[0], at[0] + int(rng.integers(1, 200)))
        array[part] = FLOATS[rng.integers(len(FLOATS))]
    elif kind == 4:
        words = array.view(np.uint64)
        words[at] ^= np.uint64(1) << rng.integers(64, size=len(at)).astype(np.uint64)
    elif kind == 5 and array.dtype.kind == "f":
        array[at] *= rng.choice([1e-9, 0.5, 1.0 + 1e-7, 1.1, 2.0, 1e9])
    elif array.dtype.kind == "f":
        array[at] = [FLOATS[i] for i in rng.integers(len(FLOATS), size=len(at))]
    else:
        small = rng.choice([-2, -1, 1, 2, 4096, 1 << 40], size=len(at))
        array[at] = array[at] + small if rng.random() < 0.7 else rng.integers(-(2**62), 2**62, size=len(at))
    return array


def forge(original: Original, rng: np.random.Generator) -> bytes:
    """Return a changed file."""
    kind = rng.random()
    if kind < 0.1:
        data = bytearray(original.data)
        for index in rng.integers(len(data), size=rng.integers(1, 6)):
            data[index] = rng.integers(256)
        return bytes(data[: rng.integers(len(data))] if rng.random() < 0.1 else data)
    entries, header = dict(original.entries), copy.deepcopy(original.header)
    if kind < 0.4:
        forge_header(header, rng)
    names = [name for name in entries if name not in ("header.json", "ledger", "elsewhere")]
    if kind >= 0.35 and names:
        for _ in range(1 + (rng.random() < 0.15)):
            name = names[rng.integers(len(names))]
            what = original.header["arrays"][name][0]
            array = np.frombuffer(entries[name], dtype=copying.STORED[what])
            with np.errstate(all="ignore"):
                found = forge_array(array, rng)
            entries[name] = found.tobytes()
            if len(found) != len(array) and rng.random() < 0.8 and isinstance(header.get("arrays"), dict):
                header["arrays"][name] = [what, len(found)]
    elif rng.random() < 0.1:
        entries["ledger"] = entries["ledger"] + bytes(rng.integers(256, size=rng.integers(9)).astype(np.uint8).tolist())
    entries["header.json"] = json.dumps(header).encode()
    buffer = io.BytesIO()
    packing = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][rng.integers(2)]
    with zipfile.ZipFile(buffer, "w", packing) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def outcome(data: bytes, original: Original, *, rounds: int, table: int) -> str:
    """Return the outcome of a file: refused, equal, another policy, or an error."""
    started = time.monotonic()
    try:
        policy = policy_file.unpack(data, {})
    except policy_file.DAMAGE as error:  # what `load` makes a FileError
        slow = time.monotonic() - started > LIMIT
        return f"SLOW to refuse: {error}" if slow else "refused"
    try:
        if facts(policy) == original.facts:
            return "equal"
        play(policy, rounds, seed=7)
        if table:
            simulate(policy, table, seed=8)
            play(policy, 3, seed=9)
        again = policy_file.unpack(policy_file.pack(policy), {})
        assert facts(again) == facts(policy), "its own file is another policy"
    except hsb.InputError as error:
        return f"another policy, which refuses: {str(error)[:40]}"
    except Exception as error:  # whatever it is, it is reported
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"WRONG {type(error).__name__} at {frame.filename.rpartition('/')[2]}:{frame.lineno}: {str(error)[:120]}"
    return "SLOW" if time.monotonic() - started > LIMIT else "another policy"


def attack(count: int, seed: int = 0, *, rounds: int = 20, table: int = 100, names: list[str] | None = None) -> dict[str, Any]:
    """Forge `count` files, over all policies in turn; return how often each outcome came, and the errors."""
    names = list(MAKERS) if names is None else names
    originals: dict[str, Original] = {}
    found: collections.Counter[str] = collections.Counter()
    wrong: list[tuple[str, int, str]] = []
    for k in range(count):
        name = names[k % len(names)]
        with np.errstate(all="ignore"):
            original = originals.setdefault(name, originals.get(name) or Original(name))
        rng = np.random.default_rng([seed, k])
        if sys.flags.interactive == 0 and "pytest" not in sys.modules:
            faulthandler.dump_traceback_later(300, exit=True)
        with np.errstate(all="ignore"):  # kernels that are not compiled warn
            data = forge(original, rng)
            what = outcome(data, original, rounds=rounds, table=table)
            if what.startswith("SLOW"):  # was it compiling? Once more, then
                what = outcome(data, original, rounds=rounds, table=table)
        found["another policy" if what.startswith("another policy, ") else what] += 1
        if what.startswith(("WRONG", "SLOW")):
            wrong.append((name, k, what))
            print(f"{name}, file {k} of seed {seed}: {what}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    return {"found": dict(found), "wrong": wrong}


if __name__ == "__main__":
    many, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    only = sys.argv[3:] or None
    begun = time.monotonic()
    result = attack(many, start, names=only)
    print(json.dumps({kind: n for kind, n in result["found"].items() if not kind.startswith("WRONG")}))
    print(f"{many} files of seed {start}, {len(result['wrong'])} wrong, {time.monotonic() - begun:.0f} s")
