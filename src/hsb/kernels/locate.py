"""Which nodes of a graph contain a leaf, parents first, and where each of their groups leads.

Each finder fills LIST (node numbers), START (first edge of each, and one past the last) and EDGE (the place in LIST of the child
that contains the leaf, one per group), and returns the number of nodes.

- TABLES: everything was listed beforehand. SPEC: for each leaf the place, counted from SPEC, of its part: n, nodes, starts, edges.
- BOXES: a node is a box whose sides are dyadic. Feature j with b bits has 2^(b+1) - 1 sides, numbered level by level; a node's number is
  the mixed-radix number of its sides. SPEC: d, then bits of each feature.
- SUBSETS: a node is a non-empty set of leaves, its number the bit mask. Group c of a set: the part with the set's lowest leaf is
  that leaf and the c-th subset, in falling order, of the others. SPEC: number of leaves.
"""

from numba import njit

from .header import EDGE, LIST, SHAPE, SPEC, START, SUBSETS, TABLES


@njit(cache=True, error_model="numpy")
def locate(I, leaf):
    """List the nodes that contain the leaf. O(nodes + groups of them)."""
    if I[SHAPE] == TABLES:
        return _tables(I, leaf)
    if I[SHAPE] == SUBSETS:
        return _subsets(I, leaf)
    return _boxes(I, leaf)


@njit(cache=True, error_model="numpy")
def _tables(I, leaf):
    at = I[SPEC] + I[I[SPEC] + leaf]
    n = I[at]
    for i in range(n):
        I[I[LIST] + i] = I[at + 1 + i]
    for i in range(n + 1):
        I[I[START] + i] = I[at + 1 + n + i]
    edges = at + 2 + 2 * n
    for e in range(I[I[START] + n]):
        I[I[EDGE] + e] = I[edges + e]
    return n


@njit(cache=True, error_model="numpy")
def _boxes(I, leaf):
    spec = I[SPEC]
    d = I[spec]
    n = 1
    for j in range(d):
        n *= I[spec + 1 + j] + 1
    nodes, start, edge = I[LIST], I[START], I[EDGE]
    e = 0
    for i in range(n):
        # Place i is the mixed-radix number of the levels; the first feature counts most, and level 0 comes first.
        node = 0
        scale = 1
        place = i
        rest = leaf
        step = 1
        I[start + i] = e
        for j in range(d - 1, -1, -1):
            b = I[spec + 1 + j]
            level = place % (b + 1)
            place //= b + 1
            cell = rest & ((1 << b) - 1)
            rest >>= b
            node += scale * ((1 << level) - 1 + (cell >> (b - level)))
            scale *= (1 << (b + 1)) - 1
            if level < b:
                I[edge + e] = i + step
                e += 1
            step *= b + 1
        I[nodes + i] = node
    I[start + n] = e
    return n


@njit(cache=True, error_model="numpy")
def _without(mask, leaf):
    """The mask with the leaf's bit taken out and the higher bits moved down."""
    return (mask >> (leaf + 1) << leaf) | (mask & ((1 << leaf) - 1))


@njit(cache=True, error_model="numpy")
def _subsets(I, leaf):
    n = 1 << (I[I[SPEC]] - 1)
    nodes, start, edge = I[LIST], I[START], I[EDGE]
    e = 0
    for i in range(n):
        others = n - 1 - i  # falling, so that a set comes before its subsets
        mask = (others >> leaf << (leaf + 1)) | (1 << leaf) | (others & ((1 << leaf) - 1))
        I[nodes + i] = mask
        I[start + i] = e
        low = mask & -mask
        free = mask ^ low
        sub = free
        while sub != 0:
            sub = (sub - 1) & free
            part = low | sub
            if part >> leaf & 1 == 0:
                part = mask ^ part
            I[edge + e] = n - 1 - _without(part, leaf)
            e += 1
    I[start + n] = e
    return n
