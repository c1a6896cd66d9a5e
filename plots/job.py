#!/usr/bin/python3
"""Whole jobs: where their time goes, when they end, and how links go over the day, from `slmsim run --format json` of a
scenario with a `job`.

    slmsim run scenarios/spot-job.yaml --format json --output run.json
    slmsim plot job run.json -o job.svg

Above: the mean time of the jobs drawn, by its parts; the dashed line is the lease's end. Below: the share of the
jobs that have ended, against the time; and where the scenario states links over the day the rates of these, with the speed
of iterations over that at the platform's rates.
"""
import matplotlib.pyplot as plt

import style

WHAT = "the JSON of `slmsim run --format json` of a scenario with `job`"
PARTS = {"useful": "useful", "checkpoints": "checkpoints", "lost": "lost", "restarts": "restarts", "waiting": "waiting",
         "evaluation": "evaluation", "startup": "start-up", "loading": "waiting for data"}
# Two parts more than in the other figures, drawn last.
LOOKS = style.PARTS + [("#d55e00", "\\\\\\"), ("#56b4e9", "ooo")]
MOST = 8  # curves that can be told apart
DAY = 24  # h


def arguments(parser):
    parser.add_argument("json", help="what `slmsim run --format json` wrote")
    parser.add_argument("--model", help="default: the first")
    parser.add_argument("--technique", action="append", help="only this one; may be repeated")
    parser.add_argument("--group", help="only on this group of GPUs")


def chosen(options, data):
    rows = [row for row in data["predictions"] if row.get("job") and row["status"] == "ok"]
    if not rows:
        style.fail(options.json, f"no whole jobs; {WHAT} is expected")
    model, rows, notes = style.one_model(options.json, rows, options.model)
    for row in rows:
        row["where"] = "+".join(row["group"]) if isinstance(row["group"], list) else row["group"]
    for key, wanted in (("technique", options.technique), ("where", options.group and [options.group])):
        known = list(dict.fromkeys(row[key] for row in rows))
        for one in wanted or []:
            if one not in known:
                style.fail(options.json, f"no {'group' if key == 'where' else key} \"{one}\"; known are: {', '.join(known)}")
        rows = [row for row in rows if not wanted or row[key] in wanted]
    if not rows:
        style.fail(options.json, "nothing is left; fewer of --technique and --group are expected")
    if len(rows) > style.MOST_BARS:
        style.fail(options.json, f"{len(rows)} bars are too many for a figure; choose with --technique and --group")
    return model, rows, notes


def unit_of(hours):
    return (24, "d") if hours > 96 else (1, "h") if hours > 3 else (1 / 60, "min")


def draw_parts(axes, rows, labels, lease, size):
    shown = set()
    for y, row in enumerate(rows):
        left = 0.0
        for (key, name), (fill, hatch) in zip(PARTS.items(), LOOKS):
            time = row["job"]["mean_s"].get(key, 0) / 3600 / size
            if time <= 0:
                continue
            axes.barh(y, time, 0.72, left=left, color=fill, hatch=hatch, edgecolor="black", linewidth=0.5,
                      label="" if name in shown else name)
            shown.add(name)
            left += time
        axes.annotate(f"{100 * row['job']['goodput']:.0f} % useful", (left, y), (4, 0), textcoords="offset points",
                      va="center", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}, zorder=3)
    if lease:
        axes.axvline(lease / size, color="black", linestyle="--", linewidth=1.1)
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, axes.get_xlim()[1] * 1.14)


def draw_ends(axes, rows, labels, groups, lease, size):
    every = []
    for row, label in zip(rows, labels):
        times = [time for time in row["job"]["minutes_quantiles"] if time is not None]
        every += [time / 60 / size for time in times]
        steps = len(row["job"]["minutes_quantiles"]) - 1
        shares = [100 * i / steps for i in range(len(times))]
        look = style.line_look(row["technique"], row["where"], groups)
        axes.plot([time / 60 / size for time in times], shares, label=label.replace("\n", " "), **look,
                  markevery=style.mark_every(times) * 4)
    if lease:
        axes.axvline(lease / size, color="black", linestyle="--", linewidth=1.1)
        axes.annotate("lease", (lease / size, 50), (-4, 0), textcoords="offset points", ha="right")
    if every:
        style.scale(axes, "x", every)
    if axes.get_xscale() == "linear":
        axes.set_xlim(0, None)
    axes.set_ylim(0, 102)
    axes.set_ylabel("jobs that have ended (%)")


