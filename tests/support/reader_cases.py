"""Helpers of the tests of features: readers that met contexts as a policy does."""

import numpy as np

from hsb.features import FeatureReader, Features


def learned(contexts, features=None, width=None):
    """Return a reader that met contexts as a policy does."""
    reader = FeatureReader(features or Features(), width)
    for context in contexts:
        meet(reader, context)
    return reader


def meet(reader, context):
    """Show a reader one context, as a policy does, and return its raw row."""
    raw, unseen = reader.look(context)
    assert np.array_equal(raw, reader.read(context), equal_nan=True)
    if unseen:
        assert reader.admit(context)
        raw, unseen = reader.look(context)
        assert not unseen
    else:
        assert not reader.admit(context)
    reader.observe(raw)
    if reader.due:
        reader.refit()
    return raw
