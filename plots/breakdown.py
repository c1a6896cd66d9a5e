#!/usr/bin/python3
"""Where the time of an iteration goes on the GPU that computes longest, from the CSV of `slmsim run --format csv`.

    slmsim run scenarios/gat-amst.yaml --format csv --output run.csv
    slmsim plot breakdown run.csv --model gpt2m -o breakdown.svg

Shares of the iteration; its length stands behind each bar.
"""
import style
from style import plt

PARTS = {"compute_s": "computing", "exposed_communication_s": "waiting for communication",
         "pipeline_bubble_s": "pipeline bubble", "optimizer_s": "optimizer", "overhead_s": "launching"}


def arguments(parser):
    parser.add_argument("csv", help="what `slmsim run --format csv` wrote")
    parser.add_argument("--model", help="default: the first")


def draw(options):
    rows = style.read_csv(options.csv, ("scenario", "model", "technique", "group", "status", "iteration_s", *PARTS),
                          "the CSV of `slmsim run --format csv`")
    model, rows = style.one_of(options.csv, rows, "model", options.model)
    rows = [row for row in rows if row["status"] == "ok"]
    if not rows:
        style.fail(options.csv, f"nothing of {model} runs; a run in which something does is expected")
    several = len({row["scenario"] for row in rows}) > 1
    figure, axes = plt.subplots(figsize=(style.WIDTH, 0.9 + 0.27 * len(rows)))
    labels = []
    for y, row in enumerate(rows):
        whole, left = style.number(options.csv, row["iteration_s"], "iteration_s"), 0.0
        for (column, name), (fill, hatch) in zip(PARTS.items(), style.PARTS):
            share = 100 * style.number(options.csv, row[column], column) / whole
            axes.barh(y, share, 0.72, left=left, color=fill, hatch=hatch, edgecolor="black", linewidth=0.5, label=name)
            left += share
        axes.annotate(style.seconds(whole), (100, y), (5, 0), textcoords="offset points", va="center")
        where = f"{row['technique']} on {style.group_text(row['group'])}"
        labels.append(f"{row['scenario']}: {where}" if several else where)
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("share of an iteration (%), and its length")
    axes.set_title(f"{'' if several else rows[0]['scenario'] + ', '}{model}", loc="left")
    style.legend_below(figure, *axes.get_legend_handles_labels(), columns=5)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
