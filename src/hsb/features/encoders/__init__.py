"""From raw features to contexts: fitted on the first rows of a log, kept as plain data, explicit about what lies outside of what was seen."""

from .base import Encoder, from_dict
from .categories import Hashed, Ordinal, code
from .chain import Chain
from .columns import Columns
from .files import load
from .pca import PCA
from .scale import MinMax, Quantiles

__all__ = ["PCA", "Chain", "Columns", "Encoder", "Hashed", "MinMax", "Ordinal", "Quantiles", "code", "from_dict", "load"]
