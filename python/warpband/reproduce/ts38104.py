"""`warpband reproduce ts38104`: the uplink beside the requirements of 3GPP TS 38.104, a row of a table at a time.

Rows are in curves/ts38104_*.csv and stored results in curves/ts38104_*.json. Channels are simulated in NumPy or by `sweep`, so runs need
the compiled package. A run stores each row in its folder, and goes on from there if it is started again.
"""
from __future__ import annotations

import argparse
import csv
import importlib
import os
import pathlib
import sys
import time

from . import ts38104_prach, ts38104_pucch, ts38104_pusch
from .data import ReproduceError, UsageError, command, printable, read, root
from .output import BEGIN, END, with_block
from .records import table
from .ts38104_rows import Measured

NAME = "ts38104"
CHANNELS = {"pusch": ts38104_pusch, "pucch": ts38104_pucch, "prach": ts38104_prach}
SECTIONS = {"8.2.1": "PUSCH with CP-OFDM", "8.2.2": "PUSCH with transform precoding", "8.3.2": "PUCCH format 0", "8.3.3": "PUCCH format 1",
            "8.3.4": "PUCCH format 2", "8.3.5": "PUCCH format 3", "8.3.6": "PUCCH format 4", "8.4": "PRACH, FR1", "11.4": "PRACH, FR2"}


