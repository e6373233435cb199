"""What a round costs at most where losses near 1 are learned less a shift, at once or late: by round, in expectation, without a run."""

import math

import numpy as np
import pytest

import hsb
from hsb.learners.baseline import FROM, FURTHEST, MOST
from hsb.theory.schedule import SECOND_ORDER, BaselineShift

SHIFT = BaselineShift(FURTHEST, MOST, FROM)


def expected(p, later, losses, *, rate, b, floor=0.0):
    """Of loss - b + ln(Z)/rate, over the arm that is played: decided by the weights `p`, learned by those of a `later` time."""
    share = max(floor, len(p) * rate * b)
    played = (1.0 - share) * p + share / len(p)
    x = rate * (losses - b) / played
    assert x.min() >= -1.0 - 1e-12
    return played @ (losses - b + np.log1p(-later * -np.expm1(-x)) / rate)


def drawn(rng, arms):
    """Weights of any kind, most of them on few arms."""
    p = rng.dirichlet(np.full(arms, rng.choice([0.02, 0.3, 3.0])))
    p = np.maximum(p, 1e-9)
    return p / p.sum()


def worlds(rng, n):
    """Arms, rate, shift, floor and losses, as hostile as can be more often than not."""
    for _ in range(n):
        arms = int(rng.choice([1, 2, 3, 10, 50]))
        rate = float(rng.choice([1e-3, 0.01, 0.05, 0.3])) / math.sqrt(arms)
        b = min(FURTHEST, MOST / (arms * rate)) * float(rng.choice([0.0, rng.random(), 1.0]))
        floor = float(rng.choice([0.0, 0.0, 0.02, 0.3]))
        losses = (rng.random(arms) < rng.random()).astype(float) if rng.random() < 0.7 else rng.random(arms)
        yield arms, rate, b, floor, losses


def test_no_round_costs_more_than_is_said():
    """8,000 draws; the largest comes near what is said."""
    rng, largest = np.random.default_rng(0), 0.0
    for arms, rate, b, floor, losses in worlds(rng, 8_000):
        p = drawn(rng, arms)
        most = SHIFT.round_cost(arms * rate, floor) + floor
        result = expected(p, p, losses, rate=rate, b=b, floor=floor)
        assert result <= most + 1e-9, (arms, rate, b, floor)
        largest = max(largest, result / most)
    assert largest > 0.7


def test_without_the_limits_of_the_shift_it_is_untrue():
    """Negative control: with a shift of .9 some round costs more, and with 70% of what is said one of .5 does."""
    rate, losses = 1e-4, np.append(0.0, np.ones(49))
    p = np.where(losses == 0.0, 1.0 - 49e-9, 1e-9)
    answer = SHIFT.round_cost(50 * rate, 0.0)
    assert expected(p, p, losses, rate=rate, b=0.9) > 1.2 * answer
    assert 0.7 * answer < expected(p, p, losses, rate=rate, b=0.5) < answer


def test_the_cost_of_a_round_is_largest_at_an_end():
    """Against a grid of all shifts. In words: .69 M rate at most, whatever the rate, if there is no floor."""
    for step in (1e-4, 0.05, 0.1, 0.3, 0.58, 1.0, 10.0):
        for floor in (0.0, 0.02, 0.5):
            shifts = np.linspace(0.0, min(FURTHEST, MOST / step), 501)
            uniform = np.maximum(floor, step * shifts)
            second = np.maximum((1.0 - shifts) ** 2 / 2.0, SECOND_ORDER * shifts**2)
            grid = second * step / (1.0 - uniform) + uniform - floor
            plain = step / 2.0 / (1.0 - uniform[-1])  # a decision of before the shift was set
            assert SHIFT.round_cost(step, floor) == pytest.approx(max(grid.max(), plain))
        assert step / 2.0 <= SHIFT.round_cost(step, 0.0) <= 0.69 * step


# -- late feedback -------------------------------------------------------------------------------------------------------


def test_what_moved_in_between_costs_no_more_than_is_said():
    """What is learned late, by other weights: 1 + (e - 2) b times their total variation more."""
    rng = np.random.default_rng(1)
    for arms, rate, b, floor, losses in worlds(rng, 8_000):
        p, later = drawn(rng, arms), drawn(rng, arms)
        moved = float(np.abs(p - later).sum()) / 2.0
        most = SHIFT.round_cost(arms * rate, floor) + floor + (1.0 + SECOND_ORDER * b) * moved
        # against a mapping: sum p (loss - b) cancels, and what is left is that of the weights it was decided by
        assert expected(p, later, losses, rate=rate, b=b, floor=floor) <= most + 1e-9, (arms, rate, b, floor)
    assert SHIFT.late() == 1.0 + SECOND_ORDER / 2.0 <= 1.36


