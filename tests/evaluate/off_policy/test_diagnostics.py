"""Can a log carry a bootstrap?"""

import numpy as np
import pytest

from hsb.evaluate.off_policy.diagnostics import Weighing, Weights

SOUND = Weights(rows=10_000, effective=9000, largest=3, share=0.0003, average=1, error=0.004, missing=0)


def test_a_sound_log_is_not_doubted():
    assert not list(SOUND.doubts(5000)) and not list(SOUND.faults())


@pytest.mark.parametrize("change", [{"effective": 5, "share": 0.4, "largest": 4000}, {"rows": 20, "effective": 10}])
def test_a_few_heavy_events_are_a_doubt(change):
    assert list(SOUND._replace(**change).doubts(5000))


def test_weights_are_added_up_whatever_the_parts():
    rng = np.random.default_rng(0)
    propensity, probability = rng.uniform(0.1, 1.0, 3000), rng.random(3000)
    w = probability / propensity
    whole, one, other = Weighing(), Weighing(), Weighing()
    whole.add(w, probability, propensity)
    one.add(w[:1000], probability[:1000], propensity[:1000])
    other.add(w[1000:], probability[1000:], propensity[1000:])
    one.merge(other)
    assert one.result() == pytest.approx(whole.result())
    result = whole.result()
    assert result.rows == 3000 and result.average == pytest.approx(w.mean()) and result.largest == pytest.approx(w.max())
