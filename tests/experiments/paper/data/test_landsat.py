"""The bundled data: whole, in order, and refused when it is not."""

import gzip
import subprocess
import sys

import numpy as np
import pytest

from hsb.errors import FileError
from hsb.experiments.paper.data import LABELS, landsat
from hsb.experiments.paper.data import landsat as load
from hsb.experiments.paper.data.landsat import FILE


def test_what_it_is():
    X, y = landsat()
    assert X.shape == (6435, 36) and X.dtype == np.int64
    assert (X.min(), X.max()) == (27, 157)
    assert np.unique(y).tolist() == list(LABELS) == [1, 2, 3, 4, 5, 7]
    assert np.bincount(y)[[1, 2, 3, 4, 5, 7]].tolist() == [1533, 703, 1358, 626, 707, 1508]
    assert X[0, :4].tolist() == [92, 115, 120, 94]  # the first row of sat.trn
    assert X[4435, :4].tolist() == [80, 102, 102, 79] and y[4435] == 3  # and of sat.tst


def test_each_call_gives_arrays_of_its_own():
    X, _ = landsat()
    X[:] = 0
    assert landsat()[0].min() == 27


def test_small_enough_to_bundle_and_its_source_is_named():
    assert FILE.stat().st_size < 120_000
    text = FILE.with_name("README.md").read_text()
    for word in ("UCI", "Statlog", "Srinivasan", "1993", "mlbench"):
        assert word in text
        if word != "mlbench":
            assert word in (load.__doc__ or "")


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "landsat.csv.gz"
    with pytest.raises(FileError, match="cannot be read"):
        landsat(path)
    path.write_bytes(FILE.read_bytes()[:5000])
    with pytest.raises(FileError, match="cannot be read"):
        landsat(path)
    text = gzip.decompress(FILE.read_bytes())
    path.write_bytes(gzip.compress(text.replace(b"92,115", b"93,115", 1)))
    with pytest.raises(FileError, match="SHA-256"):
        landsat(path)
    path.write_bytes(gzip.compress(text))
    assert len(landsat(path)[0]) == 6435


def test_importing_hsb_imports_neither_scikit_learn_nor_what_needs_it():
    code = "import sys, hsb; print([m for m in ('sklearn', 'matplotlib', 'pandas', 'hsb.experiments.paper.classifier') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