def test_the_shift_makes_it_dearer():
    """Negative control: the total variation alone, as without a shift, is too little; so is a factor a tenth smaller."""
    moved, rate = 0.02, 1e-5
    p, later, losses = np.array([1.0, 0.0]), np.array([1.0 - moved, moved]), np.array([1.0, 0.0])
    result = expected(p, later, losses, rate=rate, b=0.5) - SHIFT.round_cost(2 * rate, 0.0)
    assert moved < 1.1 * moved < result <= SHIFT.late() * moved


def test_learning_moves_no_more_weight_than_the_rate():
    """In expectation, with a shift or without: so the weights at two times differ by the rates of what was learned in between."""
    rng, largest = np.random.default_rng(2), 0.0
    for arms, rate, b, floor, losses in worlds(rng, 8_000):
        p, deciding = drawn(rng, arms), drawn(rng, arms)
        share = max(floor, arms * rate * b)
        played = (1.0 - share) * deciding + share / arms
        factor = np.exp(-rate * (losses - b) / played)
        after = p * factor / (1.0 - p + p * factor)
        moved = float(played @ np.abs(after - p))
        assert moved <= rate + 1e-12
        largest = max(largest, moved / rate)
    assert largest > 0.5


def test_a_late_round_costs_more_in_the_bound_of_the_default():
    """By hand from the parts: rates, shares, falls, and what is uniform for rounds that a setting of the shift makes plain."""
    policy, delay, horizon = hsb.HSB(arms=3), 7.0, 50_000
    schedule = policy.learner.mixture.rates.schedule
    scale = 1.0 + 2.0 * delay / 3
    total, done, rate = 0.0, 0.0, 1.0
    while done < horizon * scale:
        phase = schedule.phase(int(done))
        end = min(float(phase.until), horizon * scale)
        n, rate = (end - done) / scale, phase.rate
        total += n * (SHIFT.round_cost(3 * rate, 0.0) + phase.sharing(3) / rate)
        total += (1.0 + SECOND_ORDER / 2.0) * delay * n * (rate + phase.drift + phase.head_drift)
        total += (1.0 + SECOND_ORDER / 2.0 + MOST) * min(delay, done / scale)
        done = end
    total += delay * 7 * MOST  # settings after 512, 1024, ..., 32768 rounds
    result = schedule.bound(10.0, arms=3, horizon=horizon, delay=delay, shift=SHIFT)
    assert result == pytest.approx(total + (10.0 + schedule.head_cost) / rate)
    plain = schedule.bound(10.0, arms=3, horizon=horizon, delay=delay)
    assert plain < schedule.bound(10.0, arms=3, horizon=horizon, delay=delay, shift=SHIFT)


def test_the_shift_is_set_no_more_often_than_is_counted():
    """Clicks: 3,000 rounds with losses near 1. Decisions of before a setting are learned without a shift."""
    rng, policy, settings, last, uniform = np.random.default_rng(0), hsb.HSB(arms=3, seed=0), 0, 0, 0.0
    for _ in range(3000):
        policy.learn(policy.decide({"x": rng.random()}), loss=float(rng.random() < 0.95))
        baseline, rate = policy.learner.baseline, policy.learner.mixture.rates.rate
        assert 0.0 <= baseline.shift <= SHIFT.largest and baseline.share <= SHIFT.share
        assert baseline.share == pytest.approx(3 * rate * baseline.shift)
        settings, last = settings + (baseline.since != last), baseline.since
        uniform = max(uniform, baseline.share)
    assert uniform > 0.01
    assert 2 <= settings <= 1 + SHIFT.settings(3000) == 4  # the first finds no shift before it
    assert [SHIFT.settings(rounds) for rounds in (1, 256, 511, 512, 100_000)] == [0, 0, 0, 1, 8]


# -- a range that is found on the way ------------------------------------------------------------------------------------


@pytest.mark.parametrize("floor", [0.0, 0.1])
def test_terms_are_negative_by_no_more_than_what_is_played_uniformly(floor):
    """Of loss - b + ln(Z)/rate the negative part has an expectation of at most the uniform share; without one there is none."""
    rng, largest = np.random.default_rng(3), 0.0
    for arms, rate, b, _, losses in worlds(rng, 8_000):
        p, share = drawn(rng, arms), max(floor, arms * rate * b)
        played = (1.0 - share) * p + share / arms
        x = rate * (losses - b) / played
        terms = losses - b + np.log1p(-p * -np.expm1(-x)) / rate
        negative = float(played @ np.maximum(0.0, -terms))
        assert negative <= share + 1e-9
        largest = max(largest, negative / share if share else 0.0)
    assert largest > 0.3  # with a uniform share there are such terms
