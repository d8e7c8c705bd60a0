#!/usr/bin/env python3
"""docs/figures/scaling.svg: how much faster one, two and four H100s of one machine are, from the stored records.

    .venv/bin/python scripts/scaling_figure.py

`sim` and streams by scripts/scaling.py, clusters by `warpband bench cluster_devices`.
"""
import json
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
GPUS = [1, 2, 4]


def record(path):
    return json.loads((ROOT / path).read_text())


def of_sim(name):
    """Information bits a second, over all points."""
    rates = []
    for n in GPUS:
        points = [p for c in record(f"curves/{name}_{n}.json")["curves"] for p in c["points"]]
        rates.append(sum(p["bits"] for p in points) / sum(p["seconds"] for p in points))
    return rates


def of_stream(label, copies):
    """Frames a second: those of the pipeline, or of their copies alone."""
    rates = []
    for n in GPUS:
        run = next(r for r in record(f"bench/results/stream_scaling_{n}gpu_h100.json")["runs"] if r["label"] == label)
        rates.append(1 / (run["alone"]["copies_us"] if copies else run.get("median_frame_us", run["frame_us"])))
    return rates


def of_clusters(symbols):
    """1024 antennas in four clusters, 64 users, exact sums."""
    wanted = {"antennas": "1024x64", "method": "exact", "clusters": 4, "symbols": symbols}
    rows = record("bench/results/cluster_devices_4gpu_h100.json")["benchmarks"]
    return [next(b["mbps"] for b in rows if b["figure"] == "kernel" and b["axes"] == {**wanted, "devices": n}) for n in GPUS]


def draw(axes, title, lines):
    axes.plot([1, 4], [1, 4], color="0.8", linewidth=3, label="ideal")
    for (label, rates), marker in zip(lines, "osD^vx"):
        style = ":" if label.endswith("copies alone") else "-"
        axes.plot(GPUS, [r / rates[0] for r in rates], style, marker=marker, markersize=4, label=label)
    axes.set(title=title, xlabel="H100s", xticks=GPUS, ylim=(0.8, 4.2))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def main():
    matplotlib.rcParams.update({"font.size": 9, "svg.hashsalt": "scaling", "svg.fonttype": "none"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharey=True)
    draw(left, "Simulation and clusters", [("sim, massive 128x16", of_sim("massive_devices")), ("sim, 4x4 64-QAM N-way, LDPC", of_sim("devices")),
                                           ("clusters 1024x64, S = 14", of_clusters(14)), ("clusters 1024x64, S = 1", of_clusters(1))])
    streams = ["LTE slot", "uplink cholesky 8x8", "precode cholesky 4x16"]
    draw(right, "Streams of frames from the host", [(s + (", copies alone" if copies else ""), of_stream(s, copies))
                                                     for s in streams for copies in (False, True)])
    left.set_ylabel("times as fast as one")
    figure.savefig(ROOT / "docs/figures/scaling.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