def rows_of(channel: str) -> list[dict]:
    with open(root() / f"curves/{NAME}_{channel}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def is_in(row: dict, section: str) -> bool:
    """Whether a section or a table has the row: 8.3.2 has 8.3.2.2-1."""
    return row["table"] == section or row["table"].startswith((section + ".", section + "-"))


def listing() -> str:
    rows = [row for channel in CHANNELS for row in rows_of(channel)]
    return "".join(f"{NAME:10} {section:9} {title}: {sum(is_in(row, section) for row in rows)} rows\n" for section, title in SECTIONS.items())


def chosen(sections: list[str]) -> dict[str, list[dict]]:
    rows = {channel: rows_of(channel) for channel in CHANNELS}
    for section in sections:
        if not any(is_in(row, section) for group in rows.values() for row in group):
            raise UsageError(f"{section} is no section or table of {NAME}: expected {', '.join(SECTIONS)}, or a table of them, as 8.3.2.2-1")
    return {channel: [row for row in group if not sections or any(is_in(row, s) for s in sections)] for channel, group in rows.items()}


def first_of_tables(rows: list[dict]) -> list[dict]:
    return list({row["table"]: row for row in reversed(rows)}.values())[::-1]


def compiled_package() -> None:
    """Makes `import warpband` find the package that was built beside the command, and refuses another one."""
    if hasattr(sys.modules.get("warpband"), "__version__"):
        return
    folder = pathlib.Path(command()).resolve().parent / "python"
    sys.path.insert(0, str(folder))
    wanted = f"{NAME} needs the Python package beside the command, built with -DWARPBAND_PYTHON=ON"
    try:
        package = importlib.import_module("warpband")
    except ImportError as error:
        raise ReproduceError(f"{wanted}: {error}") from None
    if not getattr(package, "__file__", None):  # a folder without __init__.py
        raise ReproduceError(f"{wanted}: {folder} has no whole package")
    if not pathlib.Path(package.__file__).resolve().is_relative_to(folder):
        raise ReproduceError(f"{wanted}: {package.__file__} is another one")


def conditions(channel: str, row: dict, device: str) -> dict:
    """What a result depends on beside its number of trials: a row of another one is measured again."""
    import warpband as wb
    return made_of(channel, row) | {"device": device.partition(":")[0], "commit": wb.__commit__}


def made_of(channel: str, row: dict) -> dict:
    """The requirement and the receiver's settings, which stored results have to be of."""
    return {"row": ",".join(row.values()), "settings": CHANNELS[channel].settings(row)}


def json_text(results: dict) -> str:
    """A result a line."""
    try:
        from .._json_lines import json_lines
    except ImportError:  # the command starts this folder, whose parent is no package then
        from _json_lines import json_lines
    return json_lines(results)


def stored(channel: str, folder: pathlib.Path) -> dict:
    path = folder / f"{NAME}_{channel}.json"
    return read(path) if path.exists() else {}


def run(channel: str, rows: list[dict], folder: pathlib.Path, device: str, quick: bool, note) -> dict:
    """Results of rows: those of the folder that have as many trials and the same conditions, and new ones."""
    module = CHANNELS[channel]
    for row in rows:
        key, count = module.key(row), module.QUICK if quick else module.trials(row)
        wanted = conditions(channel, row, device) | {"count": count}
        kept = stored(channel, folder).get(key, {})
        if all(kept.get(name) == value for name, value in wanted.items()):
            continue
        note(f"{time.strftime('%H:%M:%S')}: {key}")
        result = module.measure(row, count, device, quick) | wanted
        results = stored(channel, folder) | {key: result}  # another run may have added rows
        path = folder / f"{NAME}_{channel}.json"
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        new.write_text(json_text(results), encoding="utf-8")
        new.replace(path)
    return stored(channel, folder)


def judged(channel: str, rows: list[dict], results: dict) -> list[tuple[dict, Measured]]:
    module = CHANNELS[channel]
    return [(row, module.judged(row, results[module.key(row)])) for row in rows if module.key(row) in results]


def counts(verdicts: list[str]) -> str:
    return f"{verdicts.count('passes')} pass, {verdicts.count('open')} open, {verdicts.count('fails')} fail"


def alarm_line(channel: str, rows: list[dict], results: dict) -> list[str]:
    """False alarms in noise of all rows together, and other preambles beside the sent one."""
    module = CHANNELS[channel]
    found = [results[module.key(row)] for row in rows if module.key(row) in results]
    if not found or "alarms" not in found[0]:
        return []
    total = {name: sum(r[name] for r in found) for name in ("alarms", "count")}
    together, worst = module.alarms_of(total), max(found, key=lambda r: r["alarms"] / r["count"])
    line = (f"Noise alone: {total['alarms']} false alarms in {total['count']} occasions, {together} %. The limit is {100 * together.limit:g} %: "
            f"{together.verdict}. The most of a row are {worst['alarms']} of {worst['count']}.")
    if "others" in found[0]:
        line += f" Another preamble beside the one sent: {sum(r['others'] for r in found)} of {sum(r['trials'] for r in found)}."
    return [line, ""]


def tables_of(rows: dict[str, list[dict]], results: dict[str, dict], quick: bool = False) -> list[str]:
    """A section of a page for each channel."""
    lines = []
    for channel, group in rows.items():
        found = judged(channel, group, results[channel])
        if not found:
            continue
        title = f"{len(found)} of {len(group)} rows measured" + ("." if quick else f": {counts([m.verdict for _, m in found])}.")
        lines += [f"## {channel.upper()}", "", title, "", *alarm_line(channel, group, results[channel])]
        cells = [[*CHANNELS[channel].cells(row), str(m), *([] if quick else [str(m.margin or "none"), m.verdict])] for row, m in found]
        lines += table([*CHANNELS[channel].COLUMNS, *([] if quick else ["margin", "verdict"])], cells)
    return lines


def page_text(text: str) -> str:
    """docs/ts38104.md with the tables of the stored results."""
    rows = chosen([])
    results = {channel: stored(channel, root() / "curves") for channel in CHANNELS}
    return with_block(text, "\n".join([BEGIN, "", *tables_of(rows, results), END]))


def main(options: argparse.Namespace, note) -> int:
    sections = [word for word in options.targets if word != NAME]
    rows = chosen(sections)
    if options.pages:
        if sections:
            raise UsageError(f"--pages writes the whole page: give no sections, here {sections[0]}")
        page = root() / f"docs/{NAME}.md"
        page.write_text(page_text(page.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    if options.stored:
        if options.out:
            raise UsageError(f"--out is for runs of {NAME}: --stored only prints")
        results = {channel: stored(channel, root() / "curves") for channel in CHANNELS}
    else:
        compiled_package()
        folder = (options.out or root() / "build/reproduce") / (f"{NAME}_quick" if options.quick else NAME)
        folder.mkdir(parents=True, exist_ok=True)
        if options.quick:
            rows = {channel: first_of_tables(group) for channel, group in rows.items()}
        results = {channel: run(channel, group, folder, options.device, options.quick, note) for channel, group in rows.items() if group}
    rows = {channel: group for channel, group in rows.items() if group}
    print(printable_lines(tables_of(rows, results, options.quick)))
    verdicts = [m.verdict for channel, group in rows.items() for _, m in judged(channel, group, results[channel])]
    print(f"{len(verdicts)} of {sum(map(len, rows.values()))} rows" + ("; a quick run is not judged" if options.quick else f": {counts(verdicts)}"))
    return 0


def printable_lines(lines: list[str]) -> str:
    return "\n".join(map(printable, lines))
