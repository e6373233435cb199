"""Claims of every verdict, and what a summary says of them."""

from hsb.experiments.base import Claim

REPEAT = "hsb reproduce toy --visits 9 decides it."
WEIGHED = {
    "a beats b": Claim("toy", "a beats b", True, 0.2, 0.1, 0.3, jointly=True, decided_by=REPEAT),
    "a beats c": Claim("toy", "a beats c", None, 0.1, -0.1, 0.3, jointly=None, explanation="Few rounds.", decided_by=REPEAT),
    "a beats d": Claim("toy", "a beats d", True, 0.2, 0.1, 0.3, jointly=None, decided_by=REPEAT),
    "a beats e": Claim("toy", "a beats e", False, -0.2, -0.3, -0.1, jointly=False, because="e is told <more>"),
    "a beats f": Claim("toy", "a beats f", False, -0.2, -0.3, -0.1, origin="reading", jointly=None),
}
FAILS = "does not hold: a beats e (the paper's), because the difference is -0.2 (95%: -0.3 to -0.1): e is told <more>."
READ = (
    "does not hold: a beats f (the paper's, other readings), because the difference is -0.2 (95%: -0.3 to -0.1); after the correction it is a "
    "tie."
)
TIES = f"tie: a beats c; a beats d (after the correction). For each: {REPEAT}"
