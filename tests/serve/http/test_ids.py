"""Ids and times as answers have them."""

import datetime
import re

import pytest

from hsb.serve.http.ids import new_id, when


def test_ids_are_uuids_of_version_7_and_differ():
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", each) for each in ids)


@pytest.mark.parametrize("micros", [0, 1_763_308_800_000_000, 1_763_308_800_250_000, 253_402_300_799_999_999])
def test_a_time_is_read_again(micros):
    back = datetime.datetime.fromisoformat(when(micros).replace("Z", "+00:00"))
    assert back == datetime.datetime.fromtimestamp(0, datetime.UTC) + datetime.timedelta(microseconds=micros)


@pytest.mark.parametrize("micros", [None, 10**30, -(10**30)])
def test_what_no_calendar_has_is_none(micros):
    assert when(micros) is None
