"""The command line of `warpband reproduce`."""
from __future__ import annotations

import argparse
import os
import pathlib
import sys
import time

from . import output, ts38104
from .data import Data, ReproduceError, UsageError, printable, root
from .records import table
from .rows import Row, all_rows
from .sweep_iterations import FILE_SIZES, csi_file

DESCRIPTION = """Makes figures and tables of the four documents again, and our findings beside them: runs what they need, and writes for each row CSV, PNG and
SVG (but for `text`, what stands beside the figures), and a row of a page that compares the document's statements with the result. Without arguments: lists all rows.
`ts38104` has another form: rows of 3GPP TS 38.104 for the uplink, each beside its requirement, in docs/ts38104.md."""
EPILOG = """Examples:
  warpband reproduce                              all rows, with their titles
  warpband reproduce wu2010 fig4.5                one figure, on this machine's cores
  warpband reproduce li --device cuda:0           all of a document, on a GPU
  warpband reproduce wu2012 table1 --stored       of the stored results, without running anything
  warpband reproduce all --quick                  all rows with few frames: shows curves, gives no verdicts on them
  warpband reproduce ts38104 8.3.5 --stored       rows of a section of TS 38.104, with margins; `all` is without them

With --device cpu, results of benchmarks that need a GPU are those stored; counters of the profiler always are.
Benchmarks need a command that was built with -DWARPBAND_BENCH=ON. Without it, stored ones are used: the run
begins with a list of them, and so does page.md, which is written after each row.
The table at the top of each document's page is that of --stored; --pages writes it, and docs/figures/reproduce/."""


def chosen(rows: list[Row], words: list[str]) -> list[Row]:
    """The rows that the words name: documents, rows of them, or `all`."""
    documents = list(dict.fromkeys(row.document for row in rows))
    named = [w for w in words if w in documents]
    names = [w for w in words if w not in named and w != "all"]
    within = [row for row in rows if not named or row.document in named]
    known = {row.name for row in within}
    for name in names:
        if name not in known:
            raise UsageError(f"{name} is no row{' of ' + ', '.join(named) if named else ''}: expected {', '.join(documents)}, all, or "
                             f"one of {', '.join(sorted(known))}")
    return [row for row in within if not names or row.name in names]


def check_options(options: argparse.Namespace, rows: list[Row]) -> None:
    """Refuses options that contradict each other or that no row uses; `ts38104` has none of these rows."""
    if options.quick and options.stored:
        raise UsageError("--quick runs few frames and --stored runs nothing: give one of them")
    if options.pages and not options.stored:
        raise UsageError("--pages needs --stored: pages show stored results")
    if options.csi is None:
        return
    if options.quick or options.stored:
        raise UsageError("--csi needs a full run: --quick and --stored take the stored curves of li fig3.4 and fig3.5")
    if not any(need.takes_csi for row in rows for need in row.needs):
        raise UsageError("--csi is for li fig3.4 and fig3.5: neither is asked for")
    for size in FILE_SIZES:
        file = csi_file(options.csi, size)
        if not os.access(file, os.R_OK):
            raise UsageError(f"--csi: cannot read {file}")


def not_run(rows: list[Row], data: Data) -> list[str]:
    """A line for each result that this run would make and cannot."""
    lines = []
    for need in dict.fromkeys(need for row in rows for need in row.needs):
        if reason := data.obstacle(need):
            names = ", ".join(f"{row.document} {row.name}" for row in rows if need in row.needs)
            instead = f"{need.stored} is used instead" if data.has(need) else "and none is stored"
            lines.append(f"{names}: {need.stored} is not measured again: {reason}; {instead}")
    return lines


def page(data: Data, missing: list[str], lines: list[list[str]]) -> str:
    begin = {"quick": "A quick run: few frames, so error rates are drawn and not judged; benchmarks are the stored ones.",
             "stored": "Stored results; nothing was run.", "full": f"A full run on {data.device}."}
    text = [begin["quick" if data.quick else "stored" if data.stored else "full"], ""]
    if missing:
        text += ["What this run could not make:", "", *(f"- {line}" for line in missing), ""]
    return "\n".join(text + table(["figure or table", "command", "our result", "statement of the document", "holds?"], lines))


