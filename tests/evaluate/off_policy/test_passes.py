"""Two passes over a log: models that candidates share are fitted once, and a pass in parts is the pass over the whole."""

import pickle

import numpy as np
import pytest
from support.off_policy_cases import pooled

from hsb.evaluate.off_policy.accumulators import Reading
from hsb.evaluate.off_policy.candidates import Always, UniformPlay
from hsb.evaluate.off_policy.passes import CandidateContexts, Fitting, LogPass
from hsb.evaluate.off_policy.reward_models import reward_model

RANGE = (0.0, 1.0)
BATCHES = [pooled(1, 82), pooled(2, 45), pooled(3, 7)]
PLAYERS = [UniformPlay(RANGE), Always(1, RANGE), Always(2, RANGE)]
VIEW = CandidateContexts(PLAYERS[0], None)


def fit(batches, models=None):
    fitting = Fitting([VIEW], models or [reward_model(None)])
    if batches:
        fitting.prepare(BATCHES[0])
        fitting.add(batches)
    return fitting


def read(model, batches, start=0, estimator="dr"):
    options = {"estimator": estimator, "clip": 2.0, "baseline": 0, "start": start}
    log_pass = LogPass(PLAYERS, [0] * 3, [VIEW], [model], **options)
    log_pass.add(batches)
    return log_pass


@pytest.fixture(scope="module")
def model():
    fitting = fit(BATCHES)
    fitting.finish()
    return fitting.models[0]


def test_a_shared_model_is_fitted_once():
    model = reward_model(None)
    once, twice = fit(BATCHES), Fitting([VIEW, VIEW], [model, model])
    twice.prepare(BATCHES[0])
    twice.add(BATCHES)
    once.finish()
    twice.finish()
    table = (BATCHES[0].contexts, BATCHES[0].contexts, np.arange(82) % 5, [0, 1, 2])
    assert np.array_equal(once.models[0].predict(*table), model.predict(*table))
    assert once.needed and twice.rows == 134 and not Fitting([None], [None]).needed


def test_a_fit_in_parts_is_the_fit_of_the_whole(model):
    parts = fit(BATCHES[:1])
    parts.merge(pickle.loads(pickle.dumps(fit(BATCHES[1:]))))
    parts.finish()
    table = (BATCHES[1].contexts, BATCHES[1].contexts, np.arange(82, 127) % 5, [0, 1, 2])
    assert parts.rows == 134
    assert parts.models[0].predict(*table) == pytest.approx(model.predict(*table), rel=1e-9)


@pytest.mark.parametrize("estimator", ["dr", "snips"])
def test_each_candidate_is_read_as_if_alone(model, estimator):
    log_pass = read(model, BATCHES, estimator=estimator)
    for candidate, reading in zip(PLAYERS, log_pass.readings, strict=True):
        alone = Reading(candidate, model, 2.0)
        for batch in BATCHES:
            alone.add(batch, batch.contexts)
        assert reading.result([estimator], seed=0) == alone.result([estimator], seed=0)
    both = sum(int((batch.available[:, 1] & batch.available[:, 2]).sum()) for batch in BATCHES)
    playable = [sum(int(batch.available[:, arm].sum()) for batch in BATCHES) for arm in (1, 2)]
    assert [log_pass.pairs[i].rows for i in (1, 2)] == playable and log_pass.together.rows == both
    assert set(log_pass.pairs) == {1, 2}


def test_a_pass_in_parts_is_the_pass_over_the_whole(model):
    whole, parts = read(model, BATCHES), read(model, BATCHES[:1])
    parts.merge(pickle.loads(pickle.dumps(read(model, BATCHES[1:], start=82))))
    assert parts.seen == whole.seen == 134 and parts.together.rows == whole.together.rows
    for one, two in zip(parts.readings, whole.readings, strict=True):
        assert one.tally.totals == pytest.approx(two.tally.totals, rel=1e-9)
    for i, pair in whole.pairs.items():
        assert parts.pairs[i].safe(0.95) == pytest.approx(pair.safe(0.95), rel=1e-9)
    wrong = read(model, BATCHES[:1])
    wrong.merge(read(model, BATCHES[1:], start=0))  # control: the folds of the model are then others
    assert wrong.readings[0].tally.totals != pytest.approx(whole.readings[0].tally.totals, rel=1e-9)


def test_progress_is_the_number_of_rows(model):
    seen = []
    LogPass(PLAYERS, [0] * 3, [VIEW], [model], estimator="dr", clip=None, baseline=None).add(BATCHES, seen.append)
    assert seen == [82, 127, 134]
