"""What the commands print: claims with their numbers, and what does not hold below the tables."""

from io import StringIO

from rich.console import Console
from support.claim_cases import FAILS, READ, REPEAT, TIES, WEIGHED

from hsb.cli import output
from hsb.experiments.base import Options


def test_the_terminal_says_it_below_the_tables():
    def printed(claims, options=Options()):  # noqa: B008
        console = Console(width=200, file=StringIO())
        output.claims(claims, console, options)
        return console.file.getvalue()

    lines = printed(list(WEIGHED.values())).splitlines()
    assert lines[-3:] == [FAILS, READ, TIES] and "claims hold" in "".join(lines[:-3])
    assert "Reduced size" in printed(list(WEIGHED.values()), Options(quick=True)) and "Reduced size" not in "".join(lines)
    assert "Sizes that you chose: runs 3." in printed(list(WEIGHED.values()), Options(runs=3))
    sure = printed([WEIGHED["a beats b"]])
    assert "does not hold" not in sure and "tie:" not in sure and REPEAT not in sure  # control: nothing fails, nothing is said
