"""What is to be forgotten: contexts of decisions, and all of a policy, a part at a time. What was there is overwritten with zeros."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .queries import AMONG, Queries

if TYPE_CHECKING:
    from .sqlite import SqliteStore

ROWS = 500  # of each table, deleted at once
FILES = 2  # snapshots, deleted at once
WINDOW = 20_000  # decisions, looked through at once


@contextmanager
def _overwriting(connection: Any) -> Iterator[None]:
    """Let SQLite overwrite what it deletes; otherwise it only forgets where it was."""
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    try:
        yield
    finally:
        connection.execute("PRAGMA secure_delete = OFF").fetchall()


def forget(store: SqliteStore, decisions: list[str], policies: list[int]) -> None:
    """Within the transaction of a batch: blank what these decisions were asked, and let these policies be gone."""
    run = store.connection.execute
    with _overwriting(store.connection):
        if decisions:
            run(f"UPDATE decision SET context = '', seen = NULL, body = x'' WHERE id {AMONG}", (json.dumps(decisions),))
        for policy in policies:
            ((name,),) = store.rows("SELECT name FROM policy WHERE id = ?", policy)
            for table in ("evaluation", "deed"):
                run(f"DELETE FROM {table} WHERE policy = ?", (name,))
            mine = f"/v1/policies/{name}"
            run("DELETE FROM once WHERE path = ?1 OR substr(path, 1, length(?1) + 1) = ?1 || '/'", (mine,))
            run("DELETE FROM once WHERE path = '/v1/policies' AND json_extract(CAST(answer AS TEXT), '$.name') = ?", (name,))
            run("INSERT INTO purge VALUES (?, 0, 0)", (policy,))
            run("DELETE FROM policy WHERE id = ?", (policy,))


def erase_some(store: SqliteStore) -> bool:
    """Delete another part of what erased policies left; whether there is more."""
    found = store.rows("SELECT policy, place FROM purge WHERE NOT done ORDER BY policy LIMIT 1")
    if not found:
        return False
    (policy, place), run = found[0], store.connection.execute
    ((last,),) = store.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    upto, rows = _window(store, policy, place)
    names = json.dumps([name for (name,) in rows])
    with _overwriting(store.connection):
        for table in ("reward", "pending", "closed"):
            run(f"DELETE FROM {table} WHERE decision {AMONG}", (names,))
        run(
            f"DELETE FROM stream WHERE kind = 1 AND decision {AMONG}", (names,)
        )  # or the next decision of that id could not be learned
        run(f"DELETE FROM decision WHERE id {AMONG}", (names,))
        stream = run(
            "DELETE FROM stream WHERE policy = ? AND seq IN (SELECT seq FROM stream WHERE policy = ? LIMIT ?)",
            (policy, policy, ROWS),
        )
        files = run(
            "DELETE FROM snapshot WHERE rowid IN (SELECT rowid FROM snapshot WHERE policy = ? LIMIT ?)", (policy, FILES)
        )
    done = upto >= last and stream.rowcount < ROWS and files.rowcount < FILES
    run("UPDATE purge SET place = ?, done = ? WHERE policy = ?", (upto, done, policy))
    return True


def _window(store: Queries, policy: int, place: int) -> tuple[int, list[Any]]:
    """The next decisions of a policy, and up to which row they were looked for: there may be many of others between them."""
    upto = place + WINDOW
    sql = "SELECT rowid, id FROM decision WHERE rowid > ? AND rowid <= ? AND policy = ? ORDER BY rowid LIMIT ?"
    rows = store.rows(sql, place, upto, policy, ROWS)
    return (rows[-1][0] if len(rows) == ROWS else upto), [(name,) for _, name in rows]


def about_person(reader: Queries, policy: int, path: str, value: str, after: int) -> tuple[list[str], int | None]:
    """Decisions of a policy whose context has this value, as text, at this path; of a window after a row, and where the next one begins.

    Also as it was written: SQLite's text of truths, and of whole numbers of more than 63 bits, is another.
    """
    ((last,),) = reader.rows("SELECT COALESCE(MAX(rowid), 0) FROM decision")
    sql = """SELECT id FROM decision WHERE rowid > ?1 AND rowid <= ?2 AND policy = ?3 AND context <> ''
      AND (CAST(json_extract(context, ?4) AS TEXT) = ?5 OR CAST(json_extract(context, ?6) AS TEXT) = ?5
        OR (json_extract(context, ?4, ?6) IN (?7, ?8) AND ?5 <> 'null'))"""
    whole = "$." + path[2:].replace('"."', ".")  # or a name with dots in it
    either = (f"[{value},null]", f"[null,{value}]") if whole != path else (f"[{value},{value}]",) * 2
    given = (after, after + WINDOW, policy, path, value, whole, *either)
    found = [name for (name,) in reader.rows(sql, *given)]
    return found, after + WINDOW if after + WINDOW < last else None
