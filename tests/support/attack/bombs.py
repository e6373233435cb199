"""Files of policies without a structure that claim far more than they hold: `python tests/support/attack/bombs.py COUNT [SEED]`.

Each claims numbers of features and words, limits and a width, and has learned nothing. Either loading it raises an error, or the claim is
possible: then it is read, and decides. In both cases memory stays in proportion to the file.
"""

import io
import sys
import tracemalloc
import zipfile
from typing import Any

import numpy as np

import hsb
from hsb.engine.kernels import inputs as at
from hsb.engine.state.ensemble import width_for
from hsb.features.stored import COUNTS, MOMENTS, RANGES
from hsb.files import policy_file
from hsb.files.zip_reader import RATIO, SMALL
from support.forged_cases import changed

SIZES = [1, 2, 64, 256, 257, 2048, 65535, 65536]  # `forged.py` has files that are not
SHAPES = {"moments": len(MOMENTS), "ranges": len(RANGES), "edges": at.CELLS - 1, "recent": at.RECENT, "cuts": 0, "coarse": 0}


def bomb(kinds: list[Any], journal: list[Any], *, width: int = 2048, arms: int = 2, **limits: int) -> bytes:
    """Return the file of a policy that has learned nothing, but claims these features, words and columns."""
    inputs = len(kinds) or 1

    def change(header: dict[str, Any], entries: dict[str, Any]) -> None:
        for features in (header["settings"]["features"], header["settings"]["encoder"]["features"]):
            features["kinds"] = kinds
            features["limits"] |= {"width": 65536, **limits}
        header["settings"]["encoder"] |= {"width": width, "journal": journal}
        for name, length in SHAPES.items():
            array = np.zeros((inputs, length) if length else inputs, dtype=np.float64 if length else np.int64)
            entries[f"encoder.{name}"] = array
            header["arrays"][f"encoder.{name}"] = [array.dtype.kind, *array.shape]
        entries["encoder.sample"] = np.zeros((0, inputs))
        entries["encoder.counts"] = np.zeros(len(COUNTS), dtype=np.int64)
        header["arrays"] |= {"encoder.sample": ["f", 0, inputs], "encoder.counts": ["i", len(COUNTS)]}

    return deflated(changed(hsb.HSB(arms=arms, seed=0), change))


def deflated(data: bytes) -> bytes:
    """Return the same file, compressed as much as possible."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            after.writestr(name, before.read(name))
    return buffer.getvalue()


def category(limit: int) -> dict[str, Any]:
    return {"kind": "Category", "limit": limit}


def drawn(rng: np.random.Generator) -> bytes:
    """Draw a bomb, or by chance a valid file."""

    def size() -> int:
        return int(SIZES[rng.integers(len(SIZES))])

    kinds: list[Any] = []
    for k in range(int(rng.choice([0, 1, 3, 30, 1000]))):
        kind = str(rng.choice(["Category", "Tags", "Number", "Flag"]))
        kinds.append([f"c{k}", {"kind": kind, "limit": size()} if kind in ("Category", "Tags") else {"kind": kind}])
    words = [k for k, (_, kind) in enumerate(kinds) if "limit" in kind]
    journal: list[Any] = []
    if words:
        raw_input = int(rng.choice(words))
        journal = [["value", raw_input, f"{k:x}"] for k in range(int(rng.choice([0, 10, 300, 16000])))]
    arms = int(rng.choice([1, 2, 20]))
    return bomb(kinds, journal, width=size() if rng.random() < 0.3 else width_for(arms, 65536), arms=arms)


def tried(data: bytes) -> str:
    """Return the outcome of a file: "refused", "read", or an error."""
    tracemalloc.start()
    try:
        policy = policy_file.unpack(data, {})
        policy.learn(policy.decide({"c0": None}), loss=1.0)
        came = "read"
    except (*policy_file.DAMAGE, hsb.InputError):
        came = "refused"
    except Exception as error:  # whatever it is, it is reported
        came = f"WRONG {type(error).__name__}: {str(error)[:200]}"
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if most > 4 * policy_file.MADE * (SMALL + RATIO * len(data)):
        return f"WRONG {len(data):,} bytes took {most >> 20} MB"
    return came


def bombs(count: int, seed: int = 0) -> dict[str, int]:
    """Try `count` bombs; return how often each outcome came."""
    result: dict[str, int] = {}
    for k in range(count):
        came = tried(drawn(np.random.default_rng([seed, k])))
        result[came] = result.get(came, 0) + 1
    return result


if __name__ == "__main__":
    print(bombs(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
