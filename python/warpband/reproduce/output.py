"""What a row becomes: CSV, PNG and SVG, and its rows of a page."""
from __future__ import annotations

import csv
import pathlib
from collections import Counter

from .data import Data, ReproduceError, root
from .records import table
from .rows import Claim, Panel, Row

# Colours that stay apart, the first eight for colour-blind readers too (after Okabe and Ito). In a panel a setting has one.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A00", "#7B3294", "#8C510A", "#A6A6A6",
           "#01665E", "#E7298A", "#66A61E", "#B2182B", "#8DA0CB"]
MARKS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*"]
PRINTED_MARKS = ["x", "+", "1", "2"]  # of printed values with one colour
PAGES = {"wu2010": "wu2010.md", "wu2012": "wu2012.md", "li": "li-thesis.md", "bollapalli": "bollapalli.md", "findings": "findings.md"}
BEGIN, END = "<!-- written by `warpband reproduce --stored --pages`: begin -->", "<!-- end -->"
FIGURES = "figures/reproduce"


def write_csv(panels: list[Panel], path: pathlib.Path) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["panel", "line", "printed", "x", "y", "low", "high"])
        for panel in panels:
            for line in panel.lines:
                for x, y, *interval in line.points:
                    name = panel.ticks[round(x)] if panel.ticks else x
                    out.writerow([panel.heading, line.label, int(line.printed), name, y, *(interval or ("", ""))])


def draw(row: Row, data: Data, panels: list[Panel], paths: list[pathlib.Path]) -> None:
    """A picture of the panels; none where a row lacks what it would draw."""
    if not panels:
        return
    try:
        import matplotlib
    except ImportError:
        raise ReproduceError("matplotlib is missing: scripts/setup.sh installs it into .venv") from None
    from matplotlib.figure import Figure
    matplotlib.rcParams.update({"svg.hashsalt": row.file, "svg.fonttype": "none"})
    long_names = any(panel.ticks and max(map(len, panel.ticks)) > 20 for panel in panels)
    columns = len(panels) if len(panels) <= 4 else -(-len(panels) // 2)
    lines = -(-len(panels) // columns)
    width = max(5.2, *(0.4 * len(panel.ticks or ()) for panel in panels)) if lines == 1 else 6.4
    sources = row.sources(data)
    height = (8.5 if long_names else 5.6) * lines + 0.4 * max(0, len(sources) - 4)  # many lines below leave the panels no room
    figure = Figure(figsize=(max(7.5, width * columns), height), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, panels):
        _draw_panel(axes, panel)
    for axes in grid[len(panels):]:
        axes.set_visible(False)
    figure.suptitle(f"{row.document} {row.name}: {row.full_title(data)}", fontsize=11, wrap=True)
    if sources:
        figure.supxlabel("\n".join(sources), fontsize=7, color="#505050")
    for path in paths:
        figure.savefig(path, dpi=100, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})


def _shifts(panel: Panel) -> dict[str, float]:
    """How far marks move to the side, by label, so that those over one name do not hide one another."""
    shared = Counter(p[0] for line in panel.lines for p in line.points)
    if not panel.ticks or max(shared.values(), default=0) < 2 or any(line.joined and not line.printed for line in panel.lines):
        return {}
    step = 0.6 / len(panel.lines)
    return {line.label: step * (i - (len(panel.lines) - 1) / 2) for i, line in enumerate(panel.lines)}


def _draw_panel(axes, panel: Panel) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
    settings = list(dict.fromkeys(line.setting or line.label for line in panel.lines))
    if len(settings) > len(COLOURS):
        raise ReproduceError(f"{panel.heading}: {len(settings)} settings, and only {len(COLOURS)} colours")
    unseen_in_panel, printed = False, []
    shifts = _shifts(panel)
    for line in panel.lines:
        i = settings.index(line.setting or line.label)
        ps = [p for p in line.points if p[1] and p[1] > 0] if panel.log_y else line.points
        unseen = [(p[0], p[3]) for p in line.points if len(p) == 4 and not p[1]] if panel.log_y else []
        if unseen:  # no error: a hollow triangle at the upper end of the interval
            unseen_in_panel = True
            axes.plot(*zip(*unseen), color=COLOURS[i], marker="v", markersize=6, markerfacecolor="none", linestyle="none", label=None if ps else line.label)
        if not ps:
            continue
        style = "none" if line.printed and not panel.log_x or not line.joined else "--" if line.dashed else "-"
        mark = PRINTED_MARKS[printed.count(i) % len(PRINTED_MARKS)] if line.printed else None if len(ps) > 40 and line.joined else MARKS[i % len(MARKS)]
        printed += [i] * line.printed
        x, y = [p[0] + shifts.get(line.label, 0) for p in ps], [p[1] for p in ps]
        if all(len(p) == 4 for p in ps) and not line.joined:
            axes.vlines(x, [p[2] for p in ps], [p[3] for p in ps], color=COLOURS[i], alpha=0.5, linewidth=1)
        elif all(len(p) == 4 for p in ps):
            axes.fill_between(x, [max(p[2], min(y) / 10) if panel.log_y else p[2] for p in ps], [p[3] for p in ps], color=COLOURS[i], alpha=0.15, linewidth=0)
        axes.plot(x, y, color=COLOURS[i], marker=mark, markersize=7 if line.printed else 4.5, linestyle=":" if line.printed and style == "-" else style,
                  linewidth=1.3, label=line.label, markerfacecolor=None if line.joined else "none")
    if unseen_in_panel:
        axes.annotate("hollow triangle: no error, upper end of the 95 % interval", (0.01, 0.01), xycoords="axes fraction", fontsize=7, color="#505050")
    for value, name in panel.levels:
        axes.axhline(value, color="#808080", linewidth=0.8, linestyle=":")
        axes.annotate(name, (1, value), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=7, color="#505050")
    if panel.log_x:
        axes.set_xscale("log", base=2)
    if panel.log_y:
        axes.set_yscale("log")
        heights = [p[1] for line in panel.lines for p in line.points if p[1] and p[1] > 0]
        if heights and max(heights) < 100 * min(heights):  # powers of ten alone would leave one or two numbers on the axis
            counts_things = all(y == round(y) for y in heights) and max(heights) < 100
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 5, 6, 8) if counts_things else (1, 2, 5)))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0 if all(p[1] >= 0 and (line.joined or len(p) < 4 or p[2] >= 0) for line in panel.lines for p in line.points) else None)
    if panel.ticks:
        longest = max(map(len, panel.ticks))
        many = longest > 7 and len(panel.ticks) > 12
        axes.set_xticks(range(len(panel.ticks)), panel.ticks, rotation=90 if longest > 20 or many else 30 if longest > 7 else 0,
                        ha="center" if longest > 20 or many or longest <= 7 else "right", fontsize=8)
        axes.set_xlim(-0.5, len(panel.ticks) - 0.5)
    axes.set_title(panel.heading, fontsize=10)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.grid(True, which="major", alpha=0.35)
    if panel.ticks and longest > 20:
        axes.legend(fontsize=7.5, loc="best")
    else:
        below = -0.3 if panel.ticks and many else -0.22 if panel.ticks and longest > 7 else -0.13 if panel.x else -0.08
        axes.legend(fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, below), ncols=2)


