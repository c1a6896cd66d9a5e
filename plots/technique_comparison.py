#!/usr/bin/env python3
"""Bars of each technique's job time by group of GPUs, from the CSV of `slmsim run --format csv`.

    build/slmsim run scenarios/*.yaml --format csv --output all.csv
    plots/technique_comparison.py all.csv --model gpt2m --output comparison.svg

One panel per scenario, all with the same logarithmic axis of minutes; what does not fit is marked. Needs Debian's
python3-matplotlib. The output's ending (.svg, .png, .pdf) chooses the format.
"""
import argparse
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# Readable in grey: lightness falls from one technique to the next.
COLOURS = {"Data": "#bdd7e7", "ZeRO2": "#6baed6", "Shard": "#3182bd", "Pipeshard": "#08306b"}


def read(path, model):
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model]
    if not rows:
        sys.exit(f"{path}: error: no rows of model \"{model}\"; name one that the file holds with --model")
    return rows


def panel(axes, scenario, rows):
    groups = list(dict.fromkeys(row["group"] for row in rows))
    techniques = list(dict.fromkeys(row["technique"] for row in rows))
    height = 0.8 / len(techniques)
    for i, technique in enumerate(techniques):
        for row in (row for row in rows if row["technique"] == technique):
            y = groups.index(row["group"]) + (i - (len(techniques) - 1) / 2) * height
            if row["status"] == "ok":
                minutes = float(row["minutes"])
                axes.barh(y, minutes, height, color=COLOURS.get(technique, "grey"), edgecolor="black", linewidth=0.4,
                          label=technique)
                axes.text(minutes * 1.06, y, f"{minutes:.0f}", va="center", fontsize=7)
            else:
                words = {"oom": "out of memory", "unsupported": "cannot run"}[row["status"]]
                axes.text(0.01, y, f"{technique}: {words}", va="center", fontsize=7, style="italic",
                          transform=axes.get_yaxis_transform())
    axes.set_yticks(range(len(groups)), [f"{group}\n{gpus(rows, group)} GPUs" for group in groups])
    axes.set_ylim(len(groups) - 0.5, -0.5)  # the first group on top
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_title(scenario, fontsize=10)
    axes.set_xlabel("minutes")


def gpus(rows, group):
    return next(row["gpus"] for row in rows if row["group"] == group)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", help="what `slmsim run --format csv` wrote")
    parser.add_argument("--model", default="gpt2m", help="default: gpt2m")
    parser.add_argument("--output", default="comparison.svg", help="default: comparison.svg")
    options = parser.parse_args()
    rows = read(options.csv, options.model)
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    figure, panels = plt.subplots(len(scenarios), 1, figsize=(7, 2.3 * len(scenarios)), squeeze=False)
    for axes, scenario in zip(panels[:, 0], scenarios):
        panel(axes, scenario, [row for row in rows if row["scenario"] == scenario])
    times = [float(row["minutes"]) for row in rows if row["status"] == "ok"]
    for axes in panels[:, 0]:
        axes.set_xlim(min(times, default=1) / 3, max(times, default=10) * 3)  # room for the numbers
    seen = {}
    for axes in panels[:, 0]:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            seen.setdefault(label, handle)
    figure.legend(seen.values(), seen.keys(), loc="upper center", ncol=len(seen), fontsize=8)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.35 / (2.3 * len(scenarios))))
    figure.savefig(options.output, dpi=150)


if __name__ == "__main__":
    main()
