"""Random generators as plain data, and back."""

import json

import numpy as np
import pytest

import hsb
from hsb.files.rng_state import from_plain, generator, plain

KINDS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]


@pytest.mark.parametrize("kind", KINDS)
def test_a_generator_goes_on_with_the_same_numbers(kind):
    rng = np.random.Generator(kind(3))
    rng.random(7), rng.integers(10, dtype=np.uint32)
    again = generator(json.loads(json.dumps(plain(rng.bit_generator.state))))
    assert again.random(100).tolist() == rng.random(100).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_state_comes_back(kind):
    state = kind(5).state
    assert plain(from_plain(plain(state))) == plain(state)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["state"].update(state=-1),
        lambda data: data["state"].update(state=2**128),
        lambda data: data["state"].update(state="3"),
        lambda data: data["state"].pop("inc"),
        lambda data: data.update(has_uint32=2),
        lambda data: data.update(bit_generator="PCG65"),
    ],
)
def test_a_state_that_no_generator_can_have_is_refused(change):
    data = plain(np.random.PCG64(1).state)
    change(data)
    with pytest.raises(hsb.FileError):
        generator(data)
