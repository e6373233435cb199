"""How far running parts have come."""

import pytest
from support.waiting import wait_until

from hsb.experiments import progress


@pytest.fixture
def told():
    return []


def test_finished_parts_add_up(told):
    with progress.Board(lambda done, total: told.append((done, total)), total=30, done=10) as board:
        board.finish(0, 5)
        board.finish(1, 15)
    assert told[0] == (10, 30) and told[-1] == (30, 30) and told == sorted(told)


def test_what_a_running_part_says_is_heard(told):
    with progress.Board(lambda done, total: told.append(done), total=100, done=0) as board:
        progress.report_to(board.path(0))
        progress.report_rounds(40)
        wait_until(lambda: 40 in told)
        progress.report_to("")
        board.finish(0, 100)
    assert told[-1] == 100 and told == sorted(told)


def test_nobody_needs_to_listen():
    with progress.Board(None, total=10, done=0) as board:
        board.finish(0, 10)
