"""Explanations of a policy over named features: a column for each input of the rows that its encoder reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..engine.kernels import inputs as at
from ..features import FeatureReader
from ..features.values import PARTS, TIME
from ..policy import Policy
from ..types import Floats
from .asking import check_rules, player, prior_rule
from .columns import Column, Form, check_names
from .effort import Effort, Progress, query_cost
from .played import RULES, extract_rules
from .result import TOP, Explanation

SHARED = " (or what shares its column)"  # follows categories and tags that share their column with others
FORMS: dict[str, Form] = {"day": "date", "hour": "clock", "weekday": "weekday"}  # by the part of a time


def columns_of_features(encoder: FeatureReader, names: Sequence[str] | None = None) -> tuple[Column, ...]:
    """Return a column for each input, named after its feature or by `names`.

    >>> from hsb.features import Features
    >>> encoder = FeatureReader(Features())
    >>> _ = encoder.admit({"country": "FR", "age": 31, "member": True})
    >>> [(column.name, column.kind) for column in columns_of_features(encoder)]
    [('country', 'category'), ('age', 'number'), ('member', 'flag')]
    """
    labels = encoder.raw_input_names if names is None else check_names(names, encoder.inputs)
    return tuple(_column(encoder, s, name) for s, name in enumerate(labels))


def _column(encoder: FeatureReader, s: int, name: str) -> Column:
    feature, kind = encoder.knowledge.raw_input_columns[s], encoder.layout.I[s, at.KIND]
    seen = encoder.sample[:, s] if len(encoder.sample) else np.zeros(0)
    if kind == at.CATEGORY:
        shared = set(seen[seen >= feature.limit].tolist())
        labels = [f"{text}{SHARED * (feature.limit + code in shared)}" for text, code in feature.codes.items()]
        return Column(name, "category", labels=tuple(labels), missing=feature.missing, limit=feature.limit)
    if kind == at.TAG:
        return Column(name, "flag", labels=("false", f"true{SHARED}") if (seen > 1.0).any() else (), missing=feature.missing)
    if kind == at.FLAG:
        return Column(name, "flag", missing=feature.missing)
    column = Column(name, missing=feature.missing)
    if kind == at.CYCLE:
        column = replace(column, low=0.0, high=float(encoder.layout.F[s, at.PERIOD]))
    part = encoder.raw_input_names[s].removeprefix(f"{feature.name} ")
    return replace(column, form=FORMS[part]) if feature.kind == TIME and part in PARTS else column


def explain_features(
    policy: Policy,
    encoder: FeatureReader,
    sample: Floats | None = None,
    *,
    names: Sequence[str] | None = None,
    rules: int | None = RULES,
    top: int | None = TOP,
    effort: float = 1.0,
    progress: Progress | None = None,
) -> Explanation:
    """Return the rules of a policy whose contexts an encoder reads; `sample`: raw rows to measure on, by default the encoder's."""
    columns, reader = columns_of_features(encoder, names), encoder.copy()  # reads as the policy does now
    bare = Explanation((), None, tuple(policy.arms), columns=columns, top=top, read=reader.read)  # raises if `top` is invalid
    check_rules(rules)
    if policy.rounds == 0 or not columns:
        return replace(bare, regions=prior_rule(columns, policy.arms))
    rows = encoder.sample if sample is None else sample
    work = Effort(effort, query_cost=query_cost(encoder.columns, len(policy.arms)), columns=len(columns), progress=progress)
    play = player(policy, raw=True)
    return extract_rules(columns, play, policy.arms, sample=rows, read=reader.read, rules=rules, top=top, work=work)
