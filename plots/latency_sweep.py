#!/usr/bin/python3
"""Time and TFLOP/s against round-trip time, and where the fastest choice changes.

    slmsim sweep scenarios/sweeps/latency.yaml --output sweep.csv
    slmsim plot latency-sweep sweep.csv -o latency.svg

The round-trip times are the column that ends in .rtt; where other columns vary too, --where chooses a value of each.

One curve per technique on the GPUs that the round-trip time concerns; of the others only the fastest is shown, as a
level. Dotted lines mark the round-trip times at which another choice becomes the fastest (interpolated between points).
--measured draws points of a CSV with the columns slice, technique, rtt_ms, minutes and tflops_per_gpu: filled for the
slice named by --slice, hollow for others, whose GPUs differ.
"""
import math

if __package__:
    from . import style, sweep_table
else:
    import style
    import sweep_table

UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
FLAT = 1e-3  # a time that changes by less does not depend on the round-trip time


def arguments(parser):
    parser.add_argument("csv", help="of a sweep over a round-trip time")
    parser.add_argument("--axis", help="column of the round-trip time; default: the only one that ends in .rtt")
    sweep_table.arguments(parser)
    parser.add_argument("--model", help="default: the first")
    parser.add_argument("--measured", help="CSV of measured points")
    parser.add_argument("--slice", help="slice of the measured points that the sweep describes")


def milliseconds(path, text):
    digits = text.strip().rstrip("numsabcdefghijklopqrtvwxyz ")
    unit = text.strip()[len(digits):].strip()
    if unit not in UNITS:
        style.fail(path, f"round-trip time \"{text}\" has no unit of time; 57.4 ms is one")
    return style.number(path, digits, "round-trip time") * UNITS[unit]


def axis_of(path, rows, wanted):
    """The column of round-trip times: `wanted`, or the only one there is."""
    if wanted:
        return sweep_table.named_axis(path, rows, wanted)
    columns = sweep_table.values_of_point(rows)
    found = [name for name in columns if name.endswith(".rtt")]
    if len(found) > 1:
        found = sweep_table.varying(rows, found) or found
    if not columns:
        style.fail(path, "no columns of values before the prediction's; the CSV of `slmsim sweep` is expected")
    if len(found) != 1:
        style.fail(path, f"{'several columns end' if found else 'no column ends'} in .rtt; name the round-trip time with "
                   f"--axis, one of: {', '.join(found or columns)}{'' if found else '; slmsim plot sweep draws other axes'}")
    return found[0]


def curves_of(path, rows, axis):
    """(technique, group) -> [(ms, minutes, TFLOP/s)] of the points that run."""
    curves = {}
    for row in rows:
        if row["status"] == "ok":
            point = tuple(style.number(path, row[c], c) for c in ("minutes", "tflops_per_gpu"))
            curves.setdefault((row["technique"], row["group"]), []).append((milliseconds(path, row[axis]), *point))
    return {key: sorted(points) for key, points in curves.items()}


def is_flat(points):
    times = [minutes for _, minutes, _ in points]
    return max(times) - min(times) <= FLAT * min(times)


def crossings(curves):
    """[(ms, before, after)]: where another curve becomes the lowest, linear between points in both logarithms."""
    positions = sorted({p[0] for points in curves.values() for p in points})
    at = {key: {p[0]: p[1] for p in points} for key, points in curves.items()}
    best = [(x, min((k for k in at if x in at[k]), key=lambda k: at[k][x], default=None)) for x in positions]
    found = []
    for (x0, a), (x1, b) in zip(best, best[1:]):
        if a == b or a is None or b is None:
            continue
        x = x1
        if all(p in at[k] for k in (a, b) for p in (x0, x1)) and x0 > 0:
            gap0, gap1 = math.log(at[b][x0] / at[a][x0]), math.log(at[b][x1] / at[a][x1])
            x = x0 * (x1 / x0) ** (gap0 / (gap0 - gap1))
        found.append((x, a, b))
    return found


def read_measured(options):
    if not options.measured:
        return []
    needed = ("slice", "technique", "rtt_ms", "minutes", "tflops_per_gpu")
    return style.read_csv(options.measured, needed, "measured points (see --help)")


