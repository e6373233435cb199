"""The part of a policy that changes each round: a state and its members. Structures make members; no module here imports a structure."""

from .advisor import depth_for, make_advisor
from .ensemble import NewColumns, make_ensemble, rescale, resized_ensemble, room_for, set_columns, width_for
from .ensemble_files import Ensemble as _Ensemble  # noqa: F401  (registers its kind)
from .fit import FitRows, begin_own_rounds, fit_ensemble, rounds_known
from .given import make_given
from .graphs import make_graph
from .heads import add_options, hang, make_head, make_one_of
from .intervals import make_intervals
from .member import Kind, Member, Walk, aligned_zeros, member_from_arrays, resized
from .state import EVERY_ARM, State
from .trees import chain_prior, make_cells, make_tree
from .warm import warm_start

__all__ = [
    "EVERY_ARM",
    "Kind",
    "Member",
    "NewColumns",
    "State",
    "Walk",
    "aligned_zeros",
    "chain_prior",
    "depth_for",
    "hang",
    "member_from_arrays",
]
__all__ += ["make_advisor"]
__all__ += ["add_options", "make_ensemble", "rescale", "resized_ensemble", "room_for", "set_columns", "width_for"]
__all__ += ["FitRows", "begin_own_rounds", "fit_ensemble", "rounds_known"]
__all__ += [
    "make_cells",
    "make_given",
    "make_graph",
    "make_head",
    "make_intervals",
    "make_one_of",
    "make_tree",
    "resized",
    "warm_start",
]
