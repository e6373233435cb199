"""A learner behind an encoder: the same as the policy that is given the encoder's numbers, in files and copies too."""

import pickle

import numpy as np
import pytest

import hsb
from hsb.errors import InputError
from hsb.features.encoders import PCA, Chain, Columns, MinMax
from hsb.files.policy_file import pack, unpack
from hsb.learners.encoded import encode_contexts, hash_texts
from hsb.policies import LinUCB, TreeThompson


def shop(count, seed=0):
    rng = np.random.default_rng(seed)
    return [{"land": str(rng.choice(["FR", "DE", "IT"])), "age": float(rng.normal(40, 9))} for _ in range(count)]


def linear(encoder):
    return LinUCB(len(encoder.names), arms=["a", "b"], seed=0)


def tree(encoder):
    return TreeThompson(hsb.BinaryTree(depth=4, space=hsb.Box.unit(1)), arms=["a", "b"], seed=0)


@pytest.mark.parametrize(("make", "encoder"), [(linear, Columns()), (tree, Chain(Columns(), PCA(1), MinMax()))])
def test_it_equals_the_policy_of_numbers(make, encoder):
    """Decisions, updates, tables, and what goes through a file, a pickle or a copy, bit for bit."""
    contexts = [hash_texts(each) for each in shop(200)]
    encoder.fit(contexts)
    bare, named = make(encoder), encode_contexts(make(encoder), encoder)
    us = np.random.default_rng(1).random(60)
    for k, (context, u) in enumerate(zip(shop(60, 2), us, strict=True)):
        row = encoder.transform([hash_texts(context)])[0]
        one, other = named.propose(context, u=u), bare.propose(row, u=u)
        assert (one.arm, one.propensity) == (other.arm, other.propensity)
        named.learn_proposed(one, reward=float(k % 3 == 0))
        bare.learn_proposed(other, reward=float(k % 3 == 0))
    assert all(np.array_equal(a, b) for a, b in zip(named.to_arrays().values(), bare.to_arrays().values(), strict=True))
    some = shop(5, 3)
    for other in (unpack(pack(named), {}), pickle.loads(pickle.dumps(named)), named.copy()):
        assert other.digest() == named.digest() and other.rounds == 60
        assert [other.probabilities(each).tolist() for each in some] == [named.probabilities(each).tolist() for each in some]
        other.add_arm("c")
        assert other.probabilities(some[0]).shape == (3,) and named.probabilities(some[0]).shape == (2,)
    many = named.propose_many(some, u=us[:5])
    assert [each.arm for each in many] == [named.propose(each, u=u).arm for each, u in zip(some, us[:5], strict=True)]
    assert len(list(named.decide_many(some))) == 5


def test_what_it_takes():
    """Features that are missing or new are left out; contexts without names, and text where there were numbers, are refused."""
    contexts = shop(50)
    policy = encode_contexts(linear(encoder := Columns().fit([hash_texts(each) for each in contexts])), encoder)
    assert policy.learner.named_columns == {"land": "category", "age": "number"}
    for context in ({}, {"land": "ES"}, {"land": "FR", "age": None}, {"age": 3.0, "more": True}):
        assert policy.probabilities(context).sum() == 1.0
    for context in (0.5, [1.0, 2.0], {"age": "old"}):
        with pytest.raises(InputError):
            policy.decide(context)
    assert b"FR" not in pack(policy)


def test_a_component_has_the_same_bits_alone_and_among_others():
    """Its sum goes from the first feature on, however many rows there are."""
    rows = np.random.default_rng(4).normal(size=(300, 40)) * np.logspace(-8, 8, 40)
    pca = PCA(3).fit(rows)
    assert np.array_equal(pca.transform(rows), np.vstack([pca.transform(row[None]) for row in rows]))
    slow = [sum_in_order(row * axis) - sum_in_order(pca.mean * axis) for row in rows[:20] for axis in pca.axes]
    assert pca.transform(rows[:20]).ravel().tolist() == slow


def sum_in_order(values):
    total = 0.0
    for value in values.tolist():
        total += value
    return total
