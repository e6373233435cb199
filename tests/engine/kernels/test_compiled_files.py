"""Compiled code is found by a digest of all sources: whatever kernel changes, what was compiled of it and of its callers is not used again."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hsb
from hsb.engine.kernels import compiled_files

PLAYED = """
import hsb
from hsb.engine.kernels import rounds
policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, learning_rate=0.5, seed=0)
policy.learn(hsb.Decision(context=0.3, arm=0, propensity=0.5), loss=1.0)
print(policy.probabilities(0.3)[0], sum(rounds.update.stats.cache_hits.values()))
"""


def ran(source: Path, **environment: str) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "HSB", "NUMBA"))} | {
        "HSB_ENGINE": "numba"
    }
    env = clean | {"PYTHONPATH": str(source), "HSB_QUIET": "1"} | environment
    done = subprocess.run([sys.executable, "-c", PLAYED], env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return [*done.stdout.split(), done.stderr]


@pytest.fixture
def source(tmp_path):
    """A copy of the package, to be changed."""
    here = Path(hsb.__file__).parent
    shutil.copytree(here, tmp_path / "src" / "hsb", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


def test_an_upgrade_in_place_is_compiled_anew(source):
    before, hits, _ = ran(source)
    assert hits == "0" and ran(source)[:2] == [before, "1"]
    path = source / "hsb" / "reproducible_math.py"  # what every kernel's file imports, and none is
    path.write_text(path.read_text().replace("    return scaled(y, k)\n", "    return 0.5 * scaled(y, k)\n"))
    after, hits, _ = ran(source)
    assert hits == "0" and after != before


def test_where_nothing_can_be_written_a_warm_cache_is_used(source):
    """As in an image that was warmed up when it was made. Root may write anywhere, so writing is made to fail."""
    before = ran(source)[0]
    site = source / "sitecustomize.py"
    site.write_text("""
import tempfile
def refuse(*given, **named):
    raise PermissionError(13, "read-only")
tempfile.TemporaryFile = tempfile.NamedTemporaryFile = tempfile.mkstemp = refuse
""")
    assert ran(source) == [before, "1", ""]
    for path in (source / "hsb" / "engine" / "kernels" / "__pycache__").glob("*.nb?"):
        path.unlink()
    after, hits, said = ran(source)
    assert (after, hits) == (before, "0") and said.count("NUMBA_CACHE_DIR") == 1


def test_only_old_code_of_other_sources_is_removed(tmp_path):
    names = [f"tree.visit-9-hsb{'0' * 16}.py311.{end}" for end in ("nbi", "1.nbc")]
    names += [f"tree.visit-9-hsb{compiled_files.digest()}.py311.nbi", "mine.f-3.py311.nbi", f"f-hsb{'0' * 16}.txt"]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    now = time.time()
    assert compiled_files.stale(tmp_path, now) == []
    found = {path.name for path in compiled_files.stale(tmp_path, now + 2 * compiled_files.OLD)}
    assert found == set(names[:2])


DAMAGE = {
    "zeros": lambda b: bytes(len(b)),
    "cut": lambda b: b[: len(b) // 2],
    "empty": lambda b: b"",
    "text": lambda b: b"(lp0",
}


def test_damaged_files_are_compiled_anew(source, tmp_path):
    """As a power cut leaves them: Numba does not sync what it writes. Once compiled again, they are used again."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    first, hits, _ = ran(source, NUMBA_CACHE_DIR=str(good))
    assert hits == "0"
    for end in ("nbi", "nbc"):
        for what, change in DAMAGE.items():
            shutil.rmtree(bad, ignore_errors=True)
            shutil.copytree(good, bad)
            damaged = list(bad.glob(f"*/rounds.update-*.{end}"))
            assert damaged, end
            for path in damaged:
                path.write_bytes(change(path.read_bytes()))
            assert ran(source, NUMBA_CACHE_DIR=str(bad))[:2] == [first, "0"], (end, what)
    assert ran(source, NUMBA_CACHE_DIR=str(bad))[:2] == [first, "1"]
