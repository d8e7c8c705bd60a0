#!/usr/bin/env python3
"""Builds the documentation site: the pages of docs/, one page for each algorithm, the notebooks, the Python reference.

    PYTHONPATH=build/docs/python python scripts/site.py OUTPUT      (`cmake --workflow --preset docs` does it all)

A page of an algorithm begins with docs/algorithms/NAME.md: problem, formulas, a figure and an example. Method and contract are the
comment that begins its public header. Cost and speed come from the records in bench/results/. The interface is the header itself and the
class in Python. Every warning of Sphinx is an error.
"""
import argparse
import ast
import json
import pathlib
import re
import shutil
import sys
import textwrap

from loglog import dots
from performance_report import all_tables, load

ROOT = pathlib.Path(__file__).resolve().parents[1]

# group, then: page, title, headers, classes in Python, benchmarks (op and axes) if any, pages with more
ALGORITHMS = [
    ("MIMO detection", [
        ("ml", "Exhaustive detection (ML)", ["detect/ml/ml.hpp"], ["detect.ML"], ("detect", {"detector": "ml"}), ["wu2012"]),
        ("linear", "Matched filter, zero forcing, MMSE", ["detect/linear/linear.hpp", "detect/linear/mmse_backward.hpp", "detect/words.hpp"],
         ["detect.MatchedFilter", "detect.ZeroForcing", "detect.MMSE"], ("detect", {"detector": ("mf", "zf", "mmse")}), []),
        ("trellis", "One-pass and multi-pass trellis", ["detect/trellis/trellis.hpp"],
         ["detect.OnePassTrellis", "detect.MultiPassTrellis"], ("detect", {"detector": ("ot", "mtt")}), ["wu2010"]),
        ("kbest", "K-best", ["detect/kbest/kbest.hpp"], ["detect.KBest"], ("detect", {"detector": "kbest"}), []),
        ("sphere", "Sphere detection", ["detect/sphere/sphere.hpp"], ["detect.Sphere"], ("detect", {"detector": "sphere"}), []),
        ("nway", "N-way (parallel SSFE)", ["detect/nway/nway.hpp", "detect/words.hpp"], ["detect.NWay"], ("detect", {"detector": "nway"}), ["wu2012"]),
        ("pic", "MMSE with parallel interference cancellation", ["detect/pic/pic.hpp"], ["detect.PIC"], ("detect", {"detector": "pic"}),
         ["soft-detection"]),
        ("ep", "Expectation propagation", ["detect/ep/ep.hpp"], ["detect.EP"], ("detect", {"detector": "ep"}), ["soft-detection"]),
        ("qr", "QR decomposition", ["linalg/qr/qr.hpp"], ["linalg.qr"], ("qr", {}), ["wu2012"]),
        ("cholesky", "Hermitian systems (Cholesky)", ["linalg/cholesky/cholesky.hpp"], ["linalg.cholesky"], ("cholesky", {}), []),
    ]),
    ("Massive MIMO", [
        ("uplink", "Uplink detection", ["massive/uplink/uplink.hpp"], ["massive.MassiveUplink"], ("uplink", {}), ["li-thesis"]),
        ("soft_uplink", "Uplink detection with priors", ["massive/soft_uplink/soft_uplink.hpp"], ["massive.MassiveSoftUplink"], None, ["iterative"]),
        ("downlink", "Downlink precoding", ["massive/downlink/downlink.hpp"], ["massive.MassiveDownlink"], ("downlink", {}),
         ["li-thesis"]),
        ("cluster", "Antennas in clusters", ["massive/cluster/cluster.hpp"], ["massive.ClusteredUplink", "massive.ClusteredDownlink"],
         ("cluster", {}), ["scale"]),
        ("effective_capacity", "Effective capacity", ["massive/effective_capacity.hpp"], ["massive.effective_capacity"], None, ["li-thesis"]),
    ]),
    ("Space-time codes", [
        ("stbc", "Space-time and space-frequency codes", ["stbc/stbc.hpp"], ["stbc.StbcEncoder", "stbc.StbcDecoder"], ("stbc", {}),
         ["bollapalli"]),
    ]),
    ("Channel codes", [
        ("turbo", "Turbo codes of LTE and UMTS", ["fec/turbo/turbo.hpp", "fec/umts/interleaver.hpp"], ["turbo.TurboEncoder", "turbo.TurboDecoder", "turbo.umts_permutation"], ("turbo", {}),
         ["wu2010"]),
        ("ctc", "Duo-binary turbo codes", ["fec/ctc/ctc.hpp", "fec/ctc/ctc_code.hpp", "fec/ctc/ctc_transport.hpp"],
         ["ctc.CtcEncoder", "ctc.CtcDecoder", "ctc.CtcTransportEncoder", "ctc.CtcTransportDecoder"], ("ctc", {}), ["ctc"]),
        ("ldpc", "Quasi-cyclic LDPC codes", ["fec/ldpc/ldpc.hpp"], ["ldpc.LdpcCode", "ldpc.LdpcEncoder", "ldpc.LdpcDecoder"],
         ("ldpc", {"early_stop": "no"}), ["ldpc"]),
        ("sparse_ldpc", "LDPC codes of any matrix", ["fec/sparse_ldpc/sparse_ldpc.hpp", "fec/sparse_ldpc/parity_check_matrix.hpp", "fec/sparse_ldpc/standard_matrix.hpp", "fec/sparse_ldpc/min_sum_backward.hpp", "fec/bch/bch.hpp"],
         ["sparse_ldpc.ParityCheckMatrix", "sparse_ldpc.SparseLdpcEncoder", "sparse_ldpc.SparseLdpcDecoder", "bch.BchEncoder", "bch.BchDecoder"], ("sparse_ldpc", {}), ["ldpc", "gradients"]),
        ("osd", "Ordered-statistics decoding", ["fec/osd/osd.hpp"], ["osd.BpOsd"], ("bp_osd", {}), ["osd"]),
        ("conv", "Convolutional codes", ["fec/conv/conv.hpp"], ["conv.ConvCode", "conv.ConvEncoder"], ("conv_encode", {}), []),
        ("viterbi", "Viterbi decoder", ["fec/viterbi/viterbi.hpp"], ["conv.ViterbiDecoder"], ("viterbi", {}), ["viterbi"]),
        ("bcjr", "BCJR decoder", ["fec/bcjr/bcjr.hpp"], ["conv.BcjrDecoder"], ("bcjr", {}), []),
        ("polar", "Polar codes", ["fec/polar/polar.hpp", "fec/polar/polar_code.hpp", "fec/short_block/short_block.hpp"],
         ["polar.PolarEncoder", "polar.PolarDecoder", "short_block.ShortBlockEncoder", "short_block.ShortBlockDecoder"], ("polar", {}), ["polar"]),
        ("lte", "LTE transport channel", ["fec/lte/transport.hpp", "fec/lte/rate_matching.hpp"],
         ["lte.LteTransportEncoder", "lte.LteTransportDecoder"], ("lte_transport_decode", {}), ["lte"]),
        ("nr", "5G NR: LDPC codes and shared channels",
         ["fec/nr/transport.hpp", "fec/nr/block.hpp", "fec/nr/rate_matching.hpp", "fec/ldpc/ldpc_nr.hpp", "fec/nr/code_block.hpp", "fec/nr/tbs.hpp"],
         ["nr.NrTransportEncoder", "nr.NrTransportDecoder", "nr.NrRateMatcher", "nr.nr_ldpc"], ("nr_ldpc", {}), ["nr-ldpc"]),
        ("nr_slots", "5G NR: slots, channel and noise estimation",
         ["nr/shared_channel.hpp", "nr/dmrs.hpp", "nr/codebook.hpp", "nr/carrier.hpp", "nr/frc.hpp", "nr/srs/srs.hpp", "estimate/estimator.hpp", "estimate/filters.hpp",
          "estimate/noise.hpp", "estimate/pilots.hpp", "estimate/srs_pilots.hpp"],
         ["nr_slots.NrSharedChannel", "nr_slots.ChannelEstimator", "nr_slots.NoiseEstimator", "nr_slots.whiten", "nr_slots.PuschUci", "nr_slots.NrSrs", "nr_slots.SrsEstimator"], None, ["pusch", "srs"]),
        ("crc", "CRCs", ["fec/crc/crc.hpp"], ["lte.CrcAttacher"], ("crc_attach", {}), []),
    ]),
    ("Modem, channels, OFDM", [
        ("qam", "Symbol mapping", ["modem/qam/qam.hpp"], ["modem.QamMapper"], ("qam_map", {}), []),
        ("demap", "Soft demapping", ["modem/demap/demap.hpp", "modem/demap/demap_backward.hpp"], ["modem.Demapper"], ("demap", {}), ["gradients"]),
        ("constellation", "Constellations of any points", ["modem/constellation/constellation.hpp"], ["modem.Constellation", "modem.dvb_s2_ring_ratios"], None, ["constellations"]),
        ("effective_sinr", "Effective SINR", ["modem/effective_sinr/effective_sinr.hpp", "modem/effective_sinr/mutual_information.hpp"],
         ["effective.effective_sinr", "effective.mutual_information", "effective.snr_of_information", "effective.BlerTables"], None, ["effective_sinr"]),
        ("awgn", "White noise", ["channel/awgn/awgn.hpp"], ["channel.awgn"], ("awgn", {}), []),
        ("impairments", "Front-end impairments", ["channel/impairments/impairments.hpp"], ["channel.Impairments"], None, ["impairments"]),
        ("binary", "Channels of bits", ["channel/binary/binary.hpp", "modem/bit_llrs/bit_llrs.hpp"], ["channel.binary_channel"], None, ["channels"]),
        ("rayleigh", "Flat fading", ["channel/rayleigh/rayleigh.hpp", "channel/mimo/mimo.hpp"],
         ["channel.rayleigh", "channel.mimo_rayleigh"], ("rayleigh", {}), []),
        ("tdl", "Tapped delay lines", ["channel/tdl/tdl.hpp"], ["channel.TdlChannel"], ("tdl", {}), ["tdl"]),
        ("cdl", "Clustered delay lines", ["channel/cdl/cdl.hpp"], ["channel.CdlChannel"], ("cdl", {}), ["cdl"]),
        ("kronecker", "Correlated antennas", ["channel/kronecker/kronecker.hpp"], ["channel.KroneckerChannel", "channel.exponential_correlation"], ("kronecker", {}), []),
        ("ofdm", "OFDM modulation", ["ofdm/modem/modem.hpp", "ofdm/numerology.hpp"],
         ["ofdm.OfdmModulator", "ofdm.OfdmDemodulator"], ("ofdm_modulate", {}), ["tdl"]),
        ("wimax_frame", "WiMAX frames", ["receive/wimax/frame.hpp", "receive/wimax/map.hpp", "receive/wimax/chain.hpp", "ofdm/wimax.hpp"], [], ("wimax_frame", {}), ["wimax_frames", "bollapalli"]),
        ("receive", "Iterative receivers", ["receive/iterative.hpp", "receive/soft.hpp", "link/exit/exit.hpp"],
         ["receive.IterativeReceiver", "receive.exit_chart"], ("receive", {}), ["iterative"]),
        ("csi", "Channel estimates of files", ["channel/file/csi_file.hpp"], ["channel.read_csi", "channel.Csi"], None, ["files"]),
    ]),
]
# Charts of docs/performance.md for pages whose settings have names too long for one of their own
CHARTS = {"linear": "performance_detectors", "turbo": "performance_decoders", "ldpc": "performance_decoders", "bcjr": "performance_decoders",
          "uplink": "performance_massive", "downlink": "performance_massive"}
