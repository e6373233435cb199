"""Nothing that is played or learned changes by a bit: every policy in every scenario does what `goldens.json` recorded."""

import pytest
from support import golden_cases

RECORDED = golden_cases.recorded()


def test_every_case_is_recorded() -> None:
    assert [(policy, scenario) for policy in RECORDED for scenario in RECORDED[policy]] == list(golden_cases.names())


@pytest.mark.parametrize(("policy", "scenario"), list(golden_cases.names()))
def test_it_plays_and_learns_as_recorded(policy: str, scenario: str) -> None:
    result, expected = golden_cases.digests(policy, scenario).split(), RECORDED[policy][scenario].split()
    assert len(result) == len(expected), f"{policy}, {scenario}: {len(expected)} parts are recorded, there are {len(result)}"
    differ = [part for part, *two in zip(golden_cases.PARTS, result, expected, strict=False) if two[0] != two[1]]
    assert not differ, (
        f"{policy}, {scenario}: {', '.join(differ)} differ from tests/support/goldens.json. "
        f'See python tests/support/golden_cases.py --show "{policy}" "{scenario}", before and after.'
    )
