"""Views of members, one class for each kind: the words of the header by name (`engine/kernels/words/`), and the tables.

A view has a copy of the words from its construction; its tables are the member's memory. To change a word, write to the member's I.
`Member` has the names of the common words.
"""

from __future__ import annotations

from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import advisor as advisor_words
from ..kernels.words import ensemble as ensemble_words
from ..kernels.words import graph as graph_words
from ..kernels.words import intervals as interval_words
from ..kernels.words import one_of as one_of_words
from ..kernels.words import tree as tree_words
from .member import Member


class TreeView:
    """A tree, dense or compressed."""

    def __init__(self, member: Member) -> None:
        self.F, self.I = member
        words = self.I[: h.HEADER].tolist()
        self.dense = words[h.KIND] == h.DENSE
        self.logs: int = words[h.LOGS]
        """The offset of a row's hidden part."""
        self.depth: int = words[tree_words.DEPTH]
        self.fanout: int = words[tree_words.FANOUT]
        self.roots: int = words[tree_words.ROOTS]
        self.bits: int = words[tree_words.BITS]
        self.per_word: int = words[tree_words.PER_WORD]
        self.row0: int = words[tree_words.ROW0]
        self.stride: int = words[tree_words.STRIDE]
        self.used: int = words[tree_words.ROWS]
        """Rows in use."""
        self.capacity: int = words[tree_words.CAPACITY]
        """Rows allocated."""
        self.links0: int = words[tree_words.LINKS]
        self.link_stride: int = words[tree_words.LINK_STRIDE]
        self.go_at: int = words[tree_words.GO]
        self.stay_at: int = words[tree_words.STAY]
        self.path_at: int = words[tree_words.PATH]
        self.most_rows: int = words[tree_words.MOST_ROWS]
        """The number of rows before keys become coarser; 0: no limit."""

    @property
    def rows(self) -> Floats:
        """A row for each node of a dense tree, or each used chain of a compressed one."""
        count = self.capacity if self.dense else self.used
        return self.F[self.row0 : self.row0 + count * self.stride].reshape(count, self.stride)

    @property
    def links(self) -> Ints:
        """The links of a compressed tree, one for each used row (`kernels/chains.py`)."""
        return self.I[self.links0 : self.links0 + self.used * self.link_stride].reshape(self.used, self.link_stride)

    @property
    def go(self) -> Floats:
        """The prior of passing 0, 1, ... links in a row."""
        return self.F[self.go_at : self.go_at + self.depth + 1]

    @property
    def stay(self) -> Floats:
        """The prior of stopping at one of 0, 1, ... links."""
        return self.F[self.stay_at : self.stay_at + self.depth + 1]


class IntervalsView:
    """All intervals of some leaves."""

    def __init__(self, member: Member) -> None:
        self.F, self.I = member
        words = self.I[: h.HEADER].tolist()
        self.leaves: int = words[interval_words.LEAVES]
        self.groups: int = words[interval_words.GROUPS]
        self.arm0: int = words[interval_words.ARM0]
        self.unit_at: int = words[interval_words.UNIT]
        self.sigma_at: int = words[interval_words.SIGMA]
        self.sigma_e_at: int = words[interval_words.SIGMA_E]
        self.table_at: int = words[interval_words.TABLE]
        self.adjoint_at: int = words[interval_words.ADJOINT]
        self.counts_at: int = words[interval_words.COUNTS]
        self.square = self.leaves**2
        self.block: int = words[h.WIDTH] + words[h.ARMS]
        """Words of an arm block with its logarithms."""

    @property
    def sigma(self) -> Floats:
        """The rate of interval i .. j at i*N + j, N being the leaves."""
        return self.F[self.sigma_at : self.sigma_at + self.square]

    @property
    def sigma_e(self) -> Floats:
        """The number of scalings of each rate."""
        return self.F[self.sigma_e_at : self.sigma_e_at + self.square]

    @property
    def tables(self) -> Floats:
        """w and its transpose, then F_2 and its transpose, and so on, a row each."""
        count = 2 * (self.groups - 1)
        return self.F[self.table_at : self.table_at + count * self.square].reshape(count, self.square)

    @property
    def counts(self) -> Floats:
        """1 / (number of groups of an interval + 1), by its length."""
        return self.F[self.counts_at : self.counts_at + self.leaves + 1]

    @property
    def unit(self) -> float:
        """The scaled weight of a single leaf."""
        return float(self.F[self.unit_at])

    @property
    def whole(self) -> float:
        """w of the interval of all leaves."""
        return float(self.F[self.table_at + self.leaves - 1])


