"""The Open Bandit Dataset: impressions of fashion items, shown uniformly (`random`) or by Thompson sampling (`bts`). Reading only."""

from collections.abc import Sequence
from pathlib import Path

from ..columns import ColumnRoles
from ..rows import Meaning
from .table import CsvFiles

USER = tuple(f"user_feature_{k}" for k in range(4))
MEANING = Meaning(("position", *USER), frozenset(USER), arm_type=int)
COLUMNS = ColumnRoles(MEANING, "item_id", "propensity_score", "click", timestamp="timestamp")


def obd_files(paths: Sequence[Path], options: Meaning) -> CsvFiles:
    """Return the CSV files as a source of rows. Arms are item numbers.

    A context is the position, 1 to 3, and the `hsb.encode.code` of four hashed categories of the user. `options.context` names other columns,
    e.g. the affinities, and `options.categories` those of them that are not numbers.
    """
    features = options.context or MEANING.context
    kinds = options.categories or MEANING.categories & set(features)
    meaning = MEANING._replace(
        context=features, categories=kinds, arms=options.arms, on_error=options.on_error, limits=options.limits
    )
    meaning.check()
    return CsvFiles(paths, COLUMNS._replace(meaning=meaning))
