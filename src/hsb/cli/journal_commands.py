"""Commands about a service's journal: check, backup, restore, export. They import the service when they run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from .log_options import Json

journal = typer.Typer(
    name="journal",
    help="""Check, copy, restore or export the journal of a service.

    hsb serve keeps every decision, reward and update in one file, from which its state can be recomputed.

    Example: hsb journal check hsb.db
    """,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Db = Annotated[Path, Argument(help="The journal, a file of hsb serve.", metavar="DB")]


@journal.command()
def check(db: Db, as_json: Json = False) -> None:
    """Replay a journal from its beginning, and check that it is sound.

    Every decision is recomputed, arm and propensity; every update is compared with its rewards, every snapshot with a replay of the
    stream; and SQLite checks the file. The exit code is 1 if there is a problem. The service may be running.

    Example: hsb journal check hsb.db
    """
    from dataclasses import asdict

    from ..serve.checking import check as checked
    from ..serve.store.sqlite import SqliteReader, readable

    reader = SqliteReader(db)
    try:
        with readable(db), reader.one_moment():
            report = checked(reader)
    finally:
        reader.close()
    typer.echo(json.dumps(asdict(report)) if as_json else str(report))
    if not report.sound:
        raise typer.Exit(1)


@journal.command()
def backup(
    db: Db, to: Annotated[Path, Argument(help="The new file; it must not exist.", metavar="TO")], as_json: Json = False
) -> None:
    """Copy a journal as of this moment, completely or not at all. The service may be running.

    Example: hsb journal backup hsb.db hsb-monday.db
    """
    from ..serve.store.sqlite import SqliteReader, readable

    reader = SqliteReader(db)
    try:
        with readable(db):
            size = reader.backup(to)
    finally:
        reader.close()
    typer.echo(json.dumps({"bytes": size, "to": str(to)}) if as_json else f"{size:,} bytes written to {to}")


@journal.command()
def restore(
    copy: Annotated[Path, Argument(help="A copy that hsb journal backup made.", metavar="COPY")],
    db: Annotated[Path, Argument(help="The journal to replace. No service may run on it.", metavar="DB")],
    as_json: Json = False,
) -> None:
    """Restore a journal from a copy, or move one to another machine.

    The copy is checked first, as by hsb journal check. Nothing changes if the copy is not sound or has a WAL beside it, or if a service
    runs on the journal. The old journal is put aside as DB.before. If the command is interrupted, run it again.

    Example: hsb journal restore hsb-monday.db hsb.db
    """
    from dataclasses import asdict

    from ..serve.restoring import restore as restored

    done = restored(copy, db)
    before = None if done.before is None else str(done.before)
    text = f"{done.report}\nrestored to {db}" + ("" if before is None else f"; the old journal is {before}")
    typer.echo(json.dumps({"db": str(db), "before": before, "checked": asdict(done.report)}) if as_json else text)


@journal.command()
def export(
    db: Db,
    policy: Annotated[str, Argument(help="The name of the policy.", metavar="POLICY")],
    out: Annotated[Path, Argument(help="The file to write.", metavar="OUT")],
    format: Annotated[str, Option(help="dsjson or parquet.")] = "dsjson",
    as_json: Json = False,
) -> None:
    """Export a policy's updates as a log.

    The log is for hsb replay, hsb evaluate or Vowpal Wabbit: one row for each update, in the order in which they were learned. dsjson keeps
    contexts unchanged. parquet is quicker to read, holds text as codes, and leaves out rows that lack a feature which others have.

    Example: hsb journal export hsb.db home home.dsjson
    """
    from ..serve.exporting import export as exported
    from ..serve.store.sqlite import SqliteReader, readable

    reader = SqliteReader(db)
    try:
        with readable(db):
            done = exported(reader, policy, out, format)
    finally:
        reader.close()
    left = f"; {done.skipped:,} left out" if done.skipped else ""
    typer.echo(json.dumps(done._asdict() | {"out": str(out)}) if as_json else f"{done.rows:,} rows written to {out}{left}")
