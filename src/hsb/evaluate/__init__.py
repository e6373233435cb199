"""Evaluating policies: comparisons on synthetic problems, and off-policy evaluation on logs, with intervals."""

from .intervals import Interval, mean_interval, paired_interval, student_quantile
from .off_policy.candidates import Learning
from .off_policy.compare import compare_off_policy
from .off_policy.comparison import OffPolicyCandidate, OffPolicyComparison
from .off_policy.differences import Difference
from .off_policy.estimate import off_policy
from .off_policy.pages import PagesValue, off_policy_pages
from .off_policy.result import Estimate, OffPolicy
from .simulated.compare import compare
from .simulated.comparison import Comparison, Curve, Row, TableRow

__all__ = ["Comparison", "Curve", "Row", "TableRow", "compare"]
__all__ += ["Interval", "mean_interval", "paired_interval", "student_quantile"]
__all__ += ["Estimate", "OffPolicy", "PagesValue", "off_policy", "off_policy_pages"]
__all__ += ["Difference", "Learning", "OffPolicyCandidate", "OffPolicyComparison", "compare_off_policy"]
