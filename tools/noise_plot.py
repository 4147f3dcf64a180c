#!/usr/bin/env python3
"""Draws the results of tools/noise_table.py: one panel per gateway, throughput over noise.

Each run is a dot; a line connects the medians; a cross on the lower edge is a run that was refused.
"""

import argparse
import json
import pathlib
import statistics
from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

COLOURS = {"before": "#b0532c", "placed": "#1f6f8b", "now": "#1f6f8b", "this": "#1f6f8b"}
APART = 0.12  # distance of two builds at one share; neighbouring shares have distance 1


def draw(axes: Any, gateway: str, runs: Sequence[dict[str, Any]]) -> None:
    of_gateway = [run for run in runs if run["gateway"] == gateway]
    shares = sorted({run["share"] for run in of_gateway}, key=lambda share: float(share[:-1]))
    builds = sorted({run["build"] for run in of_gateway}, key=list(COLOURS).index)
    for number, build in enumerate(builds):
        colour = COLOURS[build]
        left = (number - (len(builds) - 1) / 2) * APART
        medians = []
        for place, share in enumerate(shares):
            cell = [r for r in of_gateway if (r["build"], r["share"]) == (build, share)]
            found = [run["fps"] / 1000 for run in cell if run["fps"] is not None]
            axes.plot([place + left] * len(found), found, ".", color=colour, alpha=0.5)
            if len(found) < len(cell):
                axes.plot([place + left], [0], "x", color=colour, clip_on=False, zorder=3)
            if found:
                medians.append((place + left, statistics.median(found)))
        places, values = zip(*medians, strict=True) if medians else ((), ())
        axes.plot(places, values, "-o", color=colour, label=build, markersize=4)
    axes.set_title(gateway)
    axes.set_xticks(range(len(shares)), shares)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "measured",
        type=pathlib.Path,
        nargs="+",
        help="JSON files of noise_table.py; builds must have the names before, placed, now or this",
    )
    parser.add_argument("--output", type=pathlib.Path, required=True, help="SVG file to write")
    asked = parser.parse_args()
    runs = [run for file in asked.measured for run in json.loads(file.read_text())]
    gateways = list(dict.fromkeys(run["gateway"] for run in runs))
    figure, panels = plt.subplots(1, len(gateways), figsize=(3 * len(gateways), 3), squeeze=False)
    for axes, gateway in zip(panels[0], gateways, strict=True):
        draw(axes, gateway, runs)
    panels[0][0].set_ylabel("throughput, 1000 fps per direction")
    figure.legend(
        *panels[0][0].get_legend_handles_labels(), loc="lower right", ncols=2, frameon=False
    )
    figure.supxlabel("share of each core that was taken away")
    figure.tight_layout()
    plt.rcParams["svg.hashsalt"] = "natxy"  # makes the file reproducible
    figure.savefig(asked.output, metadata={"Date": None})


if __name__ == "__main__":
    main()
