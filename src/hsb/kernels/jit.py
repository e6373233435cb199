"""How every kernel is compiled.

Cached on disk; division by zero as in IEEE arithmetic; `fastmath` nowhere, so that a run repeats bit for bit. Kernels allocate nothing, so
Numba need not count references to the arrays it is given (`_nrt=False`): that alone takes a third off the time of the smaller rounds.
"""

from numba import njit

kernel = njit(cache=True, error_model="numpy", _nrt=False)  # type: ignore[call-overload]

# For the long loops over whole batches: other threads go on meanwhile, so that the next batch is read.
free_kernel = njit(cache=True, error_model="numpy", _nrt=False, nogil=True)  # type: ignore[call-overload]
