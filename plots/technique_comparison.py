#!/usr/bin/python3
"""Bars of each technique's job time by group of GPUs, from the CSV of `slmsim run --format csv`.

    slmsim run scenarios/*.yaml --format csv --output all.csv
    slmsim plot technique-comparison all.csv --model gpt2m -o comparison.svg

One panel per scenario, all with the same logarithmic axis; what does not fit in memory or cannot run is marked. Where the
table has intervals (`--intervals`, `--fitted`) lines across the bars show them.
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


def bar(axes, path, row, y, height):
    fill, _, _, _, hatch = style.technique_look(row["technique"])
    if row["status"] != "ok":
        axes.text(0.01, y, f"x {row['technique']}: {style.WORDS.get(row['status'], row['status'])}", va="center",
                  style="italic", transform=axes.get_yaxis_transform())
        return
    minutes = style.number(path, row["minutes"], "minutes")
    axes.barh(y, minutes, height, color=fill, edgecolor="black", linewidth=0.5, hatch=hatch, label=row["technique"])
    ends = interval(path, row)
    if ends:
        reach = [[max(0, minutes - ends[0])], [max(0, ends[1] - minutes)]]
        axes.errorbar(minutes, y, xerr=reach, fmt="none", ecolor="white", elinewidth=3, zorder=3)  # for dark bars
        axes.errorbar(minutes, y, xerr=reach, fmt="none", ecolor="black", elinewidth=1.2, capsize=2.5, zorder=4)
    axes.annotate(style.duration(minutes), (max(minutes, ends[1] if ends else 0), y), (4, 0),
                  textcoords="offset points", va="center")


def panel(axes, path, rows):
    groups = style.group_texts((row["group"] for row in rows), 40)
    techniques = list(dict.fromkeys(row["technique"] for row in rows))
    height = 0.84 / len(techniques)
    for row in rows:
        offset = techniques.index(row["technique"]) - (len(techniques) - 1) / 2
        bar(axes, path, row, list(groups).index(row["group"]) + offset * height, height)
    gpus = {row["group"]: int(style.number(path, row["gpus"], "gpus")) for row in rows}
    labels = [f"{style.wrapped(text, 0.42 * style.FULL)}\n{style.counted(gpus[group], 'GPU')}"
              for group, text in groups.items()]
    axes.set_yticks(range(len(groups)), labels)
    axes.set_ylim(len(groups) - 0.5, -0.5)  # the first group on top
    axes.set_xscale("log")


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
    for axes, scenario, part in zip(panels[:, 0], scenarios, by_scenario):
        panel(axes, options.csv, part)
        if len(scenarios) > 1:
            axes.set_title(style.wrapped(scenario, 0.5 * style.FULL), loc="left")
    times = [style.number(options.csv, row["minutes"], "minutes") for row in running]
    intervals = [ends for ends in (interval(options.csv, row) for row in running) if ends]
    times += [end for ends in intervals for end in ends]
    if intervals:
        level = float(next(row["interval_level"] for row in running if row.get("interval_level")))
        notes = [*notes, f"Lines across the bars: intervals of {100 * level:.0f} %."]
    last = panels[-1, 0]
    ends = min(times) / 3, max(times) * 4  # room for the numbers
    last.set_xlim(ends)
    style.plain_numbers(last.xaxis, ends)
    last.set_xlabel("time of the job (min)")
    style.heading(figure, [*(scenarios if len(scenarios) == 1 else []), model, *sweep_table.shown(options.where)])
    handles, labels = [], []
    for axes in panels[:, 0]:
        more = axes.get_legend_handles_labels()
        handles, labels = handles + more[0], labels + more[1]
    style.legend_below(figure, handles, labels)
    style.note_below(figure, notes + others)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
