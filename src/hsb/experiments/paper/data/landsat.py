"""The LandSat data of Section VI-D, bundled."""

import gzip
import hashlib
import zlib
from pathlib import Path

import numpy as np

from ....errors import FileError
from ....types import Ints

FILE = Path(__file__).with_name("landsat.csv.gz")
SHA256 = "bf335957336ffecf99e024f88d2e5888f7ffe44ab8ef919626cf214ff0d7eadc"  # of the text inside
LABELS = {
    1: "red soil",
    2: "cotton crop",
    3: "grey soil",
    4: "damp grey soil",
    5: "soil with vegetation stubble",
    7: "very damp grey soil",
}


def landsat(path: Path | None = None) -> tuple[Ints, Ints]:
    """Return the LandSat data: features (6435, 36), integers in 27..157, and labels (6435,) out of 1, 2, 3, 4, 5, 7, in their original order.

    Four spectral bands of the nine pixels of a small square; the label is the ground in its middle (`LABELS`). Source: UCI Statlog (Landsat
    Satellite), A. Srinivasan 1993, through r-cran-mlbench. `path` is a copy of the file; by default the
    one in the package. Raises `FileError` if it is another file.

    >>> X, y = landsat()
    >>> X.shape, y[:5].tolist()
    ((6435, 36), [3, 3, 3, 3, 3])
    """
    file = FILE if path is None else Path(path)
    try:
        text = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"{file.name} cannot be read ({error}). Install hsb again: the file comes with it.") from error
    digest = hashlib.sha256(text).hexdigest()
    if digest != SHA256:
        sums = f"SHA-256 {digest[:12]}..., needed {SHA256[:12]}..."
        raise FileError(f"{file.name} is not the file that came with hsb: {sums}. Install hsb again.")
    table: Ints = np.loadtxt(text.decode("ascii").splitlines(), delimiter=",", skiprows=1, dtype=np.int64)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].copy()
