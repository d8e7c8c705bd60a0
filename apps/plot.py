#!/usr/bin/env python3
"""Draws the error rates that `warpband sim` wrote, as `warpband plot` asks for it.

    plot.py [--out FIGURE] [--csv TABLE] [--metric NAME] [--title TEXT] [--size NAME] [--x AXIS] [--theory] INPUT...

An INPUT is a result (JSON) or a reference (CSV). FILE:LABEL names its curve. Results are merged: `warpband plot --help` says how.
Drawing and merging are in _error_rates.py of the Python package, and closed forms in _theory.py. Once installed they lie beside this file.
Exit codes: 0 done, 1 failed, 2 used wrongly.
"""
import argparse
import importlib.util
import os
import sys

NO_MATPLOTLIB = "matplotlib is missing: run scripts/setup.sh and use .venv/bin/python"


def of_package(name):
    """A module of the package that imports nothing of it."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (here, os.path.join(here, "..", "python", "warpband")):
        path = os.path.join(folder, name + ".py")
        if os.path.exists(path):
            spec = importlib.util.spec_from_file_location("warpband" + name, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    sys.exit(f"plot.py: {name}.py is missing beside it: install warpband again")


def drawing():
    rates = of_package("_error_rates")
    rates.begin_elsewhere()
    return rates


def check_format(rates, out):
    if not out.lower().endswith(rates.FORMATS):
        raise rates.PlotError(f"cannot write {out}: its name must end in {', '.join(rates.FORMATS)}")


def draw_record(rates, command, subject, read, figure_of):
    """The main of a program that draws what `warpband COMMAND --json` wrote. read(record) has the arguments of figure_of, or is None where
    the record holds nothing of the subject, "charts" for example. A KeyError from it, or its like, says that the record is incomplete.
    Returns the exit code."""
    program, writer = os.path.basename(sys.argv[0]), f"`warpband {command} --json`"
    parser = argparse.ArgumentParser(prog=program, description=f"Draws what {writer} wrote.")
    parser.add_argument("record", help=f"what {writer} wrote")
    parser.add_argument("out", help="figure to write: .pdf, .png or .svg")
    options = parser.parse_args()
    try:
        check_format(rates, options.out)
        record = rates.load(options.record, writer)
        try:
            values = read(record)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise rates.PlotError(f"{options.record} is incomplete: expected what {writer} writes ({error!r})") from None
        if values is None:
            raise rates.PlotError(f"{options.record} holds no {subject}: expected what {writer} writes")
        try:
            rates.save(figure_of(*values), options.out)
        except ImportError:
            raise rates.PlotError(NO_MATPLOTLIB) from None
        except OSError as error:
            raise rates.PlotError(f"cannot write {options.out}: {error.strerror}") from None
    except rates.PlotError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    return 0


def is_reference(rates, name):
    return rates.path_and_label(name, ".csv")[0].lower().endswith(".csv")


def run(rates, options):
    if not options.out and not options.csv:
        raise rates.PlotError("nothing to write: expected --out or --csv")
    if options.out:
        check_format(rates, options.out)
    results = []
    for name in options.inputs:
        if not is_reference(rates, name):
            path, label = rates.path_and_label(name, ".json")
            results.append((path, rates.relabelled(rates.load(path), label)))
    if not results and options.csv:
        raise rates.PlotError("no result is given: expected at least one for --csv, as `warpband sim -o` writes it")
    curves = rates.merged(results)
    references = [reference for name in options.inputs if is_reference(rates, name) for reference in rates.references_of(name)]
    metrics = rates.metrics_for(curves, options.metric, references)
    if not curves and not options.x:
        options.x = next((axis for axis in rates.AXES if any(axis in columns for _, columns in references)), "snr_db")
    if options.csv == "-":
        rates.write_table(curves, sys.stdout)
    elif options.csv:
        with rates.whole_file(options.csv) as name, open(name, "w", encoding="utf-8", newline="") as file:
            rates.write_table(curves, file)
    if options.out:
        try:
            figure = rates.figure_of(curves, references, metrics, options.title, options.size, x=options.x,
                                     theory=of_package("_theory").lines_for if options.theory else None)
        except ImportError:
            raise rates.PlotError(NO_MATPLOTLIB) from None
        rates.save(figure, options.out)


def main():
    rates = drawing()
    parser = argparse.ArgumentParser(prog="plot.py", description="Draws the error rates that `warpband sim` wrote.")
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="RESULT.json[:LABEL] or REFERENCE.csv[:LABEL]")
    parser.add_argument("--out", default="", help="figure to write: .pdf, .png or .svg")
    parser.add_argument("--csv", default="", help="table of all points to write; - for standard output")
    parser.add_argument("--metric", choices=(*rates.METRICS, *rates.SEVERAL), default="both")
    parser.add_argument("--title", default="")
    parser.add_argument("--x", default="", help="ebn0_db, snr_db, esn0_db, probability or a swept setting")
    parser.add_argument("--theory", action="store_true", help="draw closed forms and bounds too")
    parser.add_argument("--size", choices=tuple(rates.SIZES), default="screen")
    options = parser.parse_args()
    try:
        run(rates, options)
    except rates.PlotError as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads the table has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as error:
        print(f"plot.py: cannot write {rates.printable(error.filename)}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
