"""Tables of a journal in SQLite, created in one transaction. A file with tables of another version raises FileError."""

import sqlite3
import time
import uuid
from typing import Any

from ...errors import FileError

APPLICATION = 0x68736231  # marks a SQLite file as a journal of hsb
OLDEST = (3, 37, 0)  # of SQLite: STRICT tables
REPAIRED = (
    3,
    51,
    3,
)  # in earlier versions, concurrent writes and checkpoints can damage a file: here only one connection does either

VERSION = 6  # of the tables, and of the content of snapshots
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE policy (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, secret BLOB NOT NULL, head INTEGER NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE TABLE decision (
  id TEXT NOT NULL PRIMARY KEY, policy INTEGER NOT NULL REFERENCES policy, version INTEGER NOT NULL, learner INTEGER NOT NULL,
  arm INTEGER NOT NULL CHECK (arm >= 0), propensity REAL NOT NULL CHECK (propensity > 0 AND propensity <= 1),
  u REAL NOT NULL CHECK (u >= 0 AND u < 1), available BLOB NOT NULL, ramp REAL NOT NULL, baseline INTEGER, context TEXT NOT NULL,
  rounds INTEGER NOT NULL, advice_share REAL NOT NULL, seen BLOB, body BLOB NOT NULL, deadline INTEGER NOT NULL,
  at INTEGER NOT NULL, key INTEGER, played TEXT
) STRICT;
CREATE TABLE reward (
  decision TEXT NOT NULL, id TEXT NOT NULL, value REAL NOT NULL, late INTEGER NOT NULL, at INTEGER NOT NULL, key INTEGER,
  PRIMARY KEY (decision, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE pending (
  decision TEXT NOT NULL PRIMARY KEY, policy INTEGER NOT NULL, deadline INTEGER NOT NULL, active INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pending_due ON pending (policy, deadline, decision);
CREATE TABLE closed (decision TEXT NOT NULL PRIMARY KEY, how TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE stream (
  policy INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL, decision TEXT, reward REAL, defaulted INTEGER NOT NULL,
  data TEXT, body BLOB, at INTEGER NOT NULL, PRIMARY KEY (policy, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX stream_once ON stream (decision) WHERE kind = 1;
CREATE TABLE snapshot (
  policy INTEGER NOT NULL, seq INTEGER NOT NULL, learner INTEGER NOT NULL, digest TEXT NOT NULL, about TEXT NOT NULL, body BLOB NOT NULL,
  at INTEGER NOT NULL, PRIMARY KEY (policy, seq, learner)
) STRICT;
CREATE TABLE key (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL, policies TEXT, rate REAL, expires INTEGER,
  at INTEGER NOT NULL, used INTEGER, ended INTEGER
) STRICT;
CREATE TABLE evaluation (
  id TEXT NOT NULL PRIMARY KEY, policy TEXT NOT NULL, request TEXT NOT NULL, status TEXT NOT NULL, result TEXT, at INTEGER NOT NULL,
  ended INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE audit_entry (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, key INTEGER, what TEXT NOT NULL, policy TEXT, detail TEXT) STRICT;
CREATE TABLE once (
  who INTEGER NOT NULL, name TEXT NOT NULL, digest BLOB NOT NULL, path TEXT NOT NULL, status INTEGER, answer BLOB, headers TEXT,
  at INTEGER NOT NULL, PRIMARY KEY (who, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE purge (policy INTEGER PRIMARY KEY, position INTEGER NOT NULL, done INTEGER NOT NULL) STRICT;
CREATE TABLE start (number INTEGER PRIMARY KEY, process TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, heads TEXT NOT NULL) STRICT;
"""


def prepare(connection: Any, path: str) -> None:
    """Create the tables in an empty file. Raises FileError if the file holds anything but a journal of this version."""
    if check(connection, path):
        return
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    about = {"created": str(int(time.time())), "cluster": uuid.uuid4().hex, "schema": str(VERSION)}
    connection.executemany("INSERT INTO meta VALUES (?, ?)", list(about.items()))
    connection.execute("COMMIT")


def check(connection: Any, path: str) -> bool:
    """Whether a file has the tables of a journal; False if it is empty. Raises FileError if it is no journal, or of another version."""
    if sqlite3.sqlite_version_info < OLDEST:
        raise FileError(
            f"This Python has SQLite {sqlite3.sqlite_version}, and a journal needs 3.37 or later. Use a newer Python."
        )
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if not tables:
        return False
    if application != APPLICATION:
        raise FileError(f"{path} is a SQLite file, but no journal of hsb. Use another path.")
    row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    version = int(row[0]) if row and row[0].isdecimal() else 0
    if version > VERSION:
        raise FileError(f"{path} has tables of version {version}, and this hsb reads version {VERSION}. Install a newer hsb.")
    if version < VERSION:
        raise FileError(
            f"{path} has tables of version {version}, and this hsb reads version {VERSION}. Use the hsb that wrote it, or start a new journal."
        )
    return True
