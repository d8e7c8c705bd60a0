"""A row is a figure or a table of a document, what its text states beside them, or one of our findings."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable

from .data import Data, Need


QUICK = "quick run, few frames"


@dataclass
class Claim:
    """A statement of the document beside our result. `holds` is None where it was not measured, or with `is_open` where an interval
    includes the border. `aside`: of what is no statement that could hold, such as a printed time of another machine. `ours`: an addition
    of ours, which no document states."""
    says: str
    result: str
    holds: bool | None
    because: str = ""
    aside: str = ""
    ours: bool = False
    is_open: bool = False

    @property
    def verdict(self) -> str:
        return f"ours: {self._verdict}" if self.ours else self._verdict

    @property
    def _verdict(self) -> str:
        if self.aside and self.holds is not None:
            return self.aside
        if self.holds is None:
            return ("open" if self.is_open else "not measured") + (f": {self.because}" if self.because else "")
        if self.holds:
            return "holds"
        return "differs" + (f", because {self.because}" if self.because else "")


def measured(says, values, result, holds, because=None, missing="", aside="", ours=False):
    """A claim from values of which none may be missing: `result`, `holds` and `because` are made of them. `holds` returns None where an
    interval includes the border. `because` returns the reason why it does not hold, or nothing where the values do not support it."""
    values = list(values)
    if not values or any(v is None for v in values):
        return Claim(says, "-", None, missing, ours=ours)
    verdict = holds(values)
    return Claim(says, result(values), verdict, because(values) if because and not verdict else "", aside, ours, verdict is None)


def beside(says, values, result, missing=""):
    """Printed values of another machine beside ours."""
    return measured(says, values, result, lambda v: True, missing=missing, aside="another machine")


@dataclass
class Line:
    """Points (x, y) or (x, y, low, high). `printed`: the document's own values. Lines of one `setting` have one colour."""
    label: str
    points: list[tuple]
    printed: bool = False
    dashed: bool = False
    joined: bool = True
    setting: str = ""  # by default the label


@dataclass
class Panel:
    heading: str
    x: str
    y: str
    lines: list[Line]
    log_x: bool = False
    log_y: bool = True
    ticks: list[str] | None = None  # names of x = 0, 1, 2, ...
    levels: list[tuple[float, str]] = field(default_factory=list)  # horizontal lines


@dataclass(frozen=True)
class Row:
    document: str
    name: str  # fig4.5, table5.3; text, which has no panels
    title: str
    needs: tuple[Need, ...]
    make: Callable[[Data], tuple[list[Panel], list[Claim]]]

    def is_quick(self, data: Data) -> bool:
        """Whether its error rates come from a quick run, which has too few frames for a verdict."""
        return data.quick and any(need.kind in ("sim", "sweep") and data.runs(need) for need in self.needs)

    def results(self, data: Data) -> tuple[list[Panel], list[Claim]]:
        """Panels and claims; those of a quick run are not judged."""
        panels, claims = self.make(data)
        if self.is_quick(data):
            claims = [replace(c, holds=None, because=QUICK, is_open=False) if c.holds is not None or c.is_open else c for c in claims]
        return panels, claims

    def sources(self, data: Data) -> list[str]:
        """Machine, date and commit of each record of rates or counters."""
        found = [(need, data.source(need)) for need in self.needs if need.kind in ("bench", "stream", "profile", "peer")]
        return [text for _, text in found if text]

    def full_title(self, data: Data) -> str:
        return self.title + (f" ({QUICK})" if self.is_quick(data) else "")

    @property
    def file(self) -> str:
        return f"{self.document}_{self.name.replace('.', '_')}"


def all_rows() -> list[Row]:
    from . import bollapalli, findings, li, text, wu2010, wu2012
    return [row for module in (wu2010, wu2012, li, bollapalli, text, findings) for row in module.rows()]
