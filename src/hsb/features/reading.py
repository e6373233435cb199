"""Reading of one value into its inputs of a raw row."""

from typing import Any

from .feature import FeatureColumn, coerce
from .knowledge import Knowledge
from .values import CATEGORY, MISSING, TAGS, TIME


def read_value(knowledge: Knowledge, name: str, value: Any, row: list[float]) -> tuple[bool, bool]:
    """Write a value into its inputs. Return whether it is unseen and whether it is missing. Raises `InputError` if it does not fit."""
    column = knowledge.columns.get(name)
    if column is None and isinstance(name, str):  # some subclasses of str override the hash
        name = str.__str__(name)
        column = knowledge.columns.get(name)
    text = knowledge.features.limits["text"]
    if column is None:
        knowledge.check_names({name: value})
        coerce(FeatureColumn(name), value, text)
        return True, False
    kind, plain = coerce(column, value, text)
    if kind == MISSING:
        return False, True
    if column.kind is None:
        return True, False
    if kind == CATEGORY:
        code = category_code(column, plain)
        row[column.inputs[0]] = code
        return code < 0.0, False
    if kind == TIME:
        for part in plain:
            if part in column.codes:
                row[int(column.codes[part])] = plain[part]
        return any(part not in column.codes for part in plain), False
    if kind == TAGS:
        return _read_tags(column, plain, row), False
    row[column.inputs[0]] = plain
    return False, False


def category_code(column: FeatureColumn, text: str) -> float:
    """Return the raw value of a category: its number; -1 if unseen; limit + k if it shares the column of category k."""
    code = column.codes.get(text)
    if code is not None:
        return code
    return float(column.limit + column.share(text)) if column.full else -1.0


def _read_tags(column: FeatureColumn, tags: list[str], row: list[float]) -> bool:
    for raw_input in column.inputs:
        row[raw_input] = 0.0
    unseen = False
    for tag in tags:
        own = column.codes.get(tag)
        if own is not None:
            row[int(own)] = 1.0
        elif column.full:
            shared = column.inputs[column.share(tag)]
            row[shared] = row[shared] or 2.0
        else:
            unseen = True
    return unseen
