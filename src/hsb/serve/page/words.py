"""Numbers, times and states in words."""

from datetime import UTC, datetime
from typing import Any

from .numbers import Band

SPANS = ((86_400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))
LETTERS = 60  # of a name


def one_line(text: Any, most: int = LETTERS) -> str:
    """Return a name for display: on one line, at most `most` letters, without invisible letters or letters that change the text's direction.

    >>> one_line("a" * 100, 10), one_line("a\\u202eb\\nc")
    ('aaaaaaaaa…', 'a b c')
    """
    name = str(text)
    seen = "".join(letter if letter.isprintable() else " " for letter in name[: 4 * most])
    return seen if len(name) <= most else seen[: most - 1] + "…"


def quantity(count: int, one: str, more: str | None = None) -> str:
    """Return a count with its noun, singular or plural (`more`; by default `one` with an s).

    >>> quantity(1, "row"), quantity(2000, "row"), quantity(1, "row is", "rows are")
    ('1 row', '2,000 rows', '1 row is')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with `digits` significant digits; a dash for None and NaN.

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
    """Return a number with its sign.

    >>> signed(0.5), signed(-0.25)
    ('+0.5', '−0.25')
    """
    if value is None:
        return "–"
    digits = number(abs(value), 3) if abs(value) >= 1e-4 else "0"
    return digits if digits == "0" else ("+" if value > 0 else "−") + digits


def interval(band: Band, sign: bool = False) -> str:
    """Return the ends of an interval, with signs if `sign`.

    >>> interval(Band(0.5, 0.25, 0.75))
    '0.25 to 0.75'
    """
    if band.low is None or band.high is None:
        return "no interval"
    end = signed if sign else lambda value: number(value, 3)
    return f"{end(band.low)} to {end(band.high)}"


def percent(share: float | None) -> str:
    """Return a share as a percentage.

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
    """Return a duration in words.

    >>> span(90), span(7200), span(0.25), span(3 * 86_400)
    ('90 seconds', '2 hours', '0.25 seconds', '3 days')
    """
    if seconds is None:
        return "–"
    for size, name in SPANS:
        count = seconds / size
        if count >= 2.0 or size == 1.0:
            digits = f"{count:.0f}" if count >= 10 or count == int(count) else f"{count:.2g}"
            return f"{digits} {name}{'' if digits == '1' else 's'}"
    return ""


def stamp(timestamp: int | None) -> dict[str, str]:
    """Return a time as ISO 8601 and in words, in UTC. The page's script converts it to the viewer's time zone."""
    if not timestamp:
        return {"iso": "", "text": "–"}
    when = datetime.fromtimestamp(timestamp / 1e6, UTC)
    return {"iso": when.isoformat(timespec="seconds"), "text": when.strftime("%d %b %Y, %H:%M UTC")}


def short_stamp(timestamp: int, width: int) -> dict[str, str]:
    """Return a time as a label of an axis that is `width` microseconds long."""
    when = datetime.fromtimestamp(timestamp / 1e6, UTC)
    form, kind = ("%H:%M:%S", "second") if width < 600e6 else ("%H:%M", "minute") if width < 2 * 86_400e6 else ("%d %b", "day")
    return {"iso": when.isoformat(timespec="seconds"), "text": when.strftime(form), "kind": kind}


def verdict(band: Band, more: str, less: str, unsure: str) -> tuple[str, str]:
    """Return the verdict on a difference, `more`, `less` or `unsure`, and its CSS class."""
    if band.low is not None and band.low > 0.0:
        return more, "holds"
    if band.high is not None and band.high < 0.0:
        return less, "fails"
    return unsure, "tie"
