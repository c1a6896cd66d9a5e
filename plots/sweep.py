#!/usr/bin/python3
"""Time of the job, or another result, against any one axis of a sweep: numbers, sizes or words.

    slmsim sweep scenarios/sweeps/xe8545-size.yaml --output size.csv
    slmsim plot sweep size.csv --value tflops_total -o size.svg

One line per technique and group of GPUs; marks below the axis show what does not fit in memory or cannot run. Where several
columns vary, --axis names the one to show and --where a value of each other one; columns that move with it need none.
Round-trip times have a figure of their own, latency-sweep.
"""
import re

if __package__:
    from . import style, sweep_table
else:
    import style
    import sweep_table

# Column: its label, and the divisor of its numbers.
VALUES = {"minutes": ("time of the job (min)", 1), "iteration_s": ("time of an iteration (s)", 1),
          "tflops_per_gpu": ("TFLOP/s per GPU", 1), "tflops_total": ("TFLOP/s of all GPUs", 1),
          "gpu_hours": ("GPU-hours of the job", 1), "memory_bytes": ("memory of the fullest GPU (GiB)", 2.0 ** 30)}
# Units of a kind, the smallest first.
UNITS = [{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
         {"B": 1.0, "KiB": 2.0 ** 10, "MiB": 2.0 ** 20, "GiB": 2.0 ** 30, "TiB": 2.0 ** 40},
         {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
         {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}]
MARKS = {"oom": "x", "unsupported": "_"}
MOST_LINES = 30


def arguments(parser):
    parser.add_argument("csv", help="what `slmsim sweep` wrote")
    parser.add_argument("--axis", help="column to draw against; default: the only one that varies")
    parser.add_argument("--value", default="minutes", help="column to draw: " + ", ".join(VALUES) + " or any other "
                        "number of a prediction; default: minutes")
    parser.add_argument("--model", help="default: the first")
    sweep_table.arguments(parser)


def axis_of(path, rows, wanted):
    """`wanted`, or the only column that varies apart from what moves with it."""
    if wanted:
        return sweep_table.named_axis(path, rows, wanted)
    columns = sweep_table.values_of_point(rows)
    found = sweep_table.choices(rows, columns)
    if not found:
        style.fail(path, "no column of values varies; the CSV of `slmsim sweep` over an axis is expected")
    if len(found) > 1:
        names = [f"{name} ({sweep_table.listed(row[name] for row in rows)})" for name, _ in found]
        style.fail(path, f"{', '.join(names[:-1])} and {names[-1]} vary; choose the axis with --axis {found[0][0]} "
                   f"{' '.join(sweep_table.where_text(*pair) for pair in found[1:])}")
    return found[0][0]


def positions(values):
    """(value -> where it lies, unit) of numbers, with one unit for all; (None, "") of words."""
    parts = {value: re.fullmatch(r"([-+]?[\d.]+(?:[eE][-+]?\d+)?) ?(\S*)", value) for value in values}
    if not all(parts.values()):
        return None, ""
    units = {match[2] for match in parts.values()}
    kind = next((kind for kind in UNITS if units <= set(kind)), dict.fromkeys(units, 1.0))
    unit = min(units, key=kind.get)
    if len(units) > 1 and not any(units <= set(kind) for kind in UNITS):
        return None, ""
    return {value: float(match[1]) * kind[match[2]] / kind[unit] for value, match in parts.items()}, unit


def draw_missing(axes, lines, places, names):
    """A row of marks for each line that has points that do not run."""
    for y, key in enumerate(lines):
        for status, mark in MARKS.items():
            at = [places[value] for value, word in lines[key].items() if word == status]
            axes.plot(at, [y] * len(at), mark, color="black", markersize=5, linestyle="")
    axes.set_yticks(range(len(lines)), [names[key] for key in lines])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="y", color="#dddddd", linewidth=0.6)


def lines_of(rows, axis):
    """(technique, group) -> {value of the axis: row}."""
    lines = {}
    for row in rows:
        lines.setdefault((row["technique"], row["group"]), {})[row[axis]] = row
    return lines


def notes_on_axis(rows, axis):
    """What moves with the axis."""
    moving = [name for name in sweep_table.values_of_point(rows)
              if name != axis and len({row[name] for row in rows}) > 1]
    return [f"With it {name} is {sweep_table.listed(row[name] for row in rows)}." for name in moving]


def draw(options):
    path = options.csv
    rows = style.read_csv(path, ("model", "technique", "group", "status", options.value), "the CSV of `slmsim sweep`")
    rows, notes = style.of_points_predicted(path, sweep_table.chosen(path, rows, options.where))
    axis = axis_of(path, rows, options.axis)
    model, others = "", []
    if options.model or not sweep_table.depends(rows, "model", axis):
        model, rows, others = style.one_model(path, rows, options.model)
    elif len({row["model"] for row in rows}) == 1:
        model = rows[0]["model"]
    rows = sweep_table.points_along(path, rows, axis)
    style.those_that_run(path, rows, model or "the models")
    lines = lines_of(rows, axis)
    if len(lines) > MOST_LINES:
        style.fail(path, f"{len(lines)} lines are too many for a figure; up to {MOST_LINES} are expected, choose with "
                   f"--where group={rows[0]['group']} or technique=...")
    places, unit = positions(list(dict.fromkeys(row[axis] for row in rows)))
    words = None if places else list(dict.fromkeys(row[axis] for row in rows))
    places = places or {value: i for i, value in enumerate(words)}
    groups = list(dict.fromkeys(group for _, group in lines))
    texts = style.group_texts(groups)
    names = {key: key[0] if len(groups) == 1 else f"{key[0]} on {texts[key[1]]}" for key in lines}
    missing = {key: {value: row["status"] for value, row in points.items() if row["status"] in MARKS}
               for key, points in lines.items() if any(row["status"] in MARKS for row in points.values())}

    below = 0.25 + 0.16 * len(missing)
    figure, panels = style.subplots(2 if missing else 1, 1, figsize=(style.WIDTH, 3.6 + (below if missing else 0)),
                                  sharex=True, squeeze=False, height_ratios=[3.6, below] if missing else [1])
    upper, last = panels[0, 0], panels[-1, 0]
    what, divisor = VALUES.get(options.value, (options.value, 1))
    heights, ends = [], []
    for key, points in lines.items():
        curve = sorted((places[value], style.number(path, row[options.value], options.value) / divisor)
                       for value, row in points.items() if row["status"] == "ok")
        heights += [y for _, y in curve]
        if curve:
            ends.append((*curve[-1], names[key], style.technique_look(key[0])[1]))
            upper.plot(*zip(*curve), label=names[key], markevery=style.mark_every(curve), **style.line_look(*key, groups))
    style.scale(upper, "y", heights)
    upper.set_ylabel(what)
    upper.grid(True, which="major", color="#dddddd", linewidth=0.6)
    if missing:
        draw_missing(last, missing, places, names)
    if words:
        last.set_xticks(range(len(words)), [style.wrapped(word, 0.8 * style.FULL / len(words)) for word in words])
        last.set_xlim(-0.5, len(words) - 0.5)
    else:
        style.scale(last, "x", list(places.values()))
    last.set_xlabel(style.wrapped(f"{axis} ({unit})" if unit else axis, 0.85 * style.FULL))
    on = f"{style.group_text(groups[0], 60)}" if len(groups) == 1 else ""
    style.heading(figure, [rows[0].get("scenario", ""), model, on, *sweep_table.shown(options.where)])
    upper.autoscale_view()
    labelled = style.labels_at_ends(upper, ends)
    handles, labels = ([], []) if labelled else upper.get_legend_handles_labels()
    style.legend_below(figure, handles + [style.handle(marker=MARKS[status], color="black", linestyle="")
                                          for status in statuses(missing)],
                       labels + [style.WORDS[status] for status in statuses(missing)], columns=5)
    style.note_below(figure, notes_on_axis(rows, axis) + notes + others)
    return figure


def statuses(missing):
    return [status for status in MARKS if any(status in points.values() for points in missing.values())]


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