class GraphView:
    """A structure whose nodes are listed."""

    def __init__(self, member: Member) -> None:
        self.F, self.I = member
        words = self.I[: h.HEADER].tolist()
        self.shape: int = words[graph_words.SHAPE]
        self.list_at: int = words[graph_words.LIST]
        self.edge_at: int = words[graph_words.EDGE]
        self.spec_at: int = words[graph_words.SPEC]
        self.nodes_at: int = words[graph_words.NODE0]
        self.reach_at: int = words[graph_words.REACH]
        self.ratio_at: int = words[graph_words.RATIO]

    @property
    def spec(self) -> Ints:
        """The data of the finder (`kernels/locate.py`)."""
        return self.I[self.spec_at : self.nodes_at]

    @property
    def nodes(self) -> Ints:
        """The offset in F of each node's row, by the node's number."""
        return self.I[self.nodes_at :]


class OptionsView:
    """A node whose options are whole members: a head, or the root of `OneOf`."""

    def __init__(self, member: Member) -> None:
        self.F, self.I = member
        words = self.I[: h.HEADER].tolist()
        self.options: int = words[one_of_words.OPTIONS]
        self.row: int = words[one_of_words.NODE]
        """The offset of its row in F."""
        self.block = self.row + 1 + 2 * self.options
        """The offset of the root's arm block."""
        self.reach_at: int = words[one_of_words.CHILD_REACH]
        self.ratio_at: int = words[one_of_words.CHILD_RATIO]
        self.prior_at: int = words[one_of_words.PRIOR]

    @property
    def flag(self) -> Floats:
        """One word: 1 if any of `counts` is not 0."""
        return self.F[self.row : self.row + 1]

    @property
    def weights(self) -> Floats:
        """The weights of the options, each too small by BASE to the power of its count."""
        return self.F[self.row + 1 : self.row + 1 + self.options]

    @property
    def counts(self) -> Floats:
        """The number of scalings of each weight (`kernels/options.py`)."""
        return self.F[self.row + 1 + self.options : self.block]

    @property
    def prior(self) -> Floats:
        """The prior weights of a head's options."""
        return self.F[self.prior_at : self.prior_at + self.options]


class AdvisorView:
    """An advisor that is a tree of cells."""

    def __init__(self, member: Member) -> None:
        self.F, self.I = member
        words = self.I[: h.HEADER].tolist()
        self.depth: int = words[advisor_words.DEPTH]
        self.row0: int = words[advisor_words.ROW0]
        self.stride: int = words[advisor_words.STRIDE]
        self.end: int = words[advisor_words.ROWS_END]
        """The offset in F of the end of the rows."""

    @property
    def rows(self) -> Floats:
        """A row for each node, the root's at 1."""
        return self.F[self.row0 : self.end].reshape(-1, self.stride)

    @property
    def clock(self) -> float:
        """The number of learned rounds."""
        return float(self.F[advisor_words.CLOCK])


class EnsembleView:
    """The words of an ensemble; `ensemble.py` has its tables."""

    def __init__(self, member: Member) -> None:
        self.F, self.I = member
        words = self.I[: h.HEADER].tolist()
        self.arms: int = words[h.ARMS]
        self.room: int = words[ensemble_words.ROOM]
        """The room for columns."""
        self.columns: int = words[ensemble_words.COLUMNS]
        """The used columns, with the constant."""
        self.cosines: int = words[ensemble_words.COSINES]
        """Cosines."""
        self.stride: int = words[ensemble_words.STRIDE]
        """Words of a row of the cosines' covariances."""
        self.nodes: int = words[ensemble_words.NODES]
        """The room for nodes of the forest."""
        self.nodes_used: int = words[ensemble_words.NODES_USED]
        self.node0: int = words[ensemble_words.NODE]
        """The offset of the forest in F."""
        self.block0: int = words[ensemble_words.BLOCK]
        """The offset in F of the candidate cuts of leaves."""
        self.blocks: int = words[ensemble_words.BLOCKS]
        """The room for blocks of cuts."""
        self.blocks_used: int = words[ensemble_words.BLOCKS_USED]
        self.seed: int = words[ensemble_words.SEED]
        """The number of random numbers that the forest has used."""
