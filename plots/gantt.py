#!/usr/bin/python3
"""What every GPU and every connection does during an iteration, from the trace of `slmsim run --trace`.

    slmsim run scenarios/gat-amst.yaml --set models=gpt2m --technique Pipeshard --trace trace.json
    slmsim plot gantt trace.json --from 3.0 -o gantt.svg

--from and --to (seconds) show a part. Tasks too short to see are drawn as long as a hair.
"""
import style
import trace
from style import plt

# By the beginning of a task's name.
KINDS = {"fwd": ("forward", "#dcebf7", ""), "bwd": ("backward", "#5a8fbd", ""), "adam": ("optimizer", "#0b2440", ""),
         "launch": ("launching", "#ffffff", "///"), "send": ("activations and their gradients", "#333333", ""),
         "": ("collective", "#ffffff", "xxxx")}
MOST_TRACKS = 24


def arguments(parser):
    parser.add_argument("trace", help="what `slmsim run --trace` wrote")
    parser.add_argument("--from", dest="start", type=float, default=0.0, help="seconds; default: 0")
    parser.add_argument("--to", dest="stop", type=float, help="seconds; default: the end")


def kind_of(name):
    word = name.split(" ")[0]
    return KINDS[word if word in KINDS else ""]


def seen(slices, start, stop, hair):
    """(kind, start, length) of what shows; neighbours of a kind with less than a hair between them are one."""
    last = {}
    for begin, length, name in sorted(slices):
        end = min(stop, max(begin + length, begin + hair))
        if begin + length < start or begin > stop:
            continue
        kind = kind_of(name)
        before = last.get(kind)
        if before and begin - before[1] < hair:
            before[1] = max(before[1], end)
            continue
        if before:
            yield kind, before[0], before[1] - before[0]
        last[kind] = [max(begin, start), end]
    for kind, (begin, end) in last.items():
        yield kind, begin, end - begin


def draw(options):
    shown = trace.Trace(options.trace)
    stop = min(shown.end, options.stop or shown.end)
    if not 0 <= options.start < stop:
        style.fail(options.trace, f"nothing from {options.start:g} s to {stop:g} s; the iteration ends at {shown.end:g} s")
    tracks = [*shown.gpus.items(), *shown.connections.items()]
    left_out = len(tracks) - MOST_TRACKS
    tracks = tracks[:MOST_TRACKS]
    scale, unit = trace.scale_of(stop - options.start)
    hair = (stop - options.start) / 2000
    figure, axes = plt.subplots(figsize=(style.WIDTH, 0.9 + 0.3 * len(tracks)))
    for y, (_, slices) in enumerate(tracks):
        by_kind = {}
        for kind, start, length in seen(slices, options.start, stop, hair):
            by_kind.setdefault(kind, []).append((scale * start, scale * length))
        for (name, fill, hatch), ranges in by_kind.items():
            axes.broken_barh(ranges, (y - 0.4, 0.8), facecolor=fill, hatch=hatch, edgecolor="black",
                             linewidth=0.3 if len(ranges) < 200 else 0.0, label=name)
    axes.set_yticks(range(len(tracks)), [name.replace("->", "\N{RIGHTWARDS ARROW}") for name, _ in tracks])
    axes.set_ylim(len(tracks) - 0.4, -0.6)
    axes.set_xlim(scale * options.start, scale * stop)
    axes.set_xlabel(f"time in the iteration ({unit})" + (f"; {left_out} more tracks are left out" if left_out > 0 else ""))
    axes.set_title(shown.title, loc="left")
    style.legend_below(figure, *axes.get_legend_handles_labels(), columns=3)
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
