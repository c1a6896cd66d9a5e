#!/usr/bin/python3
"""Memory of the fullest GPU by parts, against the limit of the framework.

    slmsim run scenarios/tacc-tacc.yaml --format json --output run.json
    slmsim plot memory run.json --model gpt2L -o memory.svg

One bar per technique and group; the vertical mark is the limit, and bars beyond it are marked.
"""
if __package__:
    from . import style, sweep_table
else:
    import style
    import sweep_table

PARTS = ("parameters", "gradients", "optimizer", "activations", "buffers", "framework")
GIB = 2.0 ** 30


def arguments(parser):
    parser.add_argument("json", help="what `slmsim run --format json` wrote")
    parser.add_argument("--model", help="default: the first")
    sweep_table.arguments(parser)


def draw(options):
    what = "the JSON of `slmsim run --format json`"
    runs = style.read_json(options.json, "predictions", what)
    runs = runs if isinstance(runs, list) else [runs]
    rows = [dict(p, scenario=run["scenario"], group="+".join(p["group"]))
            for run in runs for p in run["predictions"] if p["memory"]]
    if not rows:
        style.fail(options.json, f"no prediction that states memory; {what} is expected")
    rows = sweep_table.chosen(options.json, rows, options.where)
    model, rows, notes = style.one_model(options.json, rows, options.model)
    figure, axes, scenario = style.bar_rows(options.json, rows)
    largest = 0.0
    for y, row in enumerate(rows):
        gpu = max(row["memory"], key=lambda m: m["bytes"] / m["limit_bytes"])
        left = 0.0
        for part, (fill, hatch) in zip(PARTS, style.PARTS):
            size = gpu["parts"][part] / GIB
            axes.barh(y, size, 0.72, left=left, color=fill, hatch=hatch, edgecolor="black", linewidth=0.5, label=part)
            left += size
        limit = gpu["limit_bytes"] / GIB
        over = left > limit
        axes.plot([limit, limit], [y - 0.45, y + 0.45], color="black", linewidth=2.4, label="limit", solid_capstyle="butt")
        axes.annotate(f"{left:.1f} of {limit:.1f} GiB{', out of memory' if over else ''}", (max(left, limit), y), (5, 0),
                      textcoords="offset points", va="center", weight="bold" if over else "normal")
        largest = max(largest, left, limit)
    axes.set_xlim(0, 1.35 * largest)  # room for the numbers
    axes.set_xlabel("memory of the fullest GPU (GiB)")
    style.heading(figure, [scenario, model, *sweep_table.shown(options.where)])
    style.legend_below(figure, *axes.get_legend_handles_labels(), columns=7)
    style.note_below(figure, notes)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
