"""The kinds of features to declare: small, frozen, plain data."""

from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

from ..checks import is_number, whole
from ..errors import InputError, quoted

LIMIT = 64  # distinct categories or tags by default
MOST = 1 << 16  # the largest limit


class FeatureKind:
    """The base class of all kinds of features. Use Number, Category, Cycle, Flag, Tags or Time, or derive your own from Composite.

    >>> Cycle(24).name, Cycle(24).to_dict()
    ('cycle', {'kind': 'Cycle', 'period': 24})
    """

    name: ClassVar[str]
    """The name in messages and files."""
    kinds: ClassVar[dict[str, type["FeatureKind"]]] = {}  # filled as classes are defined; `from_dict` looks here

    def __init_subclass__(cls, *, listed: bool = True) -> None:
        super().__init_subclass__()
        if listed:
            FeatureKind.kinds[cls.__name__] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain data, for JSON, which `from_dict` reads."""
        return {"kind": type(self).__name__, **{name: getattr(self, name) for name in _names(self)}}

    @staticmethod
    def from_dict(data: Any) -> "FeatureKind":
        """Return the kind that `to_dict` wrote. Raises `InputError` for any other `data`.

        >>> FeatureKind.from_dict(Cycle(24).to_dict())
        Cycle(24)
        """
        cls = FeatureKind.kinds.get(str(data.get("kind"))) if isinstance(data, dict) else None
        if cls is None:
            raise InputError(f"A kind of feature is one of {', '.join(FeatureKind.kinds)}; given {quoted(data)}.")
        settings = {name: value for name, value in data.items() if name != "kind"}
        if set(settings) != set(_names(cls)):
            raise InputError(f"{cls.__name__} has {_names(cls) or 'no settings'}; given {quoted(settings)}.")
        return cls(**settings)

    def __repr__(self) -> str:
        shown = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is MISSING:
                shown.append(repr(value))
            elif value != field.default:
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _names(kind: Any) -> list[str]:
    return [field.name for field in fields(kind)]


@dataclass(frozen=True, repr=False)
class Number(FeatureKind):
    """A number of any range and scale: an age, a price, a count. The policy estimates its mean, spread and quantiles.

    >>> Number()
    Number()
    """

    name: ClassVar[str] = "number"


@dataclass(frozen=True, repr=False)
class Category(FeatureKind):
    """One of several names: a country, a device, a postcode. Whole numbers and True, False count as their text.

    The first `limit` categories, 64 by default and at most 65,536, are distinct. Each later one shares the column of one of these, always the
    same one, by a hash of its text.

    >>> Category(), Category(limit=1000)
    (Category(), Category(limit=1000))
    """

    limit: int = LIMIT
    name: ClassVar[str] = "category"

    def __post_init__(self) -> None:
        _check_limit("Category", self.limit)


@dataclass(frozen=True, repr=False)
class Cycle(FeatureKind):
    """A cyclic number: `period` is next to 0. Hours of the day are a Cycle(24), degrees of a compass a Cycle(360).

    >>> Cycle(24)
    Cycle(24)
    """

    period: float
    name: ClassVar[str] = "cycle"

    def __post_init__(self) -> None:
        if not is_number(self.period) or not 1e-100 < self.period < 1e100:
            raise InputError(
                f"Cycle needs a period above 0, after which it begins again, e.g. Cycle(24); given {quoted(self.period)}."
            )
        object.__setattr__(self, "period", float(self.period) if self.period % 1 else int(self.period))


@dataclass(frozen=True, repr=False)
class Flag(FeatureKind):
    """True or False: is_member, weekend.

    >>> Flag()
    Flag()
    """

    name: ClassVar[str] = "flag"


@dataclass(frozen=True, repr=False)
class Tags(FeatureKind):
    """Any number of names at once: a list, tuple or set of text. The first `limit` tags are distinct, as in `hsb.Category`.

    >>> Tags()
    Tags()
    """

    limit: int = LIMIT
    name: ClassVar[str] = "tags"

    def __post_init__(self) -> None:
        _check_limit("Tags", self.limit)


@dataclass(frozen=True, repr=False)
class Time(FeatureKind):
    """A date, a time of day or both, in local time: datetime, date, time, numpy.datetime64, pandas.Timestamp.

    A declared Time also takes text: "2026-11-16T09:30", "2026-11-16", "09:30". A policy sees the days since 1970 as a number, the hour of
    the day and the day of the week as cycles.

    >>> Time()
    Time()
    """

    name: ClassVar[str] = "time"


def _check_limit(who: str, limit: Any) -> None:
    if whole(f"limit of {who}", limit, 1) > MOST:
        raise InputError(
            f"limit of {who} must be at most {MOST}; given {limit}. Further categories or tags share columns, and are counted."
        )
