"""The tables of a journal."""

import sqlite3

import pytest

import hsb
from hsb.serve.store import schema


@pytest.fixture
def connection(tmp_path):
    connection = sqlite3.connect(tmp_path / "hsb.db", isolation_level=None)
    yield connection
    connection.close()


def test_tables_are_made_once(connection):
    assert not schema.check(connection, "hsb.db")
    schema.prepare(connection, "hsb.db")
    assert schema.check(connection, "hsb.db")
    assert connection.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION,)


def test_other_tables_are_refused(connection):
    connection.execute("CREATE TABLE mine (name TEXT)")
    with pytest.raises(hsb.FileError):
        schema.prepare(connection, "hsb.db")
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


@pytest.mark.parametrize("version", [schema.VERSION + 1, schema.VERSION - 1, "x"])
def test_tables_of_another_version_are_refused(connection, version):
    schema.prepare(connection, "hsb.db")
    connection.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (str(version),))
    with pytest.raises(hsb.FileError):
        schema.check(connection, "hsb.db")
