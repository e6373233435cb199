"""Rows of the journal: their columns are those of the tables, and the numbers of kinds never change."""

import pytest

from hsb.serve.core import rows
from hsb.serve.store.sqlite import SqliteStore


def test_numbers_of_kinds_are_those_of_journals_on_disk():
    assert {kind.name: int(kind) for kind in rows.RowKind} == {
        "UPDATE": 1,
        "CREATE": 2,
        "ARM": 3,
        "SETTINGS": 4,
        "CANDIDATE": 5,
        "PROMOTE": 6,
        "IMPORT": 7,
        "ARCHIVE": 8,
        "FORGET": 9,
    }


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("policy", rows.PolicyRow),
        ("decision", rows.DecisionRow),
        ("reward", rows.RewardRow),
        ("pending", rows.PendingRow),
        ("closed", rows.ClosedRow),
        ("stream", rows.StreamRow),
        ("snapshot", rows.SnapshotRow),
    ],
)
def test_fields_are_columns(tmp_path, table, row):
    store = SqliteStore(tmp_path / "hsb.db")
    columns = [name for (name,) in store.rows("SELECT name FROM pragma_table_info(?)", table)]
    store.close()
    assert columns == list(row._fields)