def draw_measured(axes, options, rows, column, shown):
    for row in rows:
        if not row[column] or row["technique"] not in shown:
            continue
        _, colour, marker, _, _ = style.technique_look(row["technique"])
        own = row["slice"] == options.slice
        axes.plot(style.number(options.measured, row["rtt_ms"], "rtt_ms"),
                  style.number(options.measured, row[column], column), marker, color=colour, markersize=7,
                  markerfacecolor=colour if own else "white", markeredgecolor="black" if own else colour, zorder=4)


def draw(options):
    path = options.csv
    rows = style.read_csv(path, ("model", "technique", "group", "status", "minutes", "tflops_per_gpu"),
                          "a sweep over a round-trip time")
    axis = axis_of(path, rows, options.axis)
    rows, notes = style.of_points_predicted(path, sweep_table.chosen(path, rows, options.where))
    model, rows, others = style.one_model(path, rows, options.model)
    rows = sweep_table.points_along(path, rows, axis)
    curves = curves_of(path, style.those_that_run(path, rows, model), axis)
    moving = {key: points for key, points in curves.items() if not is_flat(points)}
    level = min((key for key in curves if key not in moving), key=lambda k: curves[k][0][1], default=None)
    shown = dict(moving) if level is None else {**moving, level: curves[level]}
    groups = list(dict.fromkeys(group for _, group in shown))
    texts = style.group_texts(groups)
    names = {key: key[0] if len(groups) == 1 else f"{key[0]} on {texts[key[1]]}" for key in shown}
    figure, panels = style.subplots(2, 1, figsize=(style.WIDTH, 6.2), sharex=True)
    marks = crossings(shown)
    times = sorted({p[0] for points in shown.values() for p in points})
    for axes, column, index in ((panels[0], "minutes", 1), (panels[1], "tflops_per_gpu", 2)):
        for key, points in shown.items():
            look = {"color": "#777777", "linestyle": "-", "linewidth": 3} if key == level else style.line_look(*key, groups)
            axes.plot([p[0] for p in points], [p[index] for p in points], label=names[key],
                      markevery=style.mark_every(points), **look)
        draw_measured(axes, options, read_measured(options), column, {k[0] for k in moving})
        for x, _, _ in marks:
            axes.axvline(x, color="black", linestyle=":", linewidth=1)
        if times[0] > 0:
            axes.set_xscale("log")
        axes.set_yscale("log")
        style.plain_numbers(axes.yaxis, [p[index] for points in shown.values() for p in points])
        axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
        axes.autoscale_view()
        ends = [(*(points[-1][i] for i in (0, index)), names[key], "#777777" if key == level else style.technique_look(key[0])[1])
                for key, points in shown.items()]
        labelled = style.labels_at_ends(axes, ends)
    style.plain_numbers(panels[1].xaxis, times)
    panels[0].set_ylabel("time of the job (min)")
    panels[1].set_ylabel("TFLOP/s per GPU")
    panels[1].set_xlabel("round-trip time (ms)")
    on = style.group_text(groups[0], 60) if len(groups) == 1 else ""
    style.heading(figure, [rows[0].get("scenario", ""), model, on, *sweep_table.shown(options.where)])
    handles, labels = ([], []) if labelled else panels[0].get_legend_handles_labels()
    if options.measured:
        handles.append(style.handle(marker="o", color="#2f6498", markeredgecolor="black", linestyle=""))
        labels.append(f"measured{', ' + options.slice if options.slice else ''}")
        handles.append(style.handle(marker="o", color="#2f6498", markerfacecolor="white", linestyle=""))
        labels.append("measured, other GPUs")
    style.legend_below(figure, handles, labels, columns=3)
    changes = [f"At {x:.3g} ms the fastest changes from {names[a]} to {names[b]}." for x, a, b in marks]
    if changes:
        changes.append("Near ties go to fewer GPU-hours, so the pick of slmsim report changes elsewhere.")
    style.note_below(figure, (changes or ["The same choice is the fastest at every round-trip time."]) + notes + others)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
