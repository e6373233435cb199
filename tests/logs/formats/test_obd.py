"""The Open Bandit Dataset's real files, where they are: HSB_OBD, or ../shared/data/obd beside the repository."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import hsb
import hsb.logs
from hsb.features.encoders import Chain, Hashed, Ordinal, code
from hsb.play import replay_all

OBD = Path(os.environ.get("HSB_OBD", Path(__file__).parents[4] / "shared" / "data" / "obd"))
real = pytest.mark.skipif(not OBD.is_dir(), reason=f"The Open Bandit Dataset is not at {OBD}; HSB_OBD says where.")

HEAD = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1,user_feature_2,user_feature_3,more\n"
ROW = "0,2019-11-24 00:00:34.5+00:00,14,3,0,0.0125,81ce,03a5,c2e4,f975,0.0\n"


def test_made_up_rows(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text(HEAD + ROW + ROW.replace(",14,3,0", ",7,1,1") + ROW.replace("14", "x") + ROW.replace("0.0125", "0.0"))
    log = hsb.logs.open(path)
    [batch] = log
    assert log.arms == [14, 7]
    assert batch.contexts[0].tolist() == [3.0, code("81ce"), code("03a5"), code("c2e4"), code("f975")]
    assert batch.timestamp[0] == 1574553634.5
    assert [problem.line for problem in log.problems.first] == [4, 5]
    log = hsb.logs.open(path, "obd", context=["more", "user_feature_1"], arms=range(80))
    [batch] = log
    assert batch.contexts[0].tolist() == [0.0, code("03a5")]
    assert batch.is_uniform
    with pytest.raises(hsb.InputError, match="columns of the format obd are fixed"):
        hsb.logs.open(path, "obd", arm="position")
    path.write_text("a,b\n1,2\n")
    with pytest.raises(hsb.InputError, match="no column 'position'"):
        hsb.logs.open(path, "obd")


FILES = {("random", "all"): (80, 38), ("random", "men"): (34, 46), ("bts", "all"): (80, 42), ("bts", "men"): (34, 69)}


@real
@pytest.mark.parametrize(("logged", "campaign"), FILES)
def test_the_real_files(logged, campaign):
    log = hsb.logs.open(OBD / logged / campaign)
    items, clicks = FILES[logged, campaign]
    batches = list(log)
    assert sum(map(len, batches)) == 10_000
    assert len(log.problems) == 0
    assert sorted(log.arms) == list(range(items))
    assert sum(batch.reward.sum() for batch in batches) == clicks
    assert all(batch.is_uniform for batch in batches) == (logged == "random")
    text = gzip.decompress((OBD / logged / campaign / f"{campaign}.csv.gz").read_bytes()).decode().splitlines()
    row = text[1].split(",")
    assert batches[0].labels()[0] == int(row[2])
    assert batches[0].contexts[0].tolist() == [float(row[3]), *map(code, row[6:10])]
    encoder = Chain(Ordinal(), Hashed(8, [1])).fit(log.head(5000))
    contexts = np.concatenate([encoder(batch.contexts) for batch in batches])
    assert contexts.min() > 0 and contexts.max() < 1


@real
@pytest.mark.parametrize("campaign", ["all", "men"])
def test_the_random_policy_replays_the_random_log_at_its_click_rate(campaign):
    log = hsb.logs.open(OBD / "random" / campaign)
    encoder = Ordinal().fit(log)
    items, clicks = FILES["random", campaign]
    policies = {str(seed): hsb.Uniform(arms=range(items), seed=seed) for seed in range(40)}
    results = list(replay_all(policies, log, context=encoder).values())
    matched = sum(one.matched for one in results)
    total = sum(one.total for one in results)
    assert all(one.rounds == 10_000 for one in results)
    assert abs(matched / 40 - 10_000 / items) < 5 * np.sqrt(10_000 / items / 40)
    rate = clicks / 10_000
    assert abs(total / matched - rate) < 4 * np.sqrt(rate / matched)  # binomial, given the log
    inside = np.mean([one.interval[0] <= rate <= one.interval[1] for one in results])
    assert inside > 0.8
    assert all(one.interval[1] - one.interval[0] > 0.01 for one in results)  # as wide as so few clicks deserve
