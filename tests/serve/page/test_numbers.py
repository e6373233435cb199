"""The page's figures: against a naive twin, whatever the slices, and by simulation, each with something that must fail."""

import math

import numpy as np
import pytest
from naive import page as naive_page

from hsb.evaluate.off_policy.betting import Bets
from hsb.serve.core.rows import DecisionRow, StreamRow
from hsb.serve.page.bands import arm_error, bets, intervals
from hsb.serve.page.curves import arm_curve, policy_curve, shares, uniform_curve
from hsb.serve.page.feedback import within
from hsb.serve.page.numbers import MOST_BUCKETS, Floors, Updates, UpdateTally, updates_of


def made(n, seed, *, arms=3, floor=0.2, masked=False, shift=0.0):
    """A policy whose probabilities wander; rewards 0 or 1, the probability of 1 being higher for later arms."""
    rng = np.random.default_rng(seed)
    available = np.ones((n, arms), dtype=bool)
    if masked:
        available[rng.random(n) < 0.3, 0] = False
    raw = rng.dirichlet(np.ones(arms) * 0.5, n) * available
    raw /= raw.sum(axis=1, keepdims=True)
    among = available.sum(axis=1, keepdims=True)
    p = (1.0 - floor) * raw + floor * available / among
    arm = (rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1).clip(0, arms - 1)
    arm = np.where(available[np.arange(n), arm], arm, arms - 1)
    probability = 0.1 + 0.1 * np.arange(arms)
    reward = (rng.random(n) < probability[arm]).astype(float)
    at = 1_700_000_000_000_000 + np.cumsum(rng.integers(1, 900_000, n))
    logged = np.clip(p[np.arange(n), arm] * math.exp(shift), None, 1.0)
    least = np.full(n, floor) / among[:, 0]
    defaulted, alone = np.zeros(n, dtype=bool), np.ones(n)
    counts = among[:, 0].astype(float), alone
    return Updates(at, at - 5, arm, logged, reward, available, *counts, rng.random(n), defaulted, least, alone, alone)


def told(updates, cuts=(), scale=(0.0, 1.0)):
    tally = UpdateTally(scale)
    for part in np.split(np.arange(len(updates.at)), list(cuts)):
        if len(part):
            tally.add(Updates(*(column[part] for column in updates)))
    return tally


def plain(updates):
    rows = zip(
        *(column.tolist() for column in (updates.arm, updates.p, updates.reward, updates.available, updates.least)), strict=True
    )
    return [(arm, p, r, [k for k, some in enumerate(available) if some], least) for arm, p, r, available, least in rows]


@pytest.mark.parametrize(("floor", "masked"), [(0.2, False), (0.2, True), (0.0, True)])
def test_figures_are_those_of_the_naive_twin(floor, masked):
    updates = made(250, 1, floor=floor, masked=masked)
    tally, rows = told(updates), plain(updates)
    value, ahead = naive_page.bands(rows, lambda arm, available: 1.0 / len(available))
    assert tuple(tally.even_play()) == pytest.approx(value, abs=1e-6)
    assert tuple(tally.ahead()) == pytest.approx(ahead, abs=1e-6)
    own, _ = naive_page.bands([(0, 1.0, r, [0], 1.0) for _, _, r, _, _ in rows], lambda arm, available: 1.0)
    assert tuple(tally.policy()) == pytest.approx(own, abs=1e-6)
    for k in range(3):
        value, ahead = naive_page.bands(
            rows, lambda arm, available, k=k: None if k not in available else float(arm == k), error=0.05 / 3
        )
        assert tuple(tally.arm(k, 0.05 / 3)) == pytest.approx(value, abs=1e-6)
        assert tuple(tally.ahead_of(k, 0.05 / 3)) == pytest.approx(ahead, abs=1e-6)
        assert tally.raw(k) == pytest.approx(np.mean([r for arm, _, r, _, _ in rows if arm == k]))
    assert tally.best(range(3)) == max(range(3), key=lambda k: tally.arms.weighted[k] / tally.arms.available[k])