GUIDES = ["lab", "integrate", "command", "cpp", "c", "bbdev", "oai", "gnuradio", "matlab", "conventions", "soft-detection", "iterative", "scenario", "renamed", "result", "files", "tables", "stream", "scale", "gpus", "performance",
          "performance-tables"]
BACKGROUND = ["ldpc", "osd", "viterbi", "polar", "ctc", "lte", "nr-ldpc", "pusch", "cell_search", "pbch", "pdcch", "prach", "pucch", "srs", "wimax_frames", "tdl", "cdl", "channels", "constellations", "impairments", "generate", "effective_sinr", "gradients", "wu2010", "wu2012", "li-thesis", "bollapalli", "findings", "ts38104"]
LANDING = "detector_comparison"  # the notebook that the start page leads to
TUTORIALS = ["first_link", "own_detector", "replay_recording", "deadline_receiver", "uplink_standard"]  # as notebooks, with their outputs
ROOT_PAGES = {"CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog", "SECURITY.md": "security"}
MODULES = ["detect", "massive", "stbc", "turbo", "ctc", "ldpc", "sparse_ldpc", "osd", "bch", "blocks", "conv", "polar", "short_block", "lte", "nr", "nr_slots", "cell_search", "pbch", "pdcch", "prach", "pucch", "modem", "effective", "channel", "ofdm", "downlink", "receive", "stream", "plot"]

