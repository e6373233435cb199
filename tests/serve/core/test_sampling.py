"""How a decision is drawn."""

import collections

import numpy as np
import pytest

from hsb.serve.core import sampling


def test_the_number_of_an_id_is_as_good_as_random():
    result = np.array([sampling.u_of(b"secret", f"order-{k}") for k in range(20_000)])
    assert (result >= 0).all() and (result < 1).all() and len(set(result)) == 20_000
    counts = collections.Counter((result * 10).astype(int))
    assert all(1800 < counts[k] < 2200 for k in range(10))
    assert sampling.u_of(b"secret", "a") == sampling.u_of(b"secret", "a") != sampling.u_of(b"other", "a")


@pytest.mark.parametrize("indices", [[], [0], [0, 2, 9], list(range(17))])
def test_arms_come_back_from_bits(indices):
    assert sampling.indices_of(sampling.bits_of(indices, 20)) == indices


def test_a_floor_is_under_every_available_arm_and_no_other():
    shared = sampling.mixture(np.array([1.0, 1.0, 0.0]), floor=0.4, ramp=1.0, baseline=None)
    result = shared(np.array([1.0, 0.0, 0.0]))
    assert result == pytest.approx([0.8, 0.2, 0.0])


def test_a_ramp_leaves_the_rest_to_the_baseline():
    shared = sampling.mixture(np.array([1.0, 1.0]), floor=0.0, ramp=0.25, baseline=1)
    assert shared(np.array([1.0, 0.0])) == pytest.approx([0.25, 0.75])


def test_a_question_has_one_fingerprint():
    def of(policy="home", context=None, available=None, baseline=None, activate=True):
        return sampling.fingerprint(policy, context, available, baseline, activate)

    assert of(context={"a": 1, "b": 2}) == of(context={"b": 2, "a": 1})
    assert len({of(), of(policy="other"), of(context=1), of(available=["a"]), of(baseline="a"), of(activate=False)}) == 6
