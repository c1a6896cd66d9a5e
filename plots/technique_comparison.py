#!/usr/bin/python3
"""Bars of each technique's job time by group of GPUs, from the CSV of `slmsim run --format csv`.

    slmsim run scenarios/*.yaml --format csv --output all.csv
    slmsim plot technique-comparison all.csv --model gpt2m -o comparison.svg

One panel per scenario, all with the same linear axis from zero, on which far longer bars are broken; what does not fit in
memory or cannot run is marked. Where the table has intervals (`--intervals`, `--fitted`) lines across the bars show them.
"""
if __package__:
    from . import style, sweep_table
else:
    import style
    import sweep_table


def arguments(parser):
    parser.add_argument("csv", help="what `slmsim run --format csv` wrote")
    parser.add_argument("--model", help="default: the first")
    sweep_table.arguments(parser)


def interval(path, row):
    """Low and high end in minutes; None where the table tells none."""
    ends = row.get("minutes_low"), row.get("minutes_high")
    return tuple(style.number(path, end, "the interval") for end in ends) if all(ends) else None


def bar(axes, path, row, y, height, unit, scale):
    name, size = unit
    fill, _, _, _, hatch = style.technique_look(row["technique"])
    if row["status"] != "ok":
        axes.text(0.01, y, f"x {row['technique']}: {style.WORDS.get(row['status'], row['status'])}", va="center",
                  style="italic", transform=axes.get_yaxis_transform())
        return
    time = style.number(path, row["minutes"], "minutes") / size
    length, ends = scale.length(time), interval(path, row)
    axes.barh(y, length, height, color=fill, edgecolor="black", linewidth=0.5, hatch=hatch)
    scale.mark(axes, time, y, height)
    after = length
    if ends and length == time:
        low, high = min(time, ends[0] / size), max(time, scale.length(ends[1] / size))
        axes.plot([low, high], [y, y], color="white", linewidth=3, solid_capstyle="butt", zorder=3)  # for dark bars
        axes.plot([low, high], [y, y], color="black", linewidth=1.2, zorder=4)
        caps = [end for end in (low, high) if end < scale.beyond]  # one that goes on beyond the axis has no end
        axes.plot(caps, [y] * len(caps), "|", color="black", markersize=5, markeredgewidth=1.2, zorder=4)
        after = high
    axes.annotate(f"{row['technique']} {style.plain(time)} {name}", (after, y), (4, 0), textcoords="offset points", va="center")


def panel(axes, path, rows, unit, scale):
    groups = style.group_texts((row["group"] for row in rows), 40)
    techniques = list(dict.fromkeys(row["technique"] for row in rows))
    height = 0.84 / len(techniques)
    for row in rows:
        offset = techniques.index(row["technique"]) - (len(techniques) - 1) / 2
        bar(axes, path, row, list(groups).index(row["group"]) + offset * height, height, unit, scale)
    gpus = {row["group"]: int(style.number(path, row["gpus"], "gpus")) for row in rows}
    labels = [f"{style.wrapped(text, 0.42 * style.FULL)}\n{style.counted(gpus[group], 'GPU')}"
              for group, text in groups.items()]
    axes.set_yticks(range(len(groups)), labels)
    axes.set_ylim(len(groups) - 0.5, -0.5)  # the first group on top


def draw(options):
    rows = style.read_csv(options.csv, ("scenario", "model", "technique", "group", "gpus", "status", "minutes"),
                          "the CSV of `slmsim run --format csv`")
    rows, notes = sweep_table.one_point(options.csv, rows, options.where)
    model, rows, others = style.one_model(options.csv, rows, options.model)
    running = style.those_that_run(options.csv, rows, model)
    style.check_bars(options.csv, rows)
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    by_scenario = [[row for row in rows if row["scenario"] == scenario] for scenario in scenarios]
    bars = [len({(row["group"], row["technique"]) for row in part}) for part in by_scenario]
    figure, panels = style.subplots(len(scenarios), 1, figsize=(style.WIDTH, 0.7 * len(bars) + 0.2 * sum(bars)),
                                  sharex=True, squeeze=False, gridspec_kw={"height_ratios": bars})
    times = [style.number(options.csv, row["minutes"], "minutes") for row in running]
    intervals = [interval(options.csv, row) for row in running]
    unit = style.unit_of(times)
    reach = [max(time, ends[1] if ends else 0) for time, ends in zip(times, intervals)]
    shortest = {}
    for row, time in zip(running, times):
        shortest[row["scenario"]] = min(time, shortest.get(row["scenario"], time))
    scale = style.BarScale(*([value / unit[1] for value in values] for values in (times, reach)),
                           max(shortest.values()) / unit[1])
    for axes, scenario, part in zip(panels[:, 0], scenarios, by_scenario):
        panel(axes, options.csv, part, unit, scale)
        if len(scenarios) > 1:
            axes.set_title(style.wrapped(scenario, 0.5 * style.FULL), loc="left")
    if any(intervals):
        level = float(next(row["interval_level"] for row in running if row.get("interval_level")))
        notes = [*notes, f"Lines across the bars: intervals of {100 * level:.0f} %."]
    last = panels[-1, 0]
    scale.apply(last.xaxis, last, 0.22)  # for the texts behind the bars
    last.set_xlabel(f"time of the job ({unit[0]})")
    style.heading(figure, [*(scenarios if len(scenarios) == 1 else []), model, *sweep_table.shown(options.where)])
    style.note_below(figure, notes + others)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