CONF = """
project = "Warpband"
copyright = "the Warpband authors"
html_title = "Warpband"
extensions = ["myst_nb", "mathml", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_math_renderer = "mathml"
nb_execution_mode = "off"  # the tests run them
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_show_copyright = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures stay short; the text says the types
myst_enable_extensions = ["dollarmath"]
dollarmath_double_inline = False
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
exclude_patterns = []
"""

STYLE = """
.content { width: 60em; }  /* lines of code are up to 128 characters long */
.main, .content { min-width: 0; }  /* on narrow screens wide code and tables scroll in their own box; else they are cut off at the right */
.toc-drawer { flex-shrink: 0; }
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", math, serif; font-size: 108%; }
.formula { overflow-x: auto; overflow-y: hidden; padding: 0.2em 0; margin: 0.8em 0; }
.highlight { font-size: 95%; }
@media (min-width: 82em) { .content { width: min(60em, 100vw - 34em); } }  /* beside both drawers */
@media (max-width: 46em) {
  td:first-child, th:first-child { min-width: 9em; }
  table:has(td:nth-child(5)) { width: max-content; }  /* many columns scroll and keep a width that can be read */
  table:has(td:nth-child(5)) td { max-width: 18em; }
  table:has(td:nth-child(5)) td:first-child { max-width: 12em; }
  p:has(> img[src*=".svg"]) { overflow-x: auto; }
  p > img[src*=".svg"] { max-width: none; width: 42em; }  /* a chart keeps a size that can be read */
}
"""


