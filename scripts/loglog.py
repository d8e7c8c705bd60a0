"""Logarithmic plots as SVG text, the same bytes for the same data everywhere: no library is needed, and a check can compare."""
import math

WIDTH = 760
# Colours that stay apart for colour-blind readers (after Okabe and Ito).
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def begin(width, height, title):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{height}" fill="white"/>', text(width / 2, 22, "middle", title, ' font-size="14"')]


def text(x, y, anchor, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escaped(words)}</text>'


def dots(title, series, rows, labels):
    """Rows (name, [a value or None for each of the series]) as dots over a logarithmic axis. Ticks are at powers of 10, and
    `labels` names the values."""
    left, right, top, step = 240, 90, 60, 34
    height = top + step * len(rows) + 40
    values = [v for _, vs in rows for v in vs if v is not None]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def at(value):
        return left + (math.log10(value) - low) / (high - low) * (WIDTH - left - right)

    out = begin(WIDTH, height, title)
    for power in range(low, high + 1):
        x = at(10.0**power)
        out.append(f'<path d="M{x:.1f} {top}V{height - 40}" stroke="#ddd"/>' + text(x, height - 22, "middle", labels(10.0**power)))
    place = left - 200
    for name, colour in zip(series, COLOURS):
        out.append(f'<circle cx="{place}" cy="42" r="5" fill="{colour}"/>' + text(place + 10, 46, "start", name))
        place += 40 + 7 * len(name)
    for i, (name, vs) in enumerate(rows):
        y = top + step * (i + 0.5)
        out.append(f'<path d="M{left} {y:.1f}H{WIDTH - right}" stroke="#eee"/>' + text(left - 10, y + 4, "end", name))
        shown = sorted((at(value), colour, labels(value)) for value, colour in zip(vs, COLOURS) if value is not None)
        xs = [-WIDTH, *(x for x, *_ in shown), 2 * WIDTH]
        for before, (x, colour, label), after in zip(xs, shown, xs[2:]):
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>')
            at_side = (x - 8, y + 4, "end") if after - x < 60 < x - left - 8 else (x + 8, y + 4, "start") if x - before < 60 else (x, y - 8, "middle")
            out.append(text(*at_side, label, f' fill="{colour}" font-size="11"'))
    return "\n".join(out + ["</svg>"]) + "\n"
