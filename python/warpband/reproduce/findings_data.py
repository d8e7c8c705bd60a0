"""What the findings have in common."""
from __future__ import annotations

import math
from collections import Counter

from .data import Data, Need, ReproduceError, root
from .estimates import curves_of
from .rows import Claim

QAM = {"qpsk": 4, "16qam": 16, "64qam": 64}
NAMES = {"qpsk": "QPSK", "16qam": "16-QAM", "64qam": "64-QAM"}
CODE_RATE = {"1/2": 1 / 2, "3/4A": 3 / 4, "5/6": 5 / 6}


def missing(need: Need) -> Claim:
    return Claim(f"results of {need.stored}", "-", None, "its run is not stored")


def grid(need: Need) -> dict[str, int]:
    """Curves by family of a need's scenario: the product of what it sweeps besides the SNR."""
    try:
        import tomllib
    except ImportError:
        raise ReproduceError("rows of results that are not complete read their scenario, which needs Python 3.11") from None
    scenario = tomllib.loads((root() / need.stored).with_suffix(".toml").read_text(encoding="utf-8"))

    def swept(sweep, prefix=""):
        found = {}
        for key, value in sweep.items():
            if isinstance(value, dict) and "from" not in value:
                found |= swept(value, f"{prefix}{key}.")
            elif isinstance(value, list) and key not in ("snr_db", "ebn0_db"):
                found[prefix + key] = len(value)
        return found

    base = swept(scenario.get("sweep", {}))
    found = {}
    for curve in scenario["curve"]:
        parameters = base | swept(curve.get("sweep", {}))
        found[curve["label"]] = math.prod(n for key, n in parameters.items() if not (key == "code.rate" and "code" in curve))
    return found


def left_out(data: Data, need: Need) -> list[Claim]:
    """What a run that ended early leaves out of its grid."""
    if not data.has(need) or data.get(need)["complete"]:
        return []
    wanted, stored = grid(need), Counter(c["family"] for c in data.get(need)["curves"])
    part = [f"{family} ({stored[family]} of {n})" for family, n in wanted.items() if 0 < stored[family] < n]
    none = [family for family, n in wanted.items() if not stored[family]]
    words = [f"not run: {', '.join(none)}"] * bool(none) + [f"in part: {', '.join(part)}"] * bool(part)
    return [Claim(f"the whole grid of curves/{need.name}.toml", f"{sum(stored.values())} of {sum(wanted.values())} curves; {'; '.join(words) or 'the last ones have fewer points'}", None,
                  "the run ended before the rest", ours=True)]


def held(data: Data, *needs: Need) -> list:
    """Curves of the results that there are."""
    return [c for need in needs if data.has(need) for c in curves_of(data.get(need))]
