"""The Open Bandit Dataset: impressions of fashion items, shown uniformly (`random`) or by Thompson sampling (`bts`)."""

from collections.abc import Sequence
from pathlib import Path

from ..columns import ColumnRoles
from ..rows import Meaning
from .table import CsvFiles

USER = tuple(f"user_feature_{k}" for k in range(4))
MEANING = Meaning(("position", *USER), frozenset(USER), arm_type=int)
COLUMNS = ColumnRoles(MEANING, "item_id", "propensity_score", "click", timestamp="timestamp")


def obd_files(paths: Sequence[Path], given: Meaning) -> CsvFiles:
    """Its CSV files. A context is the position, 1 to 3, and the `hsb.encode.code` of four hashed categories of the user; arms are item numbers.

    `given.context` names other columns, e.g. the affinities; `given.categories` those of them that are no numbers.
    """
    features = given.context or MEANING.context
    kinds = given.categories or MEANING.categories & set(features)
    meaning = MEANING._replace(
        context=features, categories=kinds, arms=given.arms, on_error=given.on_error, limits=given.limits
    )
    meaning.check()
    return CsvFiles(paths, COLUMNS._replace(meaning=meaning))
