"""What the findings have in common."""
from __future__ import annotations

from .data import Data, Need
from .estimates import curves_of
from .rows import Claim

QAM = {"qpsk": 4, "16qam": 16, "64qam": 64}
NAMES = {"qpsk": "QPSK", "16qam": "16-QAM", "64qam": "64-QAM"}
CODE_RATE = {"1/2": 1 / 2, "3/4A": 3 / 4, "5/6": 5 / 6}


def missing(need: Need) -> Claim:
    return Claim(f"results of {need.stored}", "-", None, "its run is not stored")


def held(data: Data, *needs: Need) -> list:
    """Curves of the results that there are."""
    return [c for need in needs if data.has(need) for c in curves_of(data.get(need))]