def over_day(states):
    """Steps from (from_s, value) pairs until the day's end."""
    hours = [start / 3600 for start, _ in states] + [DAY]
    values = [value for _, value in states] + [states[-1][1]]
    return hours, values


def draw_day(rate, speed, data, rows, labels, groups):
    names = list(dict.fromkeys(state["link"] for state in data["job"]["links"]))
    for name, (dash, colour) in zip(names, (("-", "#0072b2"), ("--", "#d55e00"), (":", "#009e73"), ("-.", "#cc79a7"))):
        states = [(s["from_s"], s["bandwidth_Bps"] * 8 / 1e9) for s in data["job"]["links"] if s["link"] == name]
        rate.step(*over_day(states), where="post", linestyle=dash, color=colour, label=name)
    rate.set_ylabel("link (Gbit/s)")
    style.scale(rate, "y", [state["bandwidth_Bps"] * 8 / 1e9 for state in data["job"]["links"]])
    if rate.get_yscale() == "linear":
        rate.set_ylim(0, None)
    rate.legend(loc="best", frameon=False)
    for row, label in zip(rows, labels):
        states = [(s["from_s"], s["speed"]) for s in row["job"].get("iterations", {}).get("day", [])]
        if states:
            speed.step(*over_day(states), where="post", label=label, **style.line_look(row["technique"], row["where"], groups))
    speed.set_ylabel("speed of iterations")
    speed.set_ylim(0, None)
    for axes in (rate, speed):
        axes.set_xlim(0, DAY)
        axes.set_xticks(range(0, DAY + 1, 6))
        axes.set_xlabel("time of the day (h)")


def draw(options):
    data = style.read_json(options.json, "predictions", WHAT)
    if isinstance(data, list):
        style.fail(options.json, "several scenarios; the JSON of one is expected")
    if "job" not in data:
        style.fail(options.json, f"the scenario has no job; {WHAT} is expected")
    model, rows, notes = chosen(options, data)
    texts = style.group_texts(row["where"] for row in rows)
    groups = list(dict.fromkeys(row["where"] for row in rows))
    labels = [style.wrapped(f"{row['technique']} on {texts[row['where']]}", 0.4 * style.FULL) for row in rows]
    lease = (data["job"]["lease_s"] or 0) / 3600
    longest = max(sum(row["job"]["mean_s"].values()) for row in rows) / 3600
    size, unit = unit_of(max(longest, lease if lease < 4 * longest else 0))
    # A lease far beyond all jobs would leave no room for them.
    lease_shown = lease if lease < 4 * longest else 0
    if lease and not lease_shown:
        notes = notes + [f"The lease ends after {style.duration(60 * lease)}, beyond the figure."]
    curves = rows[:MOST]
    if len(rows) > MOST:
        notes = notes + [f"Below only the first {MOST} of {len(rows)}."]
    days = bool(data["job"]["links"]) and any(row["job"].get("iterations", {}).get("day") for row in rows)
    heights = [0.55 + 0.24 * len(rows), 2.3] + ([1.7] if days else [])
    figure = plt.figure(figsize=(style.WIDTH, 0.9 + sum(heights)))
    grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
    parts, ends = figure.add_subplot(grid[0, :]), figure.add_subplot(grid[1, :])
    draw_parts(parts, rows, labels, lease_shown, size)
    parts.set_xlabel(f"mean time of the job ({unit})")
    draw_ends(ends, curves, labels, groups, lease_shown, size)
    ends.set_xlabel(f"time since the job's beginning ({unit})")
    if days:
        draw_day(figure.add_subplot(grid[2, 0]), figure.add_subplot(grid[2, 1]), data, curves, labels, groups)
    style.heading(figure, [data["scenario"], model, f"{data['job']['samples']} jobs drawn"])
    ends.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    style.legend_below(figure, *parts.get_legend_handles_labels(), columns=4)
    style.note_below(figure, notes)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