def test_estimates_are_not_clipped_after_a_few_updates():
    """Of four updates some estimates lie outside of their intervals, and differences are those of the estimates all the same."""
    outside = 0
    for seed in range(20):
        updates = made(4, seed)
        tally, rows = told(updates), plain(updates)
        for k in range(3):
            value, ahead = naive_page.bands(rows, lambda arm, available, k=k: float(arm == k), error=0.05 / 3)
            band, gain = tally.arm(k, 0.05 / 3), tally.ahead_of(k, 0.05 / 3)
            assert (tuple(band), tuple(gain)) == (pytest.approx(value, abs=1e-6), pytest.approx(ahead, abs=1e-6))
            assert tally.policy().value - band.value == pytest.approx(gain.value)
            assert arm_curve(tally, "", k, 0.05 / 3).value[-1] == pytest.approx(band.value)
            outside += not band.low <= band.value <= band.high
    assert outside


def test_slices_make_no_difference():
    updates = made(3000, 2, masked=True)
    whole, parts = told(updates), told(updates, cuts=(1, 2, 700, 701, 1500))
    assert np.allclose(whole.uniform, parts.uniform) and np.allclose(whole.arms.gain, parts.arms.gain)
    assert whole.width == parts.width and [b.rows for b in whole.buckets] == [b.rows for b in parts.buckets]
    assert not np.allclose(whole.uniform, told(made(3000, 3, masked=True)).uniform)


def test_buckets_are_few_and_say_what_the_rows_say():
    updates = made(2500, 4)
    tally = told(updates)
    assert len(tally.buckets) <= MOST_BUCKETS
    assert shares(tally) == naive_page.shares(updates.at.tolist(), updates.arm.tolist(), tally.width, 3)
    assert policy_curve(tally, "").value[-1] == pytest.approx(updates.reward.mean())
    assert uniform_curve(tally, "").low[-1] == pytest.approx(tally.even_play().low)
    assert arm_curve(tally, "", 1, 0.02).high[-1] == pytest.approx(tally.arm(1, 0.02).high)
    assert all(low <= value <= high for _, *line in [policy_curve(tally, "")] for value, low, high in zip(*line, strict=True))


def test_arms_that_came_later_widen_everything():
    early, late = made(200, 5, arms=2), made(200, 6, arms=4)
    tally = UpdateTally((0.0, 1.0))
    tally.add(early)
    tally.add(late._replace(at=late.at + 10**9))
    assert tally.arms.available.tolist() == [400, 400, 200, 200]
    assert len(shares(tally)[0]) == 4 and arm_curve(tally, "", 3, 0.05).value[0] is None


def test_rewards_in_other_units_are_scaled_there_and_back():
    updates = made(400, 7)
    unit, wide = told(updates), told(updates._replace(reward=10.0 * updates.reward - 5.0), scale=(-5.0, 5.0))
    for one, other in zip(unit.even_play(), wide.even_play(), strict=True):
        assert 10.0 * one - 5.0 == pytest.approx(other)
    assert wide.ahead().high == pytest.approx(10.0 * unit.ahead().high)
    assert told(updates, scale=None).policy().low is None  # a range that is found on the way: no band


def test_nine_in_ten_take_no_less_time_than_half():
    rng = np.random.default_rng(8)
    for n in range(1, 71):
        delays = rng.integers(0, 20, n).tolist()
        shares = [within(delays, tenths) for tenths in (5, 9)]
        assert shares == [naive_page.within(delays, tenths) for tenths in (5, 9)] == sorted(shares)
    assert (within([0.06, 3.0], 5), within([0.06, 3.0], 9)) == (0.06, 3.0)


LOOKS = np.unique(np.geomspace(5, 1000, 30).astype(int))


