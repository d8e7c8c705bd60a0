"""What our own runs add to the four documents: docs/findings.md. A claim names the sentence that it confirms, bounds or refutes."""
from __future__ import annotations

from .findings_clip import CLIP, CLIP_MTT, clip_row
from .findings_codes import CODES, codes_row
from .findings_detectors import CORRELATED, RECORD, TIMES, TREE, detectors_row
from .findings_iterations import JACOBI, MEASURED, RESIDUAL, SPECTRUM, iterations_row
from .findings_windows import RATES, WINDOWS, windows_row
from .rows import Row
from .wu2010 import ONE_WINDOW, OVERLAP


def rows():
    return [Row("findings", "clip", "when LLRs need a limit, and the best one: 4x4, WiMAX LDPC 2304", (CLIP, CLIP_MTT), clip_row),
            Row("findings", "detectors", "where a tree search pays on a GPU: WiMAX LDPC 2304", (TREE, CORRELATED, TIMES, RECORD), detectors_row),
            Row("findings", "windows", "what windows of the turbo decoder cost: K = 6144, 6 iterations", (WINDOWS, *RATES, OVERLAP, ONE_WINDOW), windows_row),
            Row("findings", "iterations", "iterations of conjugate gradients in massive MIMO", (SPECTRUM, RESIDUAL, JACOBI, *MEASURED.values()), iterations_row),
            Row("findings", "codes", "space-time codes behind channel codes: 2x2", (CODES,), codes_row)]
