"""Logarithmic plots as SVG text, the same bytes for the same data everywhere: no library is needed, and a check can compare."""
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 520, 70, 20, 40, 50
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
    """Rows (name, [a value or None for each of the series]) as dots over a logarithmic axis, with ticks at powers of 10 and values named by
    `labels`."""
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


def loglog(title, x_name, y_name, curves, x_base=2, labels=lambda y: f"{y:g}"):
    """`curves`: (label, colour, dashes, marks, [(x, y)]), dashes "" for a full line. x has ticks at powers of x_base, y at
    powers of 10, named by `labels`. A point's values are its tooltip."""
    points = [p for *_, ps in curves for p in ps]
    x_low, x_high = (f(math.log(x, x_base) for x, _ in points) for f in (min, max))
    y_low = math.floor(min(math.log10(y) for _, y in points))
    y_high = max(math.ceil(max(math.log10(y) for _, y in points)), y_low + 1)
    x_high = max(x_high, x_low + 1)

    def at(x, y):
        across = (math.log(x, x_base) - x_low) / (x_high - x_low)
        up = (math.log10(y) - y_low) / (y_high - y_low)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    out = begin(WIDTH, HEIGHT, title)
    ticks = range(math.ceil(x_low - 1e-9), math.floor(x_high + 1e-9) + 1)
    for power in ticks:
        x, _ = at(x_base**power, 10.0**y_low)
        out.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        if len(ticks) <= 12 or (power - ticks[0]) % 2 == 0:
            out.append(text(x, HEIGHT - BOTTOM + 16, "middle", f"{x_base}^{power}"))
    for power in range(y_low, y_high + 1):
        _, y = at(x_base**x_low, 10.0**power)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(text(LEFT - 6, y + 4, "end", labels(10.0**power)))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "middle", x_name))
    out.append(text(0, 0, "middle", y_name, f' transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2:.1f}) rotate(-90)"'))
    for row, (label, colour, dashes, marks, ps) in enumerate(curves):
        style = f'stroke="{colour}" stroke-width="1.5"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
        path = " ".join(f"{'M' if i == 0 else 'L'}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(at(*p) for p in sorted(ps)))
        out.append(f'<path d="{path}" fill="none" {style}/>')
        y = TOP + 16 + 16 * row
        out.append(f'<path d="M{LEFT + 10} {y - 4}h28" {style}/>' + text(LEFT + 44, y, "start", label))
        for p in sorted(ps) if marks else []:
            x, y = at(*p)
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"><title>{p[0]:g}: {p[1]:.4g}</title></circle>')
    return "\n".join(out + ["</svg>"]) + "\n"
