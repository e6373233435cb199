"""Examples 1 to 6 as printed."""

from ..checks import flag
from ..errors import InputError, quoted
from ..structures import Structure
from .bounds import mixture_bound
from .checks import check_counts, check_structure


def example_bound(
    structure: Structure,
    *,
    arms: int,
    horizon: float,
    learning_rate: float,
    regions: int | None = None,
    simplified: bool = False,
) -> float:
    """The regret bound that the paper prints for its Examples 1 to 6: the first line, or the last with `simplified`.

    With N leaves, M = `arms`, T = `horizon`, R = `regions` (None: as many as arms; counted as in `prior_bound`) and the rate `learning_rate`,
    it is C/rate + M T rate/2, where C is

    | example | first line | last line | which needs |
    |---|---|---|---|
    | 1, arbitrary splitting | 2 M ln(2^(N-1) M) | 2 M N ln M | M >= 2 |
    | 2, binary tree | 2 ((R-1) log2 N + 1) ln(2M) | 2 R log2 N ln(2M) | N >= 2 |
    | 3, K-ary tree | K ((R-1) logK N + 1) ln(2M) | K R logK N ln(2M) | N >= 2 |
    | 4, lexicographic | 2 R ln(N M) | the same | |
    | 5, K groups | K (ceil((R-1)/(K-1)) + 1) ln((1 + C(N-1, K-1)) M) | K (R + 2K) ln(N M) | |
    | 6, position splits, d features | 2 ((R-1) log2 N + 1) ln((d+1) M) | 2 R log2 N ln((d+1) M) | N >= 2 |

    Where a last line is not above its first, it is refused. Example 5 is refused for fewer leaves than groups. d counts features with
    bits. Example 1's bound is never below that of equal weights, N ln M in place of C (`docs/errata.md`).

    >>> from hsb import BinaryTree
    >>> tree, rest = BinaryTree(depth=10), {"arms": 3, "horizon": 100_000, "learning_rate": 0.02}
    >>> round(example_bound(tree, **rest), 1), round(example_bound(tree, **rest, simplified=True), 1)
    (6762.7, 8375.3)
    """
    check_structure(structure)
    arms, regions = check_counts(arms, regions)
    simplified = flag("simplified", simplified)
    first, last, holds = structure.example(arms, regions)
    if simplified and not holds:
        raise InputError(
            f"The last line of this example needs at least 2 leaves, and Example 1's 2 arms; given {quoted(structure)} and arms={arms}. "
            "Leave simplified out."
        )
    return mixture_bound(last if simplified else first, learning_rate=learning_rate, arms=arms, horizon=horizon)