def claim_lines(row: Row, title: str, claims: list[Claim], figure: str | None) -> list[list[str]]:
    """Rows of the page's table: one a claim."""
    name = f"[{row.name}]({figure})" if figure else row.name
    command = f"`warpband reproduce {row.document} {row.name}`"
    return [[f"**{name}** {title}" if i == 0 else "", command if i == 0 else "", *(text.replace("|", "\\|") for text in (c.result, c.says, c.verdict))]
            for i, c in enumerate(claims)]


def counts(claims: list[Claim]) -> str:
    stated = [c for c in claims if not c.ours]
    kinds = [sum(c.holds is kind and not c.aside and not c.is_open for c in stated) for kind in (True, False, None)]
    others, ours, unsure = sum(bool(c.aside) for c in stated), len(claims) - len(stated), sum(c.is_open for c in stated)
    return f"{kinds[0]} hold, {kinds[1]} differ, " + (f"{unsure} open, " if unsure else "") + f"{kinds[2]} not measured" + (f"; {others} only compare values" if others else "") \
        + (f"; besides them {ours} of ours" if ours else "")


def block(document: str, rows: list[Row], data: Data) -> str:
    """What a page begins with: the table of its rows, and the commands behind them."""
    made = [(row, *row.results(data)) for row in rows]
    lines = [BEGIN, f"{sum(bool(panels) for _, panels, _ in made)} figures and tables, {sum(not c.ours for *_, cs in made for c in cs)} statements: {counts([c for *_, cs in made for c in cs])}.", ""]
    lines += table(["figure or table", "command", "our result", "statement of the document", "holds?"],
                   [line for row, panels, claims in made for line in claim_lines(row, row.full_title(data), claims, f"{FIGURES}/{row.file}.png" if panels else None)])
    needs = [need for row in rows for need in row.needs]
    lines += ["What these commands run, and the stored results that the table is made of:"]
    if any(need.kind == "bench" for need in needs):
        lines += ["`warpband bench` needs a build with `-DWARPBAND_BENCH=ON`."]
    lines += ["", "```sh"]
    lines += dict.fromkeys(need.line() for need in needs if data.has(need))
    if lacking := dict.fromkeys(need.line() for need in needs if not data.has(need)):
        lines += ["# not stored yet, and not part of the table:", *lacking]
    return "\n".join([*lines, "```", END])


def with_block(text: str, new: str) -> str:
    """The page with its block in place: the old one's, or below the title."""
    if BEGIN in text:
        before, rest = text.split(BEGIN, 1)
        return before + new + rest.split(END, 1)[1]
    title, rest = text.split("\n", 1)
    return f"{title}\n\n{new}\n{rest}"


def page_of(document: str) -> pathlib.Path:
    return root() / "docs" / PAGES[document]