def escaped(text):
    """Plain text as Markdown; what stands between backticks is code and stays so."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = [text]
    return "`".join(part if i % 2 else re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", part) for i, part in enumerate(parts))


def comment_of(header):
    """The comment that begins a header, as Markdown: indented lines and tables are formulas."""
    lines, blocks = [], []
    for line in header.read_text().splitlines()[1:]:
        if not line.startswith("//"):
            break
        lines.append(line[2:])
    kind = None
    for line in lines:
        text = line[1:] if line.startswith(" ") else line
        block = None if not text.strip() else "code" if text.startswith("  ") else "item" if text.startswith("- ") else "text"
        if block == "code" and kind == "item":
            block = "item"  # a list item's second line
        if block is None:
            kind = None if kind != "code" else kind
            if blocks and kind == "code":
                blocks[-1][1].append("")
            continue
        if block != kind or (block == "item" and text.startswith("- ")):
            blocks.append((block, []))
        blocks[-1][1].append(text)
        kind = block
    out = []
    for kind, content in blocks:
        if kind == "code":
            out += ["```text", *(line[2:] for line in "\n".join(content).rstrip().splitlines()), "```", ""]
        elif kind == "item":
            out += ["- " + escaped(" ".join(line.strip() for line in content)[2:]), ""]
        else:
            out += [escaped(" ".join(content)), ""]
    return "\n".join(out)


def records():
    for path in sorted((ROOT / "bench" / "results").glob("*.json")):
        data = json.loads(path.read_text())
        if isinstance(data.get("benchmarks"), list) and data.get("format", "").startswith("warpband bench"):
            yield path.name, data


def named(b, wanted, constant=()):
    """The axes of a benchmark but for those that the page is about."""
    return ", ".join(f"{axis} {value}" for axis, value in b["axes"].items() if not isinstance(wanted.get(axis), str) and axis not in constant) or "-"


def rate(mbps):
    scale, unit = next((pair for pair in ((1e6, "Tb/s"), (1e3, "Gb/s")) if mbps >= pair[0]), (1, "Mb/s"))
    return f"{mbps / scale:.3g}\u00a0{unit}"  # in one line


def number(x):
    for scale, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if x >= scale:
            return f"{x / scale:.3g} {unit}"
    return f"{x:.3g} "


def measured(op, wanted, all_records):
    """[(machine, record's file, date, benchmarks)], data in place: of one setting that of the device's clock, else that of the host's."""
    found = []
    for name, data in all_records:
        chosen = {}
        for figure in ("resident", "kernel"):
            for b in data["benchmarks"]:
                if b.get("op") == op and b["figure"] == figure and all(
                        b["axes"].get(axis) in (value if isinstance(value, tuple) else (value,)) for axis, value in wanted.items()):
                    chosen[named(b, wanted)] = b
        if chosen:
            first, machine = next(iter(chosen.values())), data["machine"]
            where = machine["gpus"][0]["name"] if first["device"] != "cpu" else f"{machine['cpu']}, {first['description']}"
            found.append((where, name, data["date"][:10], list(chosen.values())))
    return found


def chart(title, wanted, found):
    """SVG of the rates of at most 12 settings on at most three machines. Empty if they have no rate in bits, or if names are too
    long to be read."""
    axes = [set(b["axes"].items()) for *_, benchmarks in found for b in benchmarks]
    constant = {axis for axis, _ in set.intersection(*axes)}
    rates = {}  # by setting and machine
    for where, _, _, benchmarks in found:
        for b in benchmarks:
            if b.get("mbps"):
                rates.setdefault(named(b, wanted, constant), {})[where] = 1e6 * b["mbps"]
    machines = sorted({where for speeds in rates.values() for where in speeds}, key=lambda where: -sum(where in speeds for speeds in rates.values()))[:3]
    frequent = sorted(rates, key=lambda setting: -len(rates[setting]))[:12]
    rows = [(setting, [rates[setting].get(where) for where in machines]) for setting in rates if setting in frequent]
    rows = [row for row in rows if any(row[1])]
    values = [value for _, speeds in rows for value in speeds if value]
    if len(rows) < 2 or min(values) == max(values) or max(len(setting) for setting, _ in rows) > 36 or sum(map(len, machines)) > 80:
        return None
    return dots(f"{title}: bits a second", machines, rows, lambda value: rate(value / 1e6))


def tables(wanted, found):
    """Markdown: a table for each machine."""
    out = []
    for where, name, date, benchmarks in found:
        out += [f"**{where}** (`bench/results/{name}`, {date}):", "",
                "| setting | items a second | rate | of the bound | operations an item | bytes an item |", "|---|---|---|---|---|---|"]
        for b in benchmarks:
            bound = f"{b['percent_of_bound']:.0f}% ({b['bound_by']})" if b.get("percent_of_bound") else ""
            out.append(f"| {escaped(named(b, wanted))} | {number(b['items_per_second'])} | {rate(b['mbps']) if 'mbps' in b else ''} | {bound} | "
                       f"{number(b['flops'] / b['items'])} | {number(b['bytes'] / b['items'])} |")
        out.append("")
    return out


def example_of(name):
    """The doctest in the docstring of `module.Class` or `module.function`, without indentation."""
    module, _, symbol = name.partition(".")
    for node in ast.parse((ROOT / "python" / "warpband" / f"{module}.py").read_text()).body:
        if getattr(node, "name", None) == symbol:
            text = ast.get_docstring(node) or ""
            return textwrap.dedent(text[text.index(">>>"):]).rstrip() if ">>>" in text else ""
    sys.exit(f"python/warpband/{module}.py has no {symbol}")


def interface_of(header):
    """A header without the comment and the lines that it begins with."""
    text = header.read_text()
    return text[text.index("namespace wb"):]


def algorithm_page(name, title, headers, classes, bench, more, all_records, figures):
    opening = ROOT / "docs" / "algorithms" / f"{name}.md"
    if opening.exists():
        text = opening.read_text()
        if text.partition("\n")[0] != f"# {title}":
            sys.exit(f"{opening}: begins with another title than '# {title}'")
        out = [links(text, "../"), "## Method and contract", ""]
    else:
        out = [f"# {title}", ""]
    for header in headers:
        out += [links(comment_of(ROOT / "warpband" / header), "../")]
    if classes:
        out += ["## Python", "", *(f"- {{py:{'func' if c.split('.')[1][0].islower() else 'class'}}}`warpband.{c}`" for c in classes), ""]
        for text in filter(None, map(example_of, classes)) if not opening.exists() else ():
            out += ["```pycon", text, "```", ""]
    if bench:  # else `warpband bench` has nothing of it
        out += ["## Cost and measured speed", ""]
    found = measured(*bench, all_records) if bench else []
    if found:
        picture = chart(title, bench[1], found)
        if picture:
            (figures / f"{name}.svg").write_text(picture)
            out += [f"![{title}: bits a second](../figures/algorithms/{name}.svg)", ""]
        elif name in CHARTS:
            out += [f"![bits a second](../figures/{CHARTS[name]}.svg)", ""]
        out += ["Data is on the device, in the largest batch measured. The bound is what the ceilings of the same machine allow for "
                "the operations and bytes counted; operations are fp32 lane operations as executed. "
                "[Performance](../performance.md) says how it is measured.", "", *tables(bench[1], found)]
    elif bench:
        out += ["There is no record of it in `bench/results/` yet; `warpband bench` measures it.", ""]
    out += ["## C++", ""]
    for header in headers:
        out += [f"`#include <warpband/{header}>`", "", f"```{{literalinclude}} ../cpp/{header}", ":language: cpp", "```", ""]
    if more:
        out += ["## More", "", *(f"- [{page}](../{page}.md)" for page in more), ""]
    return "\n".join(out)


def toctree(caption, pages):
    return "\n".join(["```{toctree}", f":caption: {caption}", ":maxdepth: 1", ":hidden:", "", *pages, "```", ""])


def links(text, depth="", prose=True):
    """`docs/x.md`, which is how the pages name each other, becomes a link, in prose also without code style; other files stay as they are. A
    page of docs/ or of the root that is named so must be there."""
    def link(match):
        name = match[1]
        if name in ROOT_PAGES:
            return f"[{name}]({depth}{ROOT_PAGES[name]}.md)"
        page = name.removeprefix("docs/")
        if page == name:
            return match[0]
        if not (ROOT / name).exists():
            sys.exit(f"{name} is named, and is not there: {text.strip().splitlines()[0]}")
        if page.startswith("tutorials/"):
            stem = page[len("tutorials/"):-3]
            return f"[{stem.replace('_', ' ')}]({depth}notebooks/{stem}.ipynb)"
        return f"[{page[:-3].rpartition('/')[2]}]({depth}{page})"
    text = re.sub(r"(?<!\[)`([\w/-]+\.md)`", link, text)
    if not prose:
        return text
    parts = re.split(r"(^```.*?^```|`[^`\n]*`)", text, flags=re.M | re.S)  # code stays as it is
    parts[::2] = [re.sub(r"(?<![\w/])(?<!\]\()(docs/[\w/-]+\.md)", link, part) for part in parts[::2]]
    return "".join(parts)


def write_source(source):
    shutil.rmtree(source, ignore_errors=True)
    (source / "algorithms").mkdir(parents=True)
    (source / "notebooks").mkdir()
    (source / "_static").mkdir()
    (source / "_static" / "wide.css").write_text(STYLE)
    (source / "conf.py").write_text(CONF)
    pages_of = {folder: sorted((ROOT / "docs" / folder).glob("*.md")) for folder in ("", "design", "notes")}
    for folder, files in pages_of.items():
        (source / folder).mkdir(exist_ok=True)
        for page in files:
            (source / folder / page.name).write_text(links(page.read_text(), "../" if folder else ""))
    (source / "performance-tables.md").write_text(links(all_tables(*load())))
    shutil.copytree(ROOT / "docs" / "figures", source / "figures")
    figures = source / "figures" / "algorithms"
    figures.mkdir()
    for page, name in ROOT_PAGES.items():
        (source / f"{name}.md").write_text(links((ROOT / page).read_text()))
    notebooks = sorted((ROOT / "examples").glob("*.ipynb"))
    for notebook in notebooks:
        text = links(notebook.read_text(), "../", prose=False)
        text = re.sub(rf"\]\(({'|'.join(TUTORIALS)})\.md\)", r"](\1.ipynb)", text)
        (source / "notebooks" / notebook.name).write_text(text)

    all_records, pages = list(records()), []
    strange = {p.stem for p in (ROOT / "docs" / "algorithms").glob("*.md")} - {name for _, algorithms in ALGORITHMS for name, *_ in algorithms}
    if strange:
        sys.exit(f"docs/algorithms: no algorithm is named {', '.join(sorted(strange))}")
    for group, algorithms in ALGORITHMS:
        pages.append((group, []))
        for name, title, headers, classes, bench, more in algorithms:
            for header in headers:
                to = source / "cpp" / header
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(interface_of(ROOT / "warpband" / header))
            (source / "algorithms" / f"{name}.md").write_text(algorithm_page(name, title, headers, classes, bench, more, all_records, figures))
            pages[-1][1].append(f"algorithms/{name}")

    reference = ["# Python reference", "", "What `import warpband as wb` gives; the modules' names are for orientation only.", ""]
    reference += ["## warpband", "", "```{eval-rst}", ".. autofunction:: warpband.sweep", ".. autofunction:: warpband.scenario_help",
                  ".. autofunction:: warpband.choose", ".. autoclass:: warpband.Choice", "   :members:",
                  ".. autoclass:: warpband.SweepResult", "   :members:", ".. autofunction:: warpband.cpu", ".. autofunction:: warpband.cuda",
                  ".. autofunction:: warpband.isas", ".. autofunction:: warpband.cuda_devices", "```", ""]
    for module in MODULES:
        reference += [f"## {module}", "", "```{eval-rst}", f".. automodule:: warpband.{module}", "   :members:", "   :inherited-members:",
                      "   :special-members: __call__", "```", ""]
    (source / "reference.md").write_text("\n".join(reference))

    headers = sorted(p.relative_to(ROOT) for p in (ROOT / "warpband").rglob("*.hpp")
                     if not re.search(r"_(body|op|args|windows_op|short|bfloat)\.hpp$|mapping\.hpp$", p.name))
    listing = ["# C++ headers", "", "The public classes stand in the headers named like their folder; the pages of the algorithms show "
               "them in full.", "", "| header | what it begins with |", "|---|---|"]
    for header in headers:
        text = " ".join(line[2:].strip() for line in (ROOT / header).read_text().splitlines()[1:12] if line.startswith("//"))
        listing.append(f"| `{header}` | {escaped(re.split(r'(?<=[a-z)])[.:] ', text)[0][:160])} |")
    (source / "headers.md").write_text("\n".join(listing) + "\n")

    readme = re.sub(r"\[(`[^`]*`)\]\([^)]*\)", r"\1", (ROOT / "README.md").read_text())  # links of the repository's page
    readme = re.sub(r"\(docs/tutorials/(\w+)\.md\)", r"(notebooks/\1.ipynb)", readme)
    readme = re.sub(r"\(docs/([\w-]+\.md)\)", r"(\1)", readme)
    about, rest = links(readme).replace("(docs/figures/", "(figures/").split("## Install", 1)
    index = [about, "**Tutorials**: " + ", ".join(f"[{stem.replace('_', ' ')}](notebooks/{stem}.ipynb)" for stem in TUTORIALS) + ".", "",
             f"**[Which MIMO detector?](notebooks/{LANDING}.ipynb)** compares error rates and cost in one notebook. [Python](python.md) leads from "
             "`pip install` to an error-rate curve of your own.", "", "| | |", "|---|---|"]
    for group, algorithms in ALGORITHMS:
        index.append(f"| {group} | " + ", ".join(f"[{title}](algorithms/{name}.md)" for name, title, *_ in algorithms) + " |")
    index += ["", "## Install" + rest]
    if sorted(TUTORIALS) != sorted(page.stem for page in (ROOT / "docs" / "tutorials").glob("*.md")):
        sys.exit("docs/tutorials has other pages than TUTORIALS in scripts/site.py")
    stems = sorted({n.stem for n in notebooks} - set(TUTORIALS), key=lambda stem: (stem != LANDING, stem))
    index.append(toctree("Tutorials", [f"notebooks/{stem}" for stem in TUTORIALS]))
    index.append(toctree("Start", ["python", *(f"notebooks/{stem}" for stem in stems)]))
    index.append(toctree("Guides", GUIDES))
    for group, names in pages:
        index.append(toctree(group, names))
    index.append(toctree("Reference", ["reference", "headers"]))
    index.append(toctree("Background", BACKGROUND))
    index.append(toctree("Inside", ["map", *(f"design/{p.stem}" for p in pages_of["design"]), *(f"notes/{p.stem}" for p in pages_of["notes"]),
                                    *ROOT_PAGES.values()]))
    (source / "index.md").write_text("\n".join(index))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args()
    source = options.output / "source"
    write_source(source)
    from sphinx.cmd.build import main as sphinx
    status = sphinx(["-q", "-W", "--keep-going", "-b", "html", str(source), str(options.output / "html")])
    if status == 0:
        print(f"{options.output / 'html' / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
