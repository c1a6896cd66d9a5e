#!/usr/bin/python3
"""How fast bytes cross each link over an iteration, from the trace of `slmsim run --trace`.

    slmsim run scenarios/gat-amst.yaml --set models=gpt2m --set groups=all --trace trace.json
    slmsim plot link-use trace.json -o links.svg

The links that carried most, each with its own axis.
"""
import style
import trace
from style import plt

MEANS = 60


def arguments(parser):
    parser.add_argument("trace", help="what `slmsim run --trace` wrote")
    parser.add_argument("--links", type=int, default=6, help="show so many; default: 6")


def carried(steps, end):
    """MB."""
    return sum(rate * (after - time) for (time, rate), (after, _) in zip(steps, steps[1:] + [(end, 0)]))


def means(steps, end):
    """Over MEANS equal times: their edges and rates."""
    edges, rates = [end * i / MEANS for i in range(MEANS + 1)], [0.0] * MEANS
    for (time, rate), (after, _) in zip(steps, steps[1:] + [(end, 0)]):
        first, last = int(time / end * MEANS), min(MEANS - 1, int(after / end * MEANS))
        for i in range(first, last + 1):
            rates[i] += rate * max(0.0, min(after, edges[i + 1]) - max(time, edges[i])) / (end / MEANS)
    return edges, rates + rates[-1:]


def draw(options):
    shown = trace.Trace(options.trace)
    if not shown.links:
        style.fail(options.trace, "no link carries anything; a trace of more than one GPU is expected")
    # Of equally used links wide-area ones and NICs come first.
    order = {"wan": 0, "nic": 1}
    volume = {name: carried(steps, shown.end) for name, steps in shown.links.items()}
    names = sorted(volume, key=lambda name: (order.get(name.split(":")[0], 2), -round(volume[name], 3), name))
    names = names[:max(1, options.links)]
    scale, unit = trace.scale_of(shown.end)
    figure, panels = plt.subplots(len(names), 1, figsize=(style.WIDTH, 0.7 + 1.05 * len(names)), sharex=True,
                                  squeeze=False)
    for axes, name in zip(panels[:, 0], names):
        steps = shown.links[name]
        times = [0.0] + [time for time, _ in steps] + [shown.end]
        rates = [0.0] + [rate for _, rate in steps] + [steps[-1][1]]
        axes.fill_between([scale * t for t in times], rates, step="post", color="#b9d3e8", edgecolor="#9dc3e0",
                          linewidth=0.5, label="at each moment")
        edges, mean = means(steps, shown.end)
        axes.step([scale * t for t in edges], mean, where="post", color="#0b2440", label=f"mean over 1/{MEANS} of the time")
        axes.set_title(f"{name}: {volume[name]:.4g} MB", loc="left")
        axes.set_ylim(0, 1.08 * max(rates))
        axes.set_ylabel("MB/s")
        axes.locator_params(axis="y", nbins=3)
    panels[-1, 0].set_xlim(0, scale * shown.end)
    panels[-1, 0].set_xlabel(f"time in the iteration ({unit}), {shown.title}")
    figure.align_ylabels()
    style.legend_below(figure, *panels[0, 0].get_legend_handles_labels())
    return figure


if __name__ == "__main__":
    style.main(__doc__, arguments, draw)
