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


def decades(title, x_label, y_label, curves):
    """Curves (name, [(x, y)]) over a linear axis, y on a logarithmic one. Points without errors (y = 0) are left out."""
    left, right, top, bottom, height = 70, 20, 40, 50, 420
    points = [(x, y) for _, pairs in curves for x, y in pairs if y > 0]
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    y_low, y_high = math.floor(math.log10(min(y for _, y in points))), 0

    def place(x, y):
        return (left + (x - x_low) / (x_high - x_low) * (WIDTH - left - right),
                top + (y_high - math.log10(y)) / (y_high - y_low) * (height - top - bottom))

    out = begin(WIDTH, height, title)
    for power in range(y_low, y_high + 1):
        y = place(x_low, 10.0**power)[1]
        out.append(f'<path d="M{left} {y:.1f}H{WIDTH - right}" stroke="#ddd"/>' + text(left - 8, y + 4, "end", f"1e{power}" if power else "1"))
    step = next(s for s in (0.1, 0.2, 0.5, 1, 2, 5, 10) if (x_high - x_low) / s <= 12)
    for i in range(math.ceil(x_low / step - 1e-9), math.floor(x_high / step + 1e-9) + 1):
        x = place(i * step, 1)[0]
        out.append(f'<path d="M{x:.1f} {top}V{height - bottom}" stroke="#eee"/>' + text(x, height - bottom + 18, "middle", f"{i * step:g}"))
    out.append(text((left + WIDTH - right) / 2, height - 10, "middle", x_label))
    out.append(text(0, 0, "middle", y_label, f' transform="translate(16 {(top + height - bottom) / 2:.1f}) rotate(-90)"'))
    for row, ((name, pairs), colour) in enumerate(zip(curves, COLOURS, strict=False)):
        shown = [place(x, y) for x, y in pairs if y > 0]
        out.append(f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in shown)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in shown]
        y = height - bottom - 12 - 18 * (min(len(curves), len(COLOURS)) - 1 - row)
        out.append(f'<path d="M{left + 12} {y - 4}h24" stroke="{colour}" stroke-width="3"/>' + text(left + 42, y, "start", name))
    return "\n".join(out + ["</svg>"]) + "\n"
