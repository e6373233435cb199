"""Names of arms."""

import pytest

from hsb.errors import InputError
from hsb.serve.core.arms import MOST_ARMS, arm_name, arm_names


@pytest.mark.parametrize("name", ["a", "x" * 256, "spring sale", "été", "\u202egnp", "a/b", "\t"])
def test_names(name):
    assert arm_name(name) == name and arm_names([name, "other"]) == [name, "other"]


@pytest.mark.parametrize("name", ["", "x" * 257, "a\x00", "\ud800", ".", "..", 7, None, ["a"]])
def test_wrong_names(name):
    with pytest.raises(InputError, match="An arm"):
        arm_name(name)


@pytest.mark.parametrize("names", [[], ["a", "a"], "ab", None, [f"a{k}" for k in range(MOST_ARMS + 1)]])
def test_wrong_lists(names):
    with pytest.raises(InputError, match="arms must"):
        arm_names(names)
