"""The nodes of a graph that contain a leaf, parents first, and the child that each of their groups leads to.

Each finder fills LIST (node numbers), START (first edge of each, and one past the last) and EDGE (the index in LIST of the child
that contains the leaf, one per group), and returns the number of nodes.

- TABLES: everything is listed in SPEC: for each leaf the offset, counted from SPEC, of its part: n, nodes, starts, edges.
- BOXES: a node is a box whose sides are dyadic. Feature j with b bits has 2^(b+1) - 1 sides, numbered level by level; a node's number is
  the mixed-radix number of its sides. SPEC: d, then bits of each feature.
- SUBSETS: a node is a non-empty set of leaves, its number the bit mask. Group c of a set: the part with the set's lowest leaf is
  that leaf and the c-th subset, in falling order, of the others. SPEC: number of leaves.
"""

from .jit import inner, kernel
from .words.graph import EDGE, LIST, SHAPE, SPEC, START, SUBSETS, TABLES


@inner
def locate(I, leaf):
    """List the nodes that contain the leaf. O(nodes + groups of them)."""
    if I[SHAPE] == TABLES:
        return _tables(I, leaf)
    if I[SHAPE] == SUBSETS:
        return _subsets(I, leaf)
    return _boxes(I, leaf)


@inner
def _tables(I, leaf):
    offset = I[SPEC] + I[I[SPEC] + leaf]
    n = I[offset]
    for i in range(n):
        I[I[LIST] + i] = I[offset + 1 + i]
    for i in range(n + 1):
        I[I[START] + i] = I[offset + 1 + n + i]
    edges = offset + 2 + 2 * n
    for e in range(I[I[START] + n]):
        I[I[EDGE] + e] = I[edges + e]
    return n


@inner
def _boxes(I, leaf):
    # The index of a box in the list is the mixed-radix number of its levels, the first feature counting most. So START and EDGE
    # are the same for every leaf (`box_edges`); only the boxes' numbers change. Feature by feature, last first.
    spec, nodes = I[SPEC], I[LIST]
    d = I[spec]
    n = 1
    scale = 1
    I[nodes] = 0
    for j in range(d - 1, -1, -1):
        b = I[spec + 1 + j]
        cell = leaf & ((1 << b) - 1)
        leaf >>= b
        for level in range(b, -1, -1):
            side = scale * ((1 << level) - 1 + (cell >> (b - level)))
            for i in range(n):
                I[nodes + level * n + i] = I[nodes + i] + side
        scale *= (1 << (b + 1)) - 1
        n *= b + 1
    return n


@kernel("L1")
def box_edges(I):
    """Fill START and EDGE of a graph of boxes, once."""
    spec, start, edge = I[SPEC], I[START], I[EDGE]
    d = I[spec]
    n = 1
    for j in range(d):
        n *= I[spec + 1 + j] + 1
    e = 0
    for i in range(n):
        I[start + i] = e
        index = i
        step = 1
        for j in range(d - 1, -1, -1):
            b = I[spec + 1 + j]
            if index % (b + 1) < b:
                I[edge + e] = i + step
                e += 1
            index //= b + 1
            step *= b + 1
    I[start + n] = e


@inner
def _without(mask, leaf):
    """Return the mask without the leaf's bit, with the higher bits moved down."""
    return (mask >> (leaf + 1) << leaf) | (mask & ((1 << leaf) - 1))


@inner
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
