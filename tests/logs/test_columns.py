"""The roles of a table's columns: which columns are read, and what is wrong with a table or with its names."""

import pytest

import hsb
from hsb.logs.columns import ColumnRoles, parse_propensity, require
from hsb.logs.rows import Meaning

ROLES = {"arm": "shown", "propensity": "p", "reward": "click"}


def roles(**changes):
    return ColumnRoles.of(Meaning(("age",)), **{**ROLES, **changes})


def test_each_column_is_read_once():
    assert roles().names == ["age", "shown", "p", "click"]
    assert roles(propensity=0.25).names == ["age", "shown", "click"]
    assert roles(available="on", timestamp="age", id="event").names == ["age", "shown", "p", "click", "on", "event"]


def test_columns_of_booleans_name_the_arms():
    by_list, by_mapping = roles(available=["a", "b"]), roles(available={"b": "is_b", "a": "is_a"})
    assert by_list.meaning.arms == ("a", "b") and by_list.available == ("a", "b")
    assert by_mapping.meaning.arms == ("b", "a") and by_mapping.available == ("is_b", "is_a")
    assert (by_list.meaning.offers, roles(available="on").meaning.offers, roles().meaning.offers) == ("truths", "lists", "all")


def test_losses_have_a_range():
    assert roles().meaning.loss_range is None
    assert roles(reward=None, loss="cost").meaning.loss_range == (0.0, 1.0)
    assert dict(roles(reward=None, loss="cost").meaning.called) == {"propensity": "p", "loss": "cost"}


def test_a_column_takes_precedence_over_a_word():
    header = ["age", "shown", "click"]
    for word, value in (("uniform", "uniform"), ("estimate", "estimate"), ("0.2", 0.2), ("1", 1.0)):
        no_column = roles(propensity=word).within([("log.csv", header)])
        assert (no_column.propensity, no_column.meaning.probabilities) == (None, value)
        column = roles(propensity=word).within([("log.csv", [*header, word])])
        assert (column.propensity, column.meaning.probabilities) == (word, None)
    assert [parse_propensity(word) for word in ("p", "", "1_0", "nan", "inf")] == [None] * 5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"propensity": None}, "The propensity is missing: with which probability was each arm shown"),
        ({"reward": None}, "either reward= or loss=; given arm='shown', propensity='p'"),
        ({"loss": "cost"}, "either reward= or loss="),
        ({"arm": None}, "needs the names of its columns"),
        ({"propensity": 0.0}, r"in \(0, 1\] if it is one number for all rows; given 0"),
        ({"propensity": 1.5}, r"in \(0, 1\]"),
        ({"available": []}, "given no column"),
        ({"available": {}}, "given no column"),
        ({"reward": 3}, "Columns must be named by text"),
    ],
)
def test_wrong_roles_are_refused(changes, words):
    with pytest.raises(hsb.InputError, match=words):
        roles(**changes)


def test_arms_and_their_columns_agree():
    meaning = Meaning(("age",), arms=("a", "b"))
    with pytest.raises(hsb.InputError, match="a column for each of the 2 arms; given 3"):
        ColumnRoles.of(meaning, **ROLES, available=["x", "y", "z"])
    with pytest.raises(hsb.InputError, match="must have exactly the arms of arms="):
        ColumnRoles.of(meaning, **ROLES, available={"a": "x", "c": "y"})
    with pytest.raises(hsb.InputError, match="listed twice in context"):
        ColumnRoles.of(Meaning(("age", "age")), **ROLES)


def test_a_table_without_a_column_is_named():
    with pytest.raises(
        hsb.InputError, match=r"two.csv has no column 'p'\. It has: 'age', 'shown', 'click'\. The propensity may be"
    ):
        roles().within([("one.csv", ["age", "shown", "p", "click"]), ("two.csv", ["age", "shown", "click"])])
    with pytest.raises(hsb.InputError, match=r"log\.csv has two columns named 'age'"):
        require(["age"], ["age", "x", "age"], "log.csv")
    with pytest.raises(hsb.InputError, match="'c39' and 5 more"):
        require(["age"], [f"c{j}" for j in range(45)], "log.csv")