def misses(seeds, shift=0.0):
    """How often an interval, looked at thirty times, ever missed what it should hold: uniform play, always arm 0, policy less uniform."""
    missed = np.zeros(3)
    for seed in range(seeds):
        updates = made(1000, 1000 + seed, shift=shift)
        tally, done = UpdateTally((0.0, 1.0)), 0
        wrong = np.zeros(3, dtype=bool)
        probability = 0.1 + 0.1 * np.arange(3)
        rng = np.random.default_rng(1000 + seed)  # as in `made`
        raw = rng.dirichlet(np.ones(3) * 0.5, 1000)
        played = ((0.8 * raw + 0.2 / 3) @ probability).cumsum() / np.arange(1, 1001)
        for look in LOOKS:
            tally.add(Updates(*(column[done:look] for column in updates)))
            done = look
            even, arm, gain = tally.even_play(), tally.arm(0), tally.ahead()
            wrong[0] |= not even.low <= probability.mean() <= even.high
            wrong[1] |= not arm.low <= probability[0] <= arm.high
            wrong[2] |= not gain.low <= played[look - 1] - probability.mean() <= gain.high
        missed += wrong
    return missed / seeds


@pytest.mark.long
def test_bands_survive_thirty_looks():
    """5 % are promised; were it 5 %, more than 7 of 60 runs would miss with a probability of 0.01. They are cautious, so it is far less."""
    assert (misses(60) <= 7 / 60).all()


def test_wrong_propensities_break_the_bands():
    """The negative control: propensities logged 40 % too low."""
    assert misses(10, shift=math.log(0.6))[0] > 0.5


def test_bands_get_narrow():
    tally = told(made(20_000, 11))
    even = tally.even_play()
    assert even.high - even.low < 0.05 and tally.arm(0).high - tally.arm(0).low < 0.06
    without = told(made(20_000, 11)._replace(least=np.zeros(20_000)))
    assert without.even_play().high - without.even_play().low > 1.3 * (even.high - even.low)  # what a floor is worth


def test_honest_logs_are_believed_and_others_not():
    honest = [max(told(made(2000, 40 + seed)).suspicion().values()) for seed in range(10)]
    assert max(honest) < math.log(1000.0)
    assert told(made(2000, 1, shift=math.log(0.6))).suspicion()["arms"] > math.log(1000.0)
    loaded = made(2000, 1)
    assert told(loaded._replace(u=loaded.u * 0.8)).suspicion()["small"] > math.log(1000.0)
    assert told(loaded).support()[1] and not told(made(2000, 1, shift=math.log(2.0))).support()[1]


@pytest.mark.parametrize("first", [1, 2, 3, 50])
def test_the_errors_of_all_arms_that_ever_come_add_up(first):
    """5 % at most, however many are added. The control: what was before, 5 % over the arms of the moment, has 6.25 % with a fourth arm."""
    total = sum(arm_error(index, first) for index in range(first + 5000))
    assert 0.0499 < total <= 0.05
    assert arm_error(0, first) > 0.7 * 0.05 / first and min(arm_error(index, first) for index in range(first + 100)) > 0.0
    assert math.isclose(3 * (0.05 / 3) + 0.05 / 4, 0.0625)


def test_an_interval_of_one_look_does_not_do_for_many():
    """Why the stakes' shares are set beforehand: at a number of terms chosen by looking, the interval for one look may miss more often."""
    n = 400
    sums = np.zeros((2, 20))
    rng = np.random.default_rng(0)
    x = (rng.random(n) < 0.3).astype(float)
    sums += [bets(x).sum(axis=0), bets(1.0 - x).sum(axis=0)]
    once = Bets()
    once.add(np.ones(n), x)
    low, high = intervals(sums[None], np.array([float(n)]))
    assert low[0] < once.ends()[0] < 0.3 < once.ends()[1] < high[0]


