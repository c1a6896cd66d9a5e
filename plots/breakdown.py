#!/usr/bin/python3
"""Where the time of an iteration goes on the GPU that computes longest, from the CSV of `slmsim run --format csv`.

    slmsim run scenarios/gat-amst.yaml --format csv --output run.csv
    slmsim plot breakdown run.csv --model gpt2m -o breakdown.svg

Shares of the iteration; its length is written after each bar.
"""
if __package__:
    from . import style, sweep_table
else:
    import style
    import sweep_table

PARTS = {"compute_s": "computing", "exposed_communication_s": "waiting for communication",
         "pipeline_bubble_s": "pipeline bubble", "optimizer_s": "optimizer", "overhead_s": "launching"}


def arguments(parser):
    parser.add_argument("csv", help="what `slmsim run --format csv` wrote")
    parser.add_argument("--model", help="default: the first")
    sweep_table.arguments(parser)


def draw(options):
    rows = style.read_csv(options.csv, ("scenario", "model", "technique", "group", "status", "iteration_s", *PARTS),
                          "the CSV of `slmsim run --format csv`")
    rows, notes = sweep_table.one_point(options.csv, rows, options.where)
    model, rows, others = style.one_model(options.csv, rows, options.model)
    rows = style.those_that_run(options.csv, rows, model)
    figure, axes, scenario = style.bar_rows(options.csv, rows)
    for y, row in enumerate(rows):
        whole, left = style.number(options.csv, row["iteration_s"], "iteration_s"), 0.0
        for (column, name), (fill, hatch) in zip(PARTS.items(), style.PARTS):
            share = 100 * style.number(options.csv, row[column], column) / whole
            if share <= 0:
                continue
            axes.barh(y, share, 0.72, left=left, color=fill, hatch=hatch, edgecolor="black", linewidth=0.5, label=name)
            left += share
        axes.annotate(f"{whole:.3g} s", (100, y), (5, 0), textcoords="offset points", va="center")
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("share of an iteration (%), and its length")
    style.heading(figure, [scenario, model, *sweep_table.shown(options.where)])
    style.legend_below(figure, *axes.get_legend_handles_labels(), columns=5)
    style.note_below(figure, notes + others)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
