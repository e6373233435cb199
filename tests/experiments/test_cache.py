"""Results in files, each under a hash of all that it follows from."""

import numpy as np
import pytest

from hsb.experiments.base import Part
from hsb.experiments.cache import Cache, Finished, key, plain

PART = Part("a", "hsb.theory:exp3_bound", {"arms": 3, "horizon": 100})


def test_a_result_comes_back(tmp_path):
    cache = Cache(tmp_path)
    assert cache.get(PART) is None
    cache.put(PART, Finished({"x": [1.0, 2.0]}, 0.5))
    assert cache.get(PART) == Finished({"x": [1.0, 2.0]}, 0.5) and Cache(tmp_path).get(PART._replace(name="b")) is not None


@pytest.mark.parametrize("change", [{"arguments": {"arms": 4, "horizon": 100}}, {"function": "hsb.theory:exp3_rate"}])
def test_another_question_has_another_key(change):
    assert key(PART._replace(**change)) != key(PART)


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b'{"seconds": 1}'])
def test_a_damaged_file_is_no_result(tmp_path, damage):
    cache = Cache(tmp_path)
    cache.put(PART, Finished(1, 0.5))
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(damage)
    assert cache.get(PART) is None


def test_numbers_of_numpy_are_written():
    assert plain(np.float64(0.5)) == 0.5 and plain(np.arange(3)) == [0, 1, 2]
    with pytest.raises(TypeError):
        plain(object())
