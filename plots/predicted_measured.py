#!/usr/bin/python3
"""Predicted against measured values, from the CSV of `slmsim validate fabric` or `slmsim validate deepspeed`.

    slmsim validate fabric --format csv --output facts.csv
    slmsim plot predicted-measured facts.csv -o predicted.svg

One panel for each quantity. The line is equality, the bands are errors of 10 and 25 %.
"""
if __package__:
    from . import style
else:
    import style

WHAT = "the CSV of `slmsim validate fabric` or `slmsim validate deepspeed`"
TITLES = {"minutes": "time of the job (min)", "tflops_per_gpu": "TFLOP/s per GPU", "iteration_time": "time of an iteration",
          "max_model_size": "largest model", "throughput": "throughput of all GPUs", "bw_NVLink_avg": "mean rate of NVLink",
          "bw_RoCE_avg": "mean rate of RoCE"}
UNITS = {"Bparam": "billion parameters"}
BANDS = ((1.25, "#eeeeee"), (1.1, "#cccccc"))


def arguments(parser):
    parser.add_argument("csv", help="what `slmsim validate --format csv` wrote")


def technique_of(configuration):
    """What the DeepSpeed study calls a technique, by the name that slmsim has for it."""
    if "NVMe" in configuration:
        return "Infinity-P" if "param" in configuration else "Infinity"
    return configuration.replace("Megatron-LM", "Megatron").replace(" (CPU)", "-CPU")


def facts_of(path):
    """Quantity -> [(technique, measured, predicted)]."""
    rows = style.read_csv(path, (), WHAT)
    facts = {}

    def add(quantity, technique, measured, predicted):
        if measured and predicted:
            pair = style.number(path, measured, quantity), style.number(path, predicted, quantity)
            if min(pair) <= 0:
                style.fail(path, f"{quantity} of {technique} is not above 0; {WHAT} is expected")
            facts.setdefault(quantity, []).append((technique, *pair))

    if "metric" in rows[0]:
        for row in style.read_csv(path, ("config", "metric", "unit", "measured", "predicted"), WHAT):
            title = TITLES.get(row["metric"], row["metric"].replace("_", " "))
            add(f"{title} ({UNITS.get(row['unit'], row['unit'])})", technique_of(row["config"]), row["measured"],
                row["predicted"])
    else:
        columns = ("minutes", "tflops_per_gpu")
        needed = [f"{which}_{column}" for column in columns for which in ("measured", "predicted")]
        for row in style.read_csv(path, ("technique", *needed), WHAT):
            for column in columns:
                add(TITLES[column], row["technique"], row[f"measured_{column}"], row[f"predicted_{column}"])
    if not facts:
        style.fail(path, f"no row with a measured and a predicted value; {WHAT} is expected")
    return facts


def panel(axes, quantity, points, title_width):
    values = [value for _, *pair in points for value in pair]
    ends = [min(values) / 1.6, max(values) * 1.6]
    for factor, grey in BANDS:
        axes.fill_between(ends, [e / factor for e in ends], [e * factor for e in ends], color=grey, linewidth=0,
                          label=f"within {100 * (factor - 1):.0f} %")
    axes.plot(ends, ends, color="black", linewidth=0.8)
    for technique, measured, predicted in points:
        fill, _, marker, _, _ = style.technique_look(technique)
        axes.plot(measured, predicted, marker=marker, color=fill, markeredgecolor="black", markersize=7, linestyle="",
                  label=technique)
    axes.set_title(style.wrapped(quantity, title_width), loc="left")
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal", xlabel="measured", ylabel="predicted")
    for axis in (axes.xaxis, axes.yaxis):
        style.plain_numbers(axis, ends)


def draw(options):
    facts = facts_of(options.csv)
    columns = len(facts) if len(facts) < 3 else 3
    rows = -(-len(facts) // columns)
    figure, panels = style.subplots(rows, columns, figsize=(style.WIDTH, rows * (0.3 + 7.2 / columns)), squeeze=False)
    handles, labels = [], []
    for axes, (quantity, points) in zip(panels.flat, facts.items()):
        panel(axes, quantity, points, 0.8 * style.FULL / columns)
        more = axes.get_legend_handles_labels()
        handles, labels = handles + more[0], labels + more[1]
    for axes in panels.flat[len(facts):]:
        axes.remove()
    style.legend_below(figure, handles, labels, columns=6)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
