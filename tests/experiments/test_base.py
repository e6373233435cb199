"""Claims: what holds, what does not, and what nobody can tell."""

import pytest

from hsb.experiments.base import Experiment, Options, claim


@pytest.mark.parametrize(
    ("differences", "holds"), [([0.1, 0.2, 0.15], True), ([-0.1, -0.2, -0.15], False), ([0.1, -0.2, 0.05], None)]
)
def test_a_claim_is_weighed_by_its_differences(differences, holds):
    result = claim("toy", "a beats b", differences)
    assert result.holds is holds


def test_what_the_user_chose():
    assert Options(runs=3).chosen_sizes() == {"runs": 3} and Options().chosen_sizes() == {}


def test_an_experiment_must_say_what_it_does():
    with pytest.raises(TypeError):
        Experiment()
