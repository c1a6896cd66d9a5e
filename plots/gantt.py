#!/usr/bin/python3
"""What every GPU, host, drive and connection does during an iteration, from the trace of `slmsim run --trace`.

    slmsim run scenarios/gat-amst.yaml --set models=gpt2m --technique Pipeshard --trace trace.json
    slmsim plot gantt trace.json --from 3.0 -o gantt.svg

--from and --to (seconds) show a part, --tracks only the rows whose name holds a text. Tasks too short to see are drawn
as a thin line.
"""
if __package__:
    from . import style, trace
else:
    import style
    import trace

# Name, fill and hatch by a task's category.
KINDS = {"forward": ("forward", "#bfe0f5", ""), "backward": ("backward", "#0072b2", ""),
         "optimizer": ("optimizer", "#1a1a1a", ""), "launch": ("launching", "#ffffff", "////"),
         "framework": ("framework on the host", "#ffffff", "...."), "collective": ("collective", "#fbe3b0", "xxxx"),
         "send": ("activations and their gradients", "#e69f00", ""),
         "copy": ("copy between GPU and host", "#d9f0e7", "\\\\\\\\"), "drive": ("drive", "#e3c2d5", "||||"),
         "buffer": ("copy to or from buffers", "#e8ebee", "oooo")}
OTHER = ("other", "#ffffff", "++++")
MOST_TRACKS = 24


def arguments(parser):
    parser.add_argument("trace", help="what `slmsim run --trace` wrote")
    parser.add_argument("--from", dest="start", type=float, default=0.0, help="seconds; default: 0")
    parser.add_argument("--to", dest="stop", type=float, help="seconds; default: the end")
    parser.add_argument("--tracks", metavar="TEXT", default="", help="only those whose name holds this; a figure has the "
                        f"first {MOST_TRACKS}")


def seen(slices, start, stop, hair):
    """(look, start, length) of what shows; neighbours of a kind with less than a hair between them are one."""
    last = {}
    for begin, length, category in sorted(slices):
        end = min(stop, max(begin + length, begin + hair))
        if begin + length < start or begin > stop:
            continue
        kind = KINDS.get(category, OTHER)
        before = last.get(kind)
        if before and begin - before[1] < hair:
            before[1] = max(before[1], end)
            continue
        if before:
            yield kind, before[0], before[1] - before[0]
        last[kind] = [max(begin, start), end]
    for kind, (begin, end) in last.items():
        yield kind, begin, end - begin


def chosen(path, tracks, text):
    found = [track for track in tracks if text in track.name]
    if not found:
        names = list(dict.fromkeys(track.name for track in tracks))
        style.fail(path, f"no track's name holds \"{text}\"; the first are: {', '.join(names[:8])}")
    return found


def short(name, most):
    return " -> ".join(style.shortened(end, most) for end in name.split(" -> "))


def draw(options):
    shown = trace.Trace(options.trace)
    stop = shown.end if options.stop is None else min(shown.end, options.stop)
    if not 0 <= options.start < stop:
        style.fail(options.trace, f"nothing from {options.start:g} s to {stop:g} s; the iteration ends at {shown.end:g} s")
    tracks = chosen(options.trace, shown.tracks, options.tracks)
    left_out = len(tracks) - MOST_TRACKS
    tracks = tracks[:MOST_TRACKS]
    scale, unit = trace.scale_of(stop - options.start)
    hair = (stop - options.start) / 2000
    figure, axes = style.subplots(figsize=(style.WIDTH, 0.9 + 0.3 * len(tracks)))
    for y, track in enumerate(tracks):
        by_kind = {}
        for kind, start, length in seen(track.slices, options.start, stop, hair):
            by_kind.setdefault(kind, []).append((scale * start, scale * length))
        for (name, fill, hatch), ranges in by_kind.items():
            axes.broken_barh(ranges, (y - 0.4, 0.8), facecolor=fill, hatch=hatch, edgecolor="black",
                             linewidth=0.3 if len(ranges) < 200 else 0.0, label=name)
    names = style.different([track.name for track in tracks], 22, short)
    axes.set_yticks(range(len(tracks)), [names[track.name].replace("->", "\N{RIGHTWARDS ARROW}") for track in tracks])
    axes.set_ylim(len(tracks) - 0.4, -0.6)
    axes.set_xlim(scale * options.start, scale * stop)
    axes.set_xlabel(f"time in the iteration ({unit})")
    style.heading(figure, [shown.title])
    style.legend_below(figure, *axes.get_legend_handles_labels(), columns=4)
    if left_out > 0:
        style.note_below(figure, [f"{style.counted(left_out, 'more track')} left out; --tracks chooses."])
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
