"""Numbers, times and states in words."""

from datetime import UTC, datetime
from typing import Any

from .numbers import Band

SPANS = ((86_400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))
LETTERS = 60  # of a name


def named(text: Any, most: int = LETTERS) -> str:
    """A name as the page shows it: on one line, not too long, without letters that turn the direction of others or cannot be seen.

    >>> named("a" * 100, 10), named("a\\u202eb\\nc")
    ('aaaaaaaaa…', 'a b c')
    """
    given = str(text)
    seen = "".join(letter if letter.isprintable() else " " for letter in given[: 4 * most])
    return seen if len(given) <= most else seen[: most - 1] + "…"


def counted(count: int, one: str, more: str | None = None) -> str:
    """So many of something.

    >>> counted(1, "row"), counted(2000, "row"), counted(1, "row is", "rows are")
    ('1 row', '2,000 rows', '1 row is')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def number(value: float | None, digits: int = 4) -> str:
    """To so many digits that count; a dash for nothing.

    >>> number(0.123456), number(1234567.0), number(None), number(0.0)
    ('0.1235', '1,234,567', '–', '0')
    """
    if value is None or value != value:
        return "–"
    if value == 0.0:
        return "0"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def signed(value: float | None) -> str:
    """With its sign.

    >>> signed(0.5), signed(-0.25)
    ('+0.5', '−0.25')
    """
    if value is None:
        return "–"
    said = number(abs(value), 3) if abs(value) >= 1e-4 else "0"
    return said if said == "0" else ("+" if value > 0 else "−") + said


def interval(band: Band, sign: bool = False) -> str:
    """Its ends.

    >>> interval(Band(0.5, 0.25, 0.75))
    '0.25 to 0.75'
    """
    if band.low is None or band.high is None:
        return "no band"
    said = signed if sign else lambda value: number(value, 3)
    return f"{said(band.low)} to {said(band.high)}"


def percent(share: float | None) -> str:
    """A share of all.

    >>> percent(0.5), percent(0.001), percent(0.0), percent(0.9999)
    ('50 %', '0.1 %', '0 %', '99.9 %')
    """
    if share is None:
        return "–"
    value = 100.0 * share
    if value in (0.0, 100.0) or 10.0 <= value <= 99.0:
        return f"{value:.0f} %"
    return f"{min(value, 99.9):.1f} %" if value >= 0.1 else "under 0.1 %"


def span(seconds: float | None) -> str:
    """A duration.

    >>> span(90), span(7200), span(0.25), span(3 * 86_400)
    ('90 seconds', '2 hours', '0.25 seconds', '3 days')
    """
    if seconds is None:
        return "–"
    for size, name in SPANS:
        count = seconds / size
        if count >= 2.0 or size == 1.0:
            said = f"{count:.0f}" if count >= 10 or count == int(count) else f"{count:.2g}"
            return f"{said} {name}{'' if said == '1' else 's'}"
    return ""


def stamp(at: int | None) -> dict[str, str]:
    """A time for machines and for people, in UTC: the page's script puts it in the viewer's zone."""
    if not at:
        return {"iso": "", "text": "–"}
    when = datetime.fromtimestamp(at / 1e6, UTC)
    return {"iso": when.isoformat(timespec="seconds"), "text": when.strftime("%d %b %Y, %H:%M UTC")}


def short_stamp(at: int, width: int) -> dict[str, str]:
    """As a label of an axis whose whole length is `width` microseconds."""
    when = datetime.fromtimestamp(at / 1e6, UTC)
    form, kind = ("%H:%M:%S", "second") if width < 600e6 else ("%H:%M", "minute") if width < 2 * 86_400e6 else ("%d %b", "day")
    return {"iso": when.isoformat(timespec="seconds"), "text": when.strftime(form), "kind": kind}


def verdict(band: Band, more: str, less: str, unsure: str) -> tuple[str, str]:
    """What a difference says, and how it is coloured."""
    if band.low is not None and band.low > 0.0:
        return more, "holds"
    if band.high is not None and band.high < 0.0:
        return less, "fails"
    return unsure, "tie"
