"""The command `hsb bounds`: rates and regret bounds from the theory, one policy a row."""

from collections.abc import Iterator
from typing import Annotated

from rich.console import Console
from rich.table import Table
from typer import Option

from .. import theory
from ..structures import BinaryTree


def bounds(
    arms: Annotated[int, Option(min=1, help="M, number of arms.")],
    depth: Annotated[int, Option(min=0, max=52, help="D, the depth of a binary tree: 2^D cells.")],
    horizon: Annotated[int, Option(min=1, help="T, number of rounds.")],
    regions: Annotated[int | None, Option(min=1, help="R, regions of the best partition; by default as many as arms.")] = None,
) -> None:
    """Print the theory's bounds on the regret.

    Each row has a policy, its learning rate, and the bound that holds for that rate.

    Example: hsb bounds --arms 3 --depth 10 --horizon 100000
    """
    console = Console()
    regions = arms if regions is None else regions
    title = f"{arms} arms, {2**depth:,} cells (depth {depth}), {horizon:,} rounds, {regions} regions; losses in [0, 1]"
    table = Table(title=title, title_justify="left")
    for name in ("policy", "rate", "regret at most", "a round", "against"):
        table.add_column(name, justify="right" if name in ("regret at most", "a round") else "left")
    most = 0.0
    for name, rate, bound, against in rows(arms=arms, depth=depth, horizon=horizon, regions=regions):
        most = max(most, bound)
        table.add_row(name, rate, f"{bound:,.0f}", f"{bound / horizon:.4f}", against)
    console.print(table)
    if most >= horizon:
        console.print("A bound above the number of rounds is not informative: it needs a larger --horizon.", soft_wrap=True)


def rows(*, arms: int, depth: int, horizon: int, regions: int) -> Iterator[tuple[str, str, float, str]]:
    """Yield policy, learning rate, regret bound, and what the bound compares with.

    >>> [(name, round(bound)) for name, _, bound, _ in rows(arms=3, depth=10, horizon=100_000, regions=3)]
    [('HSB, horizon known', 6720), ('HSB, nothing given', 11826), ('S-EXP3', 25981), ('EXP3', 812)]
    """
    tree, leaves = BinaryTree(depth=depth), 2**depth
    known = {"arms": arms, "horizon": horizon}
    mapping = f"every mapping of {regions} region{'s' * (regions > 1)}"
    rate = theory.learning_rate(tree, **known, regions=regions)
    yield "HSB, horizon known", f"{rate:.5f}", theory.regret_bound(tree, **known, regions=regions), f"{mapping} (Corollary 1)"
    schedule = theory.anytime_schedule(arms=arms)
    first, last = schedule.phase(0).rate, schedule.phase(horizon - 1).rate
    spread = f"{first:.5f} falling to {last:.5f}" if last < first else f"{first:.5f}"
    yield "HSB, nothing given", spread, theory.anytime_bound(tree, **known, regions=regions), f"{mapping}, at any time"
    rate, mapping = theory.s_exp3_rate(**known, leaves=leaves), f"every mapping of {leaves:,} cell{'s' * (leaves > 1)}"
    yield "S-EXP3", f"{rate:.5f}", theory.s_exp3_bound(**known, leaves=leaves), mapping
    yield "EXP3", f"{theory.exp3_rate(**known):.5f}", theory.exp3_bound(**known), "every single arm"
