"""The Open Bandit Dataset: impressions of fashion items, shown uniformly (`random`) or by Thompson sampling (`bts`)."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from .columns import Columns, checked_arms
from .rows import Meaning
from .table import CsvFiles

USER = tuple(f"user_feature_{k}" for k in range(4))
MEANING = Meaning(("position", *USER), frozenset(USER), arm_type=int)
COLUMNS = Columns(MEANING, "item_id", "propensity_score", "click", timestamp="timestamp")


def obd_files(
    paths: Sequence[Path],
    *,
    context: Sequence[str] | None = None,
    categories: Collection[str] | None = None,
    arms: Sequence[Hashable] | None = None,
    on_error: Any = "skip",
) -> CsvFiles:
    """Its CSV files. A context is the position, 1 to 3, and the `hsb.encode.code` of four hashed categories of the user; arms are item numbers.

    `context` names other columns, e.g. the affinities; `categories` those of them that are no numbers.
    """
    features = MEANING.context if context is None else tuple(context)
    kinds = MEANING.categories & set(features) if categories is None else frozenset(categories)
    if not features or not kinds <= set(features):
        raise InputError(f"context needs columns, and categories some of them; given {context!r} and {categories!r}.")
    meaning = MEANING._replace(context=features, categories=kinds, arms=checked_arms(arms), on_error=on_error)
    return CsvFiles(paths, replace(COLUMNS, meaning=meaning))
