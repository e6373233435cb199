"""An encoder inside the file of its policy."""

import numpy as np
import pytest

import hsb
from hsb.features.encoders import MinMax
from hsb.features.encoders.files import load, with_encoder


@pytest.fixture
def packed(tmp_path):
    policy = hsb.LinUCB(arms=2, features=2, seed=0)
    encoder = MinMax().fit(np.array([[0.0, 1.0], [10.0, 3.0]]))
    path = tmp_path / "policy.hsb"
    policy.save(path)
    path.write_bytes(with_encoder(path.read_bytes(), encoder))
    return policy, encoder, path


def test_both_come_back(packed):
    policy, encoder, path = packed
    assert hsb.load(path).digest() == policy.digest()
    assert load(path).to_dict() == encoder.to_dict()


def test_a_file_without_one_has_none(tmp_path):
    hsb.Exp3(arms=2, learning_rate=0.1).save(tmp_path / "plain.hsb")
    assert load(tmp_path / "plain.hsb") is None


def test_damage_is_an_error_of_files(tmp_path):
    (tmp_path / "bad.hsb").write_bytes(b"not a policy")
    with pytest.raises(hsb.FileError):
        load(tmp_path / "bad.hsb")