def test_updates_are_read_from_rows():
    def row(seq, kind, decision=None, reward=None, data=None):
        return StreamRow(1, seq, kind, decision, reward, False, data, None, 10 * seq)

    def decision(version, arm, available):
        return DecisionRow("d", 1, version, 1, arm, 0.25, 0.5, available, 0.5, None, "{}", 0, 0.0, None, b"", 99, 7)

    floors = Floors()
    entries = [
        (row(1, 2, data='{"settings": {"floor": 0.1}}'), None),
        (row(2, 4, data='{"floor": 0.4}'), None),
        (row(3, 1, "d", 1.0), decision(1, 0, b"\x05")),
        (row(4, 1, "e", 0.0), decision(2, 2, b"\x07")),
    ]
    result = updates_of(entries, 3, floors)
    assert result.arm.tolist() == [0, 2] and result.available.tolist() == [[True, False, True], [True, True, True]]
    assert result.least.tolist() == pytest.approx(
        [0.5 * 0.1 / 2, 0.5 * 0.4 / 3]
    )  # the floor of the decision's version, times the ramp
    assert floors.at(0) == 0.0


def ramped(n, seed, ramps):
    """Decisions of which a baseline, arm 0, has a part: rows of a journal, and the policy's own probabilities."""
    rng, entries, own = np.random.default_rng(seed), [], []
    for k in range(n):
        ramp, q = ramps[k % len(ramps)], 0.1 / 3 + 0.9 * rng.dirichlet(np.ones(3))
        p = ramp * q + (1.0 - ramp) * np.array([1.0, 0.0, 0.0])
        arm = int(rng.choice(3, p=p / p.sum()))
        reward = float(rng.random() < (0.2, 0.3, 0.6)[arm])
        decision = DecisionRow(
            f"d{k}", 1, 1, 1, arm, float(p[arm]), float(rng.random()), b"\x07", ramp, 0, "1", -1, -1.0, None, b"", 9, k * 10**6
        )
        entries.append((StreamRow(1, k + 2, 1, f"d{k}", reward, False, None, None, k * 10**6), decision))
        own.append((arm, p[arm], q[arm], reward, ramp))
    return entries, own


def test_the_policy_is_estimated_apart_from_what_was_played():
    """Against the naive twin: each update weighed by what the policy would have played, updates in the shadow left out of the estimate."""
    entries, own = ramped(240, 11, (0.5, 1.0, 0.0, 0.25))
    tally = UpdateTally((0.0, 1.0))
    for cut in (entries[:7], entries[7:100], entries[100:]):
        tally.add(updates_of(cut, 3, Floors()))
    rows = [(k, p, r, [k, None], ramp) for k, (_, p, _, r, ramp) in enumerate(own)]  # None: the policy would surely play it
    value, ahead = naive_page.bands(rows, lambda k, _: 1.0 if k is None else own[k][2] if own[k][4] > 0.0 else None)
    assert tuple(tally.estimated()) == pytest.approx(value, abs=1e-6)
    assert tuple(tally.ahead_of_estimated()) == pytest.approx(ahead, abs=1e-6)
    assert tuple(tally.estimated()) != pytest.approx(tuple(tally.policy()), abs=1e-3)
    assert (tally.shared, tally.chosen.rows) == (180, 180) and tally.uneven
    assert tally.policy().value == pytest.approx(np.mean([r for *_, r, _ in own]))


def test_intervals_of_the_estimate_hold_and_wrong_weights_are_noticed():
    """The policy's true value lies in the interval at the end of 60 runs but for some; in that of what was played it does not."""
    missed = taken = 0
    for seed in range(60):
        entries, _ = ramped(600, 100 + seed, (0.3,))
        tally = UpdateTally((0.0, 1.0))
        tally.add(updates_of(entries, 3, Floors()))
        truth = 0.1 / 3 * 1.1 + 0.9 * 1.1 / 3  # q is uniform on average, whatever came
        band, played = tally.estimated(), tally.policy()
        missed += not band.low <= truth <= band.high
        taken += not played.low <= truth <= played.high
    assert missed <= 3 and taken >= 30


def test_in_the_shadow_nothing_is_estimated():
    entries, _ = ramped(50, 12, (0.0,))
    tally = UpdateTally((0.0, 1.0))
    tally.add(updates_of(entries, 3, Floors()))
    assert tuple(tally.estimated()) == (None, None, None) and tally.policy().value is not None and tally.chosen.rows == 0
