"""Views of candidates: what is compared, and what a form asks to evaluate."""

import pytest

from hsb.serve.core.candidate_bets import CandidateBets
from hsb.serve.page import candidates
from hsb.serve.page.numbers import NOTHING


def test_a_form_asks_for_candidates():
    asked = candidates.evaluation_request({"arm": "a", "uniform": "on"}, ["a", "b"])
    assert {"uniform": True} in asked["candidates"].values() and {"arm": "a"} in asked["candidates"].values()


@pytest.mark.parametrize("form", [{"arm": "nobody"}, {"kind": "Exp3", "settings": "{"}, {}])
def test_what_cannot_be_asked_is_refused_in_words(form):
    with pytest.raises(ValueError, match=r"\w"):
        candidates.evaluation_request(form, ["a", "b"])


def test_settings_of_a_form_are_an_object():
    assert candidates.spec("HSB", " ") == {"kind": "HSB"} and candidates.spec("HSB", '{"seed": 1}') == {
        "kind": "HSB",
        "seed": 1,
    }
    with pytest.raises(ValueError, match="Settings must be an object"):
        candidates.spec("HSB", "[1]")
    with pytest.raises(ValueError, match="Settings must be JSON"):
        candidates.spec("HSB", "{" * 100_000)


def bets_of(pairs):
    bets = CandidateBets(0)
    for weight, reward in pairs:
        bets.add(weight, reward)
    return bets


def test_the_difference_is_the_mean_of_weighted_rewards_less_rewards():
    pairs = [(1.6, 1.0), (0.4, 0.0), (0.5, 0.5), (1.5, 0.25)] * 100
    value = sum(weight * reward - reward for weight, reward in pairs) / len(pairs)
    band = candidates.difference(bets_of(pairs), (0.0, 1.0))
    assert band.value == pytest.approx(value) and band.low < value < band.high
    wide = candidates.difference(bets_of(pairs), (-5.0, 5.0))  # rewards are in units of the range
    assert wide.low == pytest.approx(10 * band.low) and wide.value == pytest.approx(10 * value)
    sure = candidates.difference(bets_of(pairs), (0.0, 1.0), error=1e-6)
    assert sure.low < band.low and sure.high > band.high
    assert candidates.difference(bets_of([]), (0.0, 1.0)) == NOTHING


@pytest.mark.parametrize(
    ("scale", "exact", "behind", "words"),
    [
        ((0.0, 1.0), True, 0, ""),
        (None, True, 0, "no interval: the range of rewards is not declared"),
        ((0.0, 1.0), True, 3, "still reading the journal"),
        ((0.0, 1.0), False, 0, "not comparable: the probabilities are estimates"),
    ],
)
def test_why_there_is_no_interval(scale, exact, behind, words):
    band, why = candidates.compared(bets_of([(1.2, 1.0), (0.8, 0.0)]), scale, exact=exact, behind=behind)
    assert why == words and (band.low is None) == bool(words) and (band.value is None) == (behind > 0 or not exact)
