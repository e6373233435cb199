"""The kinds of the features of arms, which the values that come first determine."""

from collections.abc import Hashable, Mapping
from typing import Any

from ..errors import InputError
from .reader import FeatureReader

MOST = 1 << 16  # arms whose features are remembered


class ArmKinds:
    """The kinds of features of arms: those that `reader` knows, and those of the arms checked since. The reader itself is not changed.

    >>> from hsb.features import Features
    >>> kinds = ArmKinds(FeatureReader(Features()))
    >>> kinds.check({"price": 9})
    >>> kinds.misfit({"price": "cheap"})
    ('price', 'number')
    """

    def __init__(self, reader: FeatureReader) -> None:
        self.reader, self._is_copy = reader, False
        self._checked: dict[Hashable, dict[str, Any]] = {}

    def check_arm(self, arm: Hashable, features: dict[str, Any] | None) -> dict[str, Any] | None:
        """Check the features of an arm, and return them: the same dict as the last time, if the arm had the same values then."""
        if features is None:
            return None
        before = self._checked.get(arm)
        if before == features and before is not None and list(map(type, before.values())) == list(map(type, features.values())):
            return before
        self.check(features)
        if len(self._checked) >= MOST:
            self._checked.clear()
        self._checked[arm] = features
        return features

    def check(self, features: Mapping[str, Any] | None) -> None:
        """Check the features of an arm and remember the kinds of new ones. Raises `InputError` for a value of another kind."""
        if not features or not self.reader.look(features)[1]:
            return
        if not self._is_copy:
            self.reader, self._is_copy = self.reader.copy(), True
        self.reader.admit(dict(features))

    @property
    def kinds_by_name(self) -> dict[str, str | None]:
        """The known features by name, with their kinds, None if all was missing so far."""
        return self.reader.named_columns or {}

    def misfit(self, features: Mapping[str, Any]) -> tuple[str, str | None] | None:
        """Return the first feature that `check` does not take, and the kind that it has had; None if it takes each of them alone."""
        for name, value in features.items():
            try:
                self.reader.look({name: value})
            except InputError:
                return name, self.kinds_by_name.get(name)
        return None
