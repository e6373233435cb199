"""How well policies do: comparisons on a problem, and what a log says of a policy; with intervals."""

from .candidates import Learning
from .compare import compare
from .comparing import compare_off_policy
from .comparison import Comparison, Curve, Row, TableRow
from .differences import Difference
from .intervals import Interval, mean_interval, paired_interval, student_quantile
from .off_policy import off_policy
from .off_policy_comparison import OffPolicyCandidate, OffPolicyComparison
from .off_policy_result import Estimate, OffPolicy

__all__ = ["Comparison", "Curve", "Row", "TableRow", "compare"]
__all__ += ["Interval", "mean_interval", "paired_interval", "student_quantile"]
__all__ += ["Estimate", "OffPolicy", "off_policy"]
__all__ += ["Difference", "Learning", "OffPolicyCandidate", "OffPolicyComparison", "compare_off_policy"]