def make(rows: list[Row], data: Data, folder: pathlib.Path) -> tuple[list[output.Claim], int]:
    """Makes rows, and writes them and the page after each; their claims, and how many rows failed."""
    folder.mkdir(parents=True, exist_ok=True)
    lines, claims, missing, failed = [], [], not_run(rows, data), 0
    for line in missing:
        data.note(line)
    for number, row in enumerate(rows, 1):
        name = f"{row.document} {row.name}"
        data.note(f"{number} of {len(rows)}, {time.strftime('%H:%M:%S')}: {name}")
        try:
            panels, found = row.results(data)
            if panels:
                output.write_csv(panels, folder / f"{row.file}.csv")
                output.draw(row, data, panels, [folder / f"{row.file}{end}" for end in (".png", ".svg")])
            lines += output.claim_lines(row, row.full_title(data), found, f"{row.file}.png" if panels else None)
            claims += found
            print(printable(f"{name}: {row.full_title(data)}: {output.counts(found)}"), flush=True)
            for claim in found:
                print(printable(f"  {claim.says}: {claim.result}: {claim.verdict}"))
        except (ReproduceError, LookupError, TypeError, ValueError) as error:  # of a result without what the row reads, too
            failed += 1
            text = error if isinstance(error, ReproduceError) else f"{type(error).__name__}: {error}"
            missing.append(f"{name}: {text}")
            print(f"{name}: error: {printable(text)}", file=sys.stderr, flush=True)
        write_whole(folder / "page.md", page(data, missing, lines))
    return claims, failed


def write_whole(path: pathlib.Path, text: str) -> None:
    """Replaces a file in one step: a reader sees the old one or the new one."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def write_pages(rows: list[Row], data: Data) -> None:
    figures = root() / "docs" / output.FIGURES
    figures.mkdir(parents=True, exist_ok=True)
    for row in rows:
        if panels := row.results(data)[0]:
            output.draw(row, data, panels, [figures / f"{row.file}.png"])
    for document in dict.fromkeys(row.document for row in rows):
        page = output.page_of(document)
        block = output.block(document, [row for row in all_rows() if row.document == document], data)
        page.write_text(output.with_block(page.read_text(encoding="utf-8"), block), encoding="utf-8")


def note(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="warpband reproduce", description=DESCRIPTION, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="DOCUMENT|ROW", help="wu2010, wu2012, li, bollapalli, findings, all; or rows: fig4.5, table5.1; or ts38104 and its sections")
    parser.add_argument("--device", default="cpu", help="where to run: cpu (default) or cuda:N")
    parser.add_argument("--quick", action="store_true", help="few frames, whose error rates are drawn and not judged; benchmarks as stored")
    parser.add_argument("--stored", action="store_true", help="take the results in curves/ and bench/results/, run nothing")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="where CSV, PNG, SVG and page.md go; default build/reproduce")
    parser.add_argument("--csi", metavar="FILE", help="channel estimates of li fig3.4 and fig3.5; {size} stands for 68x4 and 84x3; default: simulated ones")
    parser.add_argument("--pages", action="store_true", help="with --stored: write the tables of docs/ and their figures")
    options = parser.parse_args(arguments)
    try:
        if ts38104.NAME in options.targets:
            check_options(options, [])
            return ts38104.main(options, note)
        rows = all_rows()
        if not options.targets:
            try:
                print("".join(f"{row.document:10} {row.name:9} {row.title}\n" for row in rows) + ts38104.listing(), end="", flush=True)
            except BrokenPipeError:  # who reads the list has enough
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, sys.stdout.fileno())
                os.close(null)
            return 0
        asked = chosen(rows, options.targets)
        check_options(options, asked)
        out = options.out or root() / "build/reproduce"
        data = Data(options.stored, options.quick, options.device, out / "runs", note, options.csi)
        if options.pages:
            write_pages(asked, data)
            return 0
        begun = time.monotonic()
        claims, failed = make(asked, data, out)
        print(f"{len(asked) - failed} rows, {sum(not c.ours for c in claims)} statements: {output.counts(claims)}; {printable(out)}/page.md; {time.monotonic() - begun:.0f} s")
        if failed:
            print(f"warpband reproduce: error: {failed} of {len(asked)} rows failed; {printable(out)}/page.md names them", file=sys.stderr)
            return 1
    except (ReproduceError, OSError) as error:
        print(f"warpband reproduce: error: {printable(error)}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0
