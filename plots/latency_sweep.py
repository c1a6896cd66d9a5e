#!/usr/bin/python3
"""Time and TFLOP/s against round-trip time, and where the fastest choice changes.

    slmsim sweep ... --output sweep.csv     # or several `slmsim run --set platform.links.wan.rtt=... --format csv`
    slmsim plot latency-sweep sweep.csv -o latency.svg

One curve per technique on the GPUs that the round-trip time concerns; of the others only the fastest is shown, as a
level. Dotted lines mark the round-trip times at which another choice becomes the fastest (interpolated between points).
--measured draws points of a CSV with the columns slice, technique, rtt_ms, minutes and tflops_per_gpu: filled for the
slice named by --slice, hollow for others, whose GPUs differ.
"""
import math

import style
from style import plt

UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
FLAT = 1e-3  # a time that changes by less does not depend on the round-trip time


def arguments(parser):
    parser.add_argument("csv", help="of a sweep over a round-trip time")
    parser.add_argument("--axis", default="platform.links.wan.rtt", help="column of the round-trip time; default: "
                        "platform.links.wan.rtt")
    parser.add_argument("--model", help="default: the first")
    parser.add_argument("--measured", help="CSV of measured points")
    parser.add_argument("--slice", help="slice of the measured points that the sweep describes")


def milliseconds(path, text):
    digits = text.strip().rstrip("numsabcdefghijklopqrtvwxyz ")
    unit = text.strip()[len(digits):].strip()
    if unit not in UNITS:
        style.fail(path, f"round-trip time \"{text}\" has no unit of time; 57.4 ms is one")
    return style.number(path, digits, "round-trip time") * UNITS[unit]


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


def name_of(key):
    return f"{key[0]} on {style.group_text(key[1])}"


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
    rows = style.read_csv(options.csv, ("model", "technique", "group", "status", "minutes", "tflops_per_gpu",
                                        options.axis), "a sweep over a round-trip time")
    model, rows = style.one_of(options.csv, rows, "model", options.model)
    curves = curves_of(options.csv, rows, options.axis)
    if not curves:
        style.fail(options.csv, f"nothing of {model} runs; a sweep in which something does is expected")
    moving = {key: points for key, points in curves.items() if not is_flat(points)}
    level = min((key for key in curves if key not in moving), key=lambda k: curves[k][0][1], default=None)
    shown = dict(moving) if level is None else {**moving, level: curves[level]}
    several = len({group for _, group in moving}) > 1
    figure, panels = plt.subplots(2, 1, figsize=(style.WIDTH, 6.2), sharex=True)
    marks = crossings(shown)
    for axes, column, index in ((panels[0], "minutes", 1), (panels[1], "tflops_per_gpu", 2)):
        for key, points in shown.items():
            _, colour, marker, line, _ = style.technique_look(key[0])
            look = {"color": "#777777", "linestyle": "-", "linewidth": 3} if key == level else {
                "color": colour, "linestyle": line, "marker": marker, "markersize": 3}
            axes.plot([p[0] for p in points], [p[index] for p in points], label=name_of(key), **look)
        draw_measured(axes, options, read_measured(options), column, {k[0] for k in moving})
        for x, _, _ in marks:
            axes.axvline(x, color="black", linestyle=":", linewidth=1)
        axes.set_xscale("log")
        axes.set_yscale("log")
        style.plain_numbers(axes.yaxis)
        axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    style.plain_numbers(panels[1].xaxis)
    panels[0].set_ylabel("time of the job (min)")
    panels[1].set_ylabel("TFLOP/s per GPU")
    panels[1].set_xlabel("round-trip time (ms)")
    scenario = rows[0].get("scenario", "")
    panels[0].set_title(f"{scenario + ', ' if scenario else ''}{model}", loc="left")
    handles, labels = panels[0].get_legend_handles_labels()
    if options.measured:
        handles.append(plt.Line2D([], [], marker="o", color="#2f6498", markeredgecolor="black", linestyle=""))
        labels.append(f"measured{', ' + options.slice if options.slice else ''}")
        handles.append(plt.Line2D([], [], marker="o", color="#2f6498", markerfacecolor="white", linestyle=""))
        labels.append("measured, other GPUs")
    style.legend_below(figure, handles, labels, columns=2 if several else 3)
    style.note_below(figure, [f"At {x:.3g} ms the fastest changes from {name_of(a)} to {name_of(b)}."
                              for x, a, b in marks] or ["The same choice is the fastest at every round-trip time."])
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
