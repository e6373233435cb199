"""User-defined kinds of features, which split a value into values of built-in kinds."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ..errors import InputError, quoted
from .kinds import FeatureKind

PLAIN = (str, bool, int, float, type(None))  # types of settings: a file holds them
UNFIT = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)  # exceptions of `split` for a value that it cannot read


class UnknownKind(InputError):
    """A user-defined kind of feature that this process does not define, or defines differently from the file."""


@dataclass(frozen=True, repr=False)
class Composite(FeatureKind, ABC, listed=False):
    """The base class of your own kinds of features: declare `parts`, and `split` a value into their values.

    The policy sees a feature for each part, e.g. `place.lat`. The same value must always be split in the same way. Settings, if any, are
    fields of a frozen dataclass: text, numbers, True, False or None.

    >>> from hsb.features import Features, Number
    >>> class Point(Composite):
    ...     parts = {"lat": Number(), "lon": Number()}
    ...     def split(self, value):
    ...         return {"lat": value[0], "lon": value[1]}
    >>> features = Features(place=Point())
    >>> features, features.split({"place": (48.1, 11.6)})
    (Features(place=Point()), {'place.lat': 48.1, 'place.lon': 11.6})
    """

    name: ClassVar[str] = "composite"
    own: ClassVar[dict[str, type["Composite"]]] = {}  # filled as classes are defined; `kind_from` looks here and nowhere else
    parts: ClassVar[Mapping[str, FeatureKind]] = {}
    """The kinds that a value is split into, by name."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__(listed=False)
        Composite.own[cls.__name__] = cls

    @abstractmethod
    def split(self, value: Any) -> Mapping[str, Any]:
        """Return the values of the parts by name; one that is None or left out is missing. Never called for a missing value.

        Raise an exception, e.g. `ValueError`, for a value that you cannot read: the policy then rejects the context.
        """

    def to_dict(self) -> dict[str, Any]:
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        parts = [[name, kind.to_dict()] for name, kind in self.parts.items()]
        return {"kind": type(self).__name__, "settings": settings, "parts": parts}


def kind_from(data: Any) -> FeatureKind:
    """Return the kind that `to_dict` wrote. A user-defined class must already be defined: nothing is imported.

    >>> kind_from({"kind": "Parcel", "settings": {}, "parts": []})
    Traceback (most recent call last):
    hsb.features.composite.UnknownKind: a feature is of the kind 'Parcel', a class ... Define or import that class first.
    """
    if not isinstance(data, dict) or set(data) != {"kind", "settings", "parts"}:
        return FeatureKind.from_dict(data)
    cls = Composite.own.get(str(data["kind"]))
    if cls is None:
        raise UnknownKind(
            f"a feature is of the kind {quoted(data['kind']):.100}, a class that is not defined here. "
            "Define or import that class first."
        )
    settings = data["settings"]
    known = {field.name for field in fields(cls)}
    if not isinstance(settings, dict) or set(settings) != known or not all(isinstance(x, PLAIN) for x in settings.values()):
        raise UnknownKind(
            f"the settings of {cls.__name__} are {sorted(known)} here; in the file they are {quoted(settings):.200}."
        )
    kind = cls(**settings)
    if kind.to_dict() != data:
        raise UnknownKind(
            f"{kind!r} has other parts here than in the file. Define the class as it was: {quoted(data['parts']):.300}."
        )
    return kind


def parts_of(name: str, kind: FeatureKind) -> dict[str, FeatureKind]:
    """Return the features that the policy sees: the feature itself, or its parts by names such as `place.lat`.

    Raises `InputError` if a part is not of a built-in kind.
    """
    if not isinstance(kind, Composite):
        return {name: kind}
    who, parts = type(kind).__name__, kind.parts
    if not isinstance(parts, Mapping) or not parts or not all(isinstance(part, str) for part in parts):
        raise InputError(
            f"{who} needs parts, a dict of names and kinds, e.g. parts = {{'lat': hsb.Number()}}; given {quoted(parts)}."
        )
    for part, each in parts.items():
        if not isinstance(each, FeatureKind) or isinstance(each, Composite):
            raise InputError(f"Part {quoted(part)} of {who} needs a built-in kind, e.g. hsb.Number(); given {quoted(each)}.")
    for field in fields(kind):
        if not isinstance(getattr(kind, field.name), PLAIN):
            raise InputError(
                f"Settings of {who} must be text, numbers, True, False or None, so that files can hold them; "
                f"{field.name} is {quoted(getattr(kind, field.name))}."
            )
    return {f"{name}.{part}": each for part, each in parts.items()}


def split_value(name: str, kind: Composite, value: Any) -> dict[str, Any]:
    """Return the values of the parts by names such as `place.lat`. Raises `InputError` if the kind cannot split the value."""
    try:
        values = kind.split(value)
    except UNFIT as error:
        raise InputError(
            f"Feature {quoted(name)} is declared {kind!r}, which cannot split {quoted(value):.100}: {type(error).__name__}: {error!s:.200}. "
            "Give a value that it can split, or None."
        ) from error
    if not isinstance(values, Mapping) or not set(values) <= set(kind.parts):
        raise InputError(
            f"{kind!r} must split a value into a dict of its parts, {', '.join(map(repr, kind.parts))}; "
            f"given {quoted(values):.100} for {quoted(value):.100} of feature {quoted(name)}."
        )
    return {f"{name}.{part}": values.get(part) for part in kind.parts}
