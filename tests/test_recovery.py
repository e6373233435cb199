"""Arms so bad that no double shows them are still there: in rounds that offer only some of the arms they count, and they come back."""

import naive
import numpy as np
import pytest
from cases import Case, binary, divided, each_example, line, over
from test_hard_rounds import ARMS, Oracle, agree, check, told

import hsb
